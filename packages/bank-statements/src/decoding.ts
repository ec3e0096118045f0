// The text of a statement's bytes: in the encoding that was chosen, else the one that a mark or the XML declares, else by evidence.
import { type Encoding, guessEncoding } from './encodings.ts';
import { StatementRefused } from './refusal.ts';

/** The upper halves of code pages. */
const CP850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0';
const CP852 =
  'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0';
const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0';
const DOS: Partial<Record<string, string>> = { cp850: CP850, cp852: CP852, cp437: CP437 };
const DOS_NAMES = /^(?:cp|ibm|x-cp)?-?(437|850|852)$/i;
const PIECE_BYTES = 64 * 1024;

/** Bytes of a file that can be read again from their beginning, in memory or on a disk. */
export interface ByteSource {
  /** How many bytes there are. */
  size: number;
  /** None of them is empty. */
  pieces(): Iterable<Uint8Array>;
}

export const bytesInMemory = (bytes: Uint8Array): ByteSource => ({
  size: bytes.length,
  *pieces() {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
  },
});

/** Bytes that tell the encoding and the kind of a file. */
const BEGINNING_BYTES = 4096;

/** The first bytes. */
export function beginningOf(source: ByteSource): Uint8Array {
  const found: number[] = [];
  for (const piece of source.pieces()) {
    if (found.length === 0 && piece.length >= BEGINNING_BYTES) return piece;
    found.push(...piece.subarray(0, BEGINNING_BYTES));
    if (found.length >= BEGINNING_BYTES) break;
  }
  return Uint8Array.from(found);
}

/** All bytes at once. */
export function allBytes(source: ByteSource): Uint8Array {
  const whole = new Uint8Array(source.size);
  let at = 0;
  for (const piece of source.pieces()) {
    whole.set(piece.subarray(0, source.size - at), at);
    at += piece.length;
  }
  return whole;
}

/** How a file is decoded. */
interface Decoding {
  /** As `TextDecoder` takes it, or one of `DOS`. */
  encoding: string;
  /** A sentence where the bytes do not tell it for certain. */
  note?: string;
  /** Bytes that are not of the encoding become U+FFFD. */
  isLoose?: boolean;
}

/** The encoding of a file. Throws `StatementRefused` for a declared one that is unknown. */
export function decodingOf(source: ByteSource, chosen?: Encoding): Decoding {
  const beginning = beginningOf(source);
  const [a, b, c] = beginning;
  if (a === 0xef && b === 0xbb && c === 0xbf) return { encoding: 'utf-8' };
  if (a === 0xff && b === 0xfe) return { encoding: 'utf-16le' };
  if (a === 0xfe && b === 0xff) return { encoding: 'utf-16be' };
  const wide = wideEncoding(beginning);
  if (wide !== undefined) return { encoding: wide };
  if (chosen !== undefined) return { encoding: chosen };
  const declared = declaredEncoding(beginning);
  if (declared !== undefined) return { encoding: declared };
  if (isUtf8(source)) return { encoding: 'utf-8' };
  const bytes = allBytes(source);
  const { valid, invalid } = utf8Sequences(bytes);
  if (valid >= 4 * invalid)
    return {
      encoding: 'utf-8',
      isLoose: true,
      note: `The file is UTF-8 but for ${invalid === 1 ? 'one byte' : `${invalid} bytes`}, shown as \ufffd.`,
    };
  const { encoding, isSure } = guessEncoding(bytes, (part, one) => decodeWhole(part, one));
  const note = `The letters are read as ${encoding}, which the bytes do not tell for certain. If names look wrong, choose the encoding.`;
  return isSure ? { encoding } : { encoding, note };
}

/** Minimum share of zero bytes in UTF-16 text. Where letters are not Latin, only spaces, digits and signs have them. */
const ZERO_SHARE = 0.05;

/** UTF-16 by the bytes that are 0: every second one of some characters, and no other. */
function wideEncoding(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const zeros = [0, 0];
  for (const [at, byte] of bytes.subarray(0, BEGINNING_BYTES).entries()) if (byte === 0) zeros[at % 2]!++;
  const [even, odd] = zeros as [number, number];
  if (even + odd < ZERO_SHARE * Math.min(bytes.length, BEGINNING_BYTES)) return undefined;
  return even === 0 ? 'utf-16le' : odd === 0 ? 'utf-16be' : undefined;
}

/** What the XML declaration names. The header of an OFX 1 file is not read: its bytes tell. */
function declaredEncoding(bytes: Uint8Array): string | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 300));
  const xml = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(head)?.[1];
  if (xml === undefined) return undefined;
  const dos = DOS_NAMES.exec(xml)?.[1];
  if (dos !== undefined) return `cp${dos}`;
  try {
    const { encoding } = new TextDecoder(xml);
    return encoding.startsWith('utf-16') ? 'utf-8' : encoding; // its own declaration could not be read as bytes
  } catch {
    throw new StatementRefused(`The encoding "${xml}" is not known. Export the file as UTF-8.`, 1);
  }
}

function isUtf8(source: ByteSource): boolean {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for (const piece of source.pieces()) decoder.decode(piece, { stream: true });
    decoder.decode();
    return true;
  } catch {
    return false;
  }
}

/** How many characters of several bytes are well-formed UTF-8 (RFC 3629), and how many bytes above 127 belong to none. */
function utf8Sequences(bytes: Uint8Array): { valid: number; invalid: number } {
  let [valid, invalid] = [0, 0];
  const isMore = (at: number) => (bytes[at]! & 0xc0) === 0x80;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte < 0x80) continue;
    const more =
      byte >= 0xf0 && byte < 0xf5 ? 3 : byte >= 0xe0 && byte < 0xf0 ? 2 : byte >= 0xc2 && byte < 0xe0 ? 1 : 0;
    let found = 0;
    while (found < more && isMore(at + 1 + found)) found++;
    if (more > 0 && found === more) {
      valid++;
      at += more;
    } else invalid++;
  }
  return { valid, invalid };
}

/** The text piece by piece, so that a large file is never held twice. Throws `StatementRefused` where bytes are not of the encoding. */
export function* textPieces(source: ByteSource, { encoding, isLoose = false }: Decoding): Generator<string> {
  const dos = DOS[encoding];
  const decoder = dos === undefined ? new TextDecoder(encoding, { fatal: !isLoose }) : undefined;
  let hasZero = false;
  try {
    for (const piece of source.pieces()) {
      hasZero ||= piece.includes(0);
      yield decoder ? decoder.decode(piece, { stream: true }) : decodeDos(piece, dos!);
    }
    const rest = decoder?.decode() ?? '';
    if (rest !== '') yield rest;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new StatementRefused(`The file holds bytes that are not ${encoding.toUpperCase()}.`, 0, hasZero);
  }
}

function decodeDos(bytes: Uint8Array, upper: string): string {
  return Array.from(bytes, (byte) => (byte < 128 ? String.fromCharCode(byte) : upper[byte - 128])).join('');
}

/** The text of some bytes; undefined where they are not of the encoding. */
function decodeWhole(bytes: Uint8Array, encoding: Encoding): string | undefined {
  const dos = DOS[encoding];
  try {
    return dos === undefined
      ? new TextDecoder(encoding, { fatal: true }).decode(bytes)
      : decodeDos(bytes, dos);
  } catch {
    return undefined;
  }
}

/** The whole text, line ends as they are. */
export function decodeText(source: ByteSource, decoding: Decoding): string {
  return [...textPieces(source, decoding)].join('');
}
