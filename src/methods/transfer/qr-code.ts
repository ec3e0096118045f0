// QR codes as SVG path data, and the Swiss cross that lies over one; data alone, no markup.
import { encode } from 'uqr';

/** The quiet zone of ISO/IEC 18004. */
const QUIET_MODULES = 4;

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
