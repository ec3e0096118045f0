// What was decided last, on the list that one is back in.
import { nameOf, notice } from '../../administrators/pages/parts.ts';
import { type Html, html } from '../../lib/html.ts';
import { isPaymentId, type Payment } from '../../payments/payment.ts';
import { findPayment } from '../../payments/queries.ts';
import { decisionOf } from '../review.ts';
import type { ReviewContext } from './context.ts';
import { addressOfPayment, parties, peopleFor } from './panel.ts';

/** The payment that a parameter names. */
export async function paymentNamed(
  { database, query }: ReviewContext,
  name: string,
): Promise<Payment | undefined> {
  const id = query.get(name);
  return id !== null && isPaymentId(id) ? findPayment(database, id) : undefined;
}

/** The notice about the payment that `done` names; undefined where the address names none. */
export async function doneNotice(context: ReviewContext): Promise<Html | undefined> {
  const payment = await paymentNamed(context, 'done');
  return payment && notice(html`<p>${await doneLine(context, payment)}</p>`);
}

/** What came of the last act. It is read from the store, whatever the address says. */
async function doneLine(context: ReviewContext, payment: Payment): Promise<Html> {
  const { say, money } = context;
  const people = await peopleFor(context, [payment]);
  const { status } = payment;
  const act = decisionOf(payment);
  const what = html`<bdi>${money(payment.amount_minor, payment.currency)}</bdi>, ${parties(context, payment)}`;
  const see = html`<a href="${addressOfPayment(context, payment.id)}">${say`See it`}</a>`;
  if (status === 'requires_review' && act)
    return say.html`Approval 1 of 2 is recorded: ${what}. Another administrator must confirm it. ${see}`;
  if (status !== 'approved' && status !== 'rejected') return say.html`Nothing was decided: ${what}. ${see}`;
  const who = act && nameOf(context, people.names, act.by);
  const decided = status === 'approved' ? say`Approved` : say`Rejected`;
  const how = html`<strong>${decided}</strong>${who && html` ${say.html`by ${who}`}`}`;
  return say.html`${how}: ${what}. This cannot be undone. ${see}`;
}
