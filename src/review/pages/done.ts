// What was decided last, and the payment that comes next, on the list that the payment was opened from.
import { nameOf, notice } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { type Html, html } from '../../lib/html.ts';
import { isPaymentId, type Payment } from '../../payments/payment.ts';
import { findPayment } from '../../payments/queries.ts';
import { nextInQueue, queuePlace } from '../queue-queries.ts';
import { decisionOf } from '../review.ts';
import { peopleOf } from '../told.ts';
import type { ReviewContext } from './context.ts';
import { addressOfPayment, parties } from './panel.ts';
import { addressOfList, type Carried, carriedBy, filteringOf, queuePlaceOf } from './queue-filter.ts';

/** The payment that a parameter names. */
export async function paymentNamed(
  { database, query }: ReviewContext,
  name: string,
): Promise<Payment | undefined> {
  const id = query.get(name);
  return id !== null && isPaymentId(id) ? findPayment(database, id) : undefined;
}

/** What came of the last act on the payment that `done` names; undefined where the address names none. It is read from the store. */
export async function doneNotice(context: ReviewContext): Promise<Html | undefined> {
  const payment = await paymentNamed(context, 'done');
  return payment && notice(html`<p>${await doneLine(context, payment)}</p>`);
}

async function doneLine(context: ReviewContext, payment: Payment): Promise<Html> {
  const { say, money } = context;
  const people = await peopleOf(context.database, [payment]);
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

/** Leads to the list with the payment open that comes behind `done`, which was decided just now, or behind `past`. */
export async function toNext(context: ReviewContext): Promise<Outcome> {
  const carried = carriedBy(context);
  const done = await paymentNamed(context, 'done');
  const payment = done ?? (await paymentNamed(context, 'past'));
  const next = payment && (await nextAfter(context, payment, carried));
  const to = addressOfList(context, onPageOf(carried, next), { open: next?.id, done: done?.id });
  return { to: next ? `${to}#open` : to };
}

/**
 * The payment that waits next behind `payment` in the queue, or the one that waits longest; none that another administrator has claimed.
 * Undefined for the list of payments. Throws `DatabaseError`.
 */
async function nextAfter(
  context: ReviewContext,
  payment: Payment,
  { list }: Carried,
): Promise<Payment | undefined> {
  if (list === 'payments') return undefined;
  const { database, principal, now } = context;
  const free = { is: 'available', by: principal.id, now } as const;
  const { filter } = await filteringOf(context);
  const narrowed = { ...filter, claim: filter.claim ?? free };
  return nextInQueue(database, queuePlace(payment), narrowed);
}

/** The page of the list that was left, or its first page where the next payment stands before that page. */
function onPageOf(carried: Carried, next: Payment | undefined): Carried {
  const after = queuePlaceOf(carried.after ?? null);
  if (!next || !after) return carried;
  const { since, id } = queuePlace(next);
  const isBehind = since > after.since || (since === after.since && id > after.id);
  return isBehind ? carried : { ...carried, after: undefined };
}
