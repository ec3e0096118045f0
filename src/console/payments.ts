// The payments of all merchants, newest first: searched, filtered, and a page at a time.
import { type Html, html } from '../lib/html.ts';
import { isPaymentId, type Payment } from '../payments/payment.ts';
import { searchPayments } from '../review/queries.ts';
import { addressOfPayment } from './panel.ts';
import { customerName } from './particulars.ts';
import { hasFaults, moment, said, statusStamp } from './parts.ts';
import { type PaymentSearch, paymentSearchForm, paymentSearchOf } from './payment-search.ts';
import type { Context, Outcome } from './route.ts';

const PAGE = 50;
/** How many pages back the way is kept in the address; further back the browser's own way leads, or the newest. */
const TRAIL = 20;

export async function paymentsPage(context: Context): Promise<Outcome> {
  const { database, query, now } = context;
  const search = await paymentSearchOf(context);
  const wrong = hasFaults(search.faults);
  const trail = (query.get('trail') ?? '').split('.').filter(isPaymentId).slice(-TRAIL);
  const before = [query.get('before') ?? ''].find(isPaymentId);
  const found = wrong ? [] : await searchPayments(database, search.filter, before, PAGE + 1, now);
  const shown = found.slice(0, PAGE);
  const content = html`<h1>Payments</h1>
${paymentSearchForm(context, search)}
${
  wrong
    ? null
    : shown.length === 0
      ? empty(context, search, before)
      : html`${table(context, shown)}
${pager(context, search, { before, trail, next: found.length > PAGE ? shown.at(-1)!.id : undefined })}
${exports(context, search)}`
}`;
  return { title: 'Payments', content, place: '/payments', faults: search.faults };
}

function table(context: Context, payments: readonly Payment[]): Html {
  return html`<table class="records">
<thead><tr><th scope="col">Created</th><th scope="col" class="number">Amount</th><th scope="col">Status</th><th scope="col">Merchant</th><th scope="col">Customer</th><th scope="col">Reference</th></tr></thead>
<tbody>
${payments.map(
  (payment) =>
    html`<tr><td data-label="Created">${moment(context, payment.created_at)}</td><td data-label="Amount" class="number"><a href="${addressOfPayment(context, payment.id)}" data-key-row><bdi>${context.money(payment.amount_minor, payment.currency)}</bdi></a>${payment.mode === 'test' && html` <span class="tag">Test</span>`}</td><td data-label="Status">${statusStamp(payment, context.now)}</td><td data-label="Merchant">${said(payment.merchant_name)}</td><td data-label="Customer">${said(customerName(payment) ?? '–')}</td><td data-label="Reference">${payment.merchant_reference === null ? '–' : said(payment.merchant_reference)}</td></tr>\n`,
)}</tbody>
</table>`;
}

function empty({ address }: Context, { asked }: PaymentSearch, before: string | undefined): Html {
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

function pager({ address }: Context, { asked }: PaymentSearch, { before, trail, next }: Leaf): Html | null {
  if (before === undefined && next === undefined) return null;
  const back = { ...asked, before: trail.at(-1), trail: trail.slice(0, -1).join('.') };
  const onward = { ...asked, before: next, trail: [...trail, ...(before ? [before] : [])].join('.') };
  return html`<nav class="pager" aria-label="Pages">${before !== undefined && html`<a href="${address('/payments', back)}" rel="prev">${trail.length > 0 ? 'Newer' : 'Newest'}</a> `}${next !== undefined && html`<a href="${address('/payments', onward)}" rel="next">Older</a>`}</nav>`;
}

function exports({ address }: Context, { asked }: PaymentSearch): Html {
  return html`<p class="downloads">Download ${Object.keys(asked).length > 0 ? 'what matches' : 'all payments'}: <a class="plain" href="${address('/payments.csv', asked)}" download>CSV</a> · <a class="plain" href="${address('/payments.ndjson', asked)}" download>NDJSON</a>. <span class="muted">The file holds personal data; the history keeps that you downloaded it.</span></p>`;
}
