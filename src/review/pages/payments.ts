// The payments of all merchants, newest first: searched, filtered, and a page at a time.

import { hasFaults, moment, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { type Html, html } from '../../lib/html.ts';
import { isPaymentId, type Payment } from '../../payments/payment.ts';
import { pager, records } from '../../web/markup/table.ts';
import { SEPARATOR_NAMES, type Separator } from '../../web/row-writer.ts';
import { searchPayments } from '../queries.ts';
import type { ReviewContext } from './context.ts';
import { doneNotice } from './done.ts';
import { carriedFrom } from './list-place.ts';
import { addressOfPayment, statusStamp } from './panel.ts';
import { customerName } from './particulars.ts';
import { type PaymentSearch, paymentSearchForm, paymentSearchOf } from './payment-search.ts';

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
  const content = html`${await doneNotice(context)}<h1>Payments</h1>
${paymentSearchForm(context, search)}
${
  wrong
    ? null
    : shown.length === 0
      ? empty(context, search, before)
      : html`${table(context, shown)}
${links(context, search, { before, trail, next: found.length > PAGE ? shown.at(-1)!.id : undefined })}
${exports(context, search)}`
}`;
  return { title: 'Payments', content, place: '/payments', faults: search.faults };
}

const table = (context: ReviewContext, payments: readonly Payment[]): Html =>
  records<Payment>(
    [
      ['Created', ({ created_at }) => moment(context, created_at)],
      ['Amount', (payment) => amountOf(context, payment), 'number'],
      ['Status', (payment) => statusStamp(payment, context.now)],
      ['Merchant', ({ merchant_name }) => said(merchant_name)],
      ['Customer', (payment) => said(customerName(payment) ?? '–')],
      ['Reference', ({ merchant_reference: own }) => (own === null ? '–' : said(own))],
    ],
    payments,
  );

function amountOf(context: ReviewContext, { id, amount_minor, currency, mode }: Payment): Html {
  const amount = html`<bdi>${context.money(amount_minor, currency)}</bdi>`;
  const test = mode === 'test' && html` <span class="tag">Test</span>`;
  return html`<a href="${addressOfPayment(context, id, carriedFrom(context.query, 'payments'))}" data-key-row>${amount}</a>${test}`;
}

function empty({ address }: ReviewContext, { asked }: PaymentSearch, before: string | undefined): Html {
  if (before !== undefined)
    return html`<div class="empty"><p>There are no older payments.</p><p><a href="${address('/payments', asked)}">Newest</a></p></div>`;
  if (Object.keys(asked).length > 0)
    return html`<div class="empty"><p>No payment matches.</p><p><a href="${address('/payments')}">Show all payments</a></p></div>`;
  return html`<div class="empty"><p>There are no payments yet.</p></div>`;
}

interface Leaf {
  before: string | undefined;
  /** Where the pages before this one began, the one before it last. */
  trail: readonly string[];
  next: string | undefined;
}

function links(
  { address }: ReviewContext,
  { asked }: PaymentSearch,
  { before, trail, next }: Leaf,
): Html | null {
  const back = { ...asked, before: trail.at(-1), trail: trail.slice(0, -1).join('.') };
  const onward = { ...asked, before: next, trail: [...trail, ...(before ? [before] : [])].join('.') };
  const newer = trail.length > 0 ? 'Newer' : 'Newest';
  return pager(
    before !== undefined && [newer, address('/payments', back)],
    next !== undefined && ['Older', address('/payments', onward)],
  );
}

function exports({ address }: ReviewContext, { asked }: PaymentSearch): Html {
  const link = (path: string, name: string, separator?: Separator) =>
    html`<a class="plain" href="${address(path, { ...asked, separator })}" download>${name}</a>`;
  const forSpreadsheets = SEPARATOR_NAMES.map(
    (name, i) => html`${i > 0 && ' · '}${link('/payments.csv', name, name)}`,
  );
  const what = Object.keys(asked).length > 0 ? 'what matches' : 'all payments';
  return html`<p class="downloads">Download ${what}: ${link('/payments.csv', 'CSV')} · ${link('/payments.ndjson', 'NDJSON')}. CSV for a spreadsheet, separated by ${forSpreadsheets}.
<span class="muted">The file holds personal data; the history keeps that you downloaded it.</span></p>`;
}
