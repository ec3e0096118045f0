// Reads QR codes, of pixels and of pictures.
import jsQr from 'jsqr';
import type { Page } from 'playwright-core';

/** The package is CommonJS, whose types put the function one deeper than it is. */
export const decode = jsQr as unknown as typeof jsQr.default;

/** What the QR code in a picture (PNG) says; undefined where there is none. `page` makes pixels of it. */
export async function scan(page: Page, picture: Buffer): Promise<string | undefined> {
  const { width, height, grey } = await page.evaluate<{
    width: number;
    height: number;
    grey: string;
  }>(`(async () => {
    const picture = await fetch('data:image/png;base64,${picture.toString('base64')}');
    const bitmap = await createImageBitmap(await picture.blob());
    const { width, height } = bitmap;
    const canvas = new OffscreenCanvas(width, height).getContext('2d');
    canvas.drawImage(bitmap, 0, 0);
    const { data } = canvas.getImageData(0, 0, width, height);
    let grey = '';
    for (let i = 0; i < data.length; i += 4) grey += String.fromCharCode(data[i + 1]);
    return { width, height, grey };
  })()`);
  const pixels = Buffer.from(grey, 'latin1');
  return decode(
    Uint8ClampedArray.from({ length: 4 * pixels.length }, (_, i) => pixels[i >> 2]!),
    width,
    height,
  )?.data;
}
