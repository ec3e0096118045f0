// What a reviewer decides by: money that was recorded, facts, how the money was to arrive, and all that was asked and sent.
import { literal, moment, nameOf, rows, said, type TermRow } from '../../administrators/pages/parts.ts';
import { entriesOf } from '../../journal/queries.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Instructions } from '../../payments/methods/method.ts';
import { asOf, isDecided, type Payment } from '../../payments/payment.ts';
import { CUSTOMER } from '../../payments/submit.ts';
import type { Fact } from '../fact.ts';
import { factsOf } from '../facts.ts';
import { arrivalsOf, receiptsOf } from '../review.ts';
import { dayInWords } from '../told.ts';
import type { ReviewContext } from './context.ts';
import {
  addressOfLine,
  addressOfPayment,
  block,
  doings,
  type Level,
  type PanelPlace,
  type People,
} from './panel.ts';
import {
  asked,
  customerName,
  metadata,
  methodName,
  sent,
  submissionOf,
  transferRows,
} from './particulars.ts';

/** Everything a reviewer needs of one payment, and what they may do with it. */
export async function panel(
  context: ReviewContext,
  payment: Payment,
  people: People,
  place: PanelPlace,
): Promise<Html> {
  const facts = await factsOf(context.database, payment, context, context.money, context.onStatement);
  const level = place.on === 'payment' ? 2 : 3;
  const data = metadata(payment);
  const expected = submissionOf(payment) ? null : await instructionsFor(context, payment);
  return html`${doings(context, payment, people, place)}
${received(context, payment, people, level)}
${factList(context, facts, level)}
${block('sent', 'What the customer sent', level)}
${sent(context, payment, level) ?? html`<p class="muted">${await nothingSent(context, payment)}</p>`}
</section>
${expected && html`${block('expected', 'What to look for', level)}\n${rows(transferRows(expected))}\n</section>`}
${block('asked', 'What the merchant asked for', level)}
${asked(context, payment)}
</section>
${data && html`${block('data', 'Metadata', level)}\n${data}\n</section>`}`;
}

/** Why there is nothing that the customer sent, from the history. */
async function nothingSent({ database }: ReviewContext, payment: Payment): Promise<string> {
  const entries = await entriesOf(database, payment.id);
  const isDone = (...actions: string[]) => entries.some(({ action }) => actions.includes(action));
  const isSent = entries.some(
    ({ action, actor }) =>
      action === 'payment.announced' || (action === 'payment.requires_review' && actor === CUSTOMER),
  );
  if (isSent && isDone('payment.erased')) return 'Erased.';
  if (isDone('payment.pending', 'payment.announcement_withdrawn'))
    return 'Nothing: the customer took back what they had sent.';
  if (receiptsOf(payment).length > 0) return 'Nothing. An administrator recorded the money.';
  return payment.status === 'pending' ? 'Nothing yet.' : 'Nothing.';
}

/**
 * The expected transfer: as the customer was told when they sent the form, else as checkout shows it now. Null if no transfer is
 * expected, and for an erased payment, because erasing changes what its reference is made of.
 */
export async function instructionsFor(
  { database, offer, now }: ReviewContext,
  payment: Payment,
): Promise<(Instructions & { kind: 'transfer' }) | null> {
  const submission = submissionOf(payment);
  if (submission) return submission.instructions?.kind === 'transfer' ? submission.instructions : null;
  if (isDecided(asOf(payment, now))) return null;
  const entries = await entriesOf(database, payment.id);
  const isErased = entries.some(({ action }) => action === 'payment.erased');
  return isErased ? null : (offer.transferFor(payment) ?? null);
}

/**
 * The facts that decide an approval, so that the reviewer need not go back for them: what to look for on the statement, and facts that
 * want a second look.
 */
export async function decisive(context: ReviewContext, payment: Payment, people: People): Promise<Html> {
  const facts = await factsOf(context.database, payment, context, context.money, context.onStatement);
  const submission = submissionOf(payment);
  const instructions = await instructionsFor(context, payment);
  const typed = (name: string, label: string): TermRow => {
    const text = submission?.[name];
    return [label, typeof text === 'string' ? said(text) : null];
  };
  return html`${received(context, payment, people, 3)}
${rows([
  ...(instructions ? transferRows(instructions) : []),
  ['Way to pay', said(methodName(payment) ?? 'None: the customer sent nothing')],
  ['Customer', customerName(payment) && said(customerName(payment)!)],
  typed('transfer_name', 'Name on their account'),
  typed('transfer_account', 'Their account'),
  ['Merchant’s reference', payment.merchant_reference && said(payment.merchant_reference)],
  ['Merchant', literal(payment.merchant_id)],
  ['Number', literal(payment.id)],
])}
${factList(
  context,
  facts.filter(({ tone }) => tone === 'notice'),
  3,
)}`;
}

/** Money that administrators recorded or matched, each with its line on the statement. */
function received(context: ReviewContext, payment: Payment, people: People, level: Level): Html | null {
  const arrivals = arrivalsOf(payment);
  if (arrivals.length === 0) return null;
  return html`${block('received', 'Money that arrived', level)}
${arrivals.map(({ act, amount_minor, currency, received_on, bank_reference, note, line, by, at }) =>
  rows([
    ['Amount', html`<bdi>${context.money(amount_minor, currency)}</bdi>`],
    ['Day', received_on && html`<time datetime="${received_on}">${dayInWords(received_on)}</time>`],
    ['Statement', line && html`<a href="${addressOfLine(context, line)}">The bank’s line</a>`],
    ['Bank reference', bank_reference && literal(bank_reference)],
    ['Note', note && html`<span class="words" dir="auto">${note}</span>`],
    [
      act === 'match' ? 'Matched by' : 'Recorded by',
      html`${nameOf(context, people.names, by)}, ${moment(context, at)}`,
    ],
  ]),
)}
</section>`;
}

/** Facts, not scores: each with what it rests on, those worth a second look first. */
function factList(context: ReviewContext, all: readonly Fact[], level: Level): Html | null {
  // That it is a test stands beside the amount already.
  const facts = all.filter(({ kind }) => kind !== 'test_mode');
  if (facts.length === 0) return null;
  const ordered = [...facts].sort((a, b) => Number(b.tone === 'notice') - Number(a.tone === 'notice'));
  return html`${block('facts', 'Facts', level)}
<ul class="facts">${ordered.map((fact) => html`${factItem(context, fact)}\n`)}</ul>
</section>`;
}

function factItem(context: ReviewContext, { tone, text, basis, payments = [] }: Fact): Html {
  const mark = tone === 'notice' && html`<span class="mark">Look: </span>`;
  const links = payments.map(
    (id) => html`<a href="${addressOfPayment(context, id)}">${literal(shortened(id))}</a> `,
  );
  const others = links.length > 0 && html`<span class="others"> ${links}</span>`;
  return html`<li class="${tone}"><p>${mark}${text}</p><p class="hint">${basis}${others}</p></li>`;
}

/** Enough of an id to tell one from another on a page; ids begin with the moment of their creation. */
function shortened(id: string): string {
  return `…${id.slice(-8)}`;
}
