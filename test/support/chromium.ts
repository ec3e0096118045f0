// A real Chromium out of the package registry, headless.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import chromium from '@sparticuz/chromium';
import { type Browser, type Page, chromium as playwright } from 'playwright-core';

/** The package's own arguments switch web security off and run all in one process: not what a customer has. Quiet: without these it looks for its maker's hosts at every start. */
const QUIET = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
];

/** A page with axe makes much garbage: with a larger young generation, less of it is looked through. */
const YOUNG = '--js-flags=--min-semi-space-size=16';

const axePath = createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js');
/** What a page is made with that axe is to look at. It is started with `startAxe`: most pages on the way are never asked. */
export const AXE = { content: `window.startAxe = function () {\n${readFileSync(axePath, 'utf8')}\n};` };

export async function startChromium(): Promise<Browser> {
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: ['--no-sandbox', '--disable-gpu', YOUNG, ...QUIET],
    headless: true,
  });
}

/** Does what leads to another page, and waits until that is whole: before, a part of it can be read, or undefined. */
export async function loaded(page: Page, act: () => Promise<unknown>): Promise<void> {
  await Promise.all([page.waitForEvent('load'), act()]);
}

/** Presses Tab until what `selector` names has the focus. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab');
    if (await page.locator(`${selector}:focus`).count()) return;
  }
  assert.fail(`Tab does not lead to ${selector}`);
}
