// Takes the pictures of docs/images, the customer's pages, registration and the console's as a browser shows them, and writes docs/pictures.md.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { newPage, type Stage, show, startStage } from '../test/support/browser.ts';
import { CONSOLE_PICTURES, takeOfConsole } from './pictures/console.ts';
import { encode, pixelsOf } from './pictures/png.ts';
import { takeOfRegistration } from './pictures/registration.ts';
import { startReviewDay } from './pictures/review-day.ts';

const folder = fileURLToPath(new URL('../docs/images/', import.meta.url));
/** A picture of a page needs no more; one of more shows something else. */
const BYTES_MAXIMUM = 120 * 1024;
const WIDE = 1120;
const PHONE = 390;
const REGISTRATION = 'registration-key';

interface Picture {
  name: string;
  scene: string;
  width: number;
  colorScheme?: 'light' | 'dark';
  language?: string;
}

const PICTURES: readonly Picture[] = [
  { name: 'pending', scene: 'pending, several methods', width: WIDE },
  { name: 'phone', scene: 'pending, transfer in EUR', width: PHONE },
  { name: 'dark', scene: 'pending, several methods', width: WIDE, colorScheme: 'dark' },
  { name: 'arabic', scene: 'pending, several methods', width: WIDE, language: 'ar' },
  { name: 'transfer', scene: 'pending, transfer in EUR', width: WIDE },
  { name: 'review', scene: 'requires review, card', width: WIDE },
  { name: 'approved', scene: 'approved', width: WIDE },
];

mkdirSync(folder, { recursive: true });
const stage = await startStage();
try {
  const painter = await newPage(stage, { javaScriptEnabled: true });
  // Every picture by name; those that are named, where some are.
  const wanted = process.argv.slice(2);
  const isWanted = (name: string) => wanted.length === 0 || wanted.some((one) => name.startsWith(one));
  for (const picture of PICTURES) {
    const name = `checkout-${picture.name}`;
    if (isWanted(name)) await keep(painter, name, await take(stage, picture));
  }
  if (isWanted(REGISTRATION))
    await keep(painter, REGISTRATION, await takeOfRegistration(stage.browser, WIDE));
  if (CONSOLE_PICTURES.some(({ name }) => isWanted(`console-${name}`))) {
    const day = await startReviewDay();
    try {
      for (const picture of CONSOLE_PICTURES) {
        const name = `console-${picture.name}`;
        if (isWanted(name)) await keep(painter, name, await takeOfConsole(stage.browser, day, picture));
      }
    } finally {
      await day.close();
    }
  }
} finally {
  await stage.close();
}

writeFileSync(new URL('../docs/pictures.md', import.meta.url), pageOfPictures());

/** A page with all pictures, each under its name. */
function pageOfPictures(): string {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.png'))
    .map((name) => name.replace('.png', ''))
    .sort();
  const parts = names.map((name) => {
    const title = name.replaceAll('-', ' ').replace(/^./, (first) => first.toUpperCase());
    return `## ${title}\n\n![${title}](images/${name}.png)\n`;
  });
  return `# Pictures\n\n\`npm run screenshots\` takes them from the running program.\n\n${parts.join('\n')}`;
}

async function keep(painter: Page, name: string, taken: Buffer): Promise<void> {
  const png = encode(await pixelsOf(painter, taken));
  const path = `${folder}${name}.png`;
  if (png.length > BYTES_MAXIMUM)
    throw new Error(`${path} has ${png.length} bytes, more than ${BYTES_MAXIMUM}`);
  writeFileSync(path, png);
  process.stdout.write(`${path}: ${Math.ceil(png.length / 1024)} KB\n`);
}

async function take(
  stage: Stage,
  { scene, width, colorScheme = 'light', language = 'en' }: Picture,
): Promise<Buffer> {
  const page = await newPage(stage, {
    colorScheme,
    deviceScaleFactor: 1,
    reducedMotion: 'reduce',
    viewport: { width, height: 200 },
  });
  await show(stage, page, stage.scene(scene), language);
  const png = await page.screenshot({ fullPage: true, animations: 'disabled', caret: 'hide' });
  await page.context().close();
  return png;
}
