// Which part of the queue is looked at: the filters as an address says them, as the store takes them, and as a form.

import {
  askedOf,
  filterChoice,
  filterField,
  findField,
  type SelectChoices,
} from '../../administrators/pages/filters.ts';
import { type Html, html } from '../../lib/html.ts';
import { isCurrency, parseTypedAmount } from '../../lib/money.ts';
import { phrase } from '../../lib/phrases.ts';
import { asciiDigits } from '../../lib/text.ts';
import { DAY_MS, HOUR_MS } from '../../lib/time.ts';
import { merchantAsked, merchantFilter } from '../../merchants/pages/merchant-filter.ts';
import { isPaymentId } from '../../payments/payment.ts';
import { meaningOf } from '../meaning.ts';
import { MONEY_SEEN, type QueueFilter, type QueuePlace } from '../queries.ts';
import type { ReviewContext } from './context.ts';
import { QUEUE_FILTERS } from './list-place.ts';

type FilterName = (typeof QUEUE_FILTERS)[number];
type Asked = Partial<Record<FilterName, string>>;

const AGES: Readonly<Record<string, [label: string, ms: number]>> = {
  '1h': [phrase('1 hour or more'), HOUR_MS],
  '4h': [phrase('4 hours or more'), 4 * HOUR_MS],
  '1d': [phrase('1 day or more'), DAY_MS],
  '3d': [phrase('3 days or more'), 3 * DAY_MS],
};
const MODES: Readonly<Record<string, string>> = { live: phrase('Live'), test: phrase('Test') };
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
const TEXT_MAXIMUM = 508;

export interface Filtering {
  filter: QueueFilter;
  /** The filters that narrow, as their parameters. */
  asked: Asked;
  /** What is wrong with the least amount. */
  fault: string | undefined;
  /** What is wrong with the merchant. */
  merchantFault: string | undefined;
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
    fault: isWrong ? say`Minimum amount must be a number, for example 100 or 49.90` : undefined,
    merchantFault: merchant.fault,
    filter: {
      searched: asked.q === undefined ? undefined : await meaningOf(database, asked.q),
      merchant_id: merchant.id,
      method: asked.method,
      currency: currency !== undefined && isCurrency(currency) ? currency : undefined,
      minimum_minor,
      waiting_since: least === undefined ? undefined : now - least,
      mode: asked.mode === 'live' || asked.mode === 'test' ? asked.mode : undefined,
      money: MONEY_SEEN.find((one) => one === asked.money),
      claim: claimed && { is: claimed, by: principal.id, now },
    },
  };
}

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
  { asked, fault, merchantFault }: Filtering,
  known: { methods: SelectChoices; currencies: readonly string[] },
): Html {
  const { address, directory, say } = context;
  const count = Object.keys(asked).filter((name) => name !== 'q').length;
  const isWrong = fault !== undefined || merchantFault !== undefined;
  const clear =
    Object.keys(asked).length > 0 && html` <a class="plain" href="${address('/queue')}">${say`Clear`}</a>`;
  const select = (name: FilterName, label: string, choices: SelectChoices) =>
    filterChoice(say, name, label, choices, asked[name], undefined, `filter-${name}`);
  const named = (choices: Readonly<Record<string, string>>): SelectChoices =>
    Object.entries(choices).map(([value, text]) => [value, say.of(text)]);
  const currencies = known.currencies.map((code) => [code, code] as const);
  const decimal = { inputmode: 'decimal' };
  const least = filterField('minimum', say`Minimum amount`, asked.minimum, fault, decimal, 'filter-minimum');
  const ages = Object.entries(AGES).map(([value, [label]]) => [value, say.of(label)] as const);
  return html`<form method="get" action="${address('/queue')}" role="search" class="find-form">
${findField(context, asked.q)}
<details class="filters"${(count > 0 || isWrong) && html` open`}><summary>${count > 0 ? say`Filters (${count})` : say`Filters`}</summary>
<div class="fields">
${merchantFilter(say, directory, asked.merchant, merchantFault, 'filter-merchant')}${select('method', say`Way to pay`, known.methods)}
${select('currency', say`Currency`, currencies)}${least}${select('age', say`Waiting for`, ages)}
${select('mode', say`Mode`, named(MODES))}${select('claimed', say`Claimed`, named(CLAIMS))}${select('money', say`On the bank statement`, named(MONEY))}
<p class="actions"><button class="secondary">${say`Apply`}</button>${clear}</p>
</div>
</details>
</form>`;
}
