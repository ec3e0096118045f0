// One page of each kind in a real browser, as axe and the layout tell of it; the galleries look at all of them, in every light and width.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { CONTEXT, type Gallery, GROUPS, startGallery } from './operate/pages/gallery.ts';
import { faultsAtOnce } from './support/axe.ts';
import { AT_ONCE, layoutFaults, newPage, type Stage, show, startStage } from './support/browser.ts';
import { AXE } from './support/chromium.ts';

/** The least height of a control with a mouse; fingers get 44 (ux, section 4.1). */
const CONTROL_PX = 36;

let stage: Stage;
let gallery: Gallery;
before(async () => {
  [stage, gallery] = [await startStage(), await startGallery()];
});
after(() => Promise.all([stage?.close(), gallery?.close()]));

/** Scenes that follow from others before them. */
const FOLLOWING = /^passkey to be removed/;

/** The first of each kind: what stands before a comma in its name. */
function oneOfEach<T extends { name: string }>(scenes: readonly T[], end: RegExp): T[] {
  return [...Map.groupBy(scenes, ({ name }) => name.split(end)[0]).values()].map(([first]) => first!);
}

async function look(page: Page, name: string, controlPx?: number): Promise<void> {
  const faults = await faultsAtOnce(page, controlPx);
  assert.deepEqual(
    faults.filter(
      (fault) =>
        !/input#(reason|mode|end|overlap|despite|account)\b/.test(fault) &&
        !/color-contrast: text\[/.test(fault), // axe cannot tell what lies behind a text of a drawing
    ),
    [],
    name,
  );
}

test('a customer can read and use a page of each kind.', async () => {
  const page = await newPage(stage, { withAxe: true, ...AT_ONCE });
  for (const scene of oneOfEach(stage.scenes, /[, ]/)) {
    assert.equal(await show(stage, page, scene), scene.status, scene.name);
    await look(page, scene.name);
  }
});

for (const group of GROUPS)
  test(`an administrator can read and use a page of each kind: ${group}.`, async () => {
    const context = await stage.browser.newContext(CONTEXT);
    await context.addInitScript(AXE);
    const page = await context.newPage();
    const kinds = oneOfEach(
      GROUPS.flatMap((one) => gallery.groups[one]),
      /,/,
    );
    for (const scene of kinds) {
      if (!gallery.groups[group].includes(scene) || FOLLOWING.test(scene.name)) continue;
      const { status } = await gallery.show(page, scene);
      assert.equal(status, scene.status ?? 200, scene.name);
      await look(page, scene.name, CONTROL_PX);
    }
    await context.close();
  });

/** What an administrator prints, and what of it paper must show. */
const PRINTED: Readonly<Record<string, string>> = {
  queue: '.rows-list li:last-child b',
  'payment, transfer': '.story > li:last-child',
  'statement line, odd': '.terms',
  'statements, report': '.records tbody tr:last-child td',
};
/** What is of no use on paper. */
const SCREEN_ONLY = '.rail, footer, button, .chips, .primary';
/** A sheet of A4 upright and sideways, in CSS pixels inside its margins. */
const SHEETS = [
  { width: 673, height: 1017 },
  { width: 1002, height: 687 },
];

/** Panes of which paper would show the beginning alone. */
const CUT_OFF = `[...document.querySelectorAll('body, body *')]
  .filter((one) => one.checkVisibility() && !one.matches('.vh, .sprite, thead'))
  .filter((one) => getComputedStyle(one).overflowY !== 'visible' && one.scrollHeight > one.clientHeight + 1)
  .map((one) => one.tagName + '.' + one.className)`;

test('what an administrator works with prints whole, and is laid out well in forced colours at 400 %.', async () => {
  const page = await (await stage.browser.newContext(CONTEXT)).newPage();
  const scenes = GROUPS.flatMap((group) => gallery.groups[group]);
  for (const [name, last] of Object.entries(PRINTED)) {
    await page.setViewportSize({ width: 1280, height: 1024 });
    await page.emulateMedia({ media: 'print' });
    await gallery.show(page, scenes.find((one) => one.name === name)!);
    for (const sheet of SHEETS) {
      await page.setViewportSize(sheet);
      assert.deepEqual(await page.evaluate(CUT_OFF), [], `${name} on ${sheet.width} px`);
      assert.ok(await page.locator(last).last().isVisible(), `${name} on ${sheet.width} px`);
      assert.equal(await page.locator(SCREEN_ONLY).filter({ visible: true }).count(), 0, name);
    }
    await page.emulateMedia({ media: 'screen', forcedColors: 'active' });
    await page.setViewportSize({ width: 1280 / 4, height: 1024 / 4 });
    assert.deepEqual(await layoutFaults(page, CONTROL_PX), [], name);
    await page.emulateMedia({ forcedColors: 'none' });
  }
});

/** One page of the documentation of each kind: a list, prose with examples, a diagram, fields, what a search found, and nothing. */
const DOCUMENTS = [
  '/docs',
  '/docs/webhooks?code=ts',
  '/docs/statuses',
  '/docs/reference',
  '/docs?q=secret',
  '/docs/nothing',
];

test('a developer can read and use a page of each kind.', async () => {
  const page = await newPage(stage, { withAxe: true, ...AT_ONCE });
  for (const path of DOCUMENTS) {
    const answer = (await page.goto(stage.harness.origin + path))!;
    assert.equal(answer.status(), path === '/docs/nothing' ? 404 : 200);
    await look(page, path, CONTROL_PX);
  }
});

/** The words of tables that stand on two lines, but for those of the last column, which takes what room there is. */
const BROKEN_WORDS = `(() => {
  const broken = new Set();
  for (const cell of document.querySelectorAll('th, td:not(:last-child)')) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode())
      for (const { index, 0: word } of text.data.matchAll(/\\w+/g)) {
        const range = new Range();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.add(word);
      }
  }
  return [...broken];
})()`;

test('tables of the documentation break no word, and a narrow page has its contents folded.', async () => {
  const page = await newPage(stage, { withAxe: true });
  for (const path of ['/docs/testing', '/docs/statuses', '/docs/reference', '/docs/errors']) {
    await page.goto(stage.harness.origin + path);
    assert.deepEqual(await page.evaluate(BROKEN_WORDS), [], path);
  }
  await page.goto(`${stage.harness.origin}/docs/reference`);
  const link = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true });
  const shown = () => Promise.all([link('Going live').count(), link('Create a payment').count()]);
  assert.deepEqual(await shown(), [1, 0]);
  await page.setViewportSize({ width: 390, height: 844 });
  assert.deepEqual(await shown(), [0, 0]);
  await page.getByText('Contents', { exact: true }).click();
  assert.deepEqual(await shown(), [1, 1]);
});
