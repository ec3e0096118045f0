// How many letters leave and how often links are sent: few enough that the service is of no use for writing to strangers.

import { OperationalError } from '../lib/errors.ts';
import { phrase } from '../lib/phrases.ts';
import { type Clock, DAY_MS, HOUR_MS } from '../lib/time.ts';
import { customerEmail, type Payment } from '../payments/payment.ts';
import { Throttle, wholeSeconds } from '../web/rate-limit.ts';
import { type LetterRules, whyNot } from './choices.ts';
import type { Letter } from './letter.ts';

/** Maximum number of letters in an hour, to one address and for one merchant. Further letters wait. */
const LETTERS = { address: 20, merchant: 2000 };
/** Letters in a day about one payment with what its customer sent: its link could be used to write to whomever is typed. */
const DETAILS_A_DAY = 3;
/** Links in an hour, by each node: of one payment, to one address, and of one merchant. */
const AN_HOUR = { payment: 3, address: 10, merchant: 500 };

type Counted = Pick<Letter, 'kind' | 'about' | 'merchant_id' | 'recipient'> & { to: string };

/**
 * Counts letters that leave: each in an hour, and `details_received` in a day, too. Those to an administrator, which no merchant sends,
 * count by `recipient`: letters of merchants to the same address delay no alert.
 */
export const letterLimit = (clock: Clock): Throttle<Counted> =>
  new Throttle(clock, HOUR_MS, [
    {
      nameOf: ({ merchant_id, recipient, to }) => (merchant_id === null ? recipient : to.toLowerCase()),
      maximum: LETTERS.address,
    },
    { nameOf: ({ merchant_id, recipient }) => merchant_id ?? recipient, maximum: LETTERS.merchant },
    {
      nameOf: ({ kind, about }) => (kind === 'details_received' ? about : undefined),
      maximum: DETAILS_A_DAY,
      windowMs: DAY_MS,
    },
  ]);

/**
 * Returns the function that a link is counted with before it is sent. It throws `conflict` where the letter would not leave, and
 * `rate_limited` for one too many.
 */
export function linkCounter(clock: Clock, rules: LetterRules): (payment: Payment) => void {
  const limit = linkLimit(clock);
  return (payment) => {
    const why = whyNot(rules, 'link', payment, customerEmail(payment)!);
    if (why !== undefined) throw new OperationalError('conflict', why);
    limit(payment);
  };
}

/** Returns the function that counts a link that is sent. It throws `rate_limited` for one too many. */
export function linkLimit(clock: Clock): (payment: Payment) => void {
  const throttle = new Throttle<Payment>(clock, HOUR_MS, [
    { nameOf: ({ id }) => id, maximum: AN_HOUR.payment },
    { nameOf: (payment) => customerEmail(payment)!.toLowerCase(), maximum: AN_HOUR.address },
    { nameOf: ({ merchant_id }) => merchant_id, maximum: AN_HOUR.merchant },
  ]);
  return (payment) => {
    const waitMs = throttle.count(payment);
    if (waitMs === 0) return;
    const extra = { retryAfterS: wholeSeconds(waitMs), limit: 'letters' } as const;
    throw new OperationalError(
      'rate_limited',
      phrase('Too many links were sent in an hour. Try again later.'),
      extra,
    );
  };
}

export const mailIsOff = (): OperationalError =>
  new OperationalError(
    'conflict',
    phrase('Mail is off: the operator of this service has set no mail server.'),
  );
