// Which payments a list of them shows: one search and a few filters, as an address says them, as the store takes them, and as a form.

import {
  askedOf,
  dayFields,
  daysAsked,
  filterBar,
  filterChoice,
} from '../../administrators/pages/filters.ts';
import type { Faults } from '../../administrators/pages/parts.ts';
import { attributes, type Html, html } from '../../lib/html.ts';
import { merchantAsked, merchantFilter } from '../../merchants/pages/merchant-filter.ts';
import { STATUSES, type Status } from '../../payments/payment.ts';
import { meaningOf } from '../meaning.ts';
import type { SearchFilter } from '../queries.ts';
import type { ReviewContext } from './context.ts';

export const PAYMENT_FILTERS = ['q', 'status', 'merchant', 'mode', 'from', 'to'] as const;
type Parameter = (typeof PAYMENT_FILTERS)[number];
/** Longest text that is looked for. */
const TEXT_MAXIMUM = 508;

const STATUS_NAMES: Readonly<Record<Status, string>> = {
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
  timeZone,
}: Pick<ReviewContext, 'query' | 'database' | 'directory' | 'timeZone'>): Promise<PaymentSearch> {
  const asked = askedOf(query, PAYMENT_FILTERS, TEXT_MAXIMUM);
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
  return { asked, filter: { ...filter, ...(await meaningOf(database, asked.q)) }, faults };
}

const HINT = 'A line of a bank statement, a payment number, an email address, an amount like 49.90';

/** The field of a search, by default one whose text is read by `meaningOf`. */
export function searchField(asked: string | undefined, hint = HINT): Html {
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
    value: asked,
  });
  return html`<div class="field search"><label for="q">Search</label>
<p class="hint" id="q-hint">${hint}</p>
<input${search}></div>
`;
}

/** The search and the filters as a form whose answer is an address that can be kept. */
export function paymentSearchForm(context: ReviewContext, { asked, faults }: PaymentSearch): Html {
  const statuses = STATUSES.map((status) => [status, STATUS_NAMES[status]] as const);
  const fields = html`${searchField(asked.q)}${filterChoice('status', 'Status', statuses, asked.status, faults.status)}
${merchantFilter(context.directory, asked.merchant, faults.merchant)}
${filterChoice('mode', 'Mode', Object.entries(MODES), asked.mode, faults.mode)}${dayFields(asked, faults)}`;
  return filterBar(context, '/payments', asked, { fields, button: 'Search' });
}
