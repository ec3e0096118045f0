// The money as a customer reads of it: one table of the payment's status, what is known and the way to pay, and what is still due.

import { type Html, html } from '../lib/html.ts';
import type { Instructions, MethodType, Offer } from '../payments/methods/offer.ts';
import { type Payment, sumMinor } from '../payments/payment.ts';
import { maskedOf, sentOf } from '../payments/submit.ts';
import { arrivalsOf, decisionOf, knownSoFar, returnsOf, sumOf } from '../review/review.ts';
import type { Key } from '../web/markup/languages.ts';
import { type PaymentSubject, type ShownStatus, shownStatus } from './parts.ts';

/** What is known of the money. `announced`: the customer said that they had sent it. `returned`: all that arrived went back, or more. */
export const KNOWN = ['nothing', 'announced', 'part', 'all', 'more', 'returned'] as const;
type Known = (typeof KNOWN)[number];

/** How the customer chose to pay; `none` if they sent no form. */
export const WAYS = ['bank_transfer', 'manual', 'details', 'test_card', 'none'] as const satisfies (
  | MethodType
  | 'none'
)[];
export type Way = (typeof WAYS)[number];

type Sentences = readonly Key[];
type Row = Record<Exclude<Known, 'nothing'>, Sentences> & { nothing: Record<Way, Sentences> };

const always = (...sentences: Key[]): Record<Way, Sentences> => ({
  bank_transfer: sentences,
  manual: sentences,
  details: sentences,
  test_card: sentences,
  none: sentences,
});

/** A decided payment asks for nothing more, so what arrived is told without a rest. */
const KEPT = {
  part: ['money.all', 'money.ask'],
  all: ['money.all', 'money.ask'],
  more: ['money.more', 'money.ask'],
  returned: [],
} as const;
const ARRIVING = { part: ['money.part'], all: ['money.all'], more: ['money.more'], returned: [] } as const;
const ENDED: Row = {
  nothing: { ...always('money.none', 'money.sent'), test_card: ['money.none'] },
  announced: ['announced.kept'],
  ...KEPT,
};

/** The sentences of each state. `money.back` comes behind them where money went back. */
export const MONEY: Readonly<Record<ShownStatus, Row>> = {
  pending: {
    nothing: always('money.pending'),
    announced: ['announced.kept'],
    ...ARRIVING,
  },
  requires_review: {
    nothing: { ...always('money.not_yet'), manual: ['manual.money'], details: ['next.details'] },
    announced: ['money.announced', 'money.not_yet'],
    ...ARRIVING,
  },
  approved: {
    nothing: always('approved.money'),
    announced: ['approved.money'],
    part: ['money.accepted'],
    all: ['approved.money'],
    more: ['approved.money', 'money.more', 'money.ask'],
    returned: [],
  },
  // The reviewer may know of money that is not recorded, so nothing is said of none.
  rejected: {
    nothing: { ...always('money.sent'), test_card: ['money.none'] },
    announced: ['money.announced', 'money.sent'],
    ...KEPT,
  },
  cancelled: ENDED,
  expired: ENDED,
};

/** What is known of a payment's money. Sums in minor units. */
export interface MoneyKnown {
  known: Known;
  way: Way;
  /** What arrived, less what went back; of an approved payment of which less is left than was asked for, what it was approved with. */
  received: number;
  /** What went back; of an approved payment after it was approved, if less is left than was asked for. */
  returned: number;
}

/** What is known of the money of a payment, from what was recorded, matched and announced. */
export function moneyKnown(payment: Payment): MoneyKnown {
  const returned = sumOf(returnsOf(payment));
  // The test mode records money without an administrator, and what they recorded is erased: less what went back is known then.
  const untold = payment.received_minor === null ? 0 : sumMinor([payment.received_minor, returned]);
  const arrived = sumOf(arrivalsOf(payment)) || untold;
  const { received, back } = counted();
  return { known: knownOf(), way: wayOf(payment), received, returned: back };

  function counted(): { received: number; back: number } {
    const net = Math.max(0, sumMinor([arrived, -returned]));
    const decision = payment.status === 'approved' ? decisionOf(payment) : undefined;
    if (!decision) return { received: net, back: returned };
    // What went back is settled as long as what was asked for is still there.
    if (net >= payment.amount_minor) return { received: net, back: 0 };
    const isBefore = (one: { entry_version: number }) => one.entry_version < decision.entry_version;
    const before = sumOf(returnsOf(payment).filter(isBefore));
    return { received: sumMinor([arrived, -before]), back: sumMinor([returned, -before]) };
  }

  function knownOf(): Known {
    // Without recorded money, an approved payment was approved with all that was asked for.
    const isBack =
      payment.status === 'approved'
        ? back >= (received || payment.amount_minor)
        : received === 0 && (arrived > 0 || back > 0);
    if (isBack) return 'returned';
    if (received === 0) return payment.announced_at === null ? 'nothing' : 'announced';
    if (received === payment.amount_minor) return 'all';
    return received < payment.amount_minor ? 'part' : 'more';
  }
}

function wayOf(payment: Payment): Way {
  const sent = maskedOf(payment);
  return WAYS.find((way) => way === sent?.type) ?? 'none';
}

/** The sentences about the money of a payment, as its page and its receipt show them. */
export function moneySentences(
  { payment, words, amount }: Pick<PaymentSubject, 'payment' | 'words' | 'amount'>,
  money: MoneyKnown,
): Html {
  const row = MONEY[shownStatus(payment)];
  const { known, way, received, returned } = money;
  const more = Math.max(0, received - payment.amount_minor);
  const keys = [
    ...(known === 'nothing' ? row.nothing[way] : row[known]),
    ...(returned > 0 ? (['money.back'] as const) : []),
  ];
  const sum = (minor: number) => words.money(minor, payment.currency);
  const values = {
    merchant: payment.merchant_name,
    amount,
    received: sum(received),
    rest: sum(Math.max(0, sumMinor([payment.amount_minor, -received]))),
    more: sum(more),
    returned: sum(returned),
    time: words.moment(payment.announced_at ?? payment.updated_at),
  };
  return html`${keys.map((key, i) => html`${i > 0 && ' '}${words.html(key, values)}`)}`;
}

/** What is still to be paid on a payment under review: all of it, or the rest of which a part has arrived. */
export interface Due {
  /** Undefined if a part has arrived and there is no transfer to pay the rest by. */
  instructions: Instructions | undefined;
  /** The payment with the amount that is still to be paid. */
  payment: Payment;
  /** Whether a part has arrived. */
  isRest: boolean;
}

/**
 * How to pay what is still due on a payment under review: as the customer was told when they sent the form, else by the transfer that is on
 * offer. Undefined if nothing is due, or if the customer was told nothing and no money has arrived.
 */
export function dueOf(payment: Payment, offer: Pick<Offer, 'transferFor'>): Due | undefined {
  const received = knownSoFar(payment) ?? 0;
  const rest = sumMinor([payment.amount_minor, -received]);
  if (payment.status !== 'requires_review' || rest <= 0) return undefined;
  const isRest = received > 0;
  const told = sentOf(payment)?.instructions;
  // Money was matched by mistake and taken back: the customer, who announced nothing, is asked for all of it again.
  const isAgain = !isRest && payment.submission === null && payment.payment_details === null;
  const instructions = told ?? (isRest || isAgain ? offer.transferFor(payment) : undefined);
  if (!instructions && !isRest) return undefined;
  return { instructions, payment: { ...payment, amount_minor: rest }, isRest };
}
