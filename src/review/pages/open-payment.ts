// A payment's page, and a payment open beside the queue: its amount and the possible acts above, below them all that a decision rests on.

import { may } from '../../administrators/administrator.ts';
import {
  age,
  type Faults,
  isLong,
  literal,
  moment,
  type Names,
  nameOf,
  notice,
  pairs,
  said,
} from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { ACKNOWLEDGED } from '../../journal/rows.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { asOf, type Claim, claimOf, MOVES, type Payment } from '../../payments/payment.ts';
import { isPaymentAsRecorded } from '../../payments/transition.ts';
import { icon } from '../../web/markup/icons.ts';
import type { TermRow } from '../../web/markup/parts.ts';
import { addNote, claim, release } from '../act.ts';
import { queuePlace } from '../queue-queries.ts';
import { takesMore } from '../record-money.ts';
import { approvalsOf, parseNote } from '../review.ts';
import { type TimelineItem, timelineOf } from '../timeline.ts';
import { type People, peopleOf } from '../told.ts';
import type { ReviewContext, ToldLetter } from './context.ts';
import { noteField, paymentOf, undecided, wording } from './decision.ts';
import { compareTable, evidence } from './evidence.ts';
import {
  addressOfPayment,
  block,
  type Level,
  methodName,
  parties,
  secondLine,
  statusStamp,
} from './panel.ts';
import { addressOfList, type Carried, carriedBy } from './queue-filter.ts';

export async function paymentPage(context: ReviewContext, faults: Faults = {}): Promise<Outcome> {
  const payment = await paymentOf(context);
  const people = await peopleOf(context.database, [payment]);
  const title = `${context.money(payment.amount_minor, payment.currency)}, ${payment.merchant_name}`;
  const carried = carriedBy(context);
  const back = backTo(context, carried);
  const opened: Opened = { payment, people, level: 1, on: 'payment', carried, back, faults };
  const content = await openPayment(context, opened);
  const skip = { to: DECISION, text: context.say`Skip to the decision` };
  return { title, content, place: '/payments', layout: 'one', skip, faults };
}

/** The way back to the list that the page was opened from. */
function backTo(context: ReviewContext, carried: Carried): Html | null {
  const { say } = context;
  if (!carried.list) return null;
  const text = carried.list === 'queue' ? say`Back to the queue` : say`Back to the payments`;
  return html`<a href="${addressOfList(context, carried)}">${icon('back')} ${text}</a>`;
}

export async function takeNote(context: ReviewContext): Promise<Outcome> {
  const { form, journal, principal } = context;
  const payment = await paymentOf(context);
  const parsed = parseNote({ note: form.get('note') });
  if ('faults' in parsed) {
    const empty = (form.get('note') ?? '').trim() === '';
    const faults = empty ? { note: context.say`Enter a note` } : wording(context, parsed.faults);
    return paymentPage(context, faults);
  }
  const { id } = payment;
  await journal.commit((transaction) => addNote(transaction, principal, id, parsed.value), id);
  return { to: `${addressOfPayment(context, id, carriedBy(context))}#story-heading` };
}

export async function claimOrRelease(context: ReviewContext, act: 'claim' | 'release'): Promise<Outcome> {
  const { principal, journal, form, query } = context;
  const payment = await paymentOf(context);
  const { id } = payment;
  const force = form.get('force') === '1';
  try {
    await journal.commit(
      (transaction) =>
        act === 'claim' ? claim(transaction, principal, id, { force }) : release(transaction, principal, id),
      id,
    );
  } catch (error) {
    if (!(error instanceof OperationalError) || error.status !== 409) throw error;
    const takeOver = error.code === 'conflict';
    const text = html`${error.said(context.say)}`;
    return undecided(context, await paymentOf(context), { text, takeOver }, 409);
  }
  const carried = carriedBy(context);
  if (query.get('on') !== 'queue') return { to: addressOfPayment(context, id, carried) };
  return { to: `${addressOfList(context, carried, { open: id })}#open` };
}

/** What the links past the list lead to. */
export const DECISION = 'decision';

interface Opened {
  payment: Payment;
  people: People;
  /** How deep its heading lies. */
  level: Level;
  /** The list that it was opened from, which its links and forms keep, and whether it is open beside that list. */
  carried: Carried;
  on: 'queue' | 'payment';
  /** The way back to the list, and to the payments before and behind. */
  back: Html | null;
  steps?: Html | null;
  /** What was done last. */
  done?: Html | undefined;
  faults?: Faults;
}

/** The whole of it. */
export async function openPayment(context: ReviewContext, opened: Opened): Promise<Html> {
  const { payment, people, level, done, on, carried, faults = {} } = opened;
  const { database, checkpoints, timeZone, say, principal, address } = context;
  const items = await timelineOf(database, payment, checkpoints, timeZone, context);
  const letters = await context.lettersAbout(database, payment.id, say);
  const isSound = await isPaymentAsRecorded(database, payment);
  const under = (level + 1) as Level;
  const story = html`${block('story', say`What happened`, under)}
${timeline(context, items, letters)}
<p><a class="plain" href="${address('/mail', { about: payment.id })}">${say`Emails about this payment`}</a></p>
${placeInHistory(context, items)}
</section>`;
  const note = may(principal.role, 'decide') && isSound && noteForm(context, payment, carried, under, faults);
  return html`<header id="${DECISION}" tabindex="-1">
${stepLine(context, opened)}
${headline(context, opened, isSound)}
</header>
<div class="body">
${done}${changedOutside(context, items, isSound)}${secondLine(context, payment, people)}
${block('compare', say`What was asked, said and seen`, under)}
${await compareTable(context, payment)}
</section>
${await evidence(context, payment, people, under, { story, note: on === 'payment' ? note : null })}
</div>`;
}

/** The amount, who pays whom and how, and what can be done. */
function headline(context: ReviewContext, opened: Opened, isSound: boolean): Html {
  const { say, money } = context;
  const { payment, level } = opened;
  const amount = money(payment.amount_minor, payment.currency);
  const sum = html`<bdi>${amount}</bdi>`;
  const attributes = html` class="total${isLong(amount) && ' long'}"`;
  const method = methodName(payment, say);
  const from = parties(context, payment);
  return html`<div class="headline"><div>
${level === 1 ? html`<h1${attributes}>${sum}</h1>` : html`<h2${attributes}>${sum}</h2>`}
<p>${from}${method !== null && html` · ${said(method)}`}</p></div>
${isSound && acts(context, opened)}
</div>`;
}

/** The line above the amount: its state, how long it waits, and the ways on. */
function stepLine(context: ReviewContext, { payment, people, back, steps }: Opened): Html {
  const { say, now } = context;
  const waits = payment.status === 'requires_review';
  const claim = claimOf(payment, now);
  return html`<div class="step-line">${statusStamp(context, payment)}${payment.mode === 'test' && html`<span class="tag">${say`Test: no money moves`}</span>`}${back}${
    waits && html`<span>${say.html`Waiting ${age(context, queuePlace(payment).since)}`}</span>`
  }${claim && html`<span class="claim">${claimedBy(context, claim, people.names)}</span>`}${steps}</div>`;
}

function claimedBy(context: ReviewContext, { by, until }: Claim, names: Names): Html {
  const { say, principal } = context;
  if (by === principal.id) return say.html`Claimed by you until ${moment(context, until)}`;
  return say.html`Claimed by ${nameOf(context, names, by)} until ${moment(context, until)}`;
}

/** The possible acts. Administrators who may not decide see none. */
function acts(context: ReviewContext, { payment, people, carried, on }: Opened): Html | null {
  const { principal, address, say, now } = context;
  if (!may(principal.role, 'decide')) return null;
  const { status } = asOf(payment, now);
  const link = (act: string) =>
    address(`/payments/${payment.id}/${act}`, { ...carried, version: String(payment.version) });
  const record = html`<a class="secondary" href="${link('record')}" data-key="m">${say`Record money…`}</a>`;
  if (MOVES.record.from.includes(status)) return html`<div class="acts">${record}</div>`;
  if (status !== 'requires_review') return null;
  const claim = claimOf(payment, now);
  const isOthers = claim !== undefined && claim.by !== principal.id;
  const isOwn = approvalsOf(payment, people.barred).some(({ by }) => by === principal.id);
  const form = (act: 'claim' | 'release', label: string, isForced = false) =>
    html`<form method="post" action="${address(`/payments/${payment.id}/${act}`, { ...carried, on })}">${context.token}${
      isForced && html`<input type="hidden" name="force" value="1">`
    }<button class="secondary" data-key="e">${label}</button></form>`;
  if (isOthers) return html`<div class="acts">${form('claim', say`Take over`, true)}</div>`;
  return html`<div class="acts">${
    !isOwn && html`<a class="primary" href="${link('approve')}" data-key="a">${say`Approve…`}</a>`
  }<a class="secondary" href="${link('reject')}" data-key="r">${say`Reject…`}</a>${takesMore(payment) && record}${
    claim === undefined ? form('claim', say`Claim`) : form('release', say`Release`)
  }</div>`;
}

/** The warning that the payment was changed outside the service. Until that is acknowledged, no act on it is possible. */
function changedOutside(
  { address, say }: ReviewContext,
  items: readonly TimelineItem[],
  isSound: boolean,
): Html | null {
  if (!isSound)
    return html`<div class="errors" role="alert"><p><strong>${say`Changed outside the service.`}</strong>
${say`This payment is not what the history says, so nothing can be done with it here. Do not pay anything out on it.`}
${say.html`Ask the operator to run ${html`<code>counterfoil audit verify</code>`}.`}</p></div>`;
  const known = items.findLast(({ action }) => action === ACKNOWLEDGED);
  if (!known) return null;
  const entry = html`<a href="${address('/audit', { before: String(known.number + 1) })}#entry-${known.number}">${say`entry ${known.number}`}</a>`;
  return notice(
    html`<p><strong>${say`Changed outside the service.`}</strong>
${say.html`The operator recorded that in ${entry}: ${said(String(known.facts.reason))}`}</p>`,
    'warn',
  );
}

function noteForm(
  context: ReviewContext,
  { id }: Payment,
  carried: Carried,
  level: Level,
  faults: Faults,
): Html {
  const { address, token, form, say } = context;
  return html`${block('note', say`Add a note`, level)}
<form method="post" action="${address(`/payments/${id}/notes`, carried)}#errors" novalidate>
${token}${noteField(context, Object.fromEntries(form), faults, say`Note`)}<button class="secondary">${say`Add the note`}</button>
</form>
</section>`;
}

/** Oldest first; each entry with what was written, its request, and all that the history has of it, and the letters in between. */
function timeline(
  context: ReviewContext,
  items: readonly TimelineItem[],
  letters: readonly ToldLetter[],
): Html {
  const told = [...items, ...letters].sort((one, other) => one.at - other.at);
  return html`<ol class="story">${told.map((one) => html`${'number' in one ? entry(context, one) : letter(context, one)}\n`)}</ol>`;
}

function letter(context: ReviewContext, { at, sentence, answer }: ToldLetter): Html {
  const said = answer !== null && html`<p class="muted" dir="auto">${answer}</p>`;
  return html`<li class="letter"><p>${sentence}</p>${said}${moment(context, at)}</li>`;
}

function entry(context: ReviewContext, item: TimelineItem): Html {
  const { say } = context;
  const { number, at, actor, sentence, request_id, facts, seal, checkpoint } = item;
  const changed: TermRow[] = Object.entries(facts).map(([name, value]) => [
    literal(name),
    value === null ? html`<span class="muted">${say`none`}</span>` : literal(String(value)),
  ]);
  // A sentence of ours, whatever name it begins with: `dir=auto` would turn it around after an Arabic one.
  return html`<li><p>${sentence}</p>
${written(context, item)}
<details><summary>${moment(context, at)}</summary>
${pairs([
  [say`Entry`, number],
  [say`Request`, request_id !== null && literal(request_id)],
  [say`Actor`, literal(actor)],
  [say`Action`, literal(item.action)],
  ...changed,
  [say`Seal`, seal ? html`${seal.number} ${literal(seal.hash)}` : say`None yet`],
  [
    say`Checkpoint`,
    checkpoint
      ? say.html`of seal ${checkpoint.seal}, signed ${literal(checkpoint.signed_at)}`
      : say`None yet`,
  ],
])}
</details></li>`;
}

/** What an administrator wrote with an act. */
function written({ say }: ReviewContext, { note, bank_reference, message }: TimelineItem): Html | null {
  if (note === undefined && bank_reference === undefined && message === undefined) return null;
  return pairs([
    [say`Bank reference`, bank_reference && said(bank_reference)],
    [say`Note`, note && html`<span class="words" dir="auto">${note}</span>`],
    [say`Message to the customer`, message && html`<span class="words" dir="auto">${message}</span>`],
  ]);
}

/** Where a payment stands in the history: its entries, the seal that closes the last, and who vouches for it. */
function placeInHistory(context: ReviewContext, items: readonly TimelineItem[]): Html {
  const { say, address } = context;
  const last = items.at(-1);
  if (!last) return html`<p class="muted">${say`The history has no entries of this payment.`}</p>`;
  const { seal, checkpoint } = last;
  const text = seal ? say`Sealed up to entry ${last.number}.` : say`Not sealed yet.`;
  const vouched = checkpoint
    ? say.html`A checkpoint signed ${moment(context, Date.parse(checkpoint.signed_at))} vouches for it.`
    : html`${say`No checkpoint vouches for it yet: one is signed within a minute or two.`}`;
  return html`<p class="sealed">${icon('shield')}<span>${text} ${vouched} <a href="${address('/audit')}">${say`The whole history`}</a></span></p>`;
}
