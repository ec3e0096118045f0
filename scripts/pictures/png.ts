// Pictures as small files: what a browser made of a page, in 256 colours.
import type { Page } from 'playwright-core';
import { pngFile } from '../../src/lib/qr-code.ts';

export interface Pixels {
  width: number;
  height: number;
  /** Red, green, blue and opacity of each, a byte each. */
  bytes: Buffer;
}

/** What the browser sees in a picture. */
export async function pixelsOf(painter: Page, png: Buffer): Promise<Pixels> {
  const { width, height, text } = (await painter.evaluate(`(async () => {
    const bytes = Uint8Array.fromBase64('${png.toString('base64')}');
    const picture = await createImageBitmap(new Blob([bytes]));
    const { width, height } = picture;
    const canvas = new OffscreenCanvas(width, height).getContext('2d');
    canvas.drawImage(picture, 0, 0);
    const { data } = canvas.getImageData(0, 0, width, height);
    return { width, height, text: new Uint8Array(data.buffer).toBase64() };
  })()`)) as { width: number; height: number; text: string };
  return { width, height, bytes: Buffer.from(text, 'base64') };
}

/** The 256 colours that are most of a picture; smoothed text has some thousand, which nobody tells apart. */
function paletteOf(bytes: Buffer): number[] {
  const counts = new Map<number, number>();
  for (let at = 0; at < bytes.length; at += 4) {
    const colour = bytes.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const colours = [...counts].sort(([a, often], [b, seldom]) => seldom - often || a - b);
  return colours.slice(0, 256).map(([colour]) => colour);
}

function distance(one: number, other: number): number {
  return [16, 8, 0].reduce((sum, shift) => sum + (((one >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0);
}

/** A PNG of 256 colours (ISO/IEC 15948), which is half of what the browser makes of it. */
export function encode({ width, height, bytes }: Pixels): Buffer {
  const palette = paletteOf(bytes);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const placeOf = (colour: number): number => {
    let place = places.get(colour);
    if (place === undefined) {
      const distances = palette.map((one) => distance(one, colour));
      place = distances.indexOf(Math.min(...distances));
      places.set(colour, place);
    }
    return place;
  };
  const rows = Buffer.alloc((width + 1) * height); // each opens with a 0: not filtered
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      rows[y * (width + 1) + 1 + x] = placeOf(bytes.readUIntBE((y * width + x) * 4, 3));

  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return pngFile({ width, height, depth: 8, type: 3, rows, palette: colours }, { level: 9, memLevel: 9 });
}
