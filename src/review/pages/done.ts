// What was decided last, on the list that one is back in.
import { moment, nameOf, notice } from '../../administrators/pages/parts.ts';
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

/** The notice about the last act. It is read from the store, whatever the address says. */
async function doneLine(context: ReviewContext, payment: Payment): Promise<Html> {
  const people = await peopleFor(context, [payment]);
  const { status } = payment;
  const act = decisionOf(payment);
  const what = html`<bdi>${context.money(payment.amount_minor, payment.currency)}</bdi>, ${parties(payment)}`;
  const see = html`<a href="${addressOfPayment(context, payment.id)}">See it here</a>`;
  if (status === 'requires_review' && act)
    return html`Approval 1 of 2 is recorded: ${what}. Another administrator must confirm it. ${see}.`;
  if (status !== 'approved' && status !== 'rejected') return html`${what}: nothing was decided. ${see}.`;
  const decided = status === 'approved' ? 'Approved' : 'Rejected';
  const who = act && html` by ${nameOf(context, people.names, act.by)}`;
  const when = payment.decided_at !== null && html`, ${moment(context, payment.decided_at)}`;
  const here = html`<a href="${addressOfPayment(context, payment.id)}">see it here</a>`;
  return html`<strong>${decided}</strong>${who}${when}: ${what}. Undo is not possible; ${here}.`;
}
