// Draws with Chromium what the pages carry as pictures, into src/web/markup: favicon.ico, touch-icon.png, and preview.png for messages with a link.
import { readFileSync, writeFileSync } from 'node:fs';
import { startChromium } from '../test/support/chromium.ts';
import { encode, pixelsOf } from './pictures/png.ts';

const markup = new URL('../src/web/markup/', import.meta.url);
const icon = readFileSync(new URL('icon.svg', markup), 'utf8');
const engraving = readFileSync(new URL('engraving.svg', markup), 'utf8').replaceAll('#000', '#fff');
const BRAND = '#2a47b0';
const CANVAS = '#f4f3ef';
const FAVICON_PX = 32;
const TOUCH_PX = 180;
/** What messengers show beside a link (the Open Graph protocol). */
const PREVIEW = { width: 1200, height: 630 };

const browser = await startChromium();

async function drawn(size: { width: number; height: number }, body: string, omitBackground = false) {
  const page = await browser.newPage({ viewport: size });
  await page.setContent(`<style>body{margin:0}svg{display:block}</style>${body}`);
  return page.screenshot({ omitBackground });
}
const square = (px: number) => ({ width: px, height: px });

/** A file of Windows icons with one PNG. */
function windowsIcon(png: Buffer): Buffer {
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2); // an icon
  head.writeUInt16LE(1, 4); // one picture
  head.writeUInt8(FAVICON_PX, 6);
  head.writeUInt8(FAVICON_PX, 7);
  head.writeUInt16LE(1, 10); // planes
  head.writeUInt16LE(32, 12); // bits a pixel
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(head.length, 18);
  return Buffer.concat([head, png]);
}

/** A blank counterfoil: stub, perforation and leaf, so that it fits every merchant and language. */
const preview = `<style>
body { background: ${CANVAS}; display: grid; grid-template-columns: 470px 500px; place-content: center; height: 100vh }
div { height: 430px; overflow: hidden; position: relative }
.stub { background: ${BRAND}; border-radius: 32px 0 0 32px }
.stub svg { position: absolute; width: 760px; top: -330px; right: -330px; opacity: .22 }
.leaf { background: #fff; border-radius: 0 32px 32px 0 }
i { position: absolute; border-radius: 99px; background: #fff }
.leaf i { background: #e4e2dc }
.holes { position: absolute; left: 577px; top: 122px; width: 16px; height: 386px;
  background: radial-gradient(circle, ${CANVAS} 7px, transparent 8px) center / 100% 30px space }
</style>
<div class="stub">${engraving}<i style="left:56px;top:84px;width:150px;height:18px"></i>
<i style="left:56px;top:130px;width:270px;height:62px"></i>
<i style="left:56px;top:250px;width:300px;height:16px;opacity:.6"></i><i style="left:56px;top:288px;width:220px;height:16px;opacity:.6"></i></div>
<div class="leaf"><i style="left:64px;top:84px;width:220px;height:20px"></i>
<i style="left:64px;top:140px;width:372px;height:60px;border-radius:14px"></i>
<i style="left:64px;top:216px;width:372px;height:60px;border-radius:14px"></i>
<i style="left:64px;top:310px;width:372px;height:62px;border-radius:14px;background:${BRAND}"></i></div>
<span class="holes"></span>`;

const touch = icon.replace(' rx="7"', '');
const painter = await browser.newPage();
const written = {
  'favicon.ico': windowsIcon(await drawn(square(FAVICON_PX), icon, true)),
  'touch-icon.png': encode(await pixelsOf(painter, await drawn(square(TOUCH_PX), touch))),
  'preview.png': encode(await pixelsOf(painter, await drawn(PREVIEW, preview))),
};
for (const [name, content] of Object.entries(written)) {
  writeFileSync(new URL(name, markup), content);
  process.stdout.write(`${name}: ${content.length} bytes\n`);
}
await browser.close();
