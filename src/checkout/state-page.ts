// The page of a payment that is past paying: where the money is, what happens next, and one thing to do.

import { type Html, html } from '../lib/html.ts';
import type { Instructions } from '../payments/methods/offer.ts';
import { maskedOf, type Sent, sentOf } from '../payments/submit.ts';
import type { Key } from '../web/markup/languages.ts';
import { customerMessage, facts, type TermPair } from '../web/markup/parts.ts';
import type { SitePage } from '../web/pages/framed-page.ts';
import { hiddenToken } from './form.ts';
import { instructionsMarkup } from './instructions.ts';
import { type Due, type MoneyKnown, moneyKnown, moneySentences, type Way } from './money.ts';
import {
  type Announced,
  brandedPage,
  nameOfMethod,
  numbersOf,
  outTo,
  type PaymentSubject,
  paperAddress,
  type ShownStatus,
  shownStatus,
  stub,
  takeBack,
  trialButtons,
  wayOut,
} from './parts.ts';
import { type IssuedReceipt, receiptRows } from './receipt.ts';
import { VERIFY_PATH } from './verify-route.ts';
import type { CheckoutVisit } from './visit.ts';

type State = readonly [
  status: number,
  heading: Key,
  next: Key,
  /** The term of the moment it came to this, unless that is when it was sent. */
  when: Key | null,
  /** Which of the merchant's addresses leads on. */
  out: 'return_url' | 'cancel_url',
];

const STATES: Record<Exclude<ShownStatus, 'pending'>, State> = {
  requires_review: [200, 'review.heading', 'review.next', null, 'return_url'],
  approved: [200, 'approved.paid', 'approved.next', 'fact.decided', 'return_url'],
  rejected: [200, 'rejected.heading', 'rejected.next', 'fact.rejected', 'cancel_url'],
  cancelled: [200, 'cancelled.heading', 'cancelled.by_merchant', 'fact.cancelled', 'cancel_url'],
  expired: [410, 'expired.heading', 'expired.next', null, 'cancel_url'],
};
/** What is under review may be no payment yet: it was announced, agreed or asked about. */
const ANNOUNCED: Record<Announced, Key> = {
  bank_transfer: 'waiting.heading',
  manual: 'manual.heading',
  details: 'details.heading',
};

/** What the page says of a state, given what is known of the money. */
export function stateOf(shown: Exclude<ShownStatus, 'pending'>, { known, way }: MoneyKnown): State {
  const [status, heading, next, when, out] = STATES[shown];
  if (shown === 'requires_review') {
    const isWaiting = known === 'announced' || known === 'nothing';
    const announced = isWaiting && isAnnounced(way) ? ANNOUNCED[way] : heading;
    // What arrived went back: there is nothing to check until it is paid again.
    return [status, known === 'returned' ? 'waiting.heading' : announced, next, when, out];
  }
  if (shown === 'approved' && known === 'returned') return [status, 'returned.heading', next, when, out];
  // What was accepted may be less than what was asked for.
  if (shown === 'approved' && known === 'part') return [status, 'approved.heading', next, when, out];
  // Money may be under way for what can no longer be paid: nothing may make the customer pay again.
  const isLate = known === 'announced' && (shown === 'cancelled' || shown === 'expired');
  return isLate ? [status, 'announced.heading', 'review.next', when, out] : STATES[shown];
}

const isAnnounced = (way: Way): way is Announced => way in ANNOUNCED;

/**
 * The page of a payment whose status is not `pending`, and its HTTP status. `due`: what is still to be paid under review; `receipt`: of an
 * approved one; `isPayers`: opened from the payer's own letter.
 */
export function statePage(
  visit: CheckoutVisit,
  subject: PaymentSubject,
  { due, receipt, isPayers }: { due: Due | undefined; receipt: IssuedReceipt | undefined; isPayers: boolean },
): SitePage {
  const { payment, words, amount } = subject;
  const merchant = payment.merchant_name;
  const shown = shownStatus(payment) as Exclude<ShownStatus, 'pending'>;
  const details = maskedOf(payment);
  const money = moneyKnown(payment);
  const state = stateOf(shown, money);
  const [status, heading, , when] = state;
  const announced =
    shown === 'requires_review' && heading !== STATES[shown][1] && isAnnounced(money.way)
      ? money.way
      : undefined;
  const isPaid = heading === 'approved.paid';
  const isReturned = heading === 'returned.heading';
  const text = { merchant, amount };
  const message =
    shown === 'rejected' && payment.review_message !== null
      ? customerMessage(words.html('rejected.message', { merchant }), payment.review_message)
      : null;
  const mayTakeBack = takeBack(visit, subject);
  const content = html`${stub(subject, {
    state: isReturned ? 'returned' : announced,
    isPaid,
    heading: words.html(heading, text),
    message,
    money: moneySentences(subject, money),
    rows: [
      ...momentsOf(subject, receipt ? null : when, receipt ? null : details),
      [words.html('fact.reference'), receipt ? payment.merchant_reference : null],
      [words.html('fact.method'), !receipt && details ? nameOfMethod(words, details) : null],
    ],
    hasNumbers: !receipt,
  })}
<div class="leaf"><i class="holes"></i>
${due?.instructions && repeated(visit, ofDue(subject, due), due.instructions)}
${nextPart(visit, subject, state, announced)}
${particulars(subject, details, receipt && receiptRows(subject, receipt, isPayers))}
${receipt && aboutReceipt(visit, subject, receipt)}
${mayTakeBack && html`<div class="exits">${mayTakeBack}</div>\n`}${trialButtons(visit, subject)}
${paperAddress(visit, payment)}
</div>`;
  const pair = isReturned ? 'void' : PAIRS[shown];
  return brandedPage(visit, subject, { status, heading: words.text(heading, text), amount, content, pair });
}

/** A payment that came to nothing is void, and one that was paid back; but not one whose money may be on its way. */
const PAIRS = {
  requires_review: 'whole',
  approved: 'torn',
  rejected: 'void',
  cancelled: 'void',
  expired: 'void',
} as const;

/** What happens next, how long it usually takes, and one thing to do. */
function nextPart(
  visit: CheckoutVisit,
  subject: PaymentSubject,
  [, heading, next, , out]: State,
  announced: Announced | undefined,
): Html {
  const { payment, words, amount } = subject;
  const text = { merchant: payment.merchant_name, amount };
  const isOwn = payment.status_reason === 'cancelled_by_customer' && next === 'cancelled.by_merchant';
  const title = {
    'approved.next': words.html('receipt.heading'),
    'review.next': words.html('waiting.next'),
  }[next as string];
  const isAsking = shownStatus(payment) === 'expired' && heading !== 'announced.heading';
  return html`<section class="next">
${title && html`<h2>${title}</h2>`}
${announced === 'bank_transfer' && html`<p>${words.html('waiting.time', text)}</p>`}
<p>${words.html(isOwn ? 'cancelled.by_customer' : next, text)}</p>
${isAsking && ask(visit, subject)}${onward(visit, subject, out, isAsking)}
</section>`;
}

function momentsOf({ payment, words }: PaymentSubject, when: Key | null, details: Sent | null): TermPair[] {
  const rows: TermPair[] = [];
  // A cancelled payment changes later where its customer announces a transfer, and a decided one where a bank line is matched.
  const at = payment.decided_at ?? (payment.announced_at === null ? payment.updated_at : null);
  if (when && at !== null) rows.push([words.html(when), words.moment(at)]);
  if (payment.status_reason === 'expired')
    rows.push([words.html('fact.expired'), words.moment(payment.expires_at)]);
  if (details) rows.push([words.html('fact.submitted'), words.moment(Date.parse(details.submitted_at))]);
  return rows;
}

/** What was kept of what the customer sent; on a receipt, what a bookkeeper needs. */
function particulars(
  subject: PaymentSubject,
  details: Sent | null,
  receipt: readonly TermPair[] | undefined,
): Html | null {
  const { words } = subject;
  const rows: TermPair[] = [
    ...(receipt ? [...receipt, ...numbersOf(subject).slice(1)] : []),
    [words.html('fact.card'), details?.card ? words.html('fact.card.value', details.card) : null],
    [words.html('fact.payer_name'), receipt ? null : (details?.payer_name ?? null)],
    [words.html('fact.payer_email'), details?.payer_email ?? null],
  ];
  return rows.some(([, value]) => value !== null) ? facts(rows) : null;
}

/** The payment with the amount that is still due. */
const ofDue = (subject: PaymentSubject, { payment, isRest }: Due): PaymentSubject => ({
  ...subject,
  payment,
  amount: isRest ? subject.words.money(payment.amount_minor, payment.currency) : subject.amount,
});

/** How to pay what is due, again, as it stood when the customer sent the form. */
function repeated(visit: CheckoutVisit, subject: PaymentSubject, instructions: Instructions): Html {
  const { payment, words } = subject;
  const heading =
    instructions.kind === 'transfer' ? words.html('transfer.heading') : nameOfMethod(words, sentOf(payment)!);
  return html`<section class="next"><h2>${heading}</h2>
${instructionsMarkup(visit, subject, instructions)}</section>`;
}

/** How to keep the receipt, and how anyone checks it. */
function aboutReceipt({ site }: CheckoutVisit, { words }: PaymentSubject, { number }: IssuedReceipt): Html {
  const url = `${site.baseUrl}${VERIFY_PATH}`;
  const address = html`<a href="${url}?number=${number}"><bdi dir="ltr">${url}</bdi></a>`;
  return html`<p>${words.html('receipt.check', { address })}</p>
<p class="screen">${words.html('receipt.save', { pdf: 'PDF' })}</p>`;
}

/** The request for a new link: a button once, then when it was pressed. */
function ask({ address }: CheckoutVisit, { payment, words, ring }: PaymentSubject): Html {
  const merchant = payment.merchant_name;
  if (payment.link_requested_at !== null) {
    const time = words.moment(payment.link_requested_at);
    return html`<p class="notice" role="status">${words.html('expired.asked', { merchant, time })}</p>`;
  }
  return html`<form method="post" action="${address()}" class="actions">
${hiddenToken(ring, payment, 'ask')}
<button class="primary">${words.html('expired.ask', { merchant })}</button>
</form>`;
}

/** The next step: back to the merchant if there is an address, or a reload while the status may change. */
function onward(
  { address }: CheckoutVisit,
  subject: PaymentSubject,
  out: State[4],
  isExpired: boolean,
): Html {
  const { payment, words } = subject;
  const first = out === 'return_url' ? payment.return_url : payment.cancel_url;
  const second = out === 'return_url' ? payment.cancel_url : payment.return_url;
  const asking = isExpired && payment.link_requested_at === null;
  const target = outTo(subject, first ?? second);
  const link = wayOut(words, payment.merchant_name, target, 'return', asking ? 'plain' : 'primary');
  const again =
    payment.status === 'requires_review' &&
    html`<a class="${link ? 'secondary' : 'primary'}" href="${address()}">${words.html('review.again')}</a>`;
  return html`<div class="actions">${link}${again}</div>`;
}
