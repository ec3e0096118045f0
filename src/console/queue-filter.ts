// Which part of the queue is looked at: the filters as an address says them, as the store takes them, and as a form.
import { asciiDigits } from '../lib/digits.ts';
import { attributes, type Html, html } from '../lib/html.ts';
import { isCurrency, parseTypedAmount } from '../lib/money.ts';
import { DAY_MS, HOUR_MS } from '../lib/time.ts';
import { isPaymentId } from '../payments/payment.ts';
import type { QueueFilter, QueuePlace } from '../review/queries.ts';
import { filterChoice, askedOf as filtersOf, type SelectChoices } from './filters.ts';
import { merchantAsked, merchantFilter } from './merchant-filter.ts';
import type { Context } from './route.ts';

/** The parameters that filter; the others of the queue say which payment is open and where the list begins. */
const FILTERS = ['merchant', 'method', 'currency', 'minimum', 'age', 'mode', 'claimed'] as const;
type FilterName = (typeof FILTERS)[number];
type Asked = Partial<Record<FilterName, string>>;

const AGES: Readonly<Record<string, [label: string, ms: number]>> = {
  '1h': ['1 hour or more', HOUR_MS],
  '4h': ['4 hours or more', 4 * HOUR_MS],
  '1d': ['1 day or more', DAY_MS],
  '3d': ['3 days or more', 3 * DAY_MS],
};
const MODES: Readonly<Record<string, string>> = { live: 'Live', test: 'Test' };
const CLAIMS: Readonly<Record<string, string>> = {
  available: 'Free or mine',
  mine: 'Mine',
  others: 'Somebody else’s',
};
/** Longest text of a filter that is looked at. */
const TEXT_MAXIMUM = 100;

/** The filters of the queue that an address names. */
export const askedOf = (query: URLSearchParams): Asked => filtersOf(query, FILTERS, TEXT_MAXIMUM);

export interface Filtering {
  filter: QueueFilter;
  /** The filters that narrow, as their parameters. */
  asked: Asked;
  /** What is wrong with the least amount. */
  fault: string | undefined;
  /** What is wrong with the merchant. */
  merchantFault: string | undefined;
}

/** Reads the filters of an address. What means nothing does not narrow. */
export function filteringOf({ query, directory, principal, now }: Context): Filtering {
  const asked = askedOf(query);
  const merchant = merchantAsked(directory, asked.merchant);
  const currency = asked.currency?.toUpperCase();
  const claimed = (['available', 'mine', 'others'] as const).find((one) => one === asked.claimed);
  const least = Object.entries(AGES).find(([value]) => value === asked.age)?.[1][1];
  const minimum = asked.minimum === undefined ? '0' : asciiDigits(asked.minimum);
  const minimum_minor = parseTypedAmount(minimum);
  const isWrong = minimum_minor === undefined && Number(minimum) !== 0;
  return {
    asked,
    fault: isWrong ? 'Minimum amount must be a number, for example 100 or 49.90' : undefined,
    merchantFault: merchant.fault,
    filter: {
      merchant_id: merchant.id,
      method: asked.method,
      currency: currency !== undefined && isCurrency(currency) ? currency : undefined,
      minimum_minor,
      waiting_since: least === undefined ? undefined : now - least,
      mode: asked.mode === 'live' || asked.mode === 'test' ? asked.mode : undefined,
      claim: claimed && { is: claimed, by: principal.id, now },
    },
  };
}

/** Where a page of the queue begins, as an address says it: `1700000000000-pay_…`; undefined where it says none. */
export function placeOf(text: string | null): QueuePlace | undefined {
  const parts = /^(\d{1,15})-(pay_\w+)$/.exec(text ?? '');
  return parts && isPaymentId(parts[2]!) ? { since: Number(parts[1]), id: parts[2]! } : undefined;
}
export const writtenPlace = ({ since, id }: QueuePlace) => `${since}-${id}`;

const select = (name: FilterName, label: string, choices: SelectChoices, asked: Asked) =>
  filterChoice(name, label, choices, asked[name], undefined, `filter-${name}`);

/** The filters as a form whose answer is an address that can be kept. `methods` are those known of the queue, by their ids. */
export function filterForm(
  { address, directory }: Context,
  { asked, fault, merchantFault }: Filtering,
  known: { methods: SelectChoices; currencies: readonly string[] },
): Html {
  const count = Object.keys(asked).length;
  const howMany = count > 0 && html` <span class="muted">(${count} set)</span>`;
  const clear = count > 0 && html` <a href="${address('/queue')}">Clear filters</a>`;
  return html`<details class="filters"${count > 0 && html` open`}><summary>Filter${howMany}</summary>
<form method="get" action="${address('/queue')}">
${merchantFilter(directory, asked.merchant, merchantFault, 'filter-merchant')}${select('method', 'Method', known.methods, asked)}${select(
  'currency',
  'Currency',
  known.currencies.map((code) => [code, code] as const),
  asked,
)}<div class="field${fault && ' wrong'}"><label for="filter-minimum">Minimum amount</label>
${fault && html`<p class="error" id="filter-minimum-error">${fault}</p>\n`}<input${attributes({
    id: 'filter-minimum',
    name: 'minimum',
    type: 'text',
    inputmode: 'decimal',
    autocomplete: 'off',
    value: asked.minimum,
    'aria-invalid': fault !== undefined && 'true',
    'aria-describedby': fault && 'filter-minimum-error',
  })}></div>
${select(
  'age',
  'Waiting',
  Object.entries(AGES).map(([value, [label]]) => [value, label] as const),
  asked,
)}
${select('mode', 'Mode', Object.entries(MODES), asked)}
${select('claimed', 'Claimed', Object.entries(CLAIMS), asked)}<p class="actions"><button class="secondary">Apply</button>${clear}</p>
</form>
</details>`;
}
