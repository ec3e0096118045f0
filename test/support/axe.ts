// What axe and the layout tell of a page in a real browser: each rule once, and again where a width or the light can change its answer.
import type { Page } from 'playwright-core';
import { layoutFaults, unfold } from './browser.ts';
import { looksOf } from './looks.ts';

/** What of axe is asked: WCAG to 2.2 at A and AA, and its makers' advice. */
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The rules that a colour can break. */
export const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];
/** The rules that another width can break: what is hidden or moved there may have been somebody's name or heading. */
const WIDTH_RULES = [
  'target-size',
  'scrollable-region-focusable',
  'meta-viewport',
  'label',
  'select-name',
  'button-name',
  'link-name',
  'heading-order',
  'region',
  'empty-heading',
  'empty-table-header',
  'td-headers-attr',
  'aria-hidden-focus',
  'skip-link',
  'landmark-unique',
  'page-has-heading-one',
];
const HEIGHT = 800;
const [WIDE, NARROW] = [1280, 320];

interface Finding {
  id: string;
  nodes: { target: string[]; failureSummary: string }[];
}
declare const axe: {
  run(context: unknown, options: object): Promise<{ violations: Finding[]; incomplete: Finding[] }>;
};
declare const window: { axe?: unknown; startAxe(): void; looked: Map<string, unknown> };

interface Question {
  /** Tags of axe's rules, or rules. */
  asked: readonly string[];
  /** Rules of `asked` that are left out. */
  but?: readonly string[];
  /** The looks of the texts that alone are looked at. */
  looks?: readonly string[];
}

/** What axe finds wrong, or cannot tell, in a page made `withAxe`. */
function axeFaults(page: Page, { asked, but = [], looks }: Question): Promise<string[]> {
  const rules = Object.fromEntries(but.map((rule) => [rule, { enabled: false }]));
  // What passes is not asked for, nor is any style sheet fetched anew.
  const options = { runOnly: asked, rules, resultTypes: ['violations', 'incomplete'], preload: false };
  return page.evaluate(
    async ({ options, looks }) => {
      if (!window.axe) window.startAxe();
      const context = looks ? { include: looks.map((look) => window.looked.get(look)) } : document;
      const { violations, incomplete } = await axe.run(context, options);
      return [...violations, ...incomplete].flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
      );
    },
    { options, looks },
  );
}

/** The looks of texts whose colours axe has passed, on all pages of this process. */
const passed = new Set<string>();

/**
 * What axe finds wrong, or cannot tell, in a page of which `asked` is asked: the rules of colours only of texts with a look that
 * no page had before, because they would say the same again and take longer than all others.
 */
export async function faultsOfNewLooks(page: Page, asked: readonly string[]): Promise<string[]> {
  const looks = (await looksOf(page)).filter((look) => !passed.has(look));
  const ofColours = looks.length > 0 ? await axeFaults(page, { asked: COLOUR_RULES, looks }) : [];
  if (ofColours.length === 0) for (const look of looks) passed.add(look);
  const hasOthers = asked.some((rule) => !COLOUR_RULES.includes(rule));
  return [...ofColours, ...(hasOthers ? await axeFaults(page, { asked, but: COLOUR_RULES }) : [])];
}

export interface EveryWay {
  /** The least height of what is pressed. */
  controlPx?: number;
  /** Whether colours are looked at in the dark too: they differ by the light alone, not by the width or the direction. */
  inTheDark?: boolean;
  /** What is done once all is unfolded, before axe looks. */
  prepare?: (page: Page) => Promise<void>;
}

/**
 * All that is wrong with what a page made `withAxe` shows: as it lies in both widths, folded and unfolded, and what axe says of it
 * wide and in the light, and of what may differ narrow and in the dark. Leaves it wide, in the light, and unfolded.
 */
export async function faultsEveryWay(
  page: Page,
  { controlPx, inTheDark = true, prepare }: EveryWay = {},
): Promise<string[]> {
  const faults: string[] = [];
  const note = (where: string, found: readonly string[]) =>
    faults.push(...found.map((fault) => `${where}: ${fault}`));
  const resize = async (width: number) => {
    if (page.viewportSize()?.width !== width) await page.setViewportSize({ width, height: HEIGHT });
  };
  await resize(WIDE);
  note('wide, folded', await layoutFaults(page, controlPx));
  await resize(NARROW);
  note('narrow, folded', await layoutFaults(page, controlPx));
  await unfold(page);
  await prepare?.(page);
  note('narrow', await layoutFaults(page, controlPx));
  const narrow = await boxesOf(page);
  await resize(WIDE);
  note('wide', [...(await layoutFaults(page, controlPx)), ...(await faultsOfNewLooks(page, AXE_TAGS))]);
  if (narrow !== (await boxesOf(page))) {
    await resize(NARROW);
    note('narrow', await axeFaults(page, { asked: WIDTH_RULES }));
    await resize(WIDE);
  }
  if (inTheDark) {
    await page.emulateMedia({ colorScheme: 'dark' });
    note('dark', await faultsOfNewLooks(page, COLOUR_RULES));
    await page.emulateMedia({ colorScheme: 'light' });
  }
  return faults;
}

/** Lays out in full what panes cut off, and nothing over anything else: axe cannot tell the colours of what is covered. */
export function unroll(page: Page): Promise<void> {
  return page.evaluate(() => {
    for (const one of document.querySelectorAll('body.desk, .desk *')) {
      const { position, overflowY } = getComputedStyle(one);
      if (position === 'sticky') one.style.position = 'static';
      if (one.matches(':popover-open'))
        Object.assign(one.style, { position: 'absolute', inset: '4000px auto auto 0' });
      if (overflowY === 'auto') one.style.overflow = 'visible';
      if (one.matches('.desk, .panes > *')) one.style.blockSize = 'auto';
    }
  });
}

/** What is wrong with a page made `withAxe` as it lies now, wide and in the light, and with its layout narrow and unfolded. Leaves it narrow. */
export async function faultsAtOnce(page: Page, controlPx?: number): Promise<string[]> {
  await page.setViewportSize({ width: WIDE, height: HEIGHT });
  await unroll(page);
  const wide = await faultsOfNewLooks(page, AXE_TAGS);
  await page.setViewportSize({ width: NARROW, height: HEIGHT });
  await unfold(page);
  return [...wide, ...(await layoutFaults(page, controlPx))];
}

/**
 * Which elements of a page are there, and which are boxes of a table. Of two widths in which these are the same, axe can say different
 * things only of what is too small to hit or scrolls, and of both `layoutFaults` demands more.
 */
function boxesOf(page: Page): Promise<string> {
  return page.evaluate(() =>
    [...document.querySelectorAll('body *')]
      .map((one) => {
        const { display } = getComputedStyle(one);
        return [
          one.checkVisibility({ visibilityProperty: true }),
          /^(table|contents)/.test(display!) && display,
        ];
      })
      .join(),
  );
}

/** As much of the browser's own types as is looked at. */
interface Shown {
  style: Record<string, string>;
  matches(selector: string): boolean;
  checkVisibility(options: object): boolean;
}
declare const document: { querySelectorAll(selector: string): Iterable<Shown> };
declare function getComputedStyle(element: Shown): Record<string, string>;
