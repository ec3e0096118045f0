// Approving the certain ones: one page lists lines and payments with their sum, one press approves them in one commit.

import { literal, notice, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Payment } from '../../payments/payment.ts';
import { addressOfLine, addressOfPayment } from '../../review/pages/panel.ts';
import { needsSecond } from '../../review/review.ts';
import { records } from '../../web/markup/table.ts';
import { isLineId } from '../kept.ts';
import { approveCertain, type LeftLine } from '../matching/certain-acts.ts';
import type { LinePair } from '../matching/line-acts.ts';
import { type CertainPair, certainPairs, openLines } from '../matching/open-lines.ts';
import type { StatementContext } from './context.ts';
import { dayOn, lineAmount, STATEMENTS_PATH } from './statement-lists.ts';

/** Pairs that one press approves: their fields fit into a form. */
const AT_ONCE = 200;

export async function certainPage(context: StatementContext): Promise<Outcome> {
  return asking(context);
}

async function asking(context: StatementContext, told?: Html): Promise<Outcome> {
  const { database, address, token } = context;
  const all = certainPairs(await openLines(database, context));
  const shown = all.slice(0, AT_ONCE);
  const named = shown.length === 1 ? 'this payment' : `these ${shown.length} payments`;
  const content = html`<p><a class="plain" href="${address(STATEMENTS_PATH)}">Statements</a></p>
${told}<h1>Approve the certain ones</h1>
${
  shown.length === 0
    ? html`<p>There are none${told && ' left'}.</p>
<p class="actions"><a class="primary" href="${address(STATEMENTS_PATH)}" autofocus>Go on with the others</a></p>`
    : html`<p>Each line carries the whole transfer reference of a payment that is open, and exactly its amount.
No other line carries it. Take the tick away from what is to wait.</p>
<form method="post" action="${address(`${STATEMENTS_PATH}/certain`)}">${token}
${table(context, shown)}
<p class="actions"><button class="primary" autofocus>Approve ${named}</button>
<span><bdi>${sumsOf(context, shown)}</bdi></span></p></form>
${all.length > shown.length && html`<p class="muted">${all.length - shown.length} more come after these.</p>`}`
}`;
  return { title: 'Approve the certain ones', content, place: STATEMENTS_PATH };
}

function sumsOf({ money }: StatementContext, pairs: readonly CertainPair[]): string {
  const currencies = Map.groupBy(pairs, ({ line }) => line.currency);
  return [...currencies]
    .map(([currency, some]) =>
      money(
        some.reduce((sum, { line }) => sum + line.amount_minor, 0),
        currency,
      ),
    )
    .join(', ');
}

function table(context: StatementContext, pairs: readonly CertainPair[]): Html {
  const { fourEyesAbove } = context;
  const thenOf = (payment: Payment) => {
    if (payment.status === 'approved') return 'Linked: it is approved already';
    return needsSecond(payment, fourEyesAbove) ? 'Needs a second approval' : 'Approved';
  };
  return records<CertainPair>(
    [
      [
        'Take',
        ({ line, payment }) => {
          const pair = `${payment.id} ${payment.version}`;
          const label = `Take ${lineAmount(context, line)} of ${line.day}`;
          return html`<input type="checkbox" name="${line.id}" value="${pair}" checked aria-label="${label}">`;
        },
      ],
      [
        'Day',
        ({ line }) =>
          html`<a class="plain" href="${addressOfLine(context, line.id)}" data-key-row>${dayOn(line)}</a>`,
      ],
      ['Amount', ({ line }) => lineAmount(context, line), 'number'],
      ['From', ({ line }) => (line.counterparty.name ? said(line.counterparty.name) : '–')],
      [
        'Payment',
        ({ payment }) =>
          html`<a href="${addressOfPayment(context, payment.id)}">${said(payment.merchant_reference ?? payment.merchant_name)}</a>`,
      ],
      ['Then', ({ payment }) => html`<span class="day">${thenOf(payment)}</span>`],
    ],
    pairs,
  );
}

export async function takeCertain(context: StatementContext): Promise<Outcome> {
  const { database, journal, principal, request, form, fourEyesAbove } = context;
  // Each box is named by its line.
  const pairs = [...form]
    .filter(([name]) => isLineId(name))
    .slice(0, AT_ONCE)
    .map(pairIn);
  const certain = certainPairs(await openLines(database, context));
  const { decisions, linked, left } = await journal.commit((transaction) =>
    approveCertain(transaction, principal, pairs, certain, fourEyesAbove, request.id),
  );
  const approved = decisions.filter(({ outcome }) => outcome === 'approved').length;
  const second = decisions.length - approved;
  const counts = [
    `Approved: ${approved}.`,
    linked.length > 0 && `Linked: ${linked.length}.`,
    second > 0 && `Waiting for a second approval: ${second}.`,
    left.length > 0 && `Left: ${left.length}.`,
  ];
  const told = notice(html`<p>${counts.filter(Boolean).join(' ')}</p>`);
  return asking(context, html`${told}${left.length > 0 && leftTable(context, left)}`);
}

function leftTable(context: StatementContext, left: readonly LeftLine[]): Html {
  return records<LeftLine>(
    [
      ['Left', ({ line_id }) => html`<a href="${addressOfLine(context, line_id)}">The line</a>`],
      ['Payment', ({ payment_id }) => literal(payment_id)],
      ['Why', ({ why }) => html`<span>${why}</span>`],
    ],
    left,
  );
}

function pairIn([line_id, taken]: [string, string]): LinePair {
  const [payment_id = '', version] = taken.split(' ');
  return { line_id, payment_id, version: Number(version) };
}
