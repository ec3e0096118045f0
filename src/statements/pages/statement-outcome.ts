// What became of a bank line, and the form that takes it back.

import { notice } from '../../administrators/pages/parts.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Payment } from '../../payments/payment.ts';
import { findPayments } from '../../payments/queries.ts';
import { addressOfPayment } from '../../review/pages/panel.ts';
import type { KeptLine } from '../kept.ts';
import { partsOfLine } from '../line-queries.ts';
import { isDecidedBy } from '../matching/line-acts.ts';
import type { StatementContext } from './context.ts';

import { STATEMENTS_PATH } from './statement-lists.ts';
import { partsShown } from './statement-parts.ts';

/** What became of a line, and the button that takes it back for those who may decide, unless its payment is decided. */
export async function outcomeOf(
  context: StatementContext,
  line: KeptLine,
  mayDecide: boolean,
): Promise<Html> {
  const { address, token, say } = context;
  const decided = await decidedPayment(context, line);
  const told = await {
    matched: () =>
      html`<p>${
        line.direction === 'debit'
          ? say.html`It is money that went back of ${paymentLink(context, line)}.`
          : say.html`It is the money of ${paymentLink(context, line)}.`
      }${decided && html` ${decided.status === 'approved' ? say`The payment is approved.` : say`The payment is rejected.`}`}</p>`,
    ignored: () => html`<p>${say`It is ignored:`}</p><p class="words" dir="auto">${line.note ?? ''}</p>`,
    split: () => partsShown(context, line),
    replaced: () => html`<p>${say`Other lines have taken its place.`}</p>`,
    undone: () => html`<p>${say`Its import was undone.`}</p>`,
    open: () => html``,
  }[line.state]();
  const again = line.state !== 'replaced' && line.state !== 'undone' && !decided;
  return html`${notice(told)}${
    mayDecide &&
    again &&
    html`<form method="post" action="${address(`${STATEMENTS_PATH}/lines/${line.id}/reopen`)}">${token}
<p class="actions"><button class="secondary">${say`Take it back`}</button></p></form>`
  }`;
}

const paymentLink = (context: StatementContext, { payment_id }: KeptLine): Html =>
  html`<a href="${addressOfPayment(context, payment_id!)}">${context.say`this payment`}</a>`;

/** The payment of a line, or of one of its parts, that was decided by it: the match stands then. Undefined if none was. */
async function decidedPayment({ database }: StatementContext, line: KeptLine): Promise<Payment | undefined> {
  const lines = line.state === 'split' ? await partsOfLine(database, line) : [line];
  const ids = lines.flatMap(({ payment_id }) => payment_id ?? []);
  const payments = await findPayments(database, ids);
  return payments.find((payment) =>
    lines.some((one) => one.payment_id === payment.id && isDecidedBy(payment, one)),
  );
}
