// What a reviewer looks at before a decision: facts that help, the order, what the customer sent, and money that arrived.

import { literal, moment, nameOf, pairs } from '../../administrators/pages/parts.ts';
import { entriesOf } from '../../journal/queries.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Payment } from '../../payments/payment.ts';
import { CUSTOMER } from '../../payments/submit.ts';
import { icon } from '../../web/markup/icons.ts';
import type { Fact } from '../fact.ts';
import { factsOf } from '../facts.ts';
import { arrivalsOf, receiptsOf } from '../review.ts';
import { dayInWords } from '../told.ts';
import { compareTable } from './compare.ts';
import type { ReviewContext } from './context.ts';
import { addressOfLine, block, type Level, type People } from './panel.ts';
import { ordered, sent } from './particulars.ts';

/** What a decision rests on besides the comparison: facts, the order, what the customer sent, and `beside` them the story. */
export async function evidence(
  context: ReviewContext,
  payment: Payment,
  people: People,
  level: Level,
  { story, note }: { story: Html; note: Html | null | false },
): Promise<Html> {
  const { say } = context;
  const facts = await factsOf(context.database, payment, context, context.money, context.onStatement);
  const shownSent = sent(context, payment);
  return html`${factList(context, payment, facts, level)}
<div class="two">
<div>
${block('order', say`The order`, level)}
${ordered(context, payment)}
</section>
${block('sent', say`What the customer sent`, level)}
${shownSent ?? html`<p class="muted">${await nothingSent(context, payment)}</p>`}
</section>
${received(context, payment, people, level)}
</div>
<div>
${story}
${note}
</div>
</div>`;
}

/** Why there is nothing that the customer sent, from the history. */
async function nothingSent({ database, say }: ReviewContext, payment: Payment): Promise<string> {
  const entries = await entriesOf(database, payment.id);
  const isTakenBack = entries.some(
    ({ action, actor }) =>
      actor === CUSTOMER && (action === 'payment.pending' || action === 'payment.announcement_withdrawn'),
  );
  const isSent = entries.some(
    ({ action, actor }) =>
      action === 'payment.announced' || (action === 'payment.requires_review' && actor === CUSTOMER),
  );
  if (isSent && entries.some(({ action }) => action === 'payment.erased')) return say`Erased.`;
  if (isTakenBack) return say`Nothing: the customer took back what they had sent.`;
  if (receiptsOf(payment).length > 0) return say`Nothing. An administrator recorded the money.`;
  return payment.status === 'pending' ? say`Nothing yet.` : say`Nothing.`;
}

/** What decides an approval, so that the reviewer need not go back for it: the comparison, and facts that want a second look. */
export async function decisive(context: ReviewContext, payment: Payment, people: People): Promise<Html> {
  const facts = await factsOf(context.database, payment, context, context.money, context.onStatement);
  const notices = facts.filter(({ tone }) => tone === 'notice');
  return html`${await compareTable(context, payment)}
${received(context, payment, people, 2)}
${factList(context, payment, notices, 2)}`;
}

/** What administrators wrote with money that arrived, and who recorded or matched it. */
function received(context: ReviewContext, payment: Payment, people: People, level: Level): Html | null {
  const { say, money } = context;
  const arrivals = arrivalsOf(payment);
  if (arrivals.length === 0) return null;
  return html`${block('received', say`Money that arrived`, level)}
${arrivals.map(({ act, amount_minor, currency, received_on, bank_reference, note, line, by, at }) => {
  const who = html`${nameOf(context, people.names, by)}, ${moment(context, at)}`;
  return pairs([
    [say`Amount`, html`<bdi>${money(amount_minor, currency)}</bdi>`],
    [say`Day`, received_on && html`<time datetime="${received_on}">${dayInWords(received_on, say)}</time>`],
    [say`Statement`, line && html`<a href="${addressOfLine(context, line)}">${say`The bank’s line`}</a>`],
    [say`Bank reference`, bank_reference && literal(bank_reference)],
    [say`Note`, note && html`<span class="words" dir="auto">${note}</span>`],
    [act === 'match' ? say`Matched by` : say`Recorded by`, who],
  ]);
})}
</section>`;
}

/** Facts, not scores: each with what it rests on, those worth a second look first. */
function factList(context: ReviewContext, payment: Payment, all: readonly Fact[], level: Level): Html | null {
  const { say } = context;
  // That it is a test stands beside the amount already.
  const facts = all.filter(({ kind }) => kind !== 'test_mode');
  if (facts.length === 0) return null;
  const isNotice = ({ tone }: Fact) => tone === 'notice';
  const sorted = [...facts.filter(isNotice), ...facts.filter((fact) => !isNotice(fact))];
  const heading = facts.some(isNotice) ? say`Worth a look` : say`Nothing unusual`;
  return html`${block('facts', heading, level)}
<ul class="looks-list">${sorted.map((fact) => html`${factItem(context, payment, fact)}\n`)}</ul>
</section>`;
}

function factItem(
  { address, say }: ReviewContext,
  payment: Payment,
  { kind, tone, text, basis, payments }: Fact,
): Html {
  const trait = TRAITS[kind];
  const others = payments && trait && payment[trait];
  const mark = tone === 'notice' && html`<span class="vh">${say`Look:`} </span>`;
  return html`<li class="${tone === 'notice' ? 'worth' : 'plain'}">${icon(tone === 'notice' ? 'warning' : 'tick')}<div><p><b>${mark}${text}</b></p><p class="hint">${basis}</p></div>${
    others && html`<a href="${address('/payments', { q: others })}">${say`Show them`}</a>`
  }</li>`;
}

/** What the payments of a fact have in common, by which a search finds them. */
const TRAITS: Partial<Record<Fact['kind'], 'payer_email' | 'payer_account' | 'merchant_reference'>> = {
  same_email: 'payer_email',
  same_account: 'payer_account',
  same_reference: 'merchant_reference',
};
