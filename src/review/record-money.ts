// Records money that arrived for a payment: a pending, expired or cancelled one is under review from then on.

import { z } from 'zod';
import type { Principal } from '../administrators/administrator.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { optional, type Whole } from '../lib/faults.ts';
import { INEXACT } from '../lib/json.ts';
import { INEXACT_AMOUNT, parseAmount } from '../lib/money.ts';
import { phrase, spoken } from '../lib/phrases.ts';
import { dayBounds, HOUR_MS } from '../lib/time.ts';
import { expireDuePayment } from '../payments/expire.ts';
import type { Payment } from '../payments/payment.ts';
import type { Reader } from '../store/database.ts';
import { actOn, refuseOtherStatus, refuseOthersClaim, refuseOtherVersion, withAct } from './act.ts';
import { arrivalsOf, type Parsed, parse, REMARKS } from './review.ts';
import { whoBrought } from './told.ts';

/** No time zone is further ahead of UTC. A day has begun somewhere this long before it begins in UTC. */
const ZONE_AHEAD_MS = 14 * HOUR_MS;

/** The body of a record of money, for the description of the interface. `parseReceivedMoney` reads one. */
export const receivedMoneySchema = z.strictObject(
  {
    amount: z
      .number(phrase('Must be a number.'))
      .meta({ exclusiveMinimum: 0, maximum: 999999999999.99, examples: [49.9] })
      .describe(
        "How much arrived, in the payment's currency. It may be less or more than the payment's amount.",
      ),
    received_on: z
      .string(phrase('Must be a date like 2026-11-20.'))
      .refine((day) => dayBounds(day, 'UTC') !== undefined, phrase('Must be a date like 2026-11-20.'))
      .meta({ format: 'date' })
      .describe('The day on which it arrived.'),
    as: optional(z.enum(['same', 'besides'])).describe(
      'Where money of this amount is known already: `besides` if this came besides, `same` if it is that money, which is counted once.',
    ),
    ...REMARKS,
  },
  'Must be an object.',
);

/** `amount_minor` is in minor units of the payment's currency. `line` (`lin_…`) is the bank line that it stands on. */
type ReceivedMoney = Omit<Whole<typeof receivedMoneySchema>, 'amount' | 'as'> & {
  as?: 'same' | 'besides' | null;
  amount_minor: number;
  line?: string;
};

/** Reads a record of money in `currency` out of a JSON object. `now` in milliseconds since 1970: no later day is taken. */
export function parseReceivedMoney(
  values: Record<string, unknown>,
  currency: string,
  now: number,
): Parsed<ReceivedMoney> {
  const inexact = values.amount === INEXACT;
  const amount = typeof values.amount === 'number' ? parseAmount(values.amount, currency) : { minor: 0 };
  const parsed = parse(receivedMoneySchema, inexact ? { ...values, amount: 0 } : values);
  const faults = 'faults' in parsed ? parsed.faults : {};
  if (inexact) faults.amount = INEXACT_AMOUNT;
  else if ('fault' in amount) faults.amount = amount.fault;
  const { received_on } = values;
  const day = typeof received_on === 'string' ? dayBounds(received_on, 'UTC') : undefined;
  if (day && day.from - ZONE_AHEAD_MS > now) faults.received_on = phrase('Must not be a day in the future.');
  if ('faults' in parsed || !('minor' in amount) || Object.keys(faults).length > 0) return { faults };
  const { amount: _, ...fields } = parsed.value;
  return { value: { ...fields, amount_minor: amount.minor } };
}

/** Whether money can be added to a payment: it is under review with money that is known. No move is made. */
export const takesMore = (payment: Payment): boolean =>
  payment.status === 'requires_review' && arrivalsOf(payment).length > 0;

/** Throws `invalid_status` if no money can be recorded on a payment, and says who brought it where it is. */
export async function refuseMoney(
  database: Reader,
  at: Pick<Transaction, 'now' | 'timeZone'>,
  payment: Payment,
): Promise<void> {
  if (!takesMore(payment)) await refuseOtherStatus(database, at, payment, 'record');
}

/**
 * Records money on a payment. A pending or cancelled one is under review then; one that was cancelled tells its merchant so. To one that is
 * under review it is added, if money is known of it already. Commit it with the payment's id as `row`. Throws `not_found`;
 * `invalid_status`, which says who recorded or decided and when, also where money of that amount is known and `money.as` is null;
 * `conflict` where another has claimed it or its version is not `money.version`.
 */
export function recordMoney(
  transaction: Transaction,
  principal: Principal,
  id: string,
  money: ReceivedMoney,
): Promise<Payment> {
  const { amount_minor, received_on, bank_reference, note, version, line = null } = money;
  let expired = 0;
  return actOn(transaction, principal, id, async (seen) => {
    await refuseMoney(transaction, transaction, seen);
    const isMore = takesMore(seen);
    if (isMore) await refuseOthersClaim(transaction, seen, principal);
    await refuseOtherVersion(transaction, seen, version && version + expired);
    if (isMore && (await isKnown(transaction, seen, money))) return undefined;
    // A payment past its time is expired first, by an entry of its own. That counts as a version, and `actOn` looks again.
    if (await expireDuePayment(transaction, id)) expired += 1;
    const { currency } = seen;
    const received = { amount_minor, currency, received_on };
    const act = { act: 'record', ...received, bank_reference, note, line } as const;
    const facts = { received_minor: amount_minor, currency, received_on };
    if (isMore)
      return {
        written: withAct(transaction, seen, principal, act),
        action: 'payment.money_received',
        facts,
      };
    const status_reason = seen.status === 'cancelled' ? 'payment_received' : null;
    return {
      move: 'record',
      written: {
        status_reason,
        submitted_at: transaction.now,
        ...withAct(transaction, seen, principal, { ...act, was: seen.status_reason }),
      },
      action: 'payment.requires_review',
      facts: { from: seen.status, reason: status_reason, ...facts },
    };
  });
}

/** Whether money is one that is known of a payment. Throws `invalid_status` if only its amount is that of one: it must be said. */
async function isKnown(
  transaction: Transaction,
  payment: Payment,
  { amount_minor, as }: ReceivedMoney,
): Promise<boolean> {
  const alike = arrivalsOf(payment).findLast((one) => one.amount_minor === amount_minor);
  if (!alike || as === 'besides') return false;
  if (as === 'same') return true;
  const who = await whoBrought(transaction, alike, transaction.timeZone);
  throw new OperationalError(
    'invalid_status',
    spoken((say) => `${who(say)} ${say`Say whether this is the same money, or came besides.`}`),
  );
}
