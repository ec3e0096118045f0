// What becomes of a bank line by its row of the matrix, in words for docs/matching.md.

import { phrase } from '../../lib/phrases.ts';

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
