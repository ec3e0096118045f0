// QR codes (ISO/IEC 18004) as SVG and as pictures.
import { crc32, deflateSync, type ZlibOptions } from 'node:zlib';
import { encode } from 'uqr';
import { attributes, type Html, html } from './html.ts';

/** The quiet zone of ISO/IEC 18004. */
export const QUIET_MODULES = 4;

/** Pixels of a module's side in a picture: with one bit for each, a module of a row is a byte. */
const PICTURE_SCALE = 8;

/** `size`: modules of a side with the quiet zone. `path`: SVG path data of the dark modules, lines to be drawn one unit wide. */
export interface QrCode {
  size: number;
  path: string;
}

/** A rectangle in the units of its code. */
export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
  dark: boolean;
}

/** The QR code of `payload` (UTF-8) at level M, as all schemes want it. Throws a `RangeError` for more than version 40 holds. */
export function qrPath(payload: string): QrCode {
  const { size, data } = encode(payload, { ecc: 'M', border: QUIET_MODULES });
  return { size, path: pathOf(data) };
}

/** A line through the middle of each run of dark modules in a row, from where the last one ends. */
function pathOf(rows: readonly boolean[][]): string {
  let path = '';
  let [endX, endY] = [0, 0];
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue;
      let end = x;
      while (row[end]) end++;
      path += path === '' ? `M${x} ${y}.5` : `m${x - endX} ${y - endY}`;
      path += `h${end - x}`;
      [endX, endY] = [end, y];
      x = end;
    }
  }
  return path;
}

/** The QR code of `payload` as `qrPath` draws it, with what `over` gives for its size painted over it: a PNG of one bit a pixel. */
export function qrPicture(payload: string, over: (size: number) => readonly Rectangle[] = () => []): Buffer {
  const { size, data } = encode(payload, { ecc: 'M', border: QUIET_MODULES });
  const rowBytes = 1 + size; // the first says that the row is not filtered
  const pixels = Buffer.alloc(size * PICTURE_SCALE * rowBytes);
  for (let y = 0; y < size * PICTURE_SCALE; y++)
    for (const [x, dark] of data[Math.floor(y / PICTURE_SCALE)]!.entries())
      pixels[y * rowBytes + 1 + x] = dark ? 0 : 0xff;
  for (const { x, y, width, height, dark } of over(size)) {
    const [left, right, top, bottom] = [x, x + width, y, y + height].map((at) =>
      Math.round(at * PICTURE_SCALE),
    );
    for (let row = top!; row < bottom!; row++)
      for (let column = left!; column < right!; column++) {
        const [at, bit] = [row * rowBytes + 1 + (column >> 3), 0x80 >> (column & 7)];
        pixels[at] = dark ? pixels[at]! & ~bit : pixels[at]! | bit;
      }
  }
  const side = size * PICTURE_SCALE;
  return pngFile({ width: side, height: side, depth: 1, type: 0, rows: pixels });
}

interface PngPixels {
  width: number;
  height: number;
  /** Bits of a sample, and the colour type: 0 is grey, 3 a place in `palette`. */
  depth: number;
  type: number;
  /** Each row opens with a 0, which says that it is not filtered. */
  rows: Uint8Array;
  /** Red, green and blue of each colour, a byte each. */
  palette?: Uint8Array;
}

export function pngFile(
  { width, height, depth, type, rows, palette }: PngPixels,
  packing?: ZlibOptions,
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, type], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    ...(palette ? [chunk('PLTE', palette)] : []),
    chunk('IDAT', deflateSync(rows, packing)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

interface Drawing {
  size: number;
  path: string;
}

/**
 * A code as an image that is called `label`, dark on white in every theme, since many readers take nothing else. `widthMm` is its side on
 * paper, on a screen the stylesheet says; `over` is painted over it.
 */
export function qrSvg(
  { size, path }: Drawing,
  label: string,
  { widthMm, over }: { widthMm?: number; over?: readonly Html[] } = {},
): Html {
  const frame = attributes({
    width: widthMm === undefined ? undefined : `${widthMm}mm`,
    viewBox: `0 0 ${size} ${size}`,
    role: 'img',
    'aria-label': label,
    'shape-rendering': 'crispEdges',
  });
  const squares = html`<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path stroke="#000" d="${path}"/>`;
  return html`<svg class="qr"${frame}>${squares}${over}</svg>`;
}
