// What the matrix of bank lines and payments is made of, in words: its dimensions, and what becomes of a line by its row.

import { phrase } from '../../lib/phrases.ts';

/** What is looked at in a line and a payment. docs/matching.md is made from these words and from `MATRIX`. */
export const DIMENSIONS = {
  money: { in: 'a credit', out: 'a debit' },
  came: {
    pending: 'pending in silence',
    announced: 'announced, or under review with nothing received',
    part: 'part received',
    received: 'received, not decided',
    approved: 'approved',
    short: 'approved, with less than was asked for on lines',
    rejected: 'rejected',
    cancelled: 'cancelled',
    expired: 'expired',
  },
  hand: {
    none: 'no money by hand without a line',
    same: 'money by hand with this bank’s reference',
    like: 'money by hand of this amount, or that it may be a part of',
    other: 'money by hand of another amount',
  },
  day: {
    none: 'without a day',
    before: 'before the creation',
    in_time: 'from the creation to the last day',
    after: 'after the last day',
  },
  by: {
    whole: 'whole reference',
    corrected: 'reference with one wrong character',
    cut: 'cut reference',
    named: 'named by order number, id or bank’s reference',
    payer: 'payer alone',
    amount: 'amount alone',
  },
  payer: { same: 'as announced', other: 'another than announced', unknown: 'nothing to compare' },
  amount: {
    exact: 'exact',
    charges: 'less, by the bank’s charges',
    less: 'less',
    more: 'more',
    currency: 'another currency',
  },
  beside: {
    alone: 'nothing',
    back: 'a line that takes the money back',
    test: 'a test payment among live ones',
    parts: 'lines with the same reference, none of which comes to the sum alone',
    rival: 'another line with the same reference',
    several: 'payments whose amounts come to the line’s',
    ambiguous: 'payments whose amounts do not',
    alike: 'payments that fit alike',
    unseen: 'too many open lines to read them all',
    again: 'money that arrived and went back, as the payment says',
  },
} as const;

/** One combination of everything that counts. */
export type MatrixCell = { -readonly [D in keyof typeof DIMENSIONS]: keyof (typeof DIMENSIONS)[D] };

/** What the button on a line's page does. Where money by hand may be the same, it asks first whether it is. */
export const BUTTONS = {
  approve: 'approves the payment',
  reason: 'approves the payment, with a reason that is typed',
  match: 'matches the line without a decision',
  link: 'links the line with the money known; nothing is decided anew',
  split: 'matches the line with all of them',
  back: 'records on the payment what went back',
  keep: 'records on the payment what arrived, so that it can be returned; nothing is decided anew',
  none: 'there is none: return the money, or find out what it is for',
} as const;

/** What the customer's page says once the button was pressed. */
export const PAGES = {
  confirmed: 'the payment is confirmed, and what has arrived if that is less or more',
  checked: 'the money has arrived and is being checked',
  rest: 'what has arrived, and what is still to be paid if that is less',
  back: 'what went back',
  kept: 'what has arrived, and whom to ask for it',
  same: 'as before',
} as const;

/** What names the payment on a debit that is looked at for it: in words behind "went out". */
export const OUT_BY = {
  whole: phrase('with the reference of this payment'),
  corrected: phrase('with the reference of this payment but for one character'),
  cut: phrase('with the beginning of the reference of this payment'),
  named: phrase('and names this payment'),
} as const;

/** What a debit that takes money back is known by, the strongest first: in words behind "takes money out". */
export const BACK_BY = {
  whole: phrase('with the same reference'),
  corrected: phrase('with the same reference but for one character'),
  cut: phrase('with the beginning of the same reference'),
  named: phrase('and names the payment'),
  endToEnd: phrase('with the same end-to-end reference'),
  payer: phrase('as a reversal to the same payer'),
} as const;
