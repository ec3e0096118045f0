// Opens ZIP archives in memory: bounded in files and bytes, nothing written anywhere.
import { Inflate } from 'fflate';
import { StatementRefused } from './refusal.ts';

const FILES_MAXIMUM = 500;
const [END_OF_DIRECTORY, DIRECTORY_ENTRY, LOCAL_ENTRY] = [0x06054b50, 0x02014b50, 0x04034b50];
/** Of the record at the end of an archive, and of the comment that may stand behind it. */
const [END_BYTES, COMMENT_BYTES] = [22, 65_535];
const [STORED, DEFLATED] = [0, 8];
/** Packed bytes in one step of unpacking. The limit is checked after each step. */
const PIECE_BYTES = 16 * 1024;

export function isArchive(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);
}

interface Packed {
  name: string;
  method: number;
  checksum: number;
  packed: Uint8Array;
}

/** The files of an archive in its order, at most `maximumBytes` together. Folders are left out. Throws `StatementRefused`. */
export function* archivedFiles(
  archive: Uint8Array,
  maximumBytes: number,
): Generator<{ name: string; bytes: Uint8Array }> {
  let left = maximumBytes;
  for (const { name, method, checksum, packed } of directory(archive)) {
    const content = unpack(packed, method, left, name);
    if (crc32(content) !== checksum) throw new StatementRefused('The archive is damaged.');
    left -= content.length;
    yield { name, bytes: content };
  }
}

function directory(bytes: Uint8Array): Packed[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const end = endOfDirectory(view);
    const count = view.getUint16(end + 10, true);
    if (count > FILES_MAXIMUM)
      throw new StatementRefused(`The archive holds more than ${FILES_MAXIMUM} files.`);
    const files: Packed[] = [];
    let place = view.getUint32(end + 16, true);
    for (let i = 0; i < count; i++) {
      const { next, ...file } = entryAt(bytes, view, place);
      place = next;
      if (!file.name.endsWith('/') && !/^__MACOSX\//.test(file.name)) files.push(file);
    }
    return files;
  } catch (error) {
    if (error instanceof RangeError) throw new StatementRefused('The archive is damaged.');
    throw error;
  }
}

function endOfDirectory(view: DataView): number {
  const last = view.byteLength - END_BYTES;
  for (let place = last; place >= Math.max(0, last - COMMENT_BYTES); place--)
    if (view.getUint32(place, true) === END_OF_DIRECTORY) return place;
  throw new RangeError('no directory');
}

function entryAt(bytes: Uint8Array, view: DataView, place: number): Packed & { next: number } {
  const short = (by: number) => view.getUint16(place + by, true);
  const long = (by: number) => view.getUint32(place + by, true);
  if (long(0) !== DIRECTORY_ENTRY) throw new RangeError('no entry');
  const [nameLength, size, start] = [short(28), long(20), long(42)];
  const name = new TextDecoder().decode(bytes.subarray(place + 46, place + 46 + nameLength));
  if ((short(8) & 1) === 1) throw new StatementRefused('The archive is encrypted.');
  if (isTrick(name)) throw new StatementRefused('The archive has a file whose path leads out of it.');
  if (view.getUint32(start, true) !== LOCAL_ENTRY) throw new RangeError('no file');
  const data = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
  if (data + size > bytes.length) throw new RangeError('cut off');
  return {
    ...{ name, method: short(10), checksum: long(16), packed: bytes.subarray(data, data + size) },
    next: place + 46 + nameLength + short(30) + short(32),
  };
}

/** Nothing is written under these names, but people read them, and so may another program. */
function isTrick(name: string): boolean {
  return /^[/\\]|^[A-Za-z]:|\\|\p{Cc}/u.test(name) || name.split('/').includes('..');
}

function unpack(packed: Uint8Array, method: number, maximumBytes: number, name: string): Uint8Array {
  if (method !== STORED && method !== DEFLATED)
    throw new StatementRefused(`The archive packs ${name} in a way that is not supported.`);
  const tooLarge = new StatementRefused('The archive holds more than 64 MB.');
  if (method === STORED) {
    if (packed.length > maximumBytes) throw tooLarge;
    return packed;
  }
  const pieces: Uint8Array[] = [];
  let size = 0;
  const inflate = new Inflate((piece) => {
    size += piece.length;
    if (size > maximumBytes) throw tooLarge;
    pieces.push(piece);
  });
  try {
    for (let at = 0; at < packed.length; at += PIECE_BYTES)
      inflate.push(packed.subarray(at, at + PIECE_BYTES), at + PIECE_BYTES >= packed.length);
  } catch (error) {
    if (error === tooLarge) throw error;
    throw new StatementRefused('The archive is damaged.');
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** What CRC-32 (ISO 3309) makes of each byte. */
const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = CRC_TABLE[(value ^ byte) & 0xff]! ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
