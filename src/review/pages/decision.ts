// Deciding a payment: a page that asks once more, what it comes to, and the next payment that waits.

import {
  choice,
  type Faults,
  field,
  hasFaults,
  isLong,
  moment,
  nameOf,
  said,
} from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import type { Transaction } from '../../journal/transaction.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { trimmedText } from '../../lib/text.ts';
import { asOf, claimOf, isDecided, isPaymentId, type Payment } from '../../payments/payment.ts';
import { findPayment } from '../../payments/queries.ts';
import { isPaymentAsRecorded, paymentNotFound } from '../../payments/transition.ts';
import { customerMessage } from '../../web/markup/parts.ts';
import { approve, reject } from '../decide.ts';
import {
  approvalSchema,
  approvalsOf,
  BANK_REFERENCE_MAXIMUM,
  decisionOf,
  isDoneAlready,
  knownSoFar,
  MESSAGE_MAXIMUM,
  NOTE_MAXIMUM,
  needsSecond,
  parse,
  REJECT_REASONS,
  rejectionSchema,
} from '../review.ts';
import { type People, peopleOf } from '../told.ts';
import type { ReviewContext } from './context.ts';
import { decisive } from './evidence.ts';
import { addressOfPayment, heading, methodName, parties, secondLine } from './panel.ts';
import { addressOfList, addressOfNext, type Carried, carriedBy } from './queue-filter.ts';

type Act = 'approve' | 'reject';

/** The payment that the path names. Throws `not_found`. */
export async function paymentOf({ database, params }: ReviewContext): Promise<Payment> {
  const id = params.payment_id ?? '';
  const payment = isPaymentId(id) ? await findPayment(database, id) : undefined;
  if (!payment) throw paymentNotFound();
  return payment;
}

/** What is typed already: in the draft that was kept during a sign-in, with the version that the link named. */
export const filledBefore = ({ query, form }: ReviewContext): Filled => ({
  version: query.get('version') ?? undefined,
  ...Object.fromEntries(form),
});

export async function question(context: ReviewContext, act: Act): Promise<Outcome> {
  const payment = await paymentOf(context);
  return asking(context, act, payment, { filled: filledBefore(context) });
}

const stale = ({ say }: ReviewContext): string =>
  say`The payment has changed since you looked at it. Look at it again before you decide.`;

interface Asked {
  filled: Filled;
  faults?: Readonly<Record<string, string>>;
  /** What happened meanwhile, in a sentence, where it is known. */
  changed?: string;
  preview?: boolean;
  status?: number;
}

/** A form's first button is what Enter in a field presses. A disabled one sends nothing, so that Enter approves nothing by accident. */
const NO_DEFAULT = html`<button disabled hidden></button>`;

/** The page that asks once more, or the page that says why there is nothing to decide. */
async function asking(context: ReviewContext, act: Act, payment: Payment, asked: Asked): Promise<Outcome> {
  const people = await peopleOf(context.database, [payment]);
  const obstacle = await obstacleTo(context, act, payment, people);
  if (obstacle) return undecided(context, payment, obstacle, 409);
  const { filled, faults = {}, preview = false, status } = asked;
  // Whatever the form comes back for, it carries the payment's version of now: so it must say that there is another.
  const isStale = filled.version !== undefined && filled.version !== String(payment.version);
  const changed = asked.changed ?? (isStale ? stale(context) : undefined);
  const { address, token, say, money } = context;
  const carried = carriedBy(context);
  const action = address(`/payments/${payment.id}/${act}`, carried);
  const fields = act === 'approve' ? approvalFields : rejectionFields;
  // The script puts the focus on what is pressed next, where that is in sight.
  const isFirst = !hasFaults(faults) && !preview && changed === undefined;
  const form = html`<form method="post" action="${action}#errors" novalidate class="decide">
${token}<input type="hidden" name="version" value="${payment.version}">
${act === 'approve' && NO_DEFAULT}${fields(context, filled, faults)}
${preview && told(context, payment, filled.message)}
<div class="actions">
${buttons(context, act, payment, action, isFirst)}
${wayBack(context, payment, carried)}
</div>
<p class="fine">${consequence(context, act, payment, people)} ${say`This cannot be undone.`}</p>
</form>`;
  const title = act === 'approve' ? say`Approve this payment?` : say`Reject this payment?`;
  const amount = money(payment.amount_minor, payment.currency);
  const method = methodName(payment, say);
  const test = payment.mode === 'test' && html` <span class="tag">${say`Test: no money moves`}</span>`;
  const from = html`${parties(context, payment)}${method !== null && html` · ${said(method)}`}`;
  const content = html`<header class="question">
<h1>${title}</h1>
<p><strong class="total${isLong(amount) && ' long'}"><bdi>${amount}</bdi></strong> ${from}${test}</p>
</header>
<div class="body">
${
  changed &&
  html`<div class="notice warn" role="alert"><p>${changed}</p>
<p><a href="${addressOfPayment(context, payment.id, carried)}">${say`Look at it again`}</a></p></div>`
}
<div class="asking"><div>
${secondLine(context, payment, people)}
${await decisive(context, payment, people)}
</div>
${form}</div>
</div>`;
  return { title, content, place: '/queue', layout: 'one', status, faults };
}

/** Where one came from: the payment's page, or the payment open beside the queue. */
const wayBack = (context: ReviewContext, { id }: Payment, carried: Carried): Html =>
  carried.list === 'payments'
    ? html`<a class="plain" href="${addressOfPayment(context, id, carried)}">${context.say`Back to the payment`}</a>`
    : html`<a class="plain" href="${addressOfList(context, carried, { open: id })}">${context.say`Back to the queue`}</a>`;

function buttons(
  { money, say }: ReviewContext,
  act: Act,
  payment: Payment,
  action: string,
  isFirst: boolean,
): Html {
  const { amount_minor, currency } = payment;
  const known = knownSoFar(payment);
  const amount = html`<bdi>${money(amount_minor, currency)}</bdi>`;
  const focus = isFirst && html` data-focus`;
  if (act === 'reject')
    return html`<button class="danger">${say.html`Reject ${amount}`}</button>
<button class="secondary" name="${PREVIEW}" value="1" formaction="${action}#preview">${say`Preview the message`}</button>`;
  const received = known !== null && html`<bdi>${money(known, currency)}</bdi>`;
  const isLess = known !== null && known < amount_minor;
  const text = isLess ? say.html`Approve with ${received} of ${amount}` : say.html`Approve ${amount}`;
  return html`<button class="primary"${focus}>${text}</button>`;
}

/** The consequences of the decision. */
function consequence(
  { fourEyesAbove, money, say }: ReviewContext,
  act: Act,
  payment: Payment,
  { barred }: People,
): string {
  if (act === 'reject')
    return say`The customer reads that the payment was not accepted, and your message; never the reason or the note.`;
  const { amount_minor, currency } = payment;
  if (needsSecond(payment, fourEyesAbove) && approvalsOf(payment, barred).length === 0)
    return say`It stays under review until another administrator confirms it.`;
  const seen = say`The customer and the merchant then see that it is approved.`;
  const known = knownSoFar(payment);
  if (known === null || known >= amount_minor) return seen;
  const [received, amount] = [money(known, currency), money(amount_minor, currency)];
  return `${seen} ${say`The receipt says that ${received} of ${amount} was received and accepted as payment.`}`;
}

interface Obstacle {
  text: Html;
  /** Whether taking the payment over would help. */
  takeOver?: boolean;
}

/** Why a payment cannot be decided by the caller, as far as it shows without trying. */
async function obstacleTo(
  context: ReviewContext,
  act: Act,
  payment: Payment,
  people: People,
): Promise<Obstacle | undefined> {
  const { principal, now, say, database } = context;
  const { status } = asOf(payment, now);
  if (status === 'approved' || status === 'rejected') {
    const decision = decisionOf(payment)?.by;
    const when = moment(context, payment.decided_at ?? payment.updated_at);
    const who = decision ? nameOf(context, people.names, decision) : html`${say`somebody`}`;
    const text =
      status === 'approved'
        ? say.html`Approved by ${who} on ${when}.`
        : say.html`Rejected by ${who} on ${when}.`;
    return { text };
  }
  if (status !== 'requires_review')
    return {
      text: html`${say`There is nothing to decide: the customer has not sent it for review, or it ended.`}`,
    };
  const held = claimOf(payment, now);
  if (held && held.by !== principal.id) {
    const who = nameOf(context, people.names, held.by);
    return { text: say.html`${who} has claimed it until ${moment(context, held.until)}.`, takeOver: true };
  }
  if (act === 'approve' && approvalsOf(payment, people.barred).some(({ by }) => by === principal.id))
    return {
      text: html`${say`You have approved it already, as the first of two. Another administrator must confirm it.`}`,
    };
  if (!(await isPaymentAsRecorded(database, payment)))
    return {
      text: html`${say`It was changed outside the service, so nothing can be done with it here. Ask the operator to run counterfoil audit verify.`}`,
    };
  return undefined;
}

/** The page for a decision that is too late or not allowed: the state of the payment, that nothing was done, and the links on. */
export async function undecided(
  context: ReviewContext,
  payment: Payment,
  { text, takeOver = false }: Obstacle,
  status: number,
): Promise<Outcome> {
  const { address, token, say } = context;
  const carried = carriedBy(context);
  const onward =
    carried.list === 'payments'
      ? html`<a class="plain" href="${addressOfList(context, carried)}">${say`Go to the payments`}</a>`
      : html`<a class="primary" href="${addressOfNext(context, carried, { past: payment.id })}">${say`Next in the queue`}</a>`;
  const isOwn = decisionOf(payment)?.by === context.principal.id;
  const title = !isDecided(payment)
    ? say`Nothing was decided`
    : isOwn
      ? say`You have decided this already`
      : say`Somebody else decided first`;
  const content = html`<h1>${title}</h1>
${heading(context, payment)}
<p class="lead">${text}</p>
<div class="actions">
${carried.list !== 'payments' && onward}
<a class="secondary" href="${addressOfPayment(context, payment.id, carried)}">${say`See this payment`}</a>
${
  takeOver &&
  html`<form method="post" action="${address(`/payments/${payment.id}/claim`, { ...carried, on: 'queue' })}">
${token}<input type="hidden" name="force" value="1"><button class="secondary">${say`Take over`}</button></form>`
}
${carried.list === 'payments' && onward}
</div>`;
  return { title, content, place: '/queue', status };
}

export async function decide(context: ReviewContext, act: Act): Promise<Outcome> {
  const payment = await paymentOf(context);
  const filled: Filled = Object.fromEntries(context.form);
  if (filled.version === undefined)
    return asking(context, act, payment, { filled, changed: stale(context), status: 409 });
  const parsed = parsedOf(context, act, payment.id, filled);
  if ('faults' in parsed)
    return asking(context, act, payment, { filled, faults: wording(context, parsed.faults) });
  if (act === 'reject' && context.form.has(PREVIEW))
    return asking(context, act, payment, { filled, preview: true });
  const { id } = payment;
  const onward = addressOfNext(context, carriedBy(context), { done: id });
  try {
    await context.journal.commit(parsed.work, id);
    return { to: onward };
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error;
    const now = await paymentOf(context);
    const { version, ...said } = parsed.value;
    if (isDoneAlready(now, context.principal.id, version, { act, ...said })) return { to: onward };
    const text = error.said(context.say);
    if (error.code === 'conflict') return asking(context, act, now, { filled, changed: text, status: 409 });
    if (error.code === 'invalid_status' || error.code === 'forbidden')
      return undecided(context, now, { text: html`${text}` }, error.status);
    throw error;
  }
}

/** What a form says, checked, and the work that does it. A preview says nothing yet of why. */
function parsedOf({ principal, fourEyesAbove }: ReviewContext, act: Act, id: string, filled: Filled) {
  const { note, bank_reference, version, reason, message } = filled;
  if (act === 'approve') {
    const parsed = parse(approvalSchema, { note, bank_reference, version });
    if ('faults' in parsed) return parsed;
    const { value } = parsed;
    const work = (transaction: Transaction) => approve(transaction, principal, id, value, fourEyesAbove);
    return { value, work };
  }
  const isPreview = filled[PREVIEW] !== undefined;
  const said = { reason: isPreview ? reason || 'other' : reason, note, message, version };
  const parsed = parse(rejectionSchema, said);
  if ('faults' in parsed) return parsed;
  const { value } = parsed;
  return { value, work: (transaction: Transaction) => reject(transaction, principal, id, value) };
}

/** What was typed, by the names of the fields. */
export type Filled = Readonly<Record<string, string | undefined>>;

/** The name of the button that shows the message without deciding. */
const PREVIEW = 'preview';

function approvalFields(context: ReviewContext, filled: Filled, faults: Faults): Html {
  return html`${bankReferenceField(context, filled, faults)}${noteField(context, filled, faults)}`;
}

export function bankReferenceField({ say }: ReviewContext, filled: Filled, faults: Faults): Html {
  return field({
    name: 'bank_reference',
    label: say`Bank reference (optional)`,
    hint: say`As on the bank statement. ${BANK_REFERENCE_MAXIMUM} characters or fewer.`,
    value: filled.bank_reference ?? '',
    fault: faults.bank_reference,
    attributes: { spellcheck: 'false', autocapitalize: 'none' },
  });
}

function rejectionFields(context: ReviewContext, filled: Filled, faults: Faults): Html {
  const { say } = context;
  return html`${choice({
    name: 'reason',
    legend: say`Why do you reject it?`,
    options: Object.entries(REJECT_REASONS).map(([value, text]) => [value, say.of(text)]),
    chosen: filled.reason,
    fault: faults.reason,
  })}${field({
    name: 'message',
    label: say`Message to the customer (optional)`,
    hint: say`They read it on the payment’s page. ${MESSAGE_MAXIMUM} characters or fewer.`,
    value: filled.message ?? '',
    fault: faults.message,
    lines: 3,
  })}${noteField(context, filled, faults)}`;
}

export function noteField(
  { say }: ReviewContext,
  filled: Filled,
  faults: Faults,
  label = say`Note (optional)`,
): Html {
  return field({
    name: 'note',
    label,
    hint: say`Only administrators read it. ${NOTE_MAXIMUM} characters or fewer.`,
    value: filled.note ?? '',
    fault: faults.note,
    lines: 2,
  });
}

/** The message as checkout will show it, by the same piece of markup; nothing is decided by looking at it. */
export function told({ say }: ReviewContext, { merchant_name }: Payment, message: string | undefined): Html {
  const text = trimmedText(message ?? '');
  return html`<div class="preview" id="preview" role="status">
<p class="hint">${
    text === ''
      ? say`There is no message: the customer only reads that the payment was not accepted.`
      : say`The customer will read this, with its heading in their language. Nothing is decided yet.`
  }</p>
${text !== '' && customerMessage(say.html`Message from ${html`<bdi>${merchant_name}</bdi>`}`, text)}
</div>`;
}

const LABELS: Readonly<Record<string, string>> = {
  amount: phrase('Amount'),
  received_on: phrase('Day'),
  bank_reference: phrase('Bank reference'),
  note: phrase('Note'),
  message: phrase('Message to the customer'),
  version: phrase('The version'),
};

/** The faults of a form in words that stand alone: with the field's name in them, and for a choice what to do. */
export function wording({ say }: Pick<ReviewContext, 'say'>, faults: Faults): Faults {
  const worded: Record<string, string> = {};
  // As the fields stand on the page.
  const order = Object.keys(LABELS);
  const sorted = Object.entries(faults).sort(([one], [other]) => order.indexOf(one) - order.indexOf(other));
  for (const [name, fault] of sorted) {
    const label = LABELS[name];
    const most = /^Must be at most (\d+) characters\.$/.exec(fault)?.[1];
    if (name === 'reason') worded[name] = say`Choose a reason`;
    else if (!label) worded[name] = say.of(fault);
    else if (most) worded[name] = say`${say.of(label)} must be ${most} characters or fewer`;
    else if (say.tag !== 'en') worded[name] = `${say.of(label)}: ${say.of(fault)}`;
    else worded[name] = `${label} ${fault.charAt(0).toLowerCase()}${fault.slice(1).replace(/\.$/, '')}`;
  }
  return worded;
}
