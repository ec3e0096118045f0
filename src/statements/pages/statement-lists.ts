// The lists of the lines of statements: the open credits with what is proposed, those in another state, and what a search finds.

import { type Faults, said } from '../../administrators/pages/parts.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { addressOfPayment } from '../../review/pages/panel.ts';
import { sumOf } from '../../review/review.ts';
import { pager, records } from '../../web/markup/table.ts';
import { isLineId, type KeptLine, type LineState } from '../kept.ts';
import { findLine, listLines, pastedLines } from '../line-queries.ts';
import type { Proposal } from '../matching/judge-line.ts';
import { type BankLine, bankLine } from '../matching/line-evidence.ts';
import { SEARCHED_MAXIMUM, searchLines } from '../matching/line-search.ts';
import { certainPairs, OPEN_MAXIMUM, openLines } from '../matching/open-lines.ts';
import {
  dayColumn,
  lineAmount,
  STATE_NAMES,
  STATEMENTS_PATH,
  type StatementContext,
  saidOrDash,
} from './statement-page.ts';
import { tickedForm, tickOf } from './statement-several.ts';

const SHOWN = 50;

const LEVEL_NAMES: Record<Proposal['level'], string> = {
  certain: phrase('Exact'),
  likely: phrase('Likely'),
  possible: phrase('Possible'),
};
const LEVEL_LOOKS = { certain: 'approved', likely: 'requires_review', possible: 'pending' } as const;

export const levelStamp = ({ say }: StatementContext, { level }: Pick<Proposal, 'level'>): Html =>
  html`<span class="stamp ${LEVEL_LOOKS[level]}">${say.of(LEVEL_NAMES[level])}</span>`;

/** What lines come to, in each of their currencies. */
export const sumsOf = ({ money }: StatementContext, lines: readonly BankLine[]): string =>
  [...Map.groupBy(lines, ({ currency }) => currency)]
    .map(([currency, some]) => money(sumOf(some), currency))
    .join(', ');

/** The open lines. Those who may decide (`ticks`) can tick them; `faults` are of what they did with those. */
export async function openList(context: StatementContext, ticks: boolean, faults: Faults): Promise<Html> {
  const { database, address, query, say } = context;
  const all = await openLines(database, context);
  if (all.length === 0) return html`<p class="muted">${say`There are no lines to look at.`}</p>`;
  const certain = certainPairs(all);
  const from = Math.max(0, all.findIndex(({ line }) => line.id === query.get('after')) + 1);
  const shown = all.slice(from, from + SHOWN);
  const sums = sumsOf(
    context,
    certain.map(({ line }) => line),
  );
  const table = await openTable(context, ticks, shown);
  return html`${
    ticks &&
    certain.length > 0 &&
    html`<p class="actions"><a class="primary" href="${address(`${STATEMENTS_PATH}/certain`)}" data-key="a">${say`Approve all exact matches`}</a>
<span>${say`${certain.length} of ${all.length}`}, <bdi>${sums}</bdi></span></p>`
  }
${ticks ? tickedForm(context, table, faults) : table}
${
  all.filter(({ line }) => line.direction === 'credit').length >= OPEN_MAXIMUM &&
  html`<p class="muted">${say`The newest ${OPEN_MAXIMUM} are shown. Older ones follow when these are done.`}</p>`
}
${pager(
  from > 0 && [say`First`, address(STATEMENTS_PATH)],
  from + SHOWN < all.length && [say`Next`, address(STATEMENTS_PATH, { after: shown.at(-1)!.line.id })],
  say`Pages`,
)}`;
}

async function openTable(context: StatementContext, ticks: boolean, shown: readonly Row[]): Promise<Html> {
  const { say } = context;
  return records<Row>(
    [
      ...(ticks
        ? [[say`Select`, ({ line }: Row) => (line.booked === 1 ? tickOf(context, line) : '–')] as const]
        : []),
      ...lineColumns(context, await pastedLines(context.database, idsOf(shown))),
      [
        say`Proposed`,
        ({ line, proposals: [best] }) =>
          best
            ? html`${levelStamp(context, best)}`
            : html`<span>${line.booked === 1 ? say`Nothing` : '–'}</span>`,
      ],
      [say`For`, ({ proposals: [best] }) => (best ? orderName(best.payment) : '–')],
      [
        say`What differs`,
        ({ proposals: [best] }) =>
          best && best.level !== 'certain'
            ? html`<span>${best.said(say, context.money).sentence}</span>`
            : '–',
      ],
    ],
    shown,
  );
}

/** Order numbers of so many characters stand in one line of a table. */
const SHORT_NAME = 16;

function orderName({ merchant_reference, merchant_name }: Proposal['payment']): Html {
  const name = merchant_reference ?? merchant_name;
  return name.length > SHORT_NAME ? said(name) : html`<bdi>${name}</bdi>`;
}

type Row = { line: BankLine; proposals: readonly Proposal[] };

const idsOf = (rows: readonly Row[]) => rows.map(({ line }) => line.id);

/** The columns of every list. `pasted` says of lines without a statement who pasted them. */
function lineColumns(context: StatementContext, pasted: ReadonlyMap<string, string>) {
  const { say } = context;
  return [
    dayColumn(context),
    [
      say`Amount`,
      ({ line }: Row) =>
        html`${lineAmount(context, line)}${line.booked === 0 && html` <span class="stamp pending">${say`Not booked`}</span>`}`,
      'number',
    ],
    [
      say`From or to`,
      ({ line: { id, counterparty } }: Row) =>
        html`${saidOrDash(counterparty.name)}${pasted.has(id) && html`<div class="muted">${pasted.get(id)}</div>`}`,
    ],
    [
      say`Text`,
      ({ line }: Row) => said(line.references.creditor ?? line.text.replaceAll('\n', ' ').slice(0, 140)),
    ],
  ] as const;
}

export async function otherList(
  context: StatementContext,
  state: LineState,
  after: string | undefined,
): Promise<Html> {
  const { database, address, say } = context;
  const place = after !== undefined && isLineId(after) ? await findLine(database, after) : undefined;
  const found = await listLines(database, { state }, place, SHOWN + 1);
  const shown = found.slice(0, SHOWN);
  if (shown.length === 0) return html`<p class="muted">${say`There are no such lines.`}</p>`;
  return html`${await linesTable(context, shown)}
${pager(
  after !== undefined && [say`First`, address(STATEMENTS_PATH, { state })],
  found.length > SHOWN && [say`Next`, address(STATEMENTS_PATH, { state, after: shown.at(-1)!.id })],
  say`Pages`,
)}`;
}

export async function foundList(context: StatementContext, text: string): Promise<Html> {
  const { say } = context;
  const found = await searchLines(context.database, text, SHOWN);
  return html`${found.length === 0 ? html`<p>${say`No line matches this search.`}</p>` : await linesTable(context, found)}
<p class="muted">${say`At most ${SHOWN} are shown, of the newest ${SEARCHED_MAXIMUM.toLocaleString(say.tag)} lines.`}</p>`;
}

/** Lines with what became of each. */
async function linesTable(context: StatementContext, lines: readonly KeptLine[]): Promise<Html> {
  const { say } = context;
  const rows = lines.map((row) => ({ line: bankLine(row), proposals: [], row }));
  return records<(typeof rows)[number]>(
    [
      ...lineColumns(context, await pastedLines(context.database, idsOf(rows))),
      [
        say`Result`,
        ({ row }) =>
          row.payment_id === null
            ? html`${row.note === null ? html`<span>${say.of(STATE_NAMES[row.state])}</span>` : said(row.note)}`
            : html`<a href="${addressOfPayment(context, row.payment_id)}">${say`The payment`}</a>`,
      ],
    ],
    rows,
  );
}
