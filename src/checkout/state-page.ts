// The page of a payment that is past paying: where the money is, what happens next, and one thing to do.
import { type Html, html } from '../lib/html.ts';
import type { Instructions } from '../payments/methods/method.ts';
import { checkoutUrl } from '../payments/present.ts';
import { arrivalsOf, receiptsOf } from '../review/review.ts';
import type { Key } from '../web/markup/languages.ts';
import { customerMessage, type TermPair } from '../web/markup/parts.ts';
import { framedPage } from '../web/pages/framed-page.ts';
import type { Due } from './due.ts';
import { hiddenToken } from './form-guard.ts';
import { instructionsMarkup } from './instructions.ts';
import {
  type Announced,
  help,
  nameOfMethod,
  outTo,
  type PaymentSubject,
  type ShownStatus,
  shownStatus,
  slip,
  wayOut,
} from './parts.ts';
import { trialButtons } from './trial-buttons.ts';
import type { CheckoutVisit } from './visit.ts';

/** What was kept of what the customer sent, as far as this page shows it. */
interface Details {
  type: Announced | 'test_card';
  name: string | null;
  payer_name?: string;
  payer_email?: string;
  card?: { brand: string; last4: string };
  submitted_at: string;
}

type State = readonly [
  status: number,
  heading: Key,
  money: Key,
  next: Key,
  /** The term of the moment it came to this, unless that is when it was sent. */
  when: Key | null,
  /** Which of the merchant's addresses leads on. */
  out: 'return_url' | 'cancel_url',
];

const STATES: Record<Exclude<ShownStatus, 'pending'>, State> = {
  requires_review: [200, 'review.heading', 'money.not_yet', 'review.next', null, 'return_url'],
  approved: [200, 'approved.heading', 'approved.money', 'approved.next', 'fact.decided', 'return_url'],
  rejected: [200, 'rejected.heading', 'money.none', 'rejected.next', 'fact.rejected', 'cancel_url'],
  cancelled: [
    200,
    'cancelled.heading',
    'money.none',
    'cancelled.by_merchant',
    'fact.cancelled',
    'cancel_url',
  ],
  expired: [410, 'expired.heading', 'money.none', 'expired.next', null, 'cancel_url'],
};
/** What is under review may be no payment yet: it was announced, agreed or asked about. */
const ANNOUNCED: Record<Announced, State> = {
  bank_transfer: [200, 'waiting.heading', 'waiting.money', 'review.next', null, 'return_url'],
  manual: [200, 'manual.heading', 'manual.money', 'review.next', null, 'return_url'],
  details: [200, 'details.heading', 'next.details', 'review.next', null, 'return_url'],
};

/** Money that an administrator recorded has arrived, though the customer announced none. */
const RECORDED: Partial<Record<ShownStatus, State>> = {
  requires_review: [200, 'review.heading', 'review.arrived', 'review.next', null, 'return_url'],
  rejected: [200, 'rejected.heading', 'money.sent', 'rejected.next', 'fact.rejected', 'cancel_url'],
};

/** The page of a payment whose status is not `pending`, and its HTTP status. `due`: what is still to be paid under review. */
export function statePage(
  visit: CheckoutVisit,
  subject: PaymentSubject,
  due: Due | undefined,
): { status: number; text: string } {
  const { payment, words, amount } = subject;
  const merchant = payment.merchant_name;
  const shown = shownStatus(payment) as Exclude<ShownStatus, 'pending'>;
  const details: Details | null =
    payment.payment_details === null ? null : JSON.parse(payment.payment_details);
  const arrived = arrivalsOf(payment).length > 0 ? RECORDED[shown] : undefined;
  const announced =
    shown === 'requires_review' && !arrived && details && details.type !== 'test_card'
      ? details.type
      : undefined;
  const state = arrived ?? (announced ? ANNOUNCED[announced] : STATES[shown]);
  const [status, heading, money, next, when, out] = state;
  const part = due?.isRest ? partOf(subject, due) : undefined;
  const isOwn = payment.status_reason === 'cancelled_by_customer';
  const text = { merchant, amount };
  const content = html`${slip(subject, {
    announced,
    heading: words.html(heading, text),
    money: part ? words.html('review.part', part) : words.html(money, text),
    next: words.html(isOwn ? 'cancelled.by_customer' : next, text),
    onward: onward(visit, subject, out),
    rows: factsOf(subject, when, details),
  })}
<div class="task">
${
  shown === 'rejected' &&
  payment.review_message !== null &&
  customerMessage(words.html('rejected.message', { merchant }), payment.review_message)
}
${money !== 'money.sent' && moneyMayBeUnderWay(shown, details) && html`<p>${words.html('money.sent', { merchant })}</p>`}
${due?.instructions && repeated(visit, { ...subject, payment: due.payment, amount: part?.rest ?? amount }, due.instructions)}
${shown === 'expired' && ask(visit, subject)}
${trialButtons(visit, subject)}
${help(subject)}
<p class="paper">${checkoutUrl(visit.site.baseUrl, payment.id)}</p>
</div>`;
  const test = payment.mode === 'test';
  const framing = {
    heading: words.text(heading, text),
    brand: merchant,
    test,
    amount,
    content,
    wide: announced === 'bank_transfer' || due?.instructions?.kind === 'transfer',
  };
  return { status, text: framedPage(visit, framing) };
}

function factsOf({ payment, words }: PaymentSubject, when: Key | null, details: Details | null): TermPair[] {
  const rows: TermPair[] = [];
  if (details) {
    rows.push(
      [words.html('fact.method'), nameOfMethod(words, details)],
      [words.html('fact.card'), details.card ? words.html('fact.card.value', details.card) : null],
      [words.html('fact.payer_name'), details.payer_name ?? null],
      [words.html('fact.payer_email'), details.payer_email ?? null],
      [words.html('fact.submitted'), words.moment(Date.parse(details.submitted_at))],
    );
  }
  if (when) rows.push([words.html(when), words.moment(payment.updated_at)]);
  const isRecorded = payment.status === 'requires_review' && receiptsOf(payment).length > 0;
  if (payment.status_reason === 'expired' || isRecorded)
    rows.push([words.html('fact.expired'), words.moment(payment.expires_at)]);
  return rows;
}

/** Whether a transfer may be on its way although nothing comes of it here. */
function moneyMayBeUnderWay(shown: ShownStatus, details: Details | null): boolean {
  return (
    shown === 'expired' || shown === 'cancelled' || (shown === 'rejected' && details?.type !== 'test_card')
  );
}

/** What arrived of a payment, and what is still to be paid, in the customer's language. */
function partOf({ payment, words, amount }: PaymentSubject, due: Due) {
  const rest = due.payment.amount_minor;
  return {
    amount,
    received: words.money(payment.amount_minor - rest, payment.currency),
    rest: words.money(rest, payment.currency),
  };
}

/** How to pay what is due, again, as it stood when the customer sent the form. */
function repeated({ address }: CheckoutVisit, subject: PaymentSubject, instructions: Instructions): Html {
  const { payment, words } = subject;
  const { type, name } = JSON.parse(payment.submission ?? '{}') as Partial<Details>;
  const heading =
    instructions.kind === 'transfer'
      ? words.html('transfer.heading')
      : nameOfMethod(words, { type: type!, name: name! });
  return html`<h2>${heading}</h2>
${instructionsMarkup(subject, instructions, address({ view: 'code' }))}`;
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
function onward({ address }: CheckoutVisit, subject: PaymentSubject, out: State[5]): Html {
  const { payment, words } = subject;
  const first = out === 'return_url' ? payment.return_url : payment.cancel_url;
  const second = out === 'return_url' ? payment.cancel_url : payment.return_url;
  const asking = shownStatus(payment) === 'expired' && payment.link_requested_at === null;
  const target = outTo(subject, first ?? second);
  const link = wayOut(words, payment.merchant_name, target, 'return', asking ? 'plain' : 'primary');
  const again =
    payment.status === 'requires_review' &&
    html`<p><a class="${link ? 'secondary' : 'primary'}" href="${address()}">${words.html('review.again')}</a></p>`;
  return html`<div class="actions">${link}${again}</div>`;
}
