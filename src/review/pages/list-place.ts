// The list that a payment was opened from, which addresses carry: its page and its filters.
import { askedOf } from '../../administrators/pages/filters.ts';
import type { Context } from '../../administrators/pages/route.ts';

/** The parameters that filter the queue; the others say which payment is open and where the list begins. */
export const QUEUE_FILTERS = [
  'q',
  'merchant',
  'method',
  'currency',
  'minimum',
  'age',
  'mode',
  'claimed',
  'money',
] as const;
export const PAYMENT_FILTERS = ['q', 'status', 'merchant', 'mode', 'from', 'to'] as const;

const LISTS = {
  queue: { path: '/queue', parameters: [...QUEUE_FILTERS, 'after'] },
  payments: { path: '/payments', parameters: [...PAYMENT_FILTERS, 'before', 'trail'] },
} as const;
type ListName = keyof typeof LISTS;
/** Maximum length of a carried value. The trail of the payments' pages is the longest. */
const TEXT_MAXIMUM = 1000;

/** A list with its page and filters, as parameters of an address. */
export type Carried = { list?: ListName | undefined } & Readonly<Record<string, string | undefined>>;

/** What an address of the list `list` carries to its payments. */
export function carriedFrom(query: URLSearchParams, list: ListName): Carried {
  return { ...askedOf(query, LISTS[list].parameters, TEXT_MAXIMUM), list };
}

/** The list that an address of a payment carries. Without a list, the filters are the queue's. */
export function carriedBy({ query }: Context): Carried {
  const list = (['queue', 'payments'] as const).find((one) => one === query.get('list'));
  return { ...carriedFrom(query, list ?? 'queue'), list };
}

/** The address of the list: its path is one of two, whatever the parameters say. */
export function addressOfList(
  { address }: Context,
  { list = 'queue', ...asked }: Carried,
  more: Readonly<Record<string, string | undefined>> = {},
): string {
  return address(LISTS[list].path, { ...asked, ...more });
}

/** The address that leads on from a payment: to its list, with the next payment of the queue open. `done`: it was decided just now. */
export const addressOfNext = (
  { address }: Context,
  carried: Carried,
  { done, past }: { done?: string; past?: string },
): string => address('/queue/next', { ...carried, done, past });
