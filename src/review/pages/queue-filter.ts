// The lists that payments are opened from: what their addresses carry, and which part of the queue is looked at.

import { askedOf, filterChoice, findField, type SelectChoices } from '../../administrators/pages/filters.ts';
import { type Faults, field, hasFaults } from '../../administrators/pages/parts.ts';
import type { Context } from '../../administrators/pages/route.ts';
import { type Html, html } from '../../lib/html.ts';
import { isCurrency, parseTypedAmount } from '../../lib/money.ts';
import { phrase, type Say } from '../../lib/phrases.ts';
import { asciiDigits } from '../../lib/text.ts';
import { DAY_MS, HOUR_MS } from '../../lib/time.ts';
import type { Mode } from '../../merchants/merchant.ts';
import { merchantAsked, merchantFilter } from '../../merchants/pages/merchant-filter.ts';
import { isPaymentId } from '../../payments/payment.ts';
import { meaningOf } from '../meaning.ts';
import { MONEY_SEEN, type QueueFilter, type QueuePlace } from '../queue-queries.ts';
import type { ReviewContext } from './context.ts';

/** The parameters that filter the queue; the others say which payment is open and where the list begins. */
const QUEUE_FILTERS = [
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
const CARRIED_MAXIMUM = 1000;

/** A list with its page and filters, as parameters of an address. */
export type Carried = { list?: ListName | undefined } & Readonly<Record<string, string | undefined>>;

/** What an address of the list `list` carries to its payments. */
export function carriedFrom(query: URLSearchParams, list: ListName): Carried {
  return { ...askedOf(query, LISTS[list].parameters, CARRIED_MAXIMUM), list };
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

type FilterName = (typeof QUEUE_FILTERS)[number];
type Asked = Partial<Record<FilterName, string>>;

const AGES: Readonly<Record<string, [label: string, ms: number]>> = {
  '1h': [phrase('1 hour or more'), HOUR_MS],
  '4h': [phrase('4 hours or more'), 4 * HOUR_MS],
  '1d': [phrase('1 day or more'), DAY_MS],
  '3d': [phrase('3 days or more'), 3 * DAY_MS],
};
export const MODES: Readonly<Record<Mode, string>> = { live: phrase('Live'), test: phrase('Test') };
const CLAIMS: Readonly<Record<string, string>> = {
  available: phrase('By nobody else'),
  mine: phrase('By me'),
  others: phrase('By somebody else'),
};
const MONEY: Readonly<Record<(typeof MONEY_SEEN)[number], string>> = {
  exact: phrase('Seen, exact'),
  other: phrase('Seen, less or more'),
  none: phrase('Not seen'),
};
/** Maximum length of a filter's text. */
export const TEXT_MAXIMUM = 508;

export interface Filtering {
  filter: QueueFilter;
  /** The filters that narrow, as their parameters. */
  asked: Asked;
  /** What is wrong with the merchant and the least amount, by the fields of the form. */
  faults: Faults;
}

/** Reads the filters of an address. What means nothing does not narrow. Throws `DatabaseError`. */
export async function filteringOf({
  query,
  database,
  directory,
  principal,
  now,
  say,
}: ReviewContext): Promise<Filtering> {
  const asked = askedOf(query, QUEUE_FILTERS, TEXT_MAXIMUM);
  const merchant = merchantAsked(say, directory, asked.merchant);
  const currency = asked.currency?.toUpperCase();
  const claimed = (['available', 'mine', 'others'] as const).find((one) => one === asked.claimed);
  const least = Object.entries(AGES).find(([value]) => value === asked.age)?.[1][1];
  const minimum = asked.minimum === undefined ? '0' : asciiDigits(asked.minimum);
  const minimum_minor = parseTypedAmount(minimum);
  const isWrong = minimum_minor === undefined && Number(minimum) !== 0;
  return {
    asked,
    faults: {
      ...(merchant.fault !== undefined && { 'filter-merchant': merchant.fault }),
      ...(isWrong && {
        'filter-minimum': say`Minimum amount must be a number, for example 100 or 49.90`,
      }),
    },
    filter: {
      searched: asked.q === undefined ? undefined : await meaningOf(database, asked.q),
      merchant_id: merchant.id,
      method: asked.method,
      currency: currency !== undefined && isCurrency(currency) ? currency : undefined,
      minimum_minor,
      waiting_since: least === undefined ? undefined : now - least,
      mode: modeIn(asked.mode),
      money: MONEY_SEEN.find((one) => one === asked.money),
      claim: claimed && { is: claimed, by: principal.id, now },
    },
  };
}

export const modeIn = (text: string | undefined): Mode | undefined =>
  text === 'live' || text === 'test' ? text : undefined;

/** The choices of a filter, by their values. */
export const namedChoices = (say: Say, names: Readonly<Record<string, string>>): SelectChoices =>
  Object.entries(names).map(([value, text]) => [value, say.of(text)]);

/** Where a page of the queue begins, as an address says it: `1700000000000-pay_…`; undefined where it says none. */
export function queuePlaceOf(text: string | null): QueuePlace | undefined {
  const parts = /^(\d{1,15})-(pay_\w+)$/.exec(text ?? '');
  return parts && isPaymentId(parts[2]!) ? { since: Number(parts[1]), id: parts[2]! } : undefined;
}
export const writtenPlace = ({ since, id }: QueuePlace) => `${since}-${id}`;

/** The filters that most use most: one press each, with the number of payments that they leave. */
const CHIPS = [
  { text: phrase('All'), asked: {}, filter: () => ({}) },
  { text: phrase('Money seen'), asked: { money: 'exact' }, filter: () => ({ money: 'exact' }) },
  {
    text: phrase('Mine'),
    asked: { claimed: 'mine' },
    filter: ({ principal, now }) => ({ claim: { is: 'mine', by: principal.id, now } }),
  },
  {
    text: phrase('Not claimed'),
    asked: { claimed: 'available' },
    filter: ({ principal, now }) => ({ claim: { is: 'available', by: principal.id, now } }),
  },
] as const satisfies { text: string; asked: Asked; filter(context: ReviewContext): QueueFilter }[];

/** The filters of one press, as links. Throws `DatabaseError`. */
export async function chips(context: ReviewContext, { asked }: Filtering): Promise<Html> {
  const { address, figures, say } = context;
  const counts = await Promise.all(CHIPS.map(({ filter }) => figures.waiting(filter(context))));
  const { money, claimed, ...others } = asked;
  const chip = ({ text, asked: one }: { text: string; asked: Asked }, index: number) => {
    const isCurrent = money === one.money && claimed === one.claimed && Object.keys(others).length === 0;
    const current = isCurrent && html` aria-current="true"`;
    return html`<a href="${address('/queue', one)}"${current}>${say.of(text)} <span>${counts[index]!.count}</span></a>`;
  };
  return html`<nav class="chips" aria-label="${say`Filters`}">${CHIPS.map(chip)}</nav>`;
}

/** The search and the filters as a form whose address can be bookmarked. `methods` are the queue's, by id. */
export function filterForm(
  context: ReviewContext,
  { asked, faults }: Filtering,
  known: { methods: SelectChoices; currencies: readonly string[] },
): Html {
  const { address, directory, say } = context;
  const count = Object.keys(asked).filter((name) => name !== 'q').length;
  const clear =
    Object.keys(asked).length > 0 && html` <a class="plain" href="${address('/queue')}">${say`Clear`}</a>`;
  const select = (name: FilterName, label: string, choices: SelectChoices) =>
    filterChoice(say, name, label, choices, asked[name], undefined, `filter-${name}`);
  const currencies = known.currencies.map((code) => [code, code] as const);
  const [label, id] = [say`Minimum amount`, 'filter-minimum'];
  const minimum = { name: 'minimum', id, label, value: asked.minimum, fault: faults[id] };
  const least = field({ ...minimum, attributes: { inputmode: 'decimal' } });
  const ages = Object.entries(AGES).map(([value, [label]]) => [value, say.of(label)] as const);
  return html`<form method="get" action="${address('/queue')}" role="search" class="find-form">
${findField(context, asked.q)}
<details class="filters"${(count > 0 || hasFaults(faults)) && html` open`}><summary>${count > 0 ? say`Filters (${count})` : say`Filters`}</summary>
<div class="fields">
${merchantFilter(say, directory, asked.merchant, faults['filter-merchant'], 'filter-merchant')}${select('method', say`Way to pay`, known.methods)}
${select('currency', say`Currency`, currencies)}${least}${select('age', say`Waiting for`, ages)}
${select('mode', say`Mode`, namedChoices(say, MODES))}${select('claimed', say`Claimed`, namedChoices(say, CLAIMS))}${select('money', say`On the bank statement`, namedChoices(say, MONEY))}
<p class="actions"><button class="secondary">${say`Apply`}</button>${clear}</p>
</div>
</details>
</form>`;
}
