// Scenes in a real browser: each opened in one step, and what is measured of a page there.
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { SCENES } from '../checkout/scenes.ts';
import { AXE, startChromium } from './chromium.ts';
import { FROM_OUR_PAGE } from './customer.ts';
import { type Harness, startHarness } from './harness.ts';
import { SHOP } from './shop.ts';

/** A scene whose payment is made. */
export interface ReadyScene {
  name: string;
  status: number;
  path: string;
  /** What a form must send to show it, where no address does. */
  form?: Record<string, string>;
}

export interface Stage {
  harness: Harness;
  browser: Browser;
  scenes: readonly ReadyScene[];
  /** The scene of this name. */
  scene(name: string): ReadyScene;
  close(): Promise<void>;
}

/** Scenes are sent again in every light, width and language, all from one address; one payment's forms as any customer's. */
const ONE_ADDRESS = 'checkout_forms_per_address: 10000\n';

/** The service with a payment for each scene, and a browser. */
export async function startStage(): Promise<Stage> {
  await using started = new AsyncDisposableStack(); // closed here where something below fails
  const harness = started.adopt(await startHarness('sqlite', { configuration: SHOP + ONE_ADDRESS }), (one) =>
    one.close(),
  );
  const scenes: ReadyScene[] = [];
  for (const { name, status, make } of SCENES) {
    const made = await make(harness);
    scenes.push({ name, status, ...(typeof made === 'string' ? { path: made } : made) });
  }
  const browser = started.adopt(await startChromium(), (one) => one.close());
  const open = started.move();
  return {
    harness,
    browser,
    scenes,
    scene: (name) => scenes.find((one) => one.name === name)!,
    close: () => open.disposeAsync(),
  };
}

/** What a page is made with whose light is changed while it is shown: its colours change at once. */
export const AT_ONCE = { reducedMotion: 'reduce' } as const;

/** A page of its own context in `browser`, without scripts; with axe, which is one, where `withAxe` asks for it. */
export async function newPage(
  { browser }: Stage,
  { withAxe = false, ...options }: BrowserContextOptions & { withAxe?: boolean } = {},
): Promise<Page> {
  const context = await browser.newContext({
    javaScriptEnabled: withAxe,
    bypassCSP: withAxe,
    viewport: { width: 1280, height: 720 },
    ...options,
  });
  // Once for all pages: given anew with each, it would take longer than what it checks.
  if (withAxe) await context.addInitScript(AXE);
  return context.newPage();
}

/** The address of `scene` in a language. */
export function addressOf({ harness }: Stage, { path }: ReadyScene, language = 'en'): URL {
  const url = new URL(path, harness.origin);
  url.searchParams.set('lang', language);
  return url;
}

/** Shows `scene` and returns the HTTP status of what is shown. */
export async function show(stage: Stage, page: Page, scene: ReadyScene, language = 'en'): Promise<number> {
  const address = addressOf(stage, scene, language).href;
  if (!scene.form) return (await page.goto(address))!.status();
  await page.goto(address.replace(/#.*/, ''));
  await page.evaluate((values) => {
    for (const one of document.querySelectorAll('form :is(input, textarea)'))
      one.value = values[one.name] ?? '';
  }, scene.form);
  const sent = page.waitForResponse(
    (response) => response.request().isNavigationRequest() && response.status() !== 303,
  );
  await page.locator('form button.primary').click();
  const response = await sent;
  await page.waitForLoadState();
  const hasTarget = (await page.locator(':target').count()) > 0;
  if (hasTarget) await page.locator(':target:focus').waitFor(); // it comes with the next frame that is drawn
  return response.status();
}

/** The page of `scene` as it comes over the wire, to a browser with this cookie. */
export async function fetched(
  stage: Stage,
  scene: ReadyScene,
  language = 'en',
  cookie?: string,
): Promise<string> {
  const { form } = scene;
  const sent = {
    headers: { ...(form && FROM_OUR_PAGE), ...(cookie && { cookie }) },
    ...(form && { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' as const }),
  };
  return (await fetch(addressOf(stage, scene, language), sent)).text();
}

/** As much of the browser's own types as is measured; the program is checked without them. */
interface Shown {
  name: string;
  value: string;
  id: string;
  className: unknown;
  tagName: string;
  textContent: string;
  parentElement: Shown | null;
  nextElementSibling: Shown | null;
  open: boolean;
  clientWidth: number;
  scrollWidth: number;
  clientHeight: number;
  scrollHeight: number;
  checkVisibility(): boolean;
  matches(selector: string): boolean;
  closest(selector: string): Shown | null;
  contains(other: Shown | null): boolean;
  compareDocumentPosition(other: Shown): number;
  getBoundingClientRect(): {
    left: number;
    right: number;
    top: number;
    bottom: number;
    width: number;
    height: number;
  };
}
declare const document: {
  activeElement: Shown;
  body: Shown;
  documentElement: Shown & { dir: string; dataset: Record<string, string> };
  scrollingElement: Shown;
  querySelector(selector: string): Shown | null;
  querySelectorAll(selector: string): Iterable<Shown>;
  getAnimations(): unknown[];
  createTreeWalker(root: Shown, show: number): { nextNode(): { data: string; parentElement: Shown } | null };
};
declare const scrollY: number;
declare const innerWidth: number;
declare const innerHeight: number;
declare function getComputedStyle(element: Shown): Record<string, string>;

/** What is too wide, too small to hit (`controlPx`: the least height of what is pressed), or hides its own text. Empty where a page is laid out well. */
export function layoutFaults(page: Page, controlPx = 44): Promise<string[]> {
  return page.evaluate((controlHeight) => {
    const faults: string[] = [];
    const called = (one: Shown) =>
      `${one.tagName.toLowerCase()}${one.id && `#${one.id}`}.${one.className} "${one.textContent.trim().slice(0, 40)}"`;
    const wide = document.scrollingElement.scrollWidth;
    if (wide > innerWidth) faults.push(`the page is ${wide} px wide`);
    /** A pane with a scroll of its own hides nothing: axe sees to it that keys reach it. */
    const isPane = (overflow: string | undefined) => overflow === 'auto' || overflow === 'scroll';
    const main = document.querySelector('main');
    const high = document.scrollingElement.scrollHeight;
    const isInWindow = main !== null && main.getBoundingClientRect().bottom <= innerHeight;
    if (isInWindow && isPane(getComputedStyle(main).overflowY) && high > innerHeight)
      faults.push(`the page scrolls to ${high} px beside its panes`);
    for (const one of document.querySelectorAll('body *')) {
      // What only a screen reader reads takes no room.
      if (!one.checkVisibility() || one.closest('.vh')) continue;
      const { left, right, bottom, width, height } = one.getBoundingClientRect();
      if (left < -0.5 || right > innerWidth + 0.5) faults.push(`${called(one)} lies outside`);
      const below = one.matches('.field, fieldset') ? one.nextElementSibling : null;
      const gap = below?.checkVisibility() ? below.getBoundingClientRect().top - bottom : -1;
      if (gap >= 0 && gap < 6) faults.push(`${called(one)} is ${gap} px from what follows`);
      const { overflowX, overflowY, display } = getComputedStyle(one);
      const isInput = one.matches('input, textarea');
      if (overflowX !== 'visible' && !isInput && one.scrollWidth > one.clientWidth)
        faults.push(`${called(one)} hides text beside`);
      if (overflowY !== 'visible' && !isPane(overflowY) && !isInput && one.scrollHeight > one.clientHeight)
        faults.push(`${called(one)} hides text below`);
      if (display !== 'inline' && one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1 && !isInput)
        faults.push(`${called(one)} is too narrow for its text`);
      // The label of a radio button is hit with it.
      if (
        !one.matches('a, button, input:not([type=radio]), select, textarea, summary, label:has([type=radio])')
      )
        continue;
      // A link within a sentence is as high as its line (WCAG 2.5.8).
      const isInSentence =
        display === 'inline' && one.parentElement!.textContent.trim() !== one.textContent.trim();
      // A field that only a keyboard reaches lies over the text that a pointer takes.
      const least = one.matches(
        'button, .primary, .secondary, input:not([readonly], [type=checkbox]), textarea, label, .cancel summary',
      )
        ? controlHeight
        : 24;
      if (!isInSentence && (width < 24 || height < least))
        faults.push(`${called(one)} is ${width} × ${height} px, under ${least}`);
    }
    return faults;
  }, controlPx);
}

/** Opens every disclosure, so that what is inside is measured too; but no menu, which would lie over what it covers. */
export async function unfold(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const one of document.querySelectorAll('details:not(.menu)')) one.open = true;
  });
}

/** Makes every word of ours two fifths longer and accented, as a language with long words would. */
export async function lengthen(page: Page): Promise<void> {
  await page.evaluate(() => {
    const texts = document.createTreeWalker(document.body, 4);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      if (text.data.trim() === '' || text.parentElement.closest('bdi, code, .words')) continue;
      text.data = text.data.replace(/\p{L}+/gu, (word) => {
        const more = 'ñëûğšïåøþ'.repeat(9).slice(0, Math.ceil(word.length * 0.4));
        return (
          word.replace(/[aeiou]/g, (letter) => ({ a: 'å', e: 'é', i: 'ï', o: 'ø', u: 'ü' })[letter]!) + more
        );
      });
    }
  });
}

/** What Tab leads to: which of the things that can have focus, where it lies, and how it shows that it has it. */
export interface Stop {
  /** Its place among the page's things that can have focus; -1 where it is none of them. */
  index: number;
  what: string;
  box: { left: number; right: number; top: number; bottom: number };
  isInView: boolean;
  outlinePx: number;
}

/** What Tab stops at: of radio buttons the chosen one alone. */
const STOPS = 'a[href], button, input:not([type=radio]:not(:checked)), textarea, summary';

/** How many things can have focus, from where a page starts to be read, and whether it is read from the right. */
export function focusable(page: Page): Promise<{ count: number; first: number; isRtl: boolean }> {
  return page.evaluate((selector) => {
    const all = [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
    const target = document.querySelector(':target');
    const first = target ? all.findIndex((one) => target.compareDocumentPosition(one) & 4) : 0;
    return { count: all.length, first, isRtl: document.documentElement.dir === 'rtl' };
  }, STOPS);
}

/** Presses Tab, or goes on holding it, and tells where that leads. */
export async function tab(page: Page): Promise<Stop> {
  await page.keyboard.down('Tab');
  return page.evaluate((selector) => {
    const all = [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
    const one = document.activeElement;
    const { left, right, top, bottom } = one.getBoundingClientRect();
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    return {
      index: all.indexOf(one),
      what: `${one.tagName.toLowerCase()} ${one.id || one.textContent.trim()}`,
      box: { left, right, top: top + scrollY, bottom: bottom + scrollY },
      isInView: top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth,
      outlinePx: outlineStyle === 'none' ? 0 : Number.parseFloat(outlineWidth!),
    };
  }, STOPS);
}

/** What moves by itself, or would when touched. */
export function motions(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('*')]
      .filter((one) => {
        const { animationName, transitionDuration } = getComputedStyle(one);
        return animationName !== 'none' || !/^0s(, 0s)*$/.test(transitionDuration!);
      })
      .map((one) => `${one.tagName} ${one.className}`),
  );
}

/** The colour behind everything. */
export function canvasOf(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.body).backgroundColor!);
}

/** Shows a page as it is served to a visitor who chose this theme, or none. */
export async function chooseTheme(page: Page, theme: string | undefined): Promise<void> {
  await page.evaluate((chosen) => {
    if (chosen) document.documentElement.dataset.theme = chosen;
    else delete document.documentElement.dataset.theme;
  }, theme);
}

/** The colours of everything on a page but the links at its foot, which tell what was chosen. */
export function colours(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('html, body, body *')]
      .filter((one) => !one.closest('footer nav'))
      .map((one) => {
        const { color, backgroundColor, borderTopColor, textDecorationColor } = getComputedStyle(one);
        return [one.tagName, one.className, color, backgroundColor, borderTopColor, textDecorationColor].join(
          ' ',
        );
      }),
  );
}
