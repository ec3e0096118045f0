// A customer's page on a slow phone: when its first words are seen, and that no line moves when the typeface comes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { addressOf, newPage, type Stage, startStage } from '../support/browser.ts';

/** The promise, milliseconds. */
const PAINT_MS = 2000;
/**
 * Layout shift (CLS; 0.1 is called good). Lines keep their places when the typeface comes, because the fonts before it have its metrics.
 * Its letters are wider or narrower by parts of a pixel, so texts that end at an edge or stand behind another begin elsewhere.
 */
const SHIFT_MAXIMUM = 0.01;
/** A processor of a quarter of this one's speed, and 400 kbit/s, 300 ms away. */
const CPU_RATE = 4;
const BYTES_PER_SECOND = 400_000 / 8;
const ROUNDS = 3;
/** Chromium's throttled processor has been seen to stand still for ever: the campaign is repeated then. */
const HUNG_MS = 60_000;

const SCENES = [
  'pending, transfer in EUR',
  'pending, several methods',
  'requires review, transfer',
  'approved',
];
const LANGUAGES = ['en', 'de', 'pl', 'ar', 'ja', 'hi'];

interface Entry {
  name: string;
  startTime: number;
  value: number;
}
declare const performance: { getEntriesByType(type: string): Entry[] };
declare const document: { fonts: { ready: Promise<unknown> } };
declare const PerformanceObserver: {
  new (take: (list: { getEntries(): Entry[] }) => void): { observe(what: object): void };
};

let stage: Stage;
before(async () => {
  stage = await startStage();
});
after(() => stage?.close());

/** When something was first painted (milliseconds since the page was asked for), and how much moved until its typeface was there. */
async function measured(page: Page, address: string): Promise<{ paint: number; shift: number }> {
  await page.goto(address, { timeout: HUNG_MS });
  return page.evaluate(async () => {
    await document.fonts.ready;
    const shifts = await new Promise<Entry[]>((resolve) => {
      const seen: Entry[] = [];
      new PerformanceObserver((list) => seen.push(...list.getEntries())).observe({
        type: 'layout-shift',
        buffered: true,
      });
      setTimeout(() => resolve(seen), 300); // after the frames that the typeface came with
    });
    const paint = performance.getEntriesByType('paint').find(({ name }) => name === 'first-contentful-paint');
    return { paint: paint!.startTime, shift: shifts.reduce((sum, { value }) => sum + value, 0) };
  });
}

for (const name of SCENES)
  test(`${name}: painted within ${PAINT_MS} ms on a slow phone, and no line moves.`, async (t) => {
    for (const language of LANGUAGES) {
      const rounds: { paint: number; shift: number }[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const page = await newPage(stage, { javaScriptEnabled: true, viewport: { width: 390, height: 844 } });
        const session = await page.context().newCDPSession(page);
        await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_RATE });
        await session.send('Network.emulateNetworkConditions', {
          offline: false,
          latency: 300,
          downloadThroughput: BYTES_PER_SECOND,
          uploadThroughput: BYTES_PER_SECOND,
        });
        rounds.push(await measured(page, addressOf(stage, stage.scene(name), language).href));
        await page.context().close();
      }
      const paints = rounds.map(({ paint }) => Math.round(paint)).sort((a, b) => a - b);
      const shift = Math.max(...rounds.map((one) => one.shift));
      t.diagnostic(`${language}: first paint ${paints.join(', ')} ms, shift ${shift.toFixed(4)}`);
      assert.ok(shift <= SHIFT_MAXIMUM, `${language}: something moved, ${shift}`);
      assert.ok(paints[0]! <= PAINT_MS, `${language}: painted after ${paints.join(', ')} ms`);
    }
  });
