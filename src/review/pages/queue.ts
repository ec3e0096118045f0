// The queue: payments that wait for a decision, those that wait longest first, and one of them open beside the list.

import { Readable } from 'node:stream';
import { age, emptyState, isLong, type Names, nameOf } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { namesOf } from '../../administrators/queries.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { DAY_MS } from '../../lib/time.ts';
import { claimOf, type Payment, sumMinor } from '../../payments/payment.ts';
import { sentOf } from '../../payments/submit.ts';
import { icon } from '../../web/markup/icons.ts';
import { pager } from '../../web/markup/table.ts';
import type { LastDecision } from '../queries.ts';
import {
  countBefore,
  countQueue,
  listBefore,
  listQueue,
  type QueueCount,
  type QueuePlace,
  queuePlace,
} from '../queue-queries.ts';
import { arrivalsOf, awaitsSecond, knownSoFar } from '../review.ts';
import { type People, peopleOf } from '../told.ts';
import type { ReviewContext } from './context.ts';
import { doneNotice, paymentNamed } from './done.ts';
import { DECISION, openPayment } from './open-payment.ts';
import { addressOfPayment, customerName, METHOD_TYPES, methodName } from './panel.ts';
import {
  carriedFrom,
  chips,
  type Filtering,
  filterForm,
  filteringOf,
  queuePlaceOf,
  writtenPlace,
} from './queue-filter.ts';

const PAGE = 50;
/** Where the payment that is open is on another page, the list begins this many payments before it. */
const IN_FRONT = 5;
/** What is open, in the page. */
const OPEN = 'open';

export async function queuePage(context: ReviewContext): Promise<Outcome> {
  const { database, query, say } = context;
  const filtering = await filteringOf(context);
  const isFiltered = Object.keys(filtering.asked).length > 0;
  const asked = await paymentNamed(context, 'open');
  const begins = queuePlaceOf(query.get('after')) ?? (asked && (await inFrontOf(context, filtering, asked)));
  const [found, matching, total, done] = await Promise.all([
    listQueue(database, filtering.filter, begins, PAGE + 1),
    isFiltered ? countQueue(database, filtering.filter) : undefined,
    context.figures.waiting(),
    doneNotice(context),
  ]);
  const shown = found.slice(0, PAGE);
  const open = asked ?? shown[0];
  const people = await peopleOf(context.database, [...shown, ...(open ? [open] : [])]);
  const count = matching ?? total;
  const place: ListPlace = { context, filtering, shown, begins, hasMore: found.length > PAGE, count };
  const isOpen = asked !== undefined;
  const detail = open && (await openPane(place, open, people, done));
  const currencies = [...new Set(total.sums.map(({ currency }) => currency))];
  const known = { methods: methodsOf(context, total.methods, shown), currencies };
  const heading = say`To review`;
  const title = isOpen
    ? html`<h2 id="list-heading">${heading}</h2>`
    : html`<h1 id="list-heading">${heading}</h1>`;
  const content = html`<section class="list" aria-labelledby="list-heading">
<header>
<div class="over">${title}${newsLine(place, total)}</div>
${figures(context, count, isFiltered)}
${filterForm(context, filtering, known)}
${await chips(context, filtering)}
</header>
<div class="rows">${!detail && done}${
    shown.length === 0
      ? await emptyList(context, people.names, filtering, total.count)
      : html`${await rowsOf(place, people, open)}
${links(place)}`
  }</div>
${keysLine(context)}
</section>
${detail && html`<article class="one" id="${OPEN}" tabindex="-1" aria-label="${say`The open payment`}">\n${detail}\n</article>`}`;
  const what = isOpen ? `${context.money(open!.amount_minor, open!.currency)} – ` : '';
  return {
    title: what + heading,
    content,
    place: '/queue',
    layout: 'panes',
    isOpen,
    skip: open && { to: DECISION, text: say`Skip to the decision` },
    faults: filtering.faults,
    status: 200,
  };
}

/** The payment that is open beside the list. Its heading is the page's own if the address names it. */
async function openPane(
  place: ListPlace,
  payment: Payment,
  people: People,
  done: Html | undefined,
): Promise<Html> {
  const { context } = place;
  const { query } = context;
  return openPayment(context, {
    payment,
    people,
    done,
    on: 'queue',
    carried: carriedFrom(query, 'queue'),
    level: query.get('open') === payment.id ? 1 : 2,
    back: back(place, payment),
    steps: await stepsAround(place, payment),
  });
}

/** The rows of the list, each with what is known of it at a glance. */
async function rowsOf(place: ListPlace, people: People, open: Payment | undefined): Promise<Html> {
  const { context, shown } = place;
  const { say, money, now } = context;
  const looks = await context.figures.looks(shown);
  return html`<ol class="rows-list">${shown.map((payment, at) => {
    const current = payment.id === open?.id && html` aria-current="true"`;
    const amount = money(payment.amount_minor, payment.currency);
    const { since } = queuePlace(payment);
    const late = now - since > LATE_MS && ' late';
    const name = customerName(payment) ?? say`Unnamed customer`;
    return html`<li><a href="${addressOf(place, payment.id)}" data-key-row${current}>
<span class="who"><b><bdi>${name}</bdi></b>${marks(context, payment, people, looks[at]!)}</span>
<span class="sum${isLong(amount) && ' long'}"><bdi>${amount}</bdi></span>
<span class="what">${about(context, payment)}</span><span class="age${late}">${age(context, since)}</span></a></li>
`;
  })}</ol>`;
}

/** A page of the list: what is on it, and what it comes to. */
interface ListPlace {
  context: ReviewContext;
  filtering: Filtering;
  shown: readonly Payment[];
  /** The last payment of the page before. Undefined for the first page. */
  begins: QueuePlace | undefined;
  hasMore: boolean;
  count: QueueCount;
}

/** The place that a list with `open` on it begins behind: undefined if its first page has it, or if it is in none. */
async function inFrontOf(
  { database }: ReviewContext,
  { filter }: Filtering,
  open: Payment,
): Promise<QueuePlace | undefined> {
  if (open.status !== 'requires_review') return undefined;
  const before = await listBefore(database, filter, queuePlace(open), PAGE);
  return before.length < PAGE ? undefined : before[IN_FRONT];
}

/** The links to the payments before and behind the open one; null if it is not in the list. */
async function stepsAround(
  { context, filtering, shown, begins, count, hasMore }: ListPlace,
  open: Payment,
): Promise<Html | null> {
  const at = shown.findIndex(({ id }) => id === open.id);
  if (at === -1) return null;
  const { database, address, say } = context;
  const { filter } = filtering;
  const [before] =
    at > 0 ? [shown[at - 1]] : begins ? await listBefore(database, filter, queuePlace(open), 1) : [];
  const [behind] =
    at + 1 < shown.length
      ? [shown[at + 1]]
      : hasMore
        ? await listQueue(database, filter, queuePlace(open), 1)
        : [];
  const inFront = begins ? 1 + (await countBefore(database, filter, begins)) : 0;
  const link = (one: { id: string } | undefined, isHere: boolean, key: 'p' | 'n', label: string) => {
    const picture = icon(key === 'p' ? 'up' : 'down');
    if (!one) return html`<span class="end">${picture}</span>`;
    const to = { ...filtering.asked, after: isHere ? after(context) : undefined, open: one.id };
    return html`<a href="${address('/queue', to)}#${OPEN}" aria-label="${label}" data-key="${key}">${picture}</a>`;
  };
  const place = say`${inFront + at + 1} of ${count.count}`;
  const up = link(before, at > 0, 'p', say`Previous payment`);
  const down = link(behind, at + 1 < shown.length, 'n', say`Next payment`);
  return html`<nav aria-label="${say`In the queue`}"><span>${place}</span>${up}${down}</nav>`;
}

const after = ({ query }: ReviewContext) => query.get('after') ?? undefined;

/** The way back to the list, which narrow screens show alone, and to the payment's own page. */
function back(place: ListPlace, open: Payment): Html {
  const { context, count } = place;
  const { say, query } = context;
  const own = addressOfPayment(context, open.id, carriedFrom(query, 'queue'));
  const list = html`<a class="back" href="${addressOf(place)}">${icon('back')} ${say`All ${count.count}`}</a>`;
  return html`${list}<a href="${own}">${say`Full page`}</a>`;
}

/** The link that shows the list anew. The script says behind it how many were sent after all that the list is made of. */
function newsLine(place: ListPlace, { newest }: QueueCount): Html {
  const { context, filtering, shown } = place;
  const { address, query, say } = context;
  const sent = Math.max(newest ?? 0, ...shown.map((payment) => queuePlace(payment).since));
  const refreshed = addressOf(place, query.get('open') ?? undefined);
  const news = address('/queue/new', { ...filtering.asked, sent_after: String(sent) });
  const texts = html`data-one="${say`1 new payment`}" data-more="${say`${'{n}'} new payments`}"`;
  return html`<p><span role="status" data-news="${news}" ${texts}></span> <a href="${refreshed}">${say`Refresh`}</a></p>`;
}

/** The number of matching payments that were sent after a moment. The page's script requests it. */
export async function newInQueue(context: ReviewContext): Promise<Outcome> {
  const { database, query } = context;
  const { filter } = await filteringOf(context);
  const sent_after = /^\d{1,15}$/.exec(query.get('sent_after') ?? '')?.[0];
  if (sent_after === undefined)
    throw new OperationalError('validation_failed', 'sent_after must be milliseconds since 1970.');
  const { count } = await countQueue(database, { ...filter, sent_after: Number(sent_after) });
  return { stream: Readable.from([String(count)]), type: 'text/plain; charset=utf-8', name: 'new.txt' };
}

/** An address of this page of the list. What is open has the focus, so that reading goes on there. */
function addressOf({ context, filtering }: ListPlace, open?: string): string {
  const to = context.address('/queue', { ...filtering.asked, after: after(context), open });
  return open === undefined ? to : `${to}#${OPEN}`;
}

/** The number of payments, and their sums. */
function figures(context: ReviewContext, { count, sums }: QueueCount, isFiltered: boolean): Html {
  const { say, money } = context;
  const payments = isFiltered
    ? say.count(count, '{n} payment matches', '{n} payments match')
    : say.count(count, '{n} payment', '{n} payments');
  return html`<p class="figures">${payments}${sums.map(
    ({ currency, mode, amount_minor }) =>
      html` · <bdi>${money(amount_minor, currency)}</bdi>${mode === 'test' && ` ${say`test`}`}`,
  )}</p>`;
}

/** The keys of the page; the script shows them, which alone makes letters keys. */
function keysLine({ keys, say }: ReviewContext): Html | null {
  if (!keys) return null;
  const line = (letters: string, what: string) =>
    html`<span>${[...letters].map((letter) => html`<kbd>${letter}</kbd> `)}${what}</span>`;
  const lines = [
    line('JK', say`move`),
    line('O', say`open`),
    line('NP', say`next, previous`),
    line('AR', say`decide`),
    line('?', say`all keys`),
  ];
  return html`<p class="keys-line" aria-hidden="true" data-with-script hidden>${lines}</p>`;
}

/** The ways to pay by their ids, and what they were called when customers chose them. */
function methodsOf(
  { say }: ReviewContext,
  ids: readonly string[],
  payments: readonly Payment[],
): [string, string][] {
  const names = new Map<string, string>();
  for (const payment of payments) {
    const id = sentOf(payment)?.method;
    if (id !== undefined) names.set(id, methodName(payment, say)!);
  }
  return ids.toSorted().map((id) => [id, names.get(id) ?? say.of(METHOD_TYPES[id] ?? id)]);
}

function links({ context, filtering, begins, hasMore, shown }: ListPlace): Html | null {
  const { say, address } = context;
  const to = (from?: string) => address('/queue', { ...filtering.asked, after: from });
  return pager(
    begins !== undefined && [say`First`, to()],
    hasMore && [say`Next`, to(writtenPlace(queuePlace(shown.at(-1)!)))],
    say`Pages of the queue`,
  );
}

async function emptyList(
  context: ReviewContext,
  names: Names,
  { asked }: Filtering,
  waiting: number,
): Promise<Html> {
  const { say, address } = context;
  const isFiltered = Object.keys(asked).length > 0;
  if (asked.q !== undefined)
    return emptyState(
      'search',
      say`No payment in the queue matches this search.`,
      html`<p><a href="${address('/payments', { q: asked.q })}">${say`Search all payments`}</a></p>`,
    );
  if (waiting > 0) {
    const what = isFiltered
      ? say`No payment in the queue matches these filters.`
      : say`No more payments in the queue.`;
    return emptyState(
      'inbox',
      what,
      html`<p><a href="${address('/queue')}">${say`Show all ${waiting}`}</a></p>`,
    );
  }
  const last = await context.figures.lastDecision();
  return emptyState(
    'check',
    html`<strong>${say`Nothing to review.`}</strong>`,
    last && html`<p>${await lastDecisionLine(context, last, names)}</p>`,
  );
}

/** The time of the last decision, and who made it. */
export async function lastDecisionLine(
  context: ReviewContext,
  { at, by, payment }: LastDecision,
  known: Names,
): Promise<Html> {
  const { say } = context;
  const names = by === null || known.has(by) ? known : await namesOf(context.database, [by]);
  const link = html`<a href="${addressOfPayment(context, payment)}">${say`Last decision`}</a>`;
  return by === null
    ? say.html`${link} ${age(context, at)} ago.`
    : say.html`${link} ${age(context, at)} ago by ${nameOf(context, names, by)}.`;
}

/** A payment that waits for longer stands out. */
const LATE_MS = DAY_MS;

/** The merchant, its order, and a way to pay that is no transfer. */
function about({ say }: ReviewContext, payment: Payment): Html {
  const { merchant_name, merchant_reference } = payment;
  const method = sentOf(payment)?.type === 'bank_transfer' ? null : methodName(payment, say);
  const order =
    merchant_reference === null ? html`${say`no order number`}` : html`<bdi>${merchant_reference}</bdi>`;
  return html`<bdi>${merchant_name}</bdi> · ${order}${method !== null && html` · <bdi>${method}</bdi>`}`;
}

/** What is known of it at a glance. */
function marks(context: ReviewContext, payment: Payment, people: People, looks: number): Html {
  const { say, now, principal } = context;
  const claim = claimOf(payment, now);
  const who =
    claim &&
    (claim.by === principal.id
      ? html`${say`Yours`}`
      : say.html`${nameOf(context, people.names, claim.by)} has it`);
  return html`${moneySeen(context, payment)}${looks > 0 && toLookAt(context, looks)}${
    awaitsSecond(payment, people.barred) && html` <span class="tag wait">${say`1 of 2`}</span>`
  }${payment.mode === 'test' && html` <span class="tag">${say`Test`}</span>`}${who && html` <span class="tag"><span>${who}</span></span>`}`;
}

/** How many facts want a second look. */
function toLookAt({ say }: ReviewContext, looks: number): Html {
  const text = say`${looks} to look at`;
  const spoken = html`<span aria-hidden="true">${looks}</span><span class="vh">${text}</span>`;
  return html` <span class="tag wait" title="${text}">${icon('warning')}${spoken}</span>`;
}

/** Money that arrived: a tick if it is what was asked for, else the difference. */
function moneySeen({ say, money }: ReviewContext, payment: Payment): Html | null {
  if (arrivalsOf(payment).length === 0) return null;
  const more = sumMinor([knownSoFar(payment) ?? 0, -payment.amount_minor]);
  if (more === 0)
    return html` <span class="tag good" title="${say`Money seen`}">${icon('tick')}<span class="vh">${say`Money seen`}</span></span>`;
  const difference = money(Math.abs(more), payment.currency);
  const text = more < 0 ? say`${difference} less` : say`${difference} more`;
  const hidden = html`<span class="vh">${say`Money seen:`} </span>`;
  return html` <span class="tag wait" title="${say`Money seen`}">${icon('warning')}${hidden}<bdi>${text}</bdi></span>`;
}
