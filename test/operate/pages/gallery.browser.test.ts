// Every page and state of the console in a real browser, narrow and wide, light and dark: who can read it, hit it, and tab through it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { script } from '../../../src/administrators/pages/frame.ts';
import { consoleStylesheet } from '../../../src/web/markup/assets.ts';
import { faultsEveryWay, unroll } from '../../support/axe.ts';
import { AXE, startChromium } from '../../support/chromium.ts';
import { strictly } from '../../support/markup.ts';
import { englishIn } from '../../support/phrases.ts';
import { CONTEXT, type Gallery, GROUPS, startGallery, WRITTEN } from './gallery.ts';

/** The least height of a control with a mouse; fingers get 44 (ux, section 4.1). */
const CONTROL_PX = 36;
/** What a page may weigh with its style and its script, packed (ux, A9). */
const PAGE_BYTES = 60 * 1024;

const weight = (text: string | Buffer) => gzipSync(text).length;
const ASSETS = weight(consoleStylesheet.content) + weight(script.content);

let gallery: Gallery;
let browser: Browser;
before(async () => {
  browser = await startChromium();
  gallery = await startGallery();
});
after(async () => {
  await browser?.close();
  await gallery?.close();
});

/** The label of a radio button or a tick box is as much of a target as it is. */
const isSmallOnPurpose = (fault: string) => /input#(reason|mode|end|overlap|despite|account)\b/.test(fault);

/** All that is wrong with what a page shows, in both widths and both lights. Opens what is folded. */
async function faultsOf(page: Page): Promise<string[]> {
  const prepare = async () => {
    await thinOut(page);
    await unroll(page);
  };
  const faults = await faultsEveryWay(page, { controlPx: CONTROL_PX, prepare });
  return faults.filter((fault) => !isSmallOnPurpose(fault));
}

/** Takes out of long tables what is like what stays: axe would look at each row three times. */
function thinOut(page: Page): Promise<void> {
  return page.evaluate(() => {
    for (const row of document.querySelectorAll('tbody tr:nth-child(n + 6):nth-last-child(n + 6)'))
      row.remove();
  });
}

/** As much of the browser's own types as is looked at. */
interface Shown {
  id: string;
  textContent: string;
  hash: string;
  focus(): void;
  remove(): void;
  checkVisibility(options?: object): boolean;
  matches(selector: string): boolean;
  getAttribute(name: string): string | null;
}
declare const document: {
  activeElement: Shown;
  querySelectorAll(selector: string): Iterable<Shown>;
  getElementById(id: string): Shown | null;
};
declare function getComputedStyle(element: Shown, part?: string): Record<string, string>;

/** What does not show that it has the focus, after Tab was pressed. */
async function unseenFocus(page: Page): Promise<string[]> {
  await page.keyboard.press('Tab');
  return page.evaluate(() => {
    const isOutlined = ({ outlineStyle, outlineWidth }: Record<string, string>) =>
      outlineStyle !== 'none' && Number.parseFloat(outlineWidth!) >= 2;
    const faults: string[] = [];
    for (const one of document.querySelectorAll(
      'a[href], button, input, select, textarea, summary, [tabindex="0"]',
    )) {
      if (!one.checkVisibility({ visibilityProperty: true })) continue;
      one.focus();
      const has = document.activeElement === one;
      if (!has || !(isOutlined(getComputedStyle(one)) || isOutlined(getComputedStyle(one, '::after'))))
        faults.push(`focus is not seen on "${one.id || one.textContent.trim().slice(0, 40)}"`);
    }
    return faults;
  });
}

/** What of a form's faults cannot be found: each of the summary leads to a field, and each field says its own. */
function untoldFaults(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults: string[] = [];
    for (const link of document.querySelectorAll('.errors li a')) {
      const field = document.getElementById(decodeURIComponent(link.hash.slice(1)));
      if (!field?.matches('input, select, textarea')) faults.push(`"${link.textContent}" leads to no field`);
    }
    for (const field of document.querySelectorAll('[aria-invalid="true"]')) {
      const ids = (field.getAttribute('aria-describedby') ?? '').split(' ');
      const told = ids.map((id) => document.getElementById(id)).find((one) => one?.matches('.error'));
      if (!told?.checkVisibility()) faults.push(`#${field.id} does not say what is wrong with it`);
    }
    return faults;
  });
}

/** In how many tests a group is looked at, one after another, of which none takes long on a slow machine. */
const PARTS = 3;

describe('every page and state', { concurrency: 2 }, () => {
  for (const group of GROUPS)
    describe('can be read and used by everybody', { concurrency: 1 }, () => partsOf(group));
});

function partsOf(group: (typeof GROUPS)[number]): void {
  for (let part = 0; part < PARTS; part++)
    test(`${group}, ${part + 1} of ${PARTS}.`, async () => {
      // Without `bypassCSP`: what breaks the policy is told on the browser's console.
      const context = await browser.newContext(CONTEXT);

      await context.addInitScript(AXE);
      const page = await context.newPage();
      const said: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') said.push(message.text());
      });
      page.on('pageerror', (error) => void said.push(String(error)));
      const all: Record<string, string[]> = {};
      const scenes = gallery.groups[group];
      const [from, to] = [part, part + 1].map((end) => Math.round((end * scenes.length) / PARTS));
      for (const scene of scenes.slice(from, to)) {
        said.length = 0;
        const { status, text, german } = await gallery.show(page, scene);
        const faults = said.filter((one) => !/^Failed to load resource: .* status of [45]\d\d/.test(one));
        if (status !== (scene.status ?? 200)) faults.push(`answered ${status}`);
        faults.push(...strictly(text.replaceAll(/<\/?noscript>/g, '')).faults, ...(await untoldFaults(page)));
        if (german !== undefined) {
          if (!german.includes('<html lang="de"')) faults.push('is not in German where that is asked for');
          faults.push(...englishIn(german, WRITTEN).map((one) => `says in German: ${one}`));
        }
        if (/ (?:aria-label|title|placeholder)="[^"]*&lt;/.test(text)) faults.push('a label holds markup');
        const bytes = weight(text) + ASSETS;
        if (bytes > PAGE_BYTES) faults.push(`weighs ${bytes} bytes`);
        if (text.includes('id="errors"') !== (await page.title()).startsWith('Error: '))
          faults.push('its title does not say whether there is a problem');
        faults.push(...(await faultsOf(page)), ...(await unseenFocus(page)));
        if (faults.length > 0) all[scene.name] = [...new Set(faults)];
      }
      await context.close();
      assert.deepEqual(all, {});
    });
}
