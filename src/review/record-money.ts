// Records money that arrived for a payment which is pending, expired or cancelled: from then on it is under review.

import { z } from 'zod';
import type { Principal } from '../administrators/administrator.ts';
import type { Transaction } from '../journal/transaction.ts';
import type { Whole } from '../lib/faults.ts';
import { INEXACT } from '../lib/json.ts';
import { INEXACT_AMOUNT, parseAmount } from '../lib/money.ts';
import { phrase } from '../lib/phrases.ts';
import { dayBounds, HOUR_MS } from '../lib/time.ts';
import { expireDuePayment } from '../payments/expire.ts';
import type { Payment } from '../payments/payment.ts';
import { actOn, refuseOtherStatus, refuseOtherVersion, withAct } from './act.ts';
import { type Parsed, parse, REMARKS } from './review.ts';

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
    ...REMARKS,
  },
  'Must be an object.',
);

/** `amount_minor` is in minor units of the payment's currency. `line` (`lin_…`) is the bank line that it stands on. */
type ReceivedMoney = Omit<Whole<typeof receivedMoneySchema>, 'amount'> & {
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

/**
 * Records money on a pending or cancelled payment, which is under review then; one that was cancelled tells its merchant so. Commit it
 * with the payment's id as `row`. Throws `not_found`; `invalid_status`, which says who recorded or decided and when; `conflict` where
 * its version is not `money.version`.
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
    await refuseOtherStatus(transaction, transaction, seen, 'record');
    await refuseOtherVersion(transaction, seen, version && version + expired);
    // A payment past its time is expired first, by an entry of its own. That counts as a version, and `actOn` looks again.
    if (await expireDuePayment(transaction, id)) expired += 1;
    const { currency } = seen;
    const status_reason = seen.status === 'cancelled' ? 'payment_received' : null;
    const received = { amount_minor, currency, received_on };
    return {
      move: 'record',
      written: {
        status_reason,
        submitted_at: transaction.now,
        ...withAct(transaction, seen, principal, {
          ...{ act: 'record', ...received, bank_reference, note, line },
          was: seen.status_reason,
        }),
      },
      action: 'payment.requires_review',
      facts: {
        from: seen.status,
        reason: status_reason,
        received_minor: amount_minor,
        currency,
        received_on,
      },
    };
  });
}
