// The console's first page: what waits, what was decided, and what needs attention.
import { age, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { newestSeal } from '../../journal/queries.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Say } from '../../lib/phrases.ts';
import { duration, MINUTE_MS } from '../../lib/time.ts';
import { isHttps } from '../../lib/web-address.ts';
import type { Payment } from '../../payments/payment.ts';
import type { DayFigures } from '../figures.ts';
import { announcedLate, type LastDecision, linksAskedFor } from '../queries.ts';
import type { QueueCount } from '../queue-queries.ts';
import { dayInWords } from '../told.ts';
import type { ReviewContext } from './context.ts';
import { addressOfPayment, customerName } from './panel.ts';
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
  const { say } = context;
  const chart = say`Decided in the last ${days.length} days`;
  const content = html`<h1>${say`Home`}</h1>
${
  notices.length > 0 &&
  html`<ul class="health" aria-label="${say`Look after this`}">
${notices.map((one) => html`<li class="notice warn">${one}</li>\n`)}</ul>`
}
<div class="tiles">
${waiting(context, queue)}
${await today(context, days.at(-1)!, last)}
</div>
<section class="block"><h2>${chart}</h2>
${
  days.some(({ approved, rejected }) => approved + rejected > 0)
    ? decisionChart(context, chart, days)
    : html`<p class="muted">${say`Nothing was decided in this time.`}</p>`
}
</section>
${
  announced.length > 0 &&
  html`<section class="block" aria-labelledby="late-heading"><h2 id="late-heading">${say`Transfers sent after the payment ended`}</h2>
<p class="hint">${say`These customers say that they have sent the money, but the payment could not be sent for review any more. Look for it on the statement.`}${newest(context, announced)}</p>
${askedList(context, announced, ({ announced_at }) => announced_at!)}
</section>`
}
<section class="block" aria-labelledby="links-heading"><h2 id="links-heading">${say`Customers who asked for a new link`}</h2>
${linkList(context, links)}
</section>`;
  return { title: say`Home`, content, place: '/' };
}

/** What waits for a decision. */
function waiting(context: ReviewContext, { count, oldest, sums }: QueueCount): Html {
  const { say, money, address } = context;
  const howMany = (sum: QueueCount['sums'][number]) =>
    sum.mode === 'test'
      ? say.count(sum.count, 'in {n} test payment', 'in {n} test payments')
      : say.count(sum.count, 'in {n} payment', 'in {n} payments');
  const link = html`<a${count > 0 && html` class="primary"`} href="${address('/queue')}">${count > 0 ? say`Review` : say`Go to the queue`}</a>`;
  return html`<section class="tile" aria-labelledby="waiting-heading"><h2 id="waiting-heading">${say`To review`}</h2>
<p class="figure">${count}</p>
${
  sums.length > 0 &&
  html`<ul>${sums.map(
    (sum) =>
      html`<li><bdi>${money(sum.amount_minor, sum.currency)}</bdi> <span class="muted">${howMany(sum)}</span></li>`,
  )}</ul>`
}
${oldest !== null && html`<p>${say.html`The oldest has waited ${age(context, oldest)}.`}</p>`}
<p>${link}</p>
</section>`;
}

async function today(
  context: ReviewContext,
  { approved, rejected }: DayFigures,
  last: LastDecision | null,
): Promise<Html> {
  const { say } = context;
  return html`<section class="tile" aria-labelledby="today-heading"><h2 id="today-heading">${say`Decided today`}</h2>
<p class="figure">${approved + rejected}</p>
<ul><li>${say`${approved} approved`}</li><li>${say`${rejected} rejected`}</li></ul>
${last && html`<p>${await lastDecisionLine(context, last, new Map())}</p>`}
</section>`;
}

/** Expired payments whose customers still want to pay. */
function linkList(context: ReviewContext, payments: readonly Payment[]): Html {
  const { say } = context;
  if (payments.length === 0) return html`<p class="muted">${say`Nobody has asked for a new link.`}</p>`;
  return html`<p class="hint">${say`These payments expired, and their customers still want to pay. The merchant creates a new payment.`}${newest(context, payments)}</p>
${askedList(context, payments, ({ link_requested_at }) => link_requested_at!)}`;
}

const newest = ({ say }: ReviewContext, payments: readonly Payment[]): Html | false =>
  payments.length > SHOWN && html` ${say`The newest ${SHOWN} are shown.`}`;

function askedList(
  context: ReviewContext,
  payments: readonly Payment[],
  since: (payment: Payment) => number,
): Html {
  const { say, money } = context;
  return html`<ul class="asked">${payments.slice(0, SHOWN).map(
    (payment) =>
      html`<li><a href="${addressOfPayment(context, payment.id)}"><bdi>${money(payment.amount_minor, payment.currency)}</bdi></a>
${said(payment.merchant_name)}${customerName(payment) && html` · ${said(customerName(payment)!)}`}
<span class="muted">${say.html`${age(context, since(payment))} ago`}</span></li>\n`,
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
  say,
}: ReviewContext): Promise<Html[]> {
  const notices: Html[] = [];
  if (verification.newest?.is === 'broken')
    notices.push(
      html`<strong>${say`The history was changed.`}</strong> ${say`The newest verification found it broken.`}
<a href="${address('/audit')}">${say`See where`}</a>`,
    );
  const last = await checkpoints.newest(); // before the seal: never ahead of it, unless the history is another
  const seal = await newestSeal(database);
  if (seal) {
    const unsignedMs = now - seal.at;
    if (last?.hash !== seal.hash && unsignedMs > UNSIGNED_MS)
      notices.push(
        html`${say`The newest changes were made ${duration(unsignedMs)} ago and no checkpoint vouches for them yet. One is signed every minute: look into the service’s log for why not.`}`,
      );
  }
  if (!isHttps(baseUrl))
    notices.push(
      html`${say`This service is reached without HTTPS, as a development installation is. Others on the network can read what you type. Do not review real payments here.`}`,
    );
  return notices;
}

/** In the drawing's own units; the stylesheet says how large it is on the page. */
const BAR = 8;
const STEP = 10;
const HEIGHT = 100;
/** Space on both sides of the line, so that a day with one decision is seen beside one with a thousand. */
const LEAST = 2;

/** Approved above the line, rejected below it, so that colours are not needed. `title` names the chart. */
function decisionChart({ say }: ReviewContext, title: string, days: readonly DayFigures[]): Html {
  const highest = Math.max(1, ...days.map(({ approved }) => approved));
  const lowest = Math.max(...days.map(({ rejected }) => rejected));
  const total = highest + lowest;
  const scale = (count: number) => (count === 0 ? 0 : Math.max(LEAST, (count / total) * HEIGHT));
  const above = scale(highest);
  const height = above + scale(lowest);
  const bars = days.map(({ approved, rejected }, index) => {
    const x = index * STEP + 1;
    const up = scale(approved);
    return html`${up > 0 && html`<rect class="approved" x="${x}" y="${rounded(above - up)}" width="${BAR}" height="${rounded(up)}"/>`}${
      rejected > 0 &&
      html`<rect class="rejected" x="${x}" y="${rounded(above)}" width="${BAR}" height="${rounded(scale(rejected))}"/>`
    }`;
  });
  const width = days.length * STEP;
  return html`<figure class="chart">
<svg viewBox="0 0 ${width} ${rounded(height)}" preserveAspectRatio="none" role="img"
aria-label="${alternative(say, title, days)}">${bars}<path d="M0 ${rounded(above)}H${width}"/></svg>
<p class="axis"><span>${dayInWords(days[0]!.date, say)}</span><span>${dayInWords(days.at(-1)!.date, say)}</span></p>
<figcaption><span class="key approved">${say`Approved, above the line: at most ${sum(days, 'approved') > 0 ? highest : 0} a day`}</span>
<span class="key rejected">${say`Rejected, below it: at most ${lowest} a day`}</span></figcaption>
</figure>
<details class="numbers"><summary>${say`Show as a table`}</summary>
<div class="scroll" role="region" aria-label="${title}" tabindex="0">
<table>
<thead><tr><th scope="col">${say`Day`}</th><th scope="col" class="number">${say`Approved`}</th><th scope="col" class="number">${say`Rejected`}</th></tr></thead>
<tbody>${days.toReversed().map(
    ({ date, approved, rejected }) =>
      html`<tr><th scope="row"><time datetime="${date}">${dayInWords(date, say)}</time></th>
<td class="number">${approved}</td><td class="number">${rejected}</td></tr>`,
  )}</tbody>
</table>
</div>
</details>`;
}

const sum = (days: readonly DayFigures[], name: 'approved' | 'rejected') =>
  days.reduce((all, day) => all + day[name], 0);

const rounded = (units: number) => Math.round(units * 100) / 100;

/** What the drawing shows, in a sentence. */
function alternative(say: Say, title: string, days: readonly DayFigures[]): string {
  const decided = days.map(({ approved, rejected }) => approved + rejected);
  const most = Math.max(0, ...decided);
  const all = say`${title}: ${sum(days, 'approved')} approved, ${sum(days, 'rejected')} rejected.`;
  return most > 0
    ? `${all} ${say`The most on ${dayInWords(days[decided.indexOf(most)]!.date, say)}: ${most}.`}`
    : all;
}
