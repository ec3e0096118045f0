// What a page to pay on may weigh: so little that it is there before a slow connection is felt.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { stylesheet } from '../../src/web/markup/assets.ts';
import { fetched, newPage, type Stage, show, startStage } from '../support/browser.ts';

const KB = 1024;
const TOGETHER = 20 * KB;
const HTML = 12 * KB;
const CSS = 10 * KB;
const REQUESTS = 6;

let stage: Stage;
before(async () => {
  stage = await startStage();
});
after(() => stage?.close());

const pending = () => stage.scenes.filter(({ name }) => /^(pending|errors)/.test(name));
/** As a proxy in front of the service would send it. */
const weight = (content: string | Buffer) => gzipSync(content).length;

test('the style weighs at most 10 KB.', () => {
  const css = weight(stylesheet.content);
  assert.ok(css > KB && css <= CSS, `${css} bytes`);
});

test('the style goes out packed to whoever takes that, and as it is to others.', async () => {
  const url = new URL(`/${stylesheet.name}`, stage.harness.origin);
  for (const [accepted, encoding] of [
    ['gzip, br', 'gzip'],
    ['identity', null],
  ] as const) {
    const answer = await fetch(url, { headers: { 'accept-encoding': accepted } });
    assert.equal(answer.headers.get('content-encoding'), encoding);
    assert.equal(answer.headers.get('vary'), 'accept-encoding');
    assert.equal(await answer.text(), stylesheet.content.toString());
  }
});

for (const language of ['en', 'hi'])
  test(`every page to pay on weighs at most 12 KB, and 20 KB with its style: ${language}.`, async () => {
    const css = weight(stylesheet.content);
    const weights: [name: string, html: number][] = [];
    for (const scene of pending()) weights.push([scene.name, weight(await fetched(stage, scene, language))]);
    assert.ok(weights.length > 12);
    assert.deepEqual(
      weights.filter(([, html]) => html < KB || html > HTML || html + css > TOGETHER),
      [],
    );
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
