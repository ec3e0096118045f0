// Writes src/web/markup/favicon.ico: the icon of the pages, drawn by Chromium, as one PNG of 32 pixels in a file of Windows icons.
import { readFileSync, writeFileSync } from 'node:fs';
import { startChromium } from '../test/support/chromium.ts';

const PIXELS = 32;
const DIRECTORY_BYTES = 22;

const browser = await startChromium();
const page = await browser.newPage({ viewport: { width: PIXELS, height: PIXELS } });
await page.setContent(
  `<style>body{margin:0}svg{display:block}</style>${readFileSync(new URL('../src/web/markup/icon.svg', import.meta.url), 'utf8')}`,
);
const png = await page.screenshot({ omitBackground: true });
await browser.close();

const head = Buffer.alloc(DIRECTORY_BYTES);
head.writeUInt16LE(1, 2); // an icon
head.writeUInt16LE(1, 4); // one picture
head.writeUInt8(PIXELS, 6);
head.writeUInt8(PIXELS, 7);
head.writeUInt16LE(1, 10); // planes
head.writeUInt16LE(32, 12); // bits a pixel
head.writeUInt32LE(png.length, 14);
head.writeUInt32LE(DIRECTORY_BYTES, 18);
writeFileSync(new URL('../src/web/markup/favicon.ico', import.meta.url), Buffer.concat([head, png]));
