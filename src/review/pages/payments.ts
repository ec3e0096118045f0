// The payments of all merchants, newest first: searched, filtered, and a page at a time.

import {
  askedOf,
  dayFields,
  daysAsked,
  filterBar,
  filterChoice,
  findField,
  type SelectChoices,
} from '../../administrators/pages/filters.ts';
import { emptyState, type Faults, hasFaults, moment, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { dateIn } from '../../lib/time.ts';
import type { Directory } from '../../merchants/directory.ts';
import { merchantAsked, merchantFilter } from '../../merchants/pages/merchant-filter.ts';
import { isPaymentId, type Payment, STATUSES, type Status } from '../../payments/payment.ts';
import { pager, records } from '../../web/markup/table.ts';
import {
  EXPORT_TYPES,
  type ExportFormat,
  SEPARATOR_NAMES,
  type Separator,
  separatorOf,
} from '../../web/row-writer.ts';
import { exportStream } from '../export.ts';
import { meaningOf } from '../meaning.ts';
import { type SearchFilter, searchPayments } from '../search-queries.ts';
import type { ReviewContext } from './context.ts';
import { doneNotice } from './done.ts';
import { addressOfPayment, customerName, statusStamp } from './panel.ts';
import { carriedFrom, MODES, modeIn, namedChoices, PAYMENT_FILTERS, TEXT_MAXIMUM } from './queue-filter.ts';

const PAGE = 50;
/** How many pages back the way is kept in the address; further back the browser's own way leads, or the newest. */
const TRAIL = 20;

export async function paymentsPage(context: ReviewContext): Promise<Outcome> {
  const { database, query, now } = context;
  const search = await paymentSearchOf(context);
  const wrong = hasFaults(search.faults);
  const trail = (query.get('trail') ?? '').split('.').filter(isPaymentId).slice(-TRAIL);
  const before = [query.get('before') ?? ''].find(isPaymentId);
  const found = wrong ? [] : await searchPayments(database, search.filter, before, PAGE + 1, now);
  const shown = found.slice(0, PAGE);
  const { say } = context;
  const content = html`<h1>${say`Payments`}</h1>
${await doneNotice(context)}${paymentSearchForm(context, search)}
${
  wrong
    ? null
    : shown.length === 0
      ? empty(context, search, before)
      : html`${table(context, shown)}
${links(context, search, before, trail, found.length > PAGE ? shown.at(-1)!.id : undefined)}
${exports(context, search)}`
}`;
  return { title: say`Payments`, content, place: '/payments', faults: search.faults };
}

const table = (context: ReviewContext, payments: readonly Payment[]): Html =>
  records<Payment>(
    [
      [context.say`Amount`, (payment) => amountOf(context, payment), 'number'],
      [context.say`Customer`, (payment) => said(customerName(payment) ?? '–')],
      [context.say`Merchant`, ({ merchant_name }) => said(merchant_name)],
      [context.say`Order`, ({ merchant_reference: own }) => (own === null ? '–' : said(own))],
      [context.say`Status`, (payment) => statusStamp(context, payment)],
      [context.say`Created`, ({ created_at }) => moment(context, created_at)],
    ],
    payments,
  );

function amountOf(context: ReviewContext, { id, amount_minor, currency, mode }: Payment): Html {
  const amount = html`<bdi>${context.money(amount_minor, currency)}</bdi>`;
  const test = mode === 'test' && html` <span class="tag">${context.say`Test`}</span>`;
  return html`${test} <a href="${addressOfPayment(context, id, carriedFrom(context.query, 'payments'))}" data-key-row>${amount}</a>`;
}

function empty({ address, say }: ReviewContext, { asked }: PaymentSearch, before: string | undefined): Html {
  const one = (text: string, to: string, link: string) =>
    emptyState('receipt', text, html`<p><a href="${to}">${link}</a></p>`);
  if (before !== undefined)
    return one(say`There are no older payments.`, address('/payments', asked), say`Newest`);
  if (Object.keys(asked).length > 0)
    return one(say`No payment matches.`, address('/payments'), say`Show all payments`);
  return emptyState('receipt', say`There are no payments yet.`);
}

/** The ways to newer and older payments. `trail`: where the pages before this one began, the one before it last. */
function links(
  { address, say }: ReviewContext,
  { asked }: PaymentSearch,
  before: string | undefined,
  trail: readonly string[],
  next: string | undefined,
): Html | null {
  const back = { ...asked, before: trail.at(-1), trail: trail.slice(0, -1).join('.') };
  const onward = { ...asked, before: next, trail: [...trail, ...(before ? [before] : [])].join('.') };
  const newer = trail.length > 0 ? say`Newer` : say`Newest`;
  return pager(
    before !== undefined && [newer, address('/payments', back)],
    next !== undefined && [say`Older`, address('/payments', onward)],
    say`Pages`,
  );
}

const SEPARATORS: Readonly<Record<Separator, string>> = {
  comma: phrase('comma'),
  semicolon: phrase('semicolon'),
  tab: phrase('tab'),
};

function exports({ address, say }: ReviewContext, { asked }: PaymentSearch): Html {
  const link = (path: string, name: string, separator?: Separator) =>
    html`<a class="plain" href="${address(path, { ...asked, separator })}" download>${name}</a>`;
  const [comma, semicolon, tab] = SEPARATOR_NAMES.map((name) =>
    link('/payments.csv', say.of(SEPARATORS[name]), name),
  );
  const files = html`${link('/payments.csv', 'CSV')} · ${link('/payments.ndjson', 'NDJSON')}`;
  return html`<p class="downloads"><span>${
    Object.keys(asked).length > 0
      ? say.html`Download what matches: ${files}`
      : say.html`Download all payments: ${files}`
  }</span> <span>${say.html`CSV for a spreadsheet, separated by ${comma} · ${semicolon} · ${tab}`}</span>
<span class="muted">${say`The file holds personal data. The history records that you downloaded it.`}</span></p>`;
}

/** What entries about exports are about. */
const EXPORT_SUBJECT = 'payments';

export async function download(context: ReviewContext, format: ExportFormat): Promise<Outcome> {
  const { database, directory, journal, act, now, offer, timeZone } = context;
  const { filter, faults } = await paymentSearchOf(context);
  const fault = Object.values(faults)[0];
  if (fault !== undefined) throw new OperationalError('validation_failed', `${fault}.`);
  const separator = separatorOf(context.query.get('separator') ?? undefined);
  await journal.commit((transaction) =>
    transaction.record({
      ...act,
      action: 'payments.exported',
      subject: EXPORT_SUBJECT,
      facts: { format, ...factsOf(filter, directory) },
    }),
  );
  return {
    stream: exportStream(database, { format, separator, filter, timeZone, now, offer }),
    type: EXPORT_TYPES[format],
    name: `payments-${dateIn(timeZone, now)}.${format}`,
  };
}

/** What an export was narrowed by, none of it as it was typed: the text may name a person. Of a search only what kind it was. */
function factsOf(filter: SearchFilter, directory: Directory): Record<string, string | number | null> {
  const { status = null, merchant_id, mode = null, from = null, to = null } = filter;
  const searched = (
    ['ids', 'reference', 'bank_reference', 'account', 'payer', 'email', 'amount_minor'] as const
  ).find((name) => filter[name] !== undefined);
  const merchant = merchant_id === undefined ? null : (directory.merchant(merchant_id)?.id ?? 'unknown');
  return { status, merchant, mode, from, to, searched: searched ?? null };
}

type Parameter = (typeof PAYMENT_FILTERS)[number];

const STATUS_NAMES: Readonly<Record<Status, string>> = {
  pending: phrase('Waiting for the customer'),
  requires_review: phrase('To review'),
  approved: phrase('Approved'),
  rejected: phrase('Rejected'),
  cancelled: phrase('Cancelled or expired'),
};

interface PaymentSearch {
  /** What narrows, as parameters of an address. */
  asked: Partial<Record<Parameter, string>>;
  filter: SearchFilter;
  faults: Faults;
}

/** Reads a search out of an address. What is wrong with it is among `faults`, and narrows nothing. */
async function paymentSearchOf({
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
    mode: modeIn(asked.mode),
    ...daysAsked(say, asked, timeZone, faults),
  };
  if (asked.status !== undefined && filter.status === undefined)
    faults.status = say`Status must be one of the list`;
  if (asked.mode !== undefined && filter.mode === undefined) faults.mode = say`Mode must be live or test`;
  if (asked.q === undefined) return { asked, filter, faults };
  return { asked, filter: { ...filter, ...(await meaningOf(database, asked.q)) }, faults };
}

/** The search and the filters as a form whose answer is an address that can be kept. */
function paymentSearchForm(context: ReviewContext, { asked, faults }: PaymentSearch): Html {
  const { say } = context;
  const choice = (name: 'status' | 'mode', label: string, choices: SelectChoices) =>
    filterChoice(say, name, label, choices, asked[name], faults[name]);
  const fields = html`${findField(context, asked.q)}${choice('status', say`Status`, namedChoices(say, STATUS_NAMES))}
${merchantFilter(say, context.directory, asked.merchant, faults.merchant)}
${choice('mode', say`Mode`, namedChoices(say, MODES))}${dayFields(asked, faults, say)}`;
  return filterBar(context, '/payments', asked, { fields, button: say`Apply`, label: say`Search` });
}
