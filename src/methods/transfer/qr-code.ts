// QR codes as SVG path data, and the Swiss cross that lies over one; data alone, no markup.
import { LRUCache } from 'lru-cache';
import { encode } from 'uqr';

/** The quiet zone of ISO/IEC 18004. */
const QUIET_MODULES = 4;
const KEPT_CODES = 500;

/** `size`: modules of a side with the quiet zone. `path`: SVG path data of the dark modules, one unit a module. */
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

/** The QR code of `payload` (UTF-8) at level M, as all schemes want it. Raises a `RangeError` for more than version 40 holds. */
export function qrPath(payload: string): QrCode {
  const { size, data } = encode(payload, { ecc: 'M', border: QUIET_MODULES });
  return { size, path: pathOf(data) };
}

/** A subpath for each run of dark modules in a row: from the last one's start, or absolute where that is shorter. */
function pathOf(rows: readonly boolean[][]): string {
  let path = '';
  let [lastX, lastY] = [0, 0];
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue;
      let end = x;
      while (row[end]) end++;
      const [absolute, relative] = [`M${x} ${y}`, `m${x - lastX} ${y - lastY}`];
      path += `${path && relative.length < absolute.length ? relative : absolute}h${end - x}v1h${x - end}z`;
      [lastX, lastY] = [x, y];
      x = end;
    }
  }
  return path;
}

/** Codes drawn once for as long as they are among the latest asked for: a page that is polled asks for the same again. */
export class QrCodes {
  readonly #kept = new LRUCache<string, QrCode>({ max: KEPT_CODES });

  /** See `qrPath`. */
  path(payload: string): QrCode {
    let code = this.#kept.get(payload);
    if (!code) {
      code = qrPath(payload);
      this.#kept.set(payload, code);
    }
    return code;
  }
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
