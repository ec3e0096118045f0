// The queue: payments that wait for a decision, those that wait longest first, with one of them open beside it.

import { Readable } from 'node:stream';
import { age, isLong, literal, type Names, nameOf, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { namesOf } from '../../administrators/queries.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { grouped } from '../../payments/methods/transfer/creditor-reference.ts';
import type { Payment } from '../../payments/payment.ts';
import { pager } from '../../web/markup/table.ts';
import { claimOf } from '../claim.ts';
import { countQueue, type LastDecision, listQueue, type QueueCount, queuePlace } from '../queries.ts';
import { arrivalsOf, awaitsSecond, receivedSoFar } from '../review.ts';
import { dayInWords } from '../told.ts';
import type { ReviewContext } from './context.ts';
import { doneNotice, paymentNamed } from './done.ts';
import { panel } from './evidence.ts';
import { carriedFrom } from './list-place.ts';
import { addressOfPayment, heading, type People, peopleFor } from './panel.ts';
import { customerName, METHOD_TYPES, methodName, submissionOf, toldReference } from './particulars.ts';
import { type Filtering, filterForm, filteringOf, queuePlaceOf, writtenPlace } from './queue-filter.ts';

const PAGE = 50;

export async function queuePage(context: ReviewContext): Promise<Outcome> {
  const { database, query } = context;
  const filtering = await filteringOf(context);
  const isFiltered = Object.keys(filtering.asked).length > 0;
  const [found, matching, total, open, done] = await Promise.all([
    listQueue(database, filtering.filter, queuePlaceOf(query.get('after')), PAGE + 1),
    isFiltered ? countQueue(database, filtering.filter) : undefined,
    context.figures.waiting(),
    paymentNamed(context, 'open'),
    doneNotice(context),
  ]);
  const shown = found.slice(0, PAGE);
  const people = await peopleFor(context, [...shown, ...(open ? [open] : [])]);
  const detail = open && (await openPane(context, open, people, filtering));
  const next = found.length > PAGE ? queuePlace(shown.at(-1)!) : undefined;
  const list =
    shown.length === 0
      ? await emptyList(context, people.names, filtering, total.count)
      : html`${figures(context, matching ?? total, isFiltered)}
${table(context, shown, people, filtering, open?.id)}
${links(context, filtering, next && writtenPlace(next))}`;
  const { fault, merchantFault } = filtering;
  const faults = {
    ...(merchantFault !== undefined && { 'filter-merchant': merchantFault }),
    ...(fault !== undefined && { 'filter-minimum': fault }),
  };
  const currencies = [...new Set(total.sums.map(({ currency }) => currency))];
  const content = html`${done}
<div class="queue-head"><h1>Queue</h1>
${filterForm(context, filtering, { methods: methodsOf(total.methods, shown), currencies })}</div>
<div class="panes${detail && ' open'}">
<div class="list">
${newsLine(context, filtering, shown, total)}
${list}
</div>
${detail}
</div>`;
  return { title: 'Queue', content, place: '/queue', faults, status: 200 };
}

/** The link that shows the list anew. The script says behind it how many were sent after all that the list is made of. */
function newsLine(
  context: ReviewContext,
  filtering: Filtering,
  shown: readonly Payment[],
  { newest }: QueueCount,
): Html {
  const { address, query } = context;
  const after = Math.max(newest ?? 0, ...shown.map((payment) => queuePlace(payment).since));
  const refreshed = addressOf(context, filtering, {
    after: query.get('after') ?? undefined,
    open: query.get('open') ?? undefined,
  });
  const news = address('/queue/new', { ...filtering.asked, sent_after: String(after) });
  return html`<p class="ways"><a href="${refreshed}">Refresh</a> <span role="status" data-news="${news}"></span></p>`;
}

/** How many payments the filters let through that were sent after a moment: what the script asks for. */
export async function newInQueue(context: ReviewContext): Promise<Outcome> {
  const { database, query } = context;
  const { filter } = await filteringOf(context);
  const sent_after = /^\d{1,15}$/.exec(query.get('sent_after') ?? '')?.[0];
  if (sent_after === undefined)
    throw new OperationalError('validation_failed', 'sent_after must be milliseconds since 1970.');
  const { count } = await countQueue(database, { ...filter, sent_after: Number(sent_after) });
  return { stream: Readable.from([String(count)]), type: 'text/plain; charset=utf-8', name: 'new.txt' };
}

function addressOf(
  { address }: ReviewContext,
  { asked }: Filtering,
  more: Record<string, string | undefined>,
): string {
  return address('/queue', { ...asked, ...more });
}

/** How many there are, what they come to, and how long the oldest waits. */
function figures(context: ReviewContext, { count, sums, oldest }: QueueCount, isFiltered = false): Html {
  const payments = count === 1 ? 'payment' : 'payments';
  const match = isFiltered && (count === 1 ? ' matches' : ' match');
  return html`<p class="figures"><strong>${count}</strong> ${payments}${match}${sums.map(
    ({ currency, mode, amount_minor }) =>
      html` · <bdi>${context.money(amount_minor, currency)}</bdi>${mode === 'test' && ' test'}`,
  )}${oldest !== null && html` · oldest ${age(context, oldest)}`}</p>`;
}

function table(
  context: ReviewContext,
  payments: readonly Payment[],
  people: People,
  filtering: Filtering,
  open: string | undefined,
): Html {
  const after = context.query.get('after') ?? undefined;
  return html`<table class="queue">
<thead><tr>
<th scope="col">Age</th><th scope="col" class="number">Amount</th><th scope="col">Merchant</th><th scope="col">Customer</th>
<th scope="col" class="extra">Method</th><th scope="col" class="extra">Reference</th>
<th scope="col" class="extra">Transfer reference</th><th scope="col" class="extra">Claimed by</th>
</tr></thead>
<tbody>${payments.map((payment) => {
    const { id, mode, merchant_name, merchant_reference } = payment;
    const told = toldReference(payment);
    const transfer = told && literal(grouped(told));
    const link = addressOf(context, filtering, { after, open: id });
    const amount = context.money(payment.amount_minor, payment.currency);
    const current = id === open && html` aria-current="true"`;
    const money = html`<bdi${isLong(amount) && html` class="long"`}>${amount}</bdi>`;
    const tag = mode === 'test' && html` <span class="tag">Test</span>`;
    return html`<tr${id === open && html` class="open"`}>
<td data-label="Age">${age(context, queuePlace(payment).since)}</td>
<td data-label="Amount" class="number"><a href="${link}" data-key-row${current}>${money}</a>${tag}${seen(context, payment)}</td>
<td data-label="Merchant">${said(merchant_name)}</td>
<td data-label="Customer">${said(customerName(payment) ?? '–')}</td>
<td data-label="Method" class="extra">${said(methodName(payment) ?? '–')}</td>
<td data-label="Reference" class="extra${merchant_reference === null && ' none'}">${said(merchant_reference ?? '–')}</td>
<td data-label="Transfer reference" class="extra${told === null && ' none'}">${transfer ?? '–'}</td>
${claimCell(context, payment, people)}</tr>
`;
  })}</tbody>
</table>`;
}

/** Money that arrived for a payment under review: on which day, and whether it is what was asked for. */
function seen(context: ReviewContext, payment: Payment): Html | null {
  const last = arrivalsOf(payment).at(-1);
  if (!last) return null;
  const more = receivedSoFar(payment) - payment.amount_minor;
  const difference = html`<bdi>${context.money(Math.abs(more), payment.currency)}</bdi> ${more < 0 ? 'less' : 'more'}`;
  const day = last.received_on === '' ? '' : `, ${dayInWords(last.received_on)}`;
  return html`<p class="hint">Money seen${day}, ${more === 0 ? 'exact' : difference}</p>`;
}

function claimCell(context: ReviewContext, payment: Payment, people: People): Html {
  const claim = claimOf(payment, context.now);
  const isHalf = awaitsSecond(payment, people.barred);
  const who = claim ? nameOf(context, people.names, claim.by) : '–';
  const half = isHalf && html` <span class="tag">1 of 2</span>`;
  return html`<td data-label="Claimed by" class="extra${claim || isHalf ? ' claimed' : ' none'}">${who}${half}</td>`;
}

/** The ways to pay by their ids, and what they were called when customers chose them. */
function methodsOf(ids: readonly string[], payments: readonly Payment[]): [string, string][] {
  const names = new Map<string, string>();
  for (const payment of payments) {
    const id = submissionOf(payment)?.method;
    if (id !== undefined) names.set(id, methodName(payment)!);
  }
  return ids.toSorted().map((id) => [id, names.get(id) ?? METHOD_TYPES[id] ?? id]);
}

function links(context: ReviewContext, filtering: Filtering, next: string | undefined): Html | null {
  const to = (place: { after?: string }) => addressOf(context, filtering, place);
  return pager(
    context.query.has('after') && ['First', to({})],
    next !== undefined && ['Next', to({ after: next })],
    'Pages of the queue',
  );
}

async function openPane(
  context: ReviewContext,
  payment: Payment,
  people: People,
  filtering: Filtering,
): Promise<Html> {
  const after = context.query.get('after') ?? undefined;
  const place = { on: 'queue', carried: carriedFrom(context.query, 'queue') } as const;
  return html`<article class="detail" aria-label="The payment that is open">
<p class="ways"><a href="${addressOf(context, filtering, { after })}">Close</a>
<a href="${addressOfPayment(context, payment.id, place.carried)}">Payment and its history</a></p>
${heading(context, payment, 'h2')}
${await panel(context, payment, people, place)}
</article>`;
}

async function emptyList(
  context: ReviewContext,
  names: Names,
  { asked }: Filtering,
  waiting: number,
): Promise<Html> {
  const isFiltered = Object.keys(asked).length > 0;
  if (asked.q !== undefined)
    return html`<div class="empty"><p>Nothing in the queue matches this search.</p>
<p><a href="${context.address('/payments', { q: asked.q })}">Search all payments</a></p></div>`;
  if (waiting > 0) {
    const what = isFiltered ? 'Nothing in the queue matches these filters.' : 'Nothing more in the queue.';
    return html`<div class="empty"><p>${what}</p><p><a href="${context.address('/queue')}">Show all ${waiting}</a></p></div>`;
  }
  const last = await context.figures.lastDecision();
  return html`<div class="empty"><p>Nothing to review.${last && html` ${await lastDecisionLine(context, last, names)}`}</p></div>`;
}

/** The time of the last decision, and who made it. */
export async function lastDecisionLine(
  context: ReviewContext,
  { at, by, payment }: LastDecision,
  known: Names,
): Promise<Html> {
  const names = by === null || known.has(by) ? known : await namesOf(context.database, [by]);
  const who = by !== null && html` by ${nameOf(context, names, by)}`;
  return html`<a href="${addressOfPayment(context, payment)}">Last decision</a> ${age(context, at)} ago${who}.`;
}
