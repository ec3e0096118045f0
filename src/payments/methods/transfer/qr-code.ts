// QR codes as SVG path data and as pictures, and the Swiss cross that lies over one; data alone, no markup.
import { encode } from 'uqr';
import { pngFile } from '../../../lib/png.ts';

/** The quiet zone of ISO/IEC 18004. */
const QUIET_MODULES = 4;

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

/** Millimetres of the Swiss QR Code (SIX Style Guide QR-bill): its side, the white edge, the black square, the cross's arms. */
const [CODE_MM, EDGE_MM, SQUARE_MM, ARM_LENGTH_MM, ARM_WIDTH_MM] = [46, 7, 6, 3.89, 1.17];

/** The cross over the middle of a Swiss QR Code of `size` modules (quiet zone included), to be painted in this order. */
export function swissCross(size: number): Rectangle[] {
  const modules = (size - 2 * QUIET_MODULES) / CODE_MM;
  const centred = (widthMm: number, heightMm: number, dark: boolean): Rectangle => {
    const [width, height] = [rounded(widthMm * modules), rounded(heightMm * modules)];
    return { x: rounded((size - width) / 2), y: rounded((size - height) / 2), width, height, dark };
  };
  return [
    centred(EDGE_MM, EDGE_MM, false),
    centred(SQUARE_MM, SQUARE_MM, true),
    centred(ARM_LENGTH_MM, ARM_WIDTH_MM, false),
    centred(ARM_WIDTH_MM, ARM_LENGTH_MM, false),
  ];
}

/** How wide a Swiss QR Code of `size` modules (quiet zone included) is printed, so that the code itself is 46 mm. */
export function swissWidthMm(size: number): number {
  return rounded((CODE_MM * size) / (size - 2 * QUIET_MODULES));
}

function rounded(length: number): number {
  return Math.round(length * 1000) / 1000;
}
