// The dimensions of the matrix of bank lines and payments, with their values in words.

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
