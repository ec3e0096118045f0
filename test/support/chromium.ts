// A real Chromium out of the package registry, headless.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContextOptions, type Page, chromium as playwright } from 'playwright-core';
import { ROOT } from './command.ts';

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

/** Where Chromium lies unpacked. It is unpacked once for all runs, since that costs seconds of a processor. */
async function executablePath(): Promise<string> {
  const packed = JSON.parse(
    readFileSync(join(ROOT, 'node_modules/@sparticuz/chromium/package.json'), 'utf8'),
  );
  const kept = join(ROOT, 'node_modules/.cache', `chromium-${packed.version}`);
  if (!existsSync(kept)) {
    mkdirSync(dirname(kept), { recursive: true });
    const made = mkdtempSync(`${kept}-`);
    const { TMPDIR } = process.env;
    process.env.TMPDIR = made; // where the package unpacks it
    await chromium.executablePath();
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    try {
      renameSync(made, kept);
    } catch (error) {
      if (!existsSync(kept)) throw error; // otherwise another run was faster
      rmSync(made, { recursive: true });
    }
  }
  return join(kept, 'chromium');
}

const axePath = createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js');
/** What a page is made with that axe is to look at. It is started with `startAxe`: most pages on the way are never asked. */
export const AXE = { content: `window.startAxe = function () {\n${readFileSync(axePath, 'utf8')}\n};` };

const launchOptions = async () => ({
  timeout: 0,
  executablePath: await executablePath(),
  args: ['--no-sandbox', '--disable-gpu', YOUNG, ...QUIET],
  headless: true,
});

/** Starts the Chromium that all test files of a run share. Its `url` is what they find in `COUNTERFOIL_TEST_CHROMIUM`. */
export async function launchShared(): Promise<{ url: string; close(): Promise<void> }> {
  const server = await playwright.launchServer({ ...(await launchOptions()), host: '127.0.0.1' });
  return { url: server.wsEndpoint(), close: () => server.close() };
}

/**
 * A Chromium for one file: the run's, or where there is none one of its own. Closing it closes what the file opened. No wait for what is to
 * be seen in a page has a bound but the test's own.
 */
export async function startChromium(): Promise<Browser> {
  const shared = process.env.COUNTERFOIL_TEST_CHROMIUM;
  const browser = shared ? await playwright.connect(shared) : await playwright.launch(await launchOptions());
  browser.on('context', (context) => {
    context.setDefaultTimeout(0);
    context.setDefaultNavigationTimeout(0);
  });
  return browser;
}

/** A page of its own in the console, of whoever has these cookies. To be closed with its context. */
export async function consolePage(
  browser: Browser,
  { origin }: { origin: string },
  { cookies }: { cookies: ReadonlyMap<string, string> },
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext(options);
  await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: origin })));
  return context.newPage();
}

/** A keyboard that counts its keys. Pasting is one. */
export class CountedKeys {
  count = 0;
  readonly #page: Page;
  constructor(page: Page) {
    this.#page = page;
  }
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.#page.keyboard.press(key);
    this.count += keys.length;
  }
  /** Presses a key that leads to another page. */
  async lead(key: string): Promise<void> {
    await loaded(this.#page, () => this.press(key));
  }
  async paste(text: string): Promise<void> {
    this.count += 1;
    await this.#page.keyboard.insertText(text);
  }
}

/** Does what leads to another page, and waits until that is whole: before, a part of it can be read, or undefined. */
export async function loaded(page: Page, act: () => Promise<unknown>): Promise<void> {
  await Promise.all([page.waitForEvent('load'), act()]);
}

/** Presses the first button of a page's content that is called so, which leads to another page. */
export const press = (name: string | RegExp) => (page: Page) =>
  loaded(page, () => page.locator('main').getByRole('button', { name }).first().click());

/** Follows the first link that is called so. */
export const follow = (name: string | RegExp) => (page: Page) =>
  loaded(page, () => page.getByRole('link', { name, exact: true }).first().click());

/** Follows a link to a part of the same page, which has the focus in the next frame that is drawn. */
export async function jump(page: Page, act: () => Promise<unknown>): Promise<void> {
  await act();
  await page.locator(':target:focus').waitFor();
}

/** Presses Tab until what `selector` names has the focus. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab');
    if (await page.locator(`${selector}:focus`).count()) return;
  }
  assert.fail(`Tab does not lead to ${selector}`);
}
