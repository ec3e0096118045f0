// What the pages of a payment share: how it is found, what is known of it, and the pieces they are made of, such as the counterfoil's stub.

import type { Journal } from '../journal/journal.ts';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { type Html, html, safeUrl } from '../lib/html.ts';
import type { Clock } from '../lib/time.ts';
import type { Directory } from '../merchants/directory.ts';
import type { Profile } from '../merchants/merchant.ts';
import type { Method, Offer } from '../payments/methods/offer.ts';
import { asOf, type Payment } from '../payments/payment.ts';
import { checkoutUrl } from '../payments/present.ts';
import { findPayment } from '../payments/queries.ts';
import { mayWithdraw } from '../payments/submit.ts';
import { isPaymentAsRecorded } from '../payments/transition.ts';
import type { Trial } from '../review/try-out.ts';
import type { Database } from '../store/database.ts';
import { type IconName, icon } from '../web/markup/icons.ts';
import type { Words } from '../web/markup/languages.ts';
import { contactLink, facts, type TermPair } from '../web/markup/parts.ts';
import type { SitePage } from '../web/pages/framed-page.ts';
import { problemPage } from '../web/pages/problem.ts';
import { hiddenToken } from './form.ts';
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

/** The payment that a page shows, and what is known of its merchant. */
export interface PaymentSubject {
  payment: Payment;
  profile: Profile;
  words: Words;
  /** The payment's amount in the customer's language. */
  amount: string;
  /** Makes the tokens of its forms. */
  ring: KeyRing;
  /** Milliseconds since 1970. */
  now: number;
  /** Whether the page of a test payment has the buttons to try out every state. */
  triesOut: boolean;
}

/** A page about a payment, as its merchant's. */
export const brandedPage = (visit: CheckoutVisit, subject: PaymentSubject, page: SitePage): SitePage => ({
  test: subject.payment.mode === 'test',
  help: help(subject),
  brand: subject.payment.merchant_name,
  colour: subject.profile.colour,
  logo: subject.profile.particulars?.logo === undefined ? undefined : visit.address({ view: 'logo' }),
  ...page,
});

/** A way to pay whose form says that money will come, and not that it was paid. */
export type Announced = Exclude<Method['type'], 'test_card'>;

/** A payment's status as customers see it; for them expired is a status of its own. */
export type ShownStatus = Payment['status'] | 'expired';
export const shownStatus = ({
  status,
  status_reason,
}: Pick<Payment, 'status' | 'status_reason'>): ShownStatus =>
  status_reason === 'expired' ? 'expired' : status;

/** The name of a method: the configured one, else ours. */
export function nameOfMethod(words: Words, { type, name }: Pick<Method, 'type' | 'name'>): Html {
  if (name !== null) return html`<bdi>${name}</bdi>`;
  return type === 'manual' ? html`` : words.html(`method.${type}`);
}

/** Characters beyond which an amount is set smaller, so that it stays on one line of a narrow page. */
const LONG_AMOUNT = 10;

/**
 * Until when a payment can be paid: the day to pay by, then, in the grace behind it, the moment of the end. `hasOther`: a way is offered
 * by which money may come later, such as cash on delivery.
 */
export function payBy({ payment, words, now }: PaymentSubject, hasOther = false): TermPair {
  const isOver = words.dateOf(now) > payment.pay_by;
  const term = words.html(hasOther ? 'fact.open_until' : 'fact.pay_by');
  return [term, isOver ? words.moment(payment.expires_at) : lastDay(words, payment)];
}

/** The day to pay by; the moment of the end where that is on the same day. */
export const lastDay = (
  words: Words,
  { pay_by, expires_at }: Pick<Payment, 'pay_by' | 'expires_at'>,
): Html => (words.dateOf(expires_at) <= pay_by ? words.moment(expires_at) : words.day(pay_by));

/** `address` with the payment's id behind its query; what was there stays as it was. */
export function withPaymentId(address: string, id: string): string {
  const [, before, fragment] = /^([^#]*)(#.*)?$/s.exec(address)!;
  const joint = !before!.includes('?') ? '?' : /^[^?]*\?$|&$/.test(before!) ? '' : '&';
  return `${before}${joint}payment_id=${id}${fragment ?? ''}`;
}

/** The host that a link leads to, where it is not the merchant's own site as the configuration knows it. */
function strangeHost(url: URL, website: string | null): string | null {
  if (website !== null) {
    const own = new URL(website).host.replace(/^www\.(?=[^.]+\.)/, '');
    if (url.host === own || url.host.endsWith(`.${own}`)) return null;
  }
  return url.host;
}

/** The target of a link out. `host` is shown if it is not the merchant's own. */
interface Out {
  target: string;
  host: string | null;
}

/** The way out to `address`, or undefined where the merchant gave none. */
export function outTo({ payment, profile }: PaymentSubject, address: string | null): Out | null {
  const target = address === null ? undefined : safeUrl(withPaymentId(address, payment.id));
  return target ? { target, host: strangeHost(new URL(target), profile.website) } : null;
}

/** The link out, or undefined. `return`: where a customer goes on; `back`: to leave for now. */
export function wayOut(
  words: Words,
  merchant: string,
  out: Out | null,
  kind: 'return' | 'back',
  look?: 'primary' | 'plain',
): Html | null {
  if (!out) return null;
  const { target, host } = out;
  const label =
    host === null
      ? words.html(kind === 'return' ? 'return' : 'pending.back', { merchant })
      : words.html(`${kind}.host`, { merchant, host });
  return html`<a${look && html` class="${look}"`} href="${target}" rel="noreferrer noopener external">${label}</a>`;
}

/** The page's address as paper shows it. */
export const paperAddress = ({ site }: CheckoutVisit, { id }: Payment): Html =>
  html`<p class="paper">${checkoutUrl(site.baseUrl, id)}</p>`;

/** Where to ask, and what the merchant publishes: always at the same place. */
export function help({ payment, profile, words }: PaymentSubject): Html {
  const { support, privacy_url, terms_url } = profile;
  const contact =
    support === null
      ? words.html('help.text', { merchant: payment.merchant_name })
      : contactLink(support, payment.id);
  const link = (address: string | null | undefined, word: Html) => {
    const target = address && safeUrl(address);
    return target && html`<a href="${target}" rel="noreferrer noopener">${word}</a>\n`;
  };
  return html`<p class="help"><span>${words.html('help.heading')}</span> ${contact}</p>
${link(privacy_url, words.html('footer.privacy'))}${link(terms_url, words.html('footer.terms'))}`;
}

const ICONS: Record<ShownStatus, IconName> = {
  pending: 'open',
  requires_review: 'eye',
  approved: 'check',
  rejected: 'cross',
  cancelled: 'slash',
  expired: 'late',
};

interface Stub {
  /** What says more of its state than its status does. */
  state?: Announced | 'returned' | undefined;
  /** Whether it is stamped as paid. */
  isPaid?: boolean;
  heading: Html;
  /** What its merchant says about it. */
  message?: Html | null;
  money: Html;
  rows: readonly TermPair[];
  /** Whether the order and the payment's number stand there, folded on a phone. */
  hasNumbers: boolean;
}

/** The stub of the payment's page. */
export function stub(subject: PaymentSubject, parts: Stub): Html {
  const { payment, words, amount } = subject;
  const { heading, message, money, rows, hasNumbers } = parts;
  const told = rows.filter(([, value]) => value !== null);
  return html`<section class="stub" aria-labelledby="request"><i class="engraving"></i>
${stateOf(subject, parts)}
<h1 id="request">${heading}</h1>
${message}
<p class="amount${amount.length > LONG_AMOUNT && ' long'}"><bdi>${amount}</bdi></p>
<p class="money">${money}</p>
${payment.description && html`<p class="description" dir="auto">${payment.description}</p>\n`}${
  told.length > 0 && facts(told)
}
${hasNumbers && html`<details class="more"><summary>${words.html('fact.numbers')}</summary>${facts(numbersOf(subject))}</details>`}
</section>`;
}

/** The order, as the merchant names it, and the payment's number. */
export function numbersOf({ payment, words }: PaymentSubject): TermPair[] {
  return [
    [words.html('fact.reference'), payment.merchant_reference],
    [words.html('fact.payment'), html`<span translate="no">${payment.id}</span>`],
  ];
}

function stateOf({ payment, words }: PaymentSubject, { state, isPaid }: Stub): Html {
  if (isPaid) return html`<p class="seal">${words.html('approved.stamp')}</p>`;
  const status = shownStatus(payment);
  const sign = state === 'returned' ? state : ICONS[status];
  return html`<p class="state">${icon(sign)}<span>${words.html(`status.${state ?? status}`)}</span></p>`;
}
