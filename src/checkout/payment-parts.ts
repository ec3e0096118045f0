// What the pages and the forms of a payment share: how it is found, what is known of it, and the answers both give.

import type { Journal } from '../journal/journal.ts';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { type Html, html } from '../lib/html.ts';
import type { Clock } from '../lib/time.ts';
import type { Directory } from '../merchants/directory.ts';
import type { Offer } from '../payments/methods/offer.ts';
import { asOf, type Payment } from '../payments/payment.ts';
import { findPayment } from '../payments/queries.ts';
import { mayWithdraw } from '../payments/submit.ts';
import { isPaymentAsRecorded } from '../payments/transition.ts';
import type { Trial } from '../review/try-out.ts';
import type { Database } from '../store/database.ts';
import { facts } from '../web/markup/parts.ts';
import type { SitePage } from '../web/pages/framed-page.ts';
import { problemPage } from '../web/pages/problem.ts';
import { hiddenToken } from './form.ts';
import { brandedPage, type PaymentSubject } from './parts.ts';
import type { CheckoutVisit } from './visit.ts';

export interface PaymentParts {
  database: Database;
  journal: Journal;
  clock: Clock;
  ring: KeyRing;
  directory: Directory;
  offer: Offer;
  /** Without a slash at its end. */
  checkoutBaseUrl: string;
  /** Whether the pages of all test payments have the buttons to try out every state, and not only those of some merchants. */
  triesOut: boolean;
  /** How many forms are taken within 10 minutes, of one payment and from one network address. */
  limits: { perPayment: number; perAddress: number };
}

/** The payment that an address names, as it is now. */
export async function shownPayment(
  { database, clock }: PaymentParts,
  { asked }: CheckoutVisit,
): Promise<Payment | undefined> {
  if (asked.payment_id === undefined) return undefined;
  const payment = await findPayment(database, asked.payment_id);
  return payment && asOf(payment, clock.now());
}

export const mayTryOut = ({ triesOut, directory }: PaymentParts, { merchant_id }: Payment): boolean =>
  triesOut || directory.profile(merchant_id).triesOut === true;

/** Not for a payment of a suspended merchant, nor for one that was changed in the store itself: its amount may be wrong. */
export async function mayBePaid({ database, directory }: PaymentParts, payment: Payment): Promise<boolean> {
  return !directory.isSuspended(payment.merchant_id) && (await isPaymentAsRecorded(database, payment));
}

export function subjectOf(parts: PaymentParts, payment: Payment, { words }: CheckoutVisit): PaymentSubject {
  const { directory, ring, clock } = parts;
  return {
    payment,
    profile: directory.profile(payment.merchant_id),
    words,
    amount: words.money(payment.amount_minor, payment.currency),
    ring,
    now: clock.now(),
    triesOut: mayTryOut(parts, payment),
  };
}

/** Goes on in the language that the merchant asks for, unless the customer chose one. */
export function speakFor({ locale }: Payment, visit: CheckoutVisit): void {
  const { site, asked, request } = visit;
  if (locale !== null)
    visit.words = site.languages.choose(asked.lang, locale, request.headers['accept-language']);
}

export const seePayment = (visit: CheckoutVisit) => ({ to: visit.address() });

/** Unknown, malformed and missing ids alike. Nothing of what was asked is repeated. */
export function missingPayment({ words }: CheckoutVisit): SitePage {
  return {
    status: 404,
    heading: words.text('missing.heading'),
    here: { payment_id: undefined },
    content: html`<h1>${words.html('missing.heading')}</h1>
<p>${words.html('missing.lead')}</p>
<p>${words.html('missing.next')}</p>`,
  };
}

/** Of a payment that was changed in the store itself: nothing of it is repeated. */
export function unshown({ words }: CheckoutVisit): SitePage {
  return {
    status: 403,
    heading: words.text('unshown.heading'),
    content: html`<h1>${words.html('unshown.heading')}</h1>
<p>${words.html('suspended.lead')}</p>`,
  };
}

/** A way to pay that this payment does not have. */
export function unoffered(visit: CheckoutVisit): SitePage {
  const sentences = [visit.words.html('unoffered.lead')];
  return problemPage(visit, { status: 404, heading: 'unoffered.heading', sentences, back: 'unoffered.back' });
}

/** A payment that waits to be paid, of a merchant that is suspended. */
export function suspended(visit: CheckoutVisit, subject: PaymentSubject): SitePage {
  const { words } = visit;
  const { merchant_name: merchant, id, announced_at } = subject.payment;
  const heading = announced_at === null ? 'suspended.heading' : 'announced.heading';
  const lead =
    announced_at === null
      ? html`${words.html('suspended.lead')} ${words.html('money.sent', { merchant })}`
      : words.html('announced.kept', { merchant, time: words.moment(announced_at) });
  const content = html`<h1>${words.html(heading)}</h1>
<p>${lead}</p>
${facts([[words.html('fact.payment'), html`<code>${id}</code>`]])}
<div class="exits">${takeBack(visit, subject)}</div>`;
  return brandedPage(visit, subject, { status: 403, heading: words.text(heading), content });
}

/** The button as a disclosure, or null where nothing can be taken back. A test card is no announcement. */
export function takeBack({ address }: CheckoutVisit, subject: PaymentSubject): Html | null {
  const { payment, words, ring, now } = subject;
  if (!mayWithdraw(payment, now) || payment.method === 'test_card') return null;
  // What has ended can no longer be paid here.
  const isOpen = payment.status !== 'cancelled' && now < payment.expires_at;
  return html`<details class="cancel"><summary>${words.html('withdraw.summary')}</summary>
<p>${words.html('withdraw.text')}${isOpen && html` ${words.html('withdraw.then')}`}</p>
<form method="post" action="${address()}" class="actions">
${hiddenToken(ring, payment, 'withdraw')}
<button class="secondary">${words.html('withdraw.button')}</button>
</form>
</details>`;
}

/** What a customer's page offers; what administrators do besides is tried out by the API. */
type Offered = Exclude<Trial, 'record' | 'request_link'>;
const OFFERED: Partial<Record<PaymentSubject['payment']['status'], readonly Offered[]>> = {
  pending: ['submit', 'approve', 'reject', 'expire'],
  requires_review: ['approve', 'reject'],
};

/** The buttons as a disclosure, or null where nothing can be tried out. */
export function trialButtons({ address }: CheckoutVisit, subject: PaymentSubject): Html | null {
  const { payment, words, ring, triesOut } = subject;
  const offered = triesOut && payment.mode === 'test' ? OFFERED[payment.status] : undefined;
  if (!offered) return null;
  return html`<details class="trial"><summary>${words.html('trial.summary')}</summary>
<p>${words.html('trial.text')}</p>
<form method="post" action="${address()}" class="actions">
${hiddenToken(ring, payment, 'try')}
${offered.map((trial) => html`<button class="secondary" name="trial" value="${trial}">${words.html(`trial.${trial}`)}</button>\n`)}</form>
</details>`;
}
