// Bank statements in the console: what came in, the unmatched credits with their best proposal, and the form that imports.
import { may } from '../administrators/administrator.ts';
import { type Html, html } from '../lib/html.ts';
import type { Proposal } from '../review/judge-line.ts';
import { type BankLine, bankLine } from '../review/line-evidence.ts';
import { SEARCHED_MAXIMUM, searchLines } from '../review/line-search.ts';
import { certainPairs, OPEN_MAXIMUM, openLines } from '../review/open-lines.ts';
import { dayInWords } from '../review/told.ts';
import { isLineId, type KeptLine, LINE_STATES, type LineState } from '../statements/kept.ts';
import { findLine, type LineSum, lineSums, listLines } from '../statements/line-queries.ts';
import { pager, records } from '../ui/table.ts';
import { askedOf, filterBar, filterChoice } from './filters.ts';
import { addressOfPayment } from './panel.ts';
import { literal, notice, said } from './parts.ts';
import { searchField } from './payment-search.ts';
import type { Context, Outcome } from './route.ts';

export const STATEMENTS_PATH = '/statements';
const SHOWN = 50;
const PARAMETER_MAXIMUM = 100;

const STATE_NAMES: Record<LineState, string> = {
  open: 'To look at',
  matched: 'Matched',
  ignored: 'Ignored',
  replaced: 'Shown by its transactions',
};

export const LEVEL_NAMES: Record<Proposal['level'], string> = {
  certain: 'Certain',
  likely: 'Likely',
  possible: 'Possible',
};
const LEVEL_LOOKS = { certain: 'approved', likely: 'requires_review', possible: 'pending' } as const;

export const levelStamp = ({ level }: Pick<Proposal, 'level'>): Html =>
  html`<span class="stamp ${LEVEL_LOOKS[level]}">${LEVEL_NAMES[level]}</span>`;

export const addressOfLine = ({ address }: Context, id: string) => address(`${STATEMENTS_PATH}/lines/${id}`);

/** A line's day in words; the bank may name none. */
export function dayOn({ day }: Pick<KeptLine, 'day'>): Html {
  if (day === '') return html`<span>No day</span>`;
  return html`<time class="day" datetime="${day}">${dayInWords(day)}</time>`;
}

/** A line's amount, a debit with a minus sign. */
export function lineAmount(
  { money }: Context,
  line: Pick<KeptLine, 'amount_minor' | 'currency' | 'direction'>,
): Html {
  return html`<bdi>${line.direction === 'debit' && '−'}${money(line.amount_minor, line.currency)}</bdi>`;
}

export async function statementsPage(context: Context): Promise<Outcome> {
  const { database, principal, query, address } = context;
  const asked = askedOf(query, ['state', 'after', 'q'], PARAMETER_MAXIMUM);
  const state = LINE_STATES.find((one) => one === asked.state) ?? 'open';
  const sums = await lineSums(database);
  const mayDecide = may(principal.role, 'decide');
  const look = sums.length === 0 ? 'primary' : 'secondary';
  const list =
    asked.q !== undefined
      ? await foundList(context, asked.q)
      : state === 'open'
        ? await openList(context, mayDecide)
        : await otherList(context, state, asked.after);
  const content = html`${await doneLine(context)}
<h1>Statements</h1>
${
  sums.length === 0
    ? html`<div class="empty"><p>No statement has been imported yet.</p></div>`
    : html`${sumTable(context, sums)}
<section class="block" aria-labelledby="lines-heading"><h2 id="lines-heading">${asked.q === undefined ? STATE_NAMES[state] : 'Found'}</h2>
${searchForm(context, asked.q)}
${asked.q === undefined && stateForm(context, state)}
${list}</section>`
}
<p class="actions">${
    mayDecide &&
    html`<a class="${look}" href="${address(`${STATEMENTS_PATH}/import`)}" data-key="u">Import statements</a> `
  }${
    sums.length > 0 &&
    html`<a class="secondary" href="${address(`${STATEMENTS_PATH}/export`)}" data-key="d">Download lines</a>`
  }</p>`;
  return { title: 'Statements', content, place: STATEMENTS_PATH };
}

function stateForm(context: Context, state: LineState): Html {
  const states = LINE_STATES.map((one) => [one, STATE_NAMES[one]] as const);
  return filterBar(context, STATEMENTS_PATH, state === 'open' ? {} : { state }, {
    fields: filterChoice('state', 'Lines', states, state),
    button: 'Show',
  });
}

function searchForm(context: Context, q: string | undefined): Html {
  const fields = searchField(
    q,
    'A reference or a part of one, a payer, an account, an amount, words of the text',
  );
  return filterBar(context, STATEMENTS_PATH, q === undefined ? {} : { q }, {
    fields,
    button: 'Search',
    label: 'Search lines',
  });
}

/** What was done last, told from what stands in the store. */
async function doneLine(context: Context): Promise<Html | undefined> {
  const id = context.query.get('done');
  const line = id !== null && isLineId(id) ? await findLine(context.database, id) : undefined;
  if (!line) return undefined;
  const payment =
    line.payment_id !== null &&
    html`, <a href="${addressOfPayment(context, line.payment_id)}">see the payment</a>`;
  return notice(
    html`<p>${STATE_NAMES[line.state]}: ${lineAmount(context, line)}, ${dayOn(line)}.
<a href="${addressOfLine(context, line.id)}">See the line</a>${payment}.</p>`,
  );
}

function sumTable(context: Context, sums: readonly LineSum[]): Html {
  const booked = sums.filter((one) => one.booked === 1 && one.direction === 'credit');
  const accounts = [...Map.groupBy(booked, ({ account, currency }) => `${account} ${currency}`).values()];
  const of = (lines: readonly LineSum[], state: LineState) => {
    const sum = lines.find((one) => one.state === state);
    return sum
      ? html`<span>${sum.count} · <bdi>${context.money(sum.sum_minor, sum.currency)}</bdi></span>`
      : html`<span>–</span>`;
  };
  return records<LineSum[]>(
    [
      ['Account', ([one]) => literal(one!.account)],
      [
        'Up to',
        (lines) => dayOn({ day: lines.toSorted((a, b) => (a.last_day < b.last_day ? 1 : -1))[0]!.last_day }),
      ],
      ['To look at', (lines) => of(lines, 'open'), 'number'],
      ['Matched', (lines) => of(lines, 'matched'), 'number'],
      ['Ignored', (lines) => of(lines, 'ignored'), 'number'],
    ],
    accounts,
  );
}

async function openList(context: Context, mayDecide: boolean): Promise<Html> {
  const { database, now, address, query, money } = context;
  const all = await openLines(database, { now });
  if (all.length === 0) return html`<p>There are none.</p>`;
  const certain = certainPairs(all);
  const from = Math.max(0, all.findIndex(({ line }) => line.id === query.get('after')) + 1);
  const shown = all.slice(from, from + SHOWN);
  const sums = [...Map.groupBy(certain, ({ line }) => line.currency)].map(([currency, pairs]) =>
    money(
      pairs.reduce((sum, { line }) => sum + line.amount_minor, 0),
      currency,
    ),
  );
  return html`${
    mayDecide &&
    certain.length > 0 &&
    html`<p class="actions"><a class="primary" href="${address(`${STATEMENTS_PATH}/certain`)}" data-key="a">Approve the certain ones</a>
<span>${certain.length} of ${all.length}, <bdi>${sums.join(', ')}</bdi></span></p>`
  }
${records(
  [
    ...lineColumns(context),
    ['Proposed', ({ proposals: [best] }) => (best ? html`${levelStamp(best)}` : html`<span>Nothing</span>`)],
    [
      'For',
      ({ proposals: [best] }) =>
        best ? html`${said(best.payment.merchant_reference ?? best.payment.merchant_name)}` : '–',
    ],
    [
      'What is odd',
      ({ proposals: [best] }) => (best && best.case !== 'exact' ? html`<span>${best.sentence}</span>` : '–'),
    ],
  ],
  shown,
)}
${all.length === OPEN_MAXIMUM && html`<p class="muted">The newest ${OPEN_MAXIMUM} are looked at.</p>`}
${pager([
  from > 0 && { to: address(STATEMENTS_PATH), text: 'First', rel: 'prev' },
  from + SHOWN < all.length && {
    to: address(STATEMENTS_PATH, { after: shown.at(-1)!.line.id }),
    text: 'Next',
    rel: 'next',
  },
])}`;
}

type Row = { line: BankLine; proposals: readonly Proposal[] };

function lineColumns(context: Context) {
  return [
    [
      'Day',
      ({ line }: Row) =>
        html`<a class="plain" href="${addressOfLine(context, line.id)}" data-key-row>${dayOn(line)}</a>`,
    ],
    ['Amount', ({ line }: Row) => lineAmount(context, line), 'number'],
    ['From', ({ line }: Row) => (line.counterparty.name ? said(line.counterparty.name) : '–')],
    [
      'Text',
      ({ line }: Row) => said(line.references.creditor ?? line.text.replaceAll('\n', ' ').slice(0, 140)),
    ],
  ] as const;
}

async function otherList(context: Context, state: LineState, after: string | undefined): Promise<Html> {
  const { database, address } = context;
  const place = after !== undefined && isLineId(after) ? await findLine(database, after) : undefined;
  const found = await listLines(database, { state }, place, SHOWN + 1);
  const shown = found.slice(0, SHOWN);
  if (shown.length === 0) return html`<p>There are none.</p>`;
  return html`${linesTable(context, shown)}
${pager([
  after !== undefined && { to: address(STATEMENTS_PATH, { state }), text: 'First', rel: 'prev' },
  found.length > SHOWN && {
    to: address(STATEMENTS_PATH, { state, after: shown.at(-1)!.id }),
    text: 'Next',
    rel: 'next',
  },
])}`;
}

async function foundList(context: Context, text: string): Promise<Html> {
  const found = await searchLines(context.database, text, SHOWN);
  return html`${found.length === 0 ? html`<p>No line matches this search.</p>` : linesTable(context, found)}
<p class="muted">At most ${SHOWN} are shown, of the newest ${SEARCHED_MAXIMUM} lines.</p>`;
}

/** Lines with what became of each. */
function linesTable(context: Context, lines: readonly KeptLine[]): Html {
  const rows = lines.map((row) => ({ line: bankLine(row), proposals: [], row }));
  return records<(typeof rows)[number]>(
    [
      ...lineColumns(context),
      [
        'What became of it',
        ({ row }) =>
          row.payment_id === null
            ? html`${row.note === null ? html`<span>${STATE_NAMES[row.state]}</span>` : said(row.note)}`
            : html`<a href="${addressOfPayment(context, row.payment_id)}">The payment</a>`,
      ],
    ],
    rows,
  );
}
