// The pieces that several of the customer's pages are made of.

import type { KeyRing } from '../journal/keys/key-ring.ts';
import { type Html, html, safeUrl } from '../lib/html.ts';
import type { Profile } from '../merchants/merchant.ts';
import type { Method } from '../payments/methods/method.ts';
import type { Payment } from '../payments/payment.ts';
import type { Words } from '../web/markup/languages.ts';
import { contactLink, facts, type IconName, icon, type TermPair } from '../web/markup/parts.ts';

/** The payment that a page shows, and what is known of its merchant. */
export interface PaymentSubject {
  payment: Payment;
  profile: Profile;
  words: Words;
  /** The payment's amount in the customer's language. */
  amount: string;
  /** Whether that is set smaller, so that it stays on one line of a narrow page. */
  isLong: boolean;
  /** Makes the tokens of its forms. */
  ring: KeyRing;
  /** Milliseconds since 1970. */
  now: number;
  /** Whether the page of a test payment has the buttons to try out every state. */
  triesOut: boolean;
}

/** A way to pay whose form says that money will come, and not that it was paid. */
export type Announced = Exclude<Method['type'], 'test_card'>;

/** A payment's status as customers see it; for them expired is a status of its own. */
export type ShownStatus = Payment['status'] | 'expired';
export const shownStatus = ({
  status,
  status_reason,
}: Pick<Payment, 'status' | 'status_reason'>): ShownStatus =>
  status_reason === 'expired' ? 'expired' : status;

const ICONS: Record<ShownStatus, IconName> = {
  pending: 'clock',
  requires_review: 'eye',
  approved: 'check',
  rejected: 'cross',
  cancelled: 'slash',
  expired: 'late',
};

function stamp(words: Words, status: ShownStatus, announced: Announced | undefined): Html {
  return html`<p class="stamp ${status}">${icon(ICONS[status])}<span>${words.html(`status.${announced ?? status}`)}</span></p>`;
}

/** The name of a method: the configured one, else ours. */
export function nameOfMethod(words: Words, { type, name }: Pick<Method, 'type' | 'name'>): Html {
  if (name !== null) return html`<bdi>${name}</bdi>`;
  return type === 'manual' ? html`` : words.html(`method.${type}`);
}

/** Characters beyond which an amount is long. */
const LONG_AMOUNT = 10;
export const isLongAmount = (amount: string): boolean => amount.length > LONG_AMOUNT;

/**
 * Until when a payment can be paid: the day to pay by, then, in the grace behind it, the moment of the end. `hasOther`: a way is offered
 * by which money may come later, such as cash on delivery.
 */
export function payBy({ payment, words, now }: PaymentSubject, hasOther = false): TermPair {
  const { pay_by, expires_at } = payment;
  const isOver = words.dateOf(now) > pay_by || words.dateOf(expires_at) <= pay_by;
  const term = words.html(hasOther ? 'fact.open_until' : 'fact.pay_by');
  return [term, isOver ? words.moment(expires_at) : words.day(pay_by)];
}

/** What a slip says of a payment, from top to bottom. */
interface Slip {
  announced?: Announced | undefined;
  heading: Html;
  money: Html;
  /** What happens next. */
  next?: Html;
  /** The way on, so that a phone shows it without scrolling. */
  onward?: Html;
  /** They stand between the reference and the payment's number. */
  rows: readonly TermPair[];
}

/** The slip: what the request is, up to the tear line. */
export function slip(subject: PaymentSubject, { announced, heading, money, next, onward, rows }: Slip): Html {
  const { payment, words, amount, isLong } = subject;
  return html`<div class="slip">
${stamp(words, shownStatus(payment), announced)}
<h1>${heading}</h1>
<p class="amount${isLong && ' long'}"><bdi>${amount}</bdi></p>
<p class="money">${money}</p>
${next && html`<p>${next}</p>`}
${onward}
${payment.description && html`<p class="description" dir="auto">${payment.description}</p>`}
${facts([
  [words.html('fact.reference'), payment.merchant_reference],
  ...rows,
  [words.html('fact.payment'), html`<code>${payment.id}</code>`],
])}
</div>`;
}

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

/** The link out, or undefined. */
export function wayOut(
  words: Words,
  merchant: string,
  out: Out | null,
  kind: 'return' | 'back',
  look: 'primary' | 'plain',
): Html | null {
  if (!out) return null;
  const { target, host } = out;
  const label =
    host === null
      ? words.html(kind === 'return' ? 'return' : 'pending.back', { merchant })
      : words.html(`${kind}.host`, { merchant, host });
  return html`<p><a class="${look}" href="${target}" rel="noreferrer noopener external">${label}</a></p>`;
}

/** Where to ask, always at the same place. */
export function help({ payment, profile, words }: PaymentSubject): Html {
  const merchant = payment.merchant_name;
  const contact = profile.support === null ? null : contactLink(profile.support, payment.id);
  return html`<div class="help">
<h2>${words.html('help.heading')}</h2>
<p>${contact ? words.html('help.contact', { merchant, contact }) : words.html('help.text', { merchant })}</p>
</div>`;
}
