// The list that a payment was opened from, which addresses carry: its page, its filters, and the payment that comes next in it.

import { askedOf } from '../../administrators/pages/filters.ts';
import type { Payment } from '../../payments/payment.ts';
import { nextInQueue, queuePlace } from '../queries.ts';
import type { ReviewContext } from './context.ts';
import { PAYMENT_FILTERS } from './payment-search.ts';
import { filteringOf, QUEUE_FILTERS, queuePlaceOf } from './queue-filter.ts';

const LISTS = {
  queue: { path: '/queue', parameters: [...QUEUE_FILTERS, 'after'] },
  payments: { path: '/payments', parameters: [...PAYMENT_FILTERS, 'before', 'trail'] },
} as const;
type ListName = keyof typeof LISTS;
/** Longest value that is carried: the trail of the payments' pages. */
const TEXT_MAXIMUM = 1000;

/** A list with its page and filters, as parameters of an address. */
export type Carried = { list?: ListName | undefined } & Readonly<Record<string, string | undefined>>;

/** What an address of the list `list` carries to its payments. */
export function carriedFrom(query: URLSearchParams, list: ListName): Carried {
  return { ...askedOf(query, LISTS[list].parameters, TEXT_MAXIMUM), list };
}

/** The list that an address of a payment carries. Without a list, the filters are the queue's. */
export function carriedBy({ query }: ReviewContext): Carried {
  const list = (['queue', 'payments'] as const).find((one) => one === query.get('list'));
  return { ...carriedFrom(query, list ?? 'queue'), list };
}

/** The address of the list: its path is one of two, whatever the parameters say. */
export function addressOfList(
  { address }: ReviewContext,
  { list = 'queue', ...asked }: Carried,
  more: Readonly<Record<string, string | undefined>> = {},
): string {
  return address(LISTS[list].path, { ...asked, ...more });
}

/**
 * The payment that waits next behind `payment` in the queue, or the one that waits longest; none that another administrator has claimed.
 * Undefined for the list of payments. Throws `DatabaseError`.
 */
export async function nextAfter(
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
export function onPageOf(carried: Carried, next: Payment | undefined): Carried {
  const after = queuePlaceOf(carried.after ?? null);
  if (!next || !after) return carried;
  const { since, id } = queuePlace(next);
  const isBehind = since > after.since || (since === after.since && id > after.id);
  return isBehind ? carried : { ...carried, after: undefined };
}
