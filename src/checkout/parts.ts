// The pieces that several of the customer's pages are made of, the stub of the counterfoil among them.
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { type Html, html, safeUrl } from '../lib/html.ts';
import type { Profile } from '../merchants/merchant.ts';
import type { Method } from '../payments/methods/offer.ts';
import type { Payment } from '../payments/payment.ts';
import { checkoutUrl } from '../payments/present.ts';
import { type IconName, icon } from '../web/markup/icons.ts';
import type { Words } from '../web/markup/languages.ts';
import { contactLink, facts, type TermPair } from '../web/markup/parts.ts';
import type { SitePage } from '../web/pages/framed-page.ts';
import type { CheckoutVisit } from './visit.ts';

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
