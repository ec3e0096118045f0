// Approving the certain ones: one page lists lines and payments with their sum, one press approves them in one commit.

import { literal, notice, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Payment } from '../../payments/payment.ts';
import { addressOfLine, addressOfPayment } from '../../review/pages/panel.ts';
import { needsSecond } from '../../review/review.ts';
import { dayInWords } from '../../review/told.ts';
import { records } from '../../web/markup/table.ts';
import { isLineId } from '../kept.ts';
import { approveCertain, type LeftLine } from '../matching/certain-acts.ts';
import type { LinePair } from '../matching/line-acts.ts';
import { type CertainPair, certainPairs, openLines } from '../matching/open-lines.ts';
import { sumsOf } from './statement-lists.ts';
import {
  amountColumn,
  dayColumn,
  linkBack,
  STATEMENTS_PATH,
  type StatementContext,
  saidOrDash,
} from './statement-page.ts';

/** Pairs that one press approves: their fields fit into a form. */
const AT_ONCE = 200;

export async function certainPage(context: StatementContext, told?: Html): Promise<Outcome> {
  const { database, address, token, say } = context;
  const all = certainPairs(await openLines(database, context));
  const shown = all.slice(0, AT_ONCE);
  const sums = sumsOf(
    context,
    shown.map(({ line }) => line),
  );
  const button = say.count(shown.length, 'Approve this payment', 'Approve these {n} payments');
  const content = html`<p>${linkBack(context)}</p>
${told}<h1>${say`Approve all exact matches`}</h1>
${
  shown.length === 0
    ? html`<p>${told ? say`There are no exact matches left.` : say`There are no exact matches.`}</p>
<p class="actions"><a class="primary" href="${address(STATEMENTS_PATH)}" autofocus>${say`Go on with the others`}</a></p>`
    : html`<p>${say`Each line carries the whole transfer reference of an open payment and exactly its amount, and no other line carries that reference. Clear the box of what should wait.`}</p>
<form method="post" action="${address(`${STATEMENTS_PATH}/certain`)}">${token}
${table(context, shown)}
<p class="actions"><button class="primary" autofocus>${button}</button>
<span><bdi>${sums}</bdi></span></p></form>
${all.length > shown.length && html`<p class="muted">${say`${all.length - shown.length} more come after these.`}</p>`}`
}`;
  return { title: say`Approve all exact matches`, content, place: STATEMENTS_PATH };
}

function table(context: StatementContext, pairs: readonly CertainPair[]): Html {
  const { fourEyesAbove, say } = context;
  const thenOf = (payment: Payment) => {
    if (payment.status === 'approved') return say`Linked: it is approved already`;
    return needsSecond(payment, fourEyesAbove) ? say`Needs a second approval` : say`Approved`;
  };
  return records<CertainPair>(
    [
      [
        say`Select`,
        ({ line, payment }) => {
          const pair = `${payment.id} ${payment.version}`;
          const amount = context.money(line.amount_minor, line.currency);
          const label = say`Select ${amount} of ${dayInWords(line.day, say)}`;
          return html`<input type="checkbox" name="${line.id}" value="${pair}" checked aria-label="${label}">`;
        },
      ],
      dayColumn(context),
      amountColumn(context),
      [say`From`, ({ line }) => saidOrDash(line.counterparty.name)],
      [
        say`Payment`,
        ({ payment }) =>
          html`<a href="${addressOfPayment(context, payment.id)}">${said(payment.merchant_reference ?? payment.merchant_name)}</a>`,
      ],
      [say`Then`, ({ payment }) => html`<span class="day">${thenOf(payment)}</span>`],
    ],
    pairs,
  );
}

export async function takeCertain(context: StatementContext): Promise<Outcome> {
  const { database, journal, principal, form, fourEyesAbove, say } = context;
  // Each box is named by its line.
  const pairs = [...form]
    .filter(([name]) => isLineId(name))
    .slice(0, AT_ONCE)
    .map(pairIn);
  const certain = certainPairs(await openLines(database, context));
  const { decisions, linked, left } = await journal.commit((transaction) =>
    approveCertain(transaction, principal, pairs, certain, fourEyesAbove),
  );
  const approved = decisions.filter(({ outcome }) => outcome === 'approved').length;
  const second = decisions.length - approved;
  const counts = [
    say`Approved: ${approved}.`,
    linked.length > 0 && say`Linked: ${linked.length}.`,
    second > 0 && say`Waiting for a second approval: ${second}.`,
    left.length > 0 && say`Left out: ${left.length}.`,
  ];
  const told = notice(html`<p>${counts.filter(Boolean).join(' ')}</p>`);
  return certainPage(context, html`${told}${left.length > 0 && leftTable(context, left)}`);
}

function leftTable(context: StatementContext, left: readonly LeftLine[]): Html {
  const { say } = context;
  return records<LeftLine>(
    [
      [
        say`Left out`,
        ({ line_id }) => html`<a href="${addressOfLine(context, line_id)}">${say`The line`}</a>`,
      ],
      [say`Payment`, ({ payment_id }) => literal(payment_id)],
      [say`Why`, ({ why }) => html`<span>${why(say)}</span>`],
    ],
    left,
  );
}

function pairIn([line_id, taken]: [string, string]): LinePair {
  const [payment_id = '', version] = taken.split(' ');
  return { line_id, payment_id, version: Number(version) };
}
