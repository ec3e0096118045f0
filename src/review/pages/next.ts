// From a payment to the next one in the queue, as the list that it was opened from shows the queue.
import type { Outcome } from '../../administrators/pages/route.ts';
import type { Payment } from '../../payments/payment.ts';
import { nextInQueue, queuePlace } from '../queries.ts';
import type { ReviewContext } from './context.ts';
import { paymentNamed } from './done.ts';
import { addressOfList, type Carried, carriedBy } from './list-place.ts';
import { filteringOf, queuePlaceOf } from './queue-filter.ts';

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
  const place = queuePlace(payment);
  const next =
    (await nextInQueue(database, place, narrowed)) ?? (await nextInQueue(database, undefined, narrowed));
  return next?.id === payment.id ? undefined : next;
}

/** The page of the list that was left, or its first page where the next payment stands before that page. */
function onPageOf(carried: Carried, next: Payment | undefined): Carried {
  const after = queuePlaceOf(carried.after ?? null);
  if (!next || !after) return carried;
  const { since, id } = queuePlace(next);
  const isBehind = since > after.since || (since === after.since && id > after.id);
  return isBehind ? carried : { ...carried, after: undefined };
}
