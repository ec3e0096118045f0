// The stub of the counterfoil: what was asked for, what it has come to, and where the money is.
import { type Html, html } from '../lib/html.ts';
import { type IconName, icon } from '../web/markup/icons.ts';
import { facts, type TermPair } from '../web/markup/parts.ts';
import { type Announced, type PaymentSubject, type ShownStatus, shownStatus } from './parts.ts';

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
  const { payment, words, amount, isLong } = subject;
  const { heading, message, money, rows, hasNumbers } = parts;
  const told = rows.filter(([, value]) => value !== null);
  return html`<section class="stub" aria-labelledby="request"><i class="engraving"></i>
${stateOf(subject, parts)}
<h1 id="request">${heading}</h1>
${message}
<p class="amount${isLong && ' long'}"><bdi>${amount}</bdi></p>
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
