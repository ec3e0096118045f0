// What the console's pages of bank statements share: what they are given, their frame, and how a line and faults of a file stand on them.

import { type Faults, notice, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import type { ReviewContext, ReviewParts } from '../../review/pages/context.ts';
import { addressOfLine } from '../../review/pages/panel.ts';
import { dayInWords } from '../../review/told.ts';
import type { Column } from '../../web/markup/table.ts';
import { exactMinor, type KeptLine, type LineState } from '../kept.ts';
import type { BankLine } from '../matching/line-evidence.ts';
import type { MatchSettings } from '../matching/propose.ts';

export interface StatementParts extends ReviewParts, MatchSettings {}

export type StatementContext = ReviewContext & StatementParts;

export const STATEMENTS_PATH = '/statements';

export const STATE_NAMES: Record<LineState, string> = {
  open: phrase('To look at'),
  matched: phrase('Matched'),
  ignored: phrase('Ignored'),
  split: phrase('Matched in parts'),
  replaced: phrase('Replaced by other lines'),
  undone: phrase('Import undone'),
};

/** What was typed into a field of a form, trimmed. */
export const typed = ({ form }: StatementContext, name: string): string => form.get(name)?.trim() ?? '';

/** The link back to the list of lines. */
export const linkBack = ({ address, say }: StatementContext): Html =>
  html`<a class="plain" href="${address(STATEMENTS_PATH)}">${say`Statements`}</a>`;

/** A page below the list of lines. */
export const pageBelow = (
  context: StatementContext,
  title: string,
  body: Html,
  faults: Faults = {},
): Outcome => ({
  ...{ title, place: STATEMENTS_PATH, faults },
  content: html`<p>${linkBack(context)}</p>\n<h1>${title}</h1>\n${body}`,
});

/** The link that leads on to the list of lines. */
export const linkToLines = ({ address, say }: StatementContext): Html =>
  html`<p><a class="primary" href="${address(STATEMENTS_PATH)}" autofocus>${say`See the lines`}</a></p>`;

/** The beginning of a form about a line, which sends it to `act`. */
export const lineForm = ({ address, token }: StatementContext, id: string, act: string, look?: 'narrow') =>
  html`<form${look && html` class="${look}"`} method="post" action="${address(`${STATEMENTS_PATH}/lines/${id}/${act}`)}" novalidate>${token}`;

/** A line's day in words; the bank may name none. */
export function dayOn({ say }: StatementContext, { day }: Pick<KeptLine, 'day'>): Html {
  if (day === '') return html`<span>${say`No day`}</span>`;
  return html`<time class="day" datetime="${day}">${dayInWords(day, say)}</time>`;
}

/** A line's amount, a debit with a minus sign. */
export function lineAmount(
  { money }: StatementContext,
  line: Parameters<typeof exactMinor>[0] & Pick<KeptLine, 'currency' | 'direction'>,
): Html {
  return html`<bdi>${line.direction === 'debit' && '−'}${money(exactMinor(line), line.currency)}</bdi>`;
}

/** An amount with its sign; a dash for one that is unknown. */
export function signedMoney({ money }: StatementContext, minor: number | undefined, currency: string): Html {
  if (minor === undefined) return html`<span>–</span>`;
  return html`<bdi>${minor < 0 && '−'}${money(Math.abs(minor), currency)}</bdi>`;
}

/** What a bank may have left out, with a dash in its place. */
export const saidOrDash = (text: string | null | undefined) => (text ? said(text) : '–');

type LineRow = { line: Pick<BankLine, 'id' | 'day' | 'amount_minor' | 'currency' | 'direction'> };

/** The column of a line's day, which leads to its page. */
export const dayColumn = (context: StatementContext): Column<LineRow> => [
  context.say`Day`,
  ({ line }) =>
    html`<a class="plain" href="${addressOfLine(context, line.id)}" data-key-row>${dayOn(context, line)}</a>`,
];

export const amountColumn = (context: StatementContext): Column<LineRow> => [
  context.say`Amount`,
  ({ line }) => lineAmount(context, line),
  'number',
];

/** Some of the faults of a file, each with its line, and how many more there are. */
export function faultItems(
  { say }: StatementContext,
  faults: readonly { line: number; text: string }[],
  most: number,
): Html {
  const more = faults.length - most;
  return html`<ul>${faults
    .slice(0, most)
    .map(
      ({ line, text }) =>
        html`<li>${line > 0 && `${say`Line ${line}:`} `}<span lang="en">${text}</span></li>\n`,
    )}</ul>
${more > 0 && html`<p>${say`${more} more.`}</p>`}`;
}

/** A sentence about something that was refused or left, with what was wrong. */
export const warnNotice = (sentence: Html | string, wrong: Html | false = false): Html =>
  notice(html`<p><strong>${sentence}</strong></p>${wrong}`, 'warn');
