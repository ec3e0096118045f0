// The text of a statement's bytes: what the XML declares, UTF-8 and UTF-16 with and without mark, Windows-1252, CP437 and CP850.
import { StatementRefused } from './refusal.ts';

/** The upper half of code page 850. CP437 has the same letters of Western Europe at the same places. */
const CP850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0';
/** ä ö ü Ä Ö Ü é of CP850: in Windows-1252 these bytes are quotation marks, dashes and nothing. */
const CP850_LETTERS = new Set([0x81, 0x82, 0x84, 0x8e, 0x94, 0x99, 0x9a]);
const DOS_NAMES = /^(?:cp|ibm|x-cp)?-?(?:437|850)$/i;
const PIECE_BYTES = 64 * 1024;

/** The name of the encoding, as `TextDecoder` takes it, or `cp850`. Throws `StatementRefused` for a declared one that is unknown. */
function encodingOf(bytes: Uint8Array): string {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if ((a === 0xff && b === 0xfe) || (a !== 0 && b === 0 && c !== 0)) return 'utf-16le';
  if ((a === 0xfe && b === 0xff) || (a === 0 && b !== 0)) return 'utf-16be';
  const declared = declaredEncoding(bytes);
  if (declared !== undefined) return declared;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return 'utf-8';
  } catch {
    return looksLikeDos(bytes) ? 'cp850' : 'windows-1252';
  }
}

/** What the XML declaration names. The header of an OFX 1 file is not read: its bytes tell. */
function declaredEncoding(bytes: Uint8Array): string | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 300));
  const xml = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(head)?.[1];
  if (xml === undefined) return undefined;
  if (DOS_NAMES.test(xml)) return 'cp850';
  try {
    const { encoding } = new TextDecoder(xml);
    return encoding.startsWith('utf-16') ? 'utf-8' : encoding; // its own declaration could not be read as bytes
  } catch {
    throw new StatementRefused(`The encoding "${xml}" is not known. Export the file as UTF-8.`, 1);
  }
}

function looksLikeDos(bytes: Uint8Array): boolean {
  let dos = 0;
  let windows = 0;
  for (const byte of bytes) {
    if (CP850_LETTERS.has(byte)) dos++;
    else if (byte >= 0xc0 && byte !== 0xe1) windows++;
  }
  return dos > windows;
}

/** The text piece by piece, so that a large file is never held twice. Throws `StatementRefused` where bytes are not of the encoding. */
export function* textPieces(bytes: Uint8Array): Generator<string> {
  const encoding = encodingOf(bytes);
  const decoder = encoding === 'cp850' ? undefined : new TextDecoder(encoding, { fatal: true });
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    const isLast = at + PIECE_BYTES >= bytes.length;
    try {
      yield decoder ? decoder.decode(piece, { stream: !isLast }) : decodeDos(piece);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new StatementRefused(`The file holds bytes that are not ${encoding.toUpperCase()}.`);
    }
  }
}

function decodeDos(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte < 128 ? String.fromCharCode(byte) : CP850[byte - 128])).join('');
}

/** The whole text, line ends as they are. */
export function decodeText(bytes: Uint8Array): string {
  return [...textPieces(bytes)].join('');
}
