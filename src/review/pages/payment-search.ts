// Which payments a list of them shows: one search and a few filters, as an address says them, as the store takes them, and as a form.

import {
  askedOf,
  dayFields,
  daysAsked,
  filterBar,
  filterChoice,
  findField,
  type SelectChoices,
} from '../../administrators/pages/filters.ts';
import type { Faults } from '../../administrators/pages/parts.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { merchantAsked, merchantFilter } from '../../merchants/pages/merchant-filter.ts';
import { STATUSES, type Status } from '../../payments/payment.ts';
import { meaningOf } from '../meaning.ts';
import type { SearchFilter } from '../queries.ts';
import type { ReviewContext } from './context.ts';
import { PAYMENT_FILTERS } from './list-place.ts';

type Parameter = (typeof PAYMENT_FILTERS)[number];
/** Maximum length of a search. */
const TEXT_MAXIMUM = 508;

const STATUS_NAMES: Readonly<Record<Status, string>> = {
  pending: phrase('Waiting for the customer'),
  requires_review: phrase('To review'),
  approved: phrase('Approved'),
  rejected: phrase('Rejected'),
  cancelled: phrase('Cancelled or expired'),
};
const MODES = { live: phrase('Live'), test: phrase('Test') } as const;

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
  say,
}: Pick<ReviewContext, 'query' | 'database' | 'directory' | 'timeZone' | 'say'>): Promise<PaymentSearch> {
  const asked = askedOf(query, PAYMENT_FILTERS, TEXT_MAXIMUM);
  const faults: Record<string, string> = {};
  const merchant = merchantAsked(say, directory, asked.merchant);
  if (merchant.fault !== undefined) faults.merchant = merchant.fault;
  const filter: SearchFilter = {
    status: STATUSES.find((one) => one === asked.status),
    merchant_id: merchant.id,
    mode: asked.mode === 'live' || asked.mode === 'test' ? asked.mode : undefined,
    ...daysAsked(say, asked, timeZone, faults),
  };
  if (asked.status !== undefined && filter.status === undefined)
    faults.status = say`Status must be one of the list`;
  if (asked.mode !== undefined && filter.mode === undefined) faults.mode = say`Mode must be live or test`;
  if (asked.q === undefined) return { asked, filter, faults };
  return { asked, filter: { ...filter, ...(await meaningOf(database, asked.q)) }, faults };
}

/** The search and the filters as a form whose answer is an address that can be kept. */
export function paymentSearchForm(context: ReviewContext, { asked, faults }: PaymentSearch): Html {
  const { say } = context;
  const statuses = STATUSES.map((status) => [status, say.of(STATUS_NAMES[status])] as const);
  const modes = Object.entries(MODES).map(([mode, text]) => [mode, say.of(text)] as const);
  const choice = (name: 'status' | 'mode', label: string, choices: SelectChoices) =>
    filterChoice(say, name, label, choices, asked[name], faults[name]);
  const fields = html`${findField(context, asked.q)}${choice('status', say`Status`, statuses)}
${merchantFilter(say, context.directory, asked.merchant, faults.merchant)}
${choice('mode', say`Mode`, modes)}${dayFields(asked, faults, say)}`;
  return filterBar(context, '/payments', asked, { fields, button: say`Apply`, label: say`Search` });
}
