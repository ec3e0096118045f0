// The console's first page: what waits, what was decided, and what needs attention.

import { age, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { newestSeal } from '../../journal/queries.ts';
import { duration } from '../../lib/duration.ts';
import { type Html, html } from '../../lib/html.ts';
import { MINUTE_MS } from '../../lib/time.ts';
import { isHttps } from '../../lib/web-address.ts';
import type { Payment } from '../../payments/payment.ts';
import type { DayFigures } from '../figures.ts';
import { announcedLate, type LastDecision, linksAskedFor, type QueueCount } from '../queries.ts';
import { decisionChart } from './chart.ts';
import type { ReviewContext } from './context.ts';
import { addressOfPayment } from './panel.ts';
import { customerName } from './particulars.ts';
import { lastDecisionLine } from './queue.ts';

const SHOWN = 10;
/** A checkpoint is signed every minute. A history without one for longer than this needs attention. */
const UNSIGNED_MS = 5 * MINUTE_MS;

export async function homePage(context: ReviewContext): Promise<Outcome> {
  const { database, figures } = context;
  const [queue, days, last, links, announced, notices] = await Promise.all([
    figures.waiting(),
    figures.days(),
    figures.lastDecision(),
    linksAskedFor(database, SHOWN + 1),
    announcedLate(database, SHOWN + 1),
    health(context),
  ]);
  const content = html`<h1>Home</h1>
${
  notices.length > 0 &&
  html`<ul class="health" aria-label="To look after">
${notices.map((one) => html`<li class="notice warn">${one}</li>\n`)}</ul>`
}
<div class="tiles">
${waiting(context, queue)}
${await today(context, days.at(-1)!, last)}
</div>
<section class="block" aria-labelledby="chart-heading"><h2 id="chart-heading">Decided in the last ${days.length} days</h2>
${decisionChart(`Decided in the last ${days.length} days`, days)}
</section>
${
  announced.length > 0 &&
  html`<section class="block" aria-labelledby="late-heading"><h2 id="late-heading">Transfers said to be sent</h2>
<p class="hint">The customers say that they have sent the money, but the payment could not be submitted any more.
Look for it on the statement${newest(announced)}.</p>
${askedList(context, announced, ({ announced_at }) => announced_at!)}
</section>`
}
<section class="block" aria-labelledby="links-heading"><h2 id="links-heading">Links asked for anew</h2>
${linkList(context, links)}
</section>`;
  return { title: 'Home', content, place: '/' };
}

/** What waits for a decision. */
function waiting(context: ReviewContext, { count, oldest, sums }: QueueCount): Html {
  return html`<section class="tile" aria-labelledby="waiting-heading"><h2 id="waiting-heading">To review</h2>
<p class="figure">${count}</p>
${
  sums.length > 0 &&
  html`<ul>${sums.map(
    (sum) =>
      html`<li><bdi>${context.money(sum.amount_minor, sum.currency)}</bdi>
<span class="muted">in ${sum.count}${sum.mode === 'test' && ' test'} ${sum.count === 1 ? 'payment' : 'payments'}</span></li>`,
  )}</ul>`
}
${oldest !== null && html`<p>The oldest has waited ${age(context, oldest)}.</p>`}
<p>${
    count > 0
      ? html`<a class="primary" href="${context.address('/queue')}">Review</a>`
      : html`<a href="${context.address('/queue')}">The queue</a>`
  }</p>
</section>`;
}

async function today(
  context: ReviewContext,
  { approved, rejected }: DayFigures,
  last: LastDecision | null,
): Promise<Html> {
  return html`<section class="tile" aria-labelledby="today-heading"><h2 id="today-heading">Decided today</h2>
<p class="figure">${approved + rejected}</p>
<ul><li>${approved} approved</li><li>${rejected} rejected</li></ul>
${last && html`<p>${await lastDecisionLine(context, last, new Map())}</p>`}
</section>`;
}

/** Expired payments whose customers still want to pay. */
function linkList(context: ReviewContext, payments: readonly Payment[]): Html {
  if (payments.length === 0) return html`<p class="muted">No customer has asked for a new link.</p>`;
  return html`<p class="hint">These expired, and their customers still want to pay.
The merchant makes a new payment${newest(payments)}.</p>
${askedList(context, payments, ({ link_requested_at }) => link_requested_at!)}`;
}

const newest = (payments: readonly Payment[]): Html | false =>
  payments.length > SHOWN && html`; the newest ${SHOWN} are shown`;

function askedList(
  context: ReviewContext,
  payments: readonly Payment[],
  since: (payment: Payment) => number,
): Html {
  return html`<ul class="asked">${payments.slice(0, SHOWN).map(
    (payment) =>
      html`<li><a href="${addressOfPayment(context, payment.id)}"><bdi>${context.money(payment.amount_minor, payment.currency)}</bdi></a>
${said(payment.merchant_name)}${customerName(payment) && html` · ${said(customerName(payment)!)}`}
<span class="muted">${age(context, since(payment))} ago</span></li>\n`,
  )}</ul>`;
}

/** What needs attention, as far as this node knows. */
async function health({
  database,
  checkpoints,
  verification,
  address,
  baseUrl,
  now,
}: ReviewContext): Promise<Html[]> {
  const notices: Html[] = [];
  if (verification.newest?.is === 'broken')
    notices.push(
      html`<strong>The history is not what it was:</strong> the newest verification found it broken.
<a href="${address('/audit')}">See where</a>.`,
    );
  const last = await checkpoints.newest(); // before the seal: never ahead of it, unless the history is another
  const seal = await newestSeal(database);
  if (seal) {
    const unsignedMs = now - seal.at;
    if (last?.hash !== seal.hash && unsignedMs > UNSIGNED_MS)
      notices.push(
        html`The newest changes were made ${duration(unsignedMs)} ago and no checkpoint vouches for them yet.
One is signed every minute: look into the service’s log for why not.`,
      );
  }
  if (!isHttps(baseUrl))
    notices.push(
      html`This service is reached without https, as a development installation is.
What is typed here can be read on the way; do not review real payments like this.`,
    );
  return notices;
}
