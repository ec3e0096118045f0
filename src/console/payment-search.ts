// Which payments a list of them shows: one search and a few filters, as an address says them, as the store takes them, and as a form.
import { asciiDigits } from '../lib/digits.ts';
import { attributes, type Html, html } from '../lib/html.ts';
import { isCurrency } from '../lib/money.ts';
import { STATUSES, type Status } from '../payments/payment.ts';
import { type SearchFilter, searchPayments } from '../review/queries.ts';
import { findByTransferReference } from '../review/transfer-reference.ts';
import { amountIn, askedOf, dayFields, daysAsked, filterBar, filterChoice } from './filters.ts';
import { merchantAsked, merchantFilter } from './merchant-filter.ts';
import type { Faults } from './parts.ts';
import type { Context } from './route.ts';

const PARAMETERS = ['q', 'status', 'merchant', 'mode', 'from', 'to'] as const;
type Parameter = (typeof PARAMETERS)[number];
/** Longest text that is looked for. */
const TEXT_MAXIMUM = 508;

export const STATUS_NAMES: Readonly<Record<Status, string>> = {
  pending: 'Waiting for the customer',
  requires_review: 'To review',
  approved: 'Approved',
  rejected: 'Rejected',
  cancelled: 'Cancelled or expired',
};
const MODES = { live: 'Live', test: 'Test' } as const;

export interface PaymentSearch {
  /** What narrows, as parameters of an address. */
  asked: Partial<Record<Parameter, string>>;
  filter: SearchFilter;
  faults: Faults;
}

/** Reads a search out of an address. What is wrong with it is among `faults`, and narrows nothing. */
export async function paymentSearchOf({
  query,
  database,
  directory,
  now,
  timeZone,
}: Pick<Context, 'query' | 'database' | 'directory' | 'now' | 'timeZone'>): Promise<PaymentSearch> {
  const asked = askedOf(query, PARAMETERS, TEXT_MAXIMUM);
  const faults: Record<string, string> = {};
  const merchant = merchantAsked(directory, asked.merchant);
  if (merchant.fault !== undefined) faults.merchant = merchant.fault;
  const filter: SearchFilter = {
    status: STATUSES.find((one) => one === asked.status),
    merchant_id: merchant.id,
    mode: asked.mode === 'live' || asked.mode === 'test' ? asked.mode : undefined,
    ...daysAsked(asked, timeZone, faults),
  };
  if (asked.status !== undefined && filter.status === undefined)
    faults.status = 'Status must be one of the list';
  if (asked.mode !== undefined && filter.mode === undefined) faults.mode = 'Mode must be live or test';
  if (asked.q === undefined) return { asked, filter, faults };
  const id = await findByTransferReference(database, asked.q);
  if (id !== undefined) return { asked, filter: { ...filter, id }, faults };
  const meant = meaningOf(asked.q);
  // A bare number is somebody's reference before it is an amount.
  const isReference =
    meant.amount_minor !== undefined &&
    meant.currency === undefined &&
    (await searchPayments(database, { reference: asked.q }, undefined, 1, now)).length > 0;
  return { asked, filter: { ...filter, ...(isReference ? { reference: asked.q } : meant) }, faults };
}

/** What somebody who types `text` looks for: a payment by its id (a link with one in it, too), a customer, an amount, a reference. */
function meaningOf(text: string): SearchFilter {
  const id = /\bpay_[0-9a-z]{36}\b/.exec(text)?.[0];
  if (id !== undefined) return { id };
  if (text.includes('@')) return { email: text };
  // As the pages write amounts, too: €49.90, US$8.00, CHF 3,480.00.
  const number = asciiDigits(text.replace(/(?:\b[a-z]{1,2})?\p{Sc}/iu, ''));
  const bare = number.replaceAll(/(?<=\d)[,٬](?=\d{3}(?!\d))/g, '');
  const parts = /^\s*(?:([a-z]{3})\s*)?(\d{1,12}(?:[.,٫]\d{1,2})?)(?:\s*([a-z]{3}))?\s*$/i.exec(bare);
  const currency = (parts?.[1] ?? parts?.[3])?.toUpperCase();
  if (!parts || (currency !== undefined && !isCurrency(currency))) return { reference: text };
  const amount_minor = amountIn(parts[2]!);
  return amount_minor === undefined ? { reference: text } : { amount_minor, currency };
}

/** The search and the filters as a form whose answer is an address that can be kept. */
export function paymentSearchForm(context: Context, { asked, faults }: PaymentSearch): Html {
  const statuses = STATUSES.map((status) => [status, STATUS_NAMES[status]] as const);
  const search = attributes({
    id: 'q',
    name: 'q',
    type: 'search',
    dir: 'auto',
    autocomplete: 'off',
    spellcheck: 'false',
    autocapitalize: 'none',
    'data-key': '/',
    'aria-describedby': 'q-hint',
    value: asked.q,
  });
  const fields = html`<div class="field search"><label for="q">Search</label>
<p class="hint" id="q-hint">Payment number, reference, an amount like 49.90, or the email address that a customer sent</p>
<input${search}></div>
${filterChoice('status', 'Status', statuses, asked.status, faults.status)}
${merchantFilter(context.directory, asked.merchant, faults.merchant)}
${filterChoice('mode', 'Mode', Object.entries(MODES), asked.mode, faults.mode)}${dayFields(asked, faults)}`;
  return filterBar(context, '/payments', asked, { fields, button: 'Search' });
}
