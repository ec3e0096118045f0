// Deciding a payment: a page that asks once more, what it comes to, and the next payment that waits.
import { literal, moment, nameOf, rows, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { asOf, isPaymentId, type Payment } from '../../payments/payment.ts';
import { findPayment } from '../../payments/queries.ts';
import { paymentNotFound } from '../../payments/transition.ts';
import { claimOf } from '../claim.ts';
import { approve, needsSecond, reject } from '../decide.ts';
import {
  approvalsOf,
  decisionOf,
  isDoneAlready,
  type Parsed,
  parseApproval,
  parseRejection,
} from '../review.ts';
import type { ReviewContext } from './context.ts';
import { approvalFields, type Filled, PREVIEW, rejectionFields, told, wording } from './decision-form.ts';
import { decisive } from './evidence.ts';
import { addressOfList, type Carried, carriedBy, nextAfter, onPageOf } from './list-place.ts';
import { addressOfPayment, heading, type People, peopleFor, secondLine } from './panel.ts';

type Act = 'approve' | 'reject';

/** The payment that the path names. Throws `not_found`. */
export async function paymentOf({ database, params }: ReviewContext): Promise<Payment> {
  const id = params.payment_id ?? '';
  const payment = isPaymentId(id) ? await findPayment(database, id) : undefined;
  if (!payment) throw paymentNotFound();
  return payment;
}

/** The values of a form, or of the draft that was kept during a sign-in. */
const filledOf = (form: URLSearchParams): Filled => Object.fromEntries(form);

export async function question(context: ReviewContext, act: Act): Promise<Outcome> {
  const payment = await paymentOf(context);
  const seen = context.query.get('version');
  const filled = filledOf(context.form);
  return asking(context, act, payment, { filled: seen === null ? filled : { version: seen, ...filled } });
}

const STALE = 'The payment has changed since you looked at it. Look at it again before you decide.';

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
  const people = await peopleFor(context, [payment]);
  const obstacle = obstacleTo(context, act, payment, people);
  if (obstacle) return undecided(context, payment, obstacle, 409);
  const { filled, faults = {}, preview = false, status } = asked;
  // Whatever the form comes back for, it carries the payment's version of now: so it must say that there is another.
  const isStale = filled.version !== undefined && filled.version !== String(payment.version);
  const changed = asked.changed ?? (isStale ? STALE : undefined);
  const { address, token } = context;
  const carried = carriedBy(context);
  const isWrong = Object.keys(faults).length > 0;
  const action = address(`/payments/${payment.id}/${act}`, carried);
  const isFirst = !isWrong && !preview && changed === undefined;
  const fields = act === 'approve' ? approvalFields : rejectionFields;
  const form = html`<form method="post" action="${action}#errors" novalidate>
${token}<input type="hidden" name="version" value="${payment.version}">
${act === 'approve' && NO_DEFAULT}${fields(filled, faults, isFirst && !isPhone(context))}
${preview && told(payment, filled.message)}
<div class="actions">
${buttons(context, act, payment, action)}
${wayBack(context, payment, carried)}
</div>
</form>
<p class="fine">${consequence(context, act, payment, people)} Undo is not possible.</p>`;
  const title = act === 'approve' ? 'Approve this payment?' : 'Reject this payment?';
  const content = html`${
    changed &&
    html`<div class="notice warn" role="alert"><p>${changed}</p>
<p><a href="${addressOfPayment(context, payment.id, carried)}">Look at it again</a></p></div>`
  }
<div class="confirm${act === 'approve' && ' broad'}">
<h1>${title}</h1>
${heading(context, payment, 'h2')}
${act === 'approve' ? await besideEvidence(context, payment, people, form) : html`${numbers(payment)}\n${form}`}
</div>`;
  return { title, content, place: '/queue', status, faults };
}

/** Where one came from: the payment's page, or the payment open beside the queue. */
const wayBack = (context: ReviewContext, { id }: Payment, carried: Carried): Html =>
  carried.list === 'payments'
    ? html`<a class="plain" href="${addressOfPayment(context, id, carried)}">Back to the payment</a>`
    : html`<a class="plain" href="${addressOfList(context, carried, { open: id })}">Back to the queue</a>`;

/** Phones would scroll past what decides to a field that has the focus. */
const isPhone = ({ request }: ReviewContext) => request.headers['sec-ch-ua-mobile'] === '?1';

/** The form that approves, with the facts that decide before it, or beside it on wide screens. */
async function besideEvidence(
  context: ReviewContext,
  payment: Payment,
  people: People,
  form: Html,
): Promise<Html> {
  return html`<div class="columns">
<div class="column">
${await decisive(context, payment, people)}
</div>
<div class="column">
${secondLine(context, payment, people)}
${form}
</div>
</div>`;
}

const numbers = (payment: Payment): Html =>
  rows([
    ['Reference', payment.merchant_reference && said(payment.merchant_reference)],
    ['Merchant', literal(payment.merchant_id)],
    ['Number', literal(payment.id)],
  ]);

function buttons(
  { money }: ReviewContext,
  act: Act,
  { amount_minor, received_minor, currency }: Payment,
  action: string,
): Html {
  const amount = html`<bdi>${money(amount_minor, currency)}</bdi>`;
  if (act === 'approve' && received_minor !== null && received_minor < amount_minor)
    return html`<button class="primary">Approve with <bdi>${money(received_minor, currency)}</bdi> of ${amount}</button>`;
  if (act === 'approve') return html`<button class="primary">Approve ${amount}</button>`;
  return html`<button class="danger">Reject ${amount}</button>
<button class="secondary" name="${PREVIEW}" value="1" formaction="${action}#preview">Preview the message</button>`;
}

/** The consequences of the decision. */
function consequence(
  { fourEyesAbove, money }: ReviewContext,
  act: Act,
  payment: Payment,
  { barred }: People,
): string {
  if (act === 'reject')
    return 'The customer’s page says that it was not accepted, and your message; never the reason or the note.';
  const { received_minor, amount_minor, currency } = payment;
  const isLess = received_minor !== null && received_minor < amount_minor;
  const less = isLess
    ? ` The receipt says that ${money(received_minor, currency)} of ${money(amount_minor, currency)} was received and accepted as payment.`
    : '';
  return needsSecond(payment, fourEyesAbove) && approvalsOf(payment, barred).length === 0
    ? 'It stays under review until another administrator confirms it.'
    : `The customer’s page and the merchant’s system then see that it is approved.${less}`;
}

interface Obstacle {
  text: Html;
  /** Whether taking the payment over would help. */
  takeOver?: boolean;
}

/** Why a payment cannot be decided by the caller, as far as it shows without trying. */
function obstacleTo(
  context: ReviewContext,
  act: Act,
  payment: Payment,
  people: People,
): Obstacle | undefined {
  const { principal, now } = context;
  const { status } = asOf(payment, now);
  if (status === 'approved' || status === 'rejected') {
    const decision = decisionOf(payment)?.by;
    const when = payment.decided_at ?? payment.updated_at;
    const who = decision ? nameOf(context, people.names, decision) : 'somebody';
    return { text: html`It was ${status} by ${who} on ${moment(context, when)}.` };
  }
  if (status !== 'requires_review')
    return { text: html`There is nothing to decide: the customer has not sent it for review, or it ended.` };
  const held = claimOf(payment, now);
  if (held && held.by !== principal.id)
    return {
      text: html`${nameOf(context, people.names, held.by)} has claimed it until ${moment(context, held.until)}.`,
      takeOver: true,
    };
  if (act === 'approve' && approvalsOf(payment, people.barred).some(({ by }) => by === principal.id))
    return {
      text: html`You have approved it already, as the first of two. Another administrator must confirm it.`,
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
  const { address, token } = context;
  const carried = carriedBy(context);
  const list = carried.list === 'payments' ? 'payments' : 'queue';
  const next = await nextAfter(context, payment, carried);
  const content = html`<div class="confirm">
<h1>Nothing was decided by you</h1>
${heading(context, payment, 'h2')}
<p class="lead">${text}</p>
<div class="actions">
${next && html`<a class="primary" href="${addressOfList(context, carried, { open: next.id })}">Next in the queue</a>`}
<a class="secondary" href="${addressOfPayment(context, payment.id, carried)}">See this payment</a>
${
  takeOver &&
  html`<form method="post" action="${address(`/payments/${payment.id}/claim`, { ...carried, on: 'queue' })}">
${token}<input type="hidden" name="force" value="1"><button class="quiet">Take over</button></form>`
}
${!next && html`<a class="plain" href="${addressOfList(context, carried)}">To the ${list}</a>`}
</div>
</div>`;
  return { title: `Nothing was decided by you`, content, place: '/queue', status };
}

export async function decide(context: ReviewContext, act: Act): Promise<Outcome> {
  const payment = await paymentOf(context);
  const filled = filledOf(context.form);
  if (filled.version === undefined)
    return asking(context, act, payment, { filled, changed: STALE, status: 409 });
  const parsed = parsedOf(act, filled);
  if ('faults' in parsed) return asking(context, act, payment, { filled, faults: wording(parsed.faults) });
  if (act === 'reject' && context.form.has(PREVIEW))
    return asking(context, act, payment, { filled, preview: true });
  try {
    const { id } = payment;
    const { principal, journal, fourEyesAbove, request } = context;
    const { payment: decided } = await journal.commit(
      (transaction) =>
        parsed.act === 'approve'
          ? approve(transaction, principal, id, parsed.value, fourEyesAbove, request.id)
          : reject(transaction, principal, id, parsed.value, request.id),
      id,
    );
    return await afterDecision(context, decided);
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error;
    const now = await paymentOf(context);
    const { version, ...said } = parsed.value;
    if (isDoneAlready(now, context.principal.id, version, { act, ...said }))
      return afterDecision(context, now);
    return lost(context, act, error, filled);
  }
}

/** The list that the reviewer came from, with the next payment open and the decision told. */
async function afterDecision(context: ReviewContext, decided: Payment): Promise<Outcome> {
  const carried = carriedBy(context);
  const next = await nextAfter(context, decided, carried);
  return { to: addressOfList(context, onPageOf(carried, next), { open: next?.id, done: decided.id }) };
}

type Read<A extends Act, P> = P extends { value: infer V } ? { act: A; value: V } : P;

/** What a form says, checked. A preview says nothing yet of why. */
function parsedOf(act: Act, filled: Filled) {
  const { note, bank_reference, version, reason, message } = filled;
  const as = <A extends Act, T>(name: A, parsed: Parsed<T>) =>
    ('value' in parsed ? { act: name, value: parsed.value } : parsed) as Read<A, Parsed<T>>;
  if (act === 'approve') return as(act, parseApproval({ note, bank_reference, version }));
  const isPreview = filled[PREVIEW] !== undefined;
  return as(act, parseRejection({ reason: isPreview ? reason || 'other' : reason, note, message, version }));
}

/** What a decision that was not taken leads to: the form again where it still can be, else who was first. */
async function lost(
  context: ReviewContext,
  act: Act,
  error: OperationalError,
  filled: Filled,
): Promise<Outcome> {
  const payment = await paymentOf(context);
  if (error.code === 'conflict')
    return asking(context, act, payment, { filled, changed: error.message, status: 409 });
  if (error.code === 'invalid_status' || error.code === 'forbidden')
    return undecided(context, payment, { text: html`${error.message}` }, error.status);
  throw error;
}
