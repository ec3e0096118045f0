// What axe and the layout tell of a page in a real browser: each rule once, and again where a width or the light can change its answer.
import type { Page } from 'playwright-core';
import { layoutFaults, unfold } from './browser.ts';
import { looksOf } from './looks.ts';

/** What of axe is asked: WCAG to 2.2 at A and AA, and its makers' advice. */
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The rules that a colour can break. */
export const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];
/** The rules that a width can break: what is hidden or moved there may have been somebody's name, heading or target. */
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
declare const axe: { run(options: object): Promise<{ violations: Finding[]; incomplete: Finding[] }> };

/** What axe finds wrong, or cannot tell, in a page made `withAxe`; `asked` are tags of its rules, or rules; `but` are rules. */
function axeFaults(page: Page, asked: readonly string[], but: readonly string[] = []): Promise<string[]> {
  const rules = Object.fromEntries(but.map((rule) => [rule, { enabled: false }]));
  // What passes is not asked for, nor is any style sheet fetched anew.
  const given = { runOnly: asked, rules, resultTypes: ['violations', 'incomplete'], preload: false };
  return page.evaluate(async (options) => {
    const { violations, incomplete } = await axe.run(options);
    return [...violations, ...incomplete].flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    );
  }, given);
}

/** The looks of texts whose colours axe has passed, on all pages of this process. */
const passed = new Set<string>();

/**
 * What axe finds wrong, or cannot tell, in a page of which `asked` is asked: the rules of colours only where a text has a look that
 * no page had before, because they would say the same again and take longer than all others.
 */
export async function faultsOfNewLooks(page: Page, asked: readonly string[]): Promise<string[]> {
  const looks = await looksOf(page);
  const but = looks.every((look) => passed.has(look)) ? COLOUR_RULES : [];
  if (asked.every((rule) => but.includes(rule))) return [];
  const faults = await axeFaults(page, asked, but);
  if (!faults.some((fault) => COLOUR_RULES.some((rule) => fault.startsWith(`${rule}:`))))
    for (const look of looks) passed.add(look);
  return faults;
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
  note('narrow', [...(await layoutFaults(page, controlPx)), ...(await axeFaults(page, WIDTH_RULES))]);
  await resize(WIDE);
  note('wide', [...(await layoutFaults(page, controlPx)), ...(await faultsOfNewLooks(page, AXE_TAGS))]);
  if (inTheDark) {
    await page.emulateMedia({ colorScheme: 'dark' });
    note('dark', await faultsOfNewLooks(page, COLOUR_RULES));
    await page.emulateMedia({ colorScheme: 'light' });
  }
  return faults;
}
