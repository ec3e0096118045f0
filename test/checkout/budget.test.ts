// What a page to pay on may weigh: so little that it is there before a slow connection is felt.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { fetched, newPage, show, startStage } from '../support/browser.ts';
import { shared } from '../support/shared.ts';

const KB = 1024;
const TOGETHER = 20 * KB;
const HTML = 12 * KB;
const CSS = 10 * KB;
const REQUESTS = 6;
/** Lines may break elsewhere in the typeface than in the font that stood in for it; up to 0.1 is called good. */
const LATE_SHIFT = 0.01;

const stage = shared(startStage);

const pending = () => stage.scenes.filter(({ name }) => /^(pending|errors)/.test(name));
/** As a proxy in front of the service would send it. */
const weight = (content: string | Buffer) => gzipSync(content).length;

/** The style that pages link, as it comes to whoever takes no packed one. */
async function style(accepted = 'identity') {
  const page = await fetched(stage, pending()[0]!, 'en');
  const [, address] = /<link rel="stylesheet" href="([^"]+)"/.exec(page)!;
  const headers = { 'accept-encoding': accepted };
  const answer = await fetch(new URL(address!, stage.harness.origin), { headers });
  return { answer, text: await answer.text() };
}

test('the style weighs at most 10 KB.', async () => {
  const css = weight((await style()).text);
  assert.ok(css > KB && css <= CSS, `${css} bytes`);
});

test('the style goes out packed to whoever takes that, and as it is to others.', async () => {
  const { text } = await style();
  for (const [accepted, encoding] of [
    ['gzip, br', 'gzip'],
    ['identity', null],
  ] as const) {
    const { answer, text: sent } = await style(accepted);
    assert.equal(answer.headers.get('content-encoding'), encoding);
    assert.equal(answer.headers.get('vary'), 'accept-encoding');
    assert.equal(sent, text);
  }
});

for (const language of ['en', 'hi'])
  test(`every page to pay on weighs at most 12 KB, and 20 KB with its style: ${language}.`, async () => {
    const css = weight((await style()).text);
    const weights: [name: string, html: number][] = [];
    for (const scene of pending()) weights.push([scene.name, weight(await fetched(stage, scene, language))]);
    assert.ok(weights.length > 12);
    assert.deepEqual(
      weights.filter(([, html]) => html < KB || html > HTML || html + css > TOGETHER),
      [],
    );
  });

/** As much of the browser's own types as is measured. */
declare const document: {
  getAnimations(): { finished: Promise<unknown> }[];
  fonts: { ready: Promise<unknown> };
};
declare const performance: { getEntriesByName(name: string): unknown[] };
declare class PerformanceObserver {
  constructor(told: (list: { getEntries(): { value: number }[] }) => void);
  observe(options: object): void;
}

/** How far a page moves by itself: its typeface comes late, once the page is painted, or never. */
async function shiftOf(name: string, width: number, isTypefaceThere: boolean): Promise<number> {
  const page = await newPage(stage, { javaScriptEnabled: true, viewport: { width, height: 844 } });
  const isPainted = () => performance.getEntriesByName('first-contentful-paint').length > 0;
  await page.route('**/*.woff2', async (route) => {
    if (!isTypefaceThere) return route.abort();
    await page.waitForFunction(isPainted);
    return route.continue();
  });
  await show(stage, page, stage.scene(name));
  await page.waitForFunction(isPainted);
  const shift = await page.evaluate(async () => {
    await document.fonts.ready;
    await Promise.all(document.getAnimations().map(({ finished }) => finished));
    return new Promise<number>((resolve) => {
      let sum = 0;
      new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) sum += value;
      }).observe({ type: 'layout-shift', buffered: true });
      // The entries of what is painted by now come before the third frame from here.
      let frames = 3;
      const next = () => (frames-- > 0 ? requestAnimationFrame(next) : resolve(sum));
      next();
    });
  });
  await page.context().close();
  return shift;
}
declare function requestAnimationFrame(next: () => void): void;

test('a page moves nothing by itself, and next to nothing when its typeface comes late.', async () => {
  const moved: string[] = [];
  for (const name of [
    'pending, transfer in EUR',
    'pending, several methods',
    'requires review, transfer',
    'approved',
  ])
    for (const width of [390, 1280])
      for (const isTypefaceThere of [false, true]) {
        const shift = await shiftOf(name, width, isTypefaceThere);
        if (shift > (isTypefaceThere ? LATE_SHIFT : 0))
          moved.push(`${name}, ${width}, ${isTypefaceThere}: ${shift}`);
      }
  assert.deepEqual(moved, []);
});

test('every page to pay on asks for at most 6 things: itself, its style, icon and engraving, and two subsets of the typeface.', async () => {
  const asking = pending().map(async (scene) => {
    const page = await newPage(stage); // of its own, so that nothing is kept from the page before
    const asked: string[] = [];
    page.on('request', (request) => asked.push(`${request.method()} ${request.url()}`));
    await show(stage, page, scene);
    await page.waitForLoadState('networkidle');
    await page.context().close();
    // A form that was sent stood on a page before.
    return scene.form ? asked.slice(asked.findIndex((one) => one.startsWith('POST'))) : asked;
  });
  for (const asked of await Promise.all(asking))
    assert.ok(asked.length > 0 && asked.length <= REQUESTS, asked.join('\n'));
});
