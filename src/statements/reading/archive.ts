// Opens ZIP archives in memory: bounded in files and bytes, nothing written anywhere.
import { crc32, inflateRawSync } from 'node:zlib';
import { StatementRefused } from './refusal.ts';

const FILES_MAXIMUM = 500;
const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
const [STORED, DEFLATED] = [0, 8];

export function isArchive(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);
}

/** The files of an archive in its order, at most `maximumBytes` together. Folders are left out. Throws `StatementRefused`. */
export function* archivedFiles(
  archive: Uint8Array,
  maximumBytes: number,
): Generator<{ name: string; bytes: Uint8Array }> {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  let left = maximumBytes;
  for (const { name, method, checksum, packed } of directory(bytes)) {
    const content = unpack(packed, method, left, name);
    if (crc32(content) !== checksum) throw new StatementRefused('The archive is damaged.');
    left -= content.length;
    yield { name, bytes: content };
  }
}

function directory(bytes: Buffer): { name: string; method: number; checksum: number; packed: Buffer }[] {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  try {
    if (end < 0 || bytes.readUInt32LE(end) !== END_OF_DIRECTORY) throw new RangeError();
    const count = bytes.readUInt16LE(end + 10);
    if (count > FILES_MAXIMUM)
      throw new StatementRefused(`The archive holds more than ${FILES_MAXIMUM} files.`);
    const files = [];
    let place = bytes.readUInt32LE(end + 16);
    for (let i = 0; i < count; i++) {
      if (bytes.readUInt32LE(place) !== DIRECTORY_ENTRY) throw new RangeError();
      const [flags, method, size] = [8, 10]
        .map((by) => bytes.readUInt16LE(place + by))
        .concat(bytes.readUInt32LE(place + 20));
      const [nameLength, extra, comment] = [28, 30, 32].map((by) => bytes.readUInt16LE(place + by));
      const name = bytes.toString('utf8', place + 46, place + 46 + nameLength!);
      const [checksum, start] = [bytes.readUInt32LE(place + 16), bytes.readUInt32LE(place + 42)];
      place += 46 + nameLength! + extra! + comment!;
      if ((flags! & 1) === 1) throw new StatementRefused('The archive is encrypted.');
      if (isTrick(name)) throw new StatementRefused('The archive has a file whose path leads out of it.');
      if (name.endsWith('/') || /^__MACOSX\//.test(name)) continue;
      if (bytes.readUInt32LE(start) !== LOCAL_ENTRY) throw new RangeError();
      const data = start + 30 + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28);
      if (data + size! > bytes.length) throw new RangeError();
      files.push({ name, method: method!, checksum, packed: bytes.subarray(data, data + size!) });
    }
    return files;
  } catch (error) {
    if (error instanceof RangeError) throw new StatementRefused('The archive is damaged.');
    throw error;
  }
}

/** Nothing is written under these names, but people read them, and so may another program. */
function isTrick(name: string): boolean {
  return /^[/\\]|^[A-Za-z]:|\\|\p{Cc}/u.test(name) || name.split('/').includes('..');
}

function unpack(packed: Buffer, method: number, maximumBytes: number, name: string): Uint8Array {
  if (method !== STORED && method !== DEFLATED)
    throw new StatementRefused(`The archive packs ${name} in a way that is not supported.`);
  const tooLarge = new StatementRefused('The archive holds more than 64 MB.');
  if (method === STORED) {
    if (packed.length > maximumBytes) throw tooLarge;
    return packed;
  }
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, maximumBytes) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge;
    throw new StatementRefused('The archive is damaged.');
  }
}
