// Sends deliveries again: one, those of an endpoint that failed, or what an endpoint never got.

import { z } from 'zod';
import type { Act } from '../journal/audit-entry.ts';
import { newestEntry } from '../journal/queries.ts';
import { lastBefore } from '../journal/search.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { phrase } from '../lib/phrases.ts';
import { DAY_MS, formatTimestamp } from '../lib/time.ts';
import { change } from './change.ts';
import { DELIVERIES_KEPT_MS, type Delivery } from './delivery.ts';
import { dueNow, failedDueNow } from './delivery-queries.ts';
import { findEndpoint, moveBack } from './queries.ts';

export const RESENDS = ['failed', 'missing'] as const;
export type Resend = (typeof RESENDS)[number];

/** The body of a request that has an endpoint sent again what it did not take. `now` in milliseconds since 1970. */
export const resendRequestSchema = (now: () => number) =>
  z.object(
    {
      what: z
        .enum(RESENDS, `Must be one of ${RESENDS.join(', ')}.`)
        .describe(
          '`failed`: deliveries whose last attempt failed. `missing`: events that were never queued for the endpoint.',
        ),
      since: z.iso
        .datetime({ offset: true, message: 'Must be an RFC 3339 time with an offset.' })
        .check(({ value, issues }) => {
          const at = Date.parse(value);
          const isWithin = at <= now() && at >= now() - DELIVERIES_KEPT_MS;
          const message = `Must be within the last ${DELIVERIES_KEPT_MS / DAY_MS} days.`;
          if (!isWithin) issues.push({ code: 'custom', message, input: value });
        })
        .describe('From when on: an RFC 3339 time within the last 30 days.'),
    },
    'Must be a JSON object.',
  );

export const resendAnswerSchema = z.strictObject({
  data: z.strictObject({
    object: z.literal('resend'),
    what: z.enum(RESENDS),
    since: z.string(),
    deliveries: z
      .int()
      .nullable()
      .describe(
        'How many deliveries are due now, up to 1,000: ask again while it is 1,000. Null for `missing`.',
      ),
  }),
});

/** What `resend` came to, as it is shown. */
export const presentResend = (
  what: Resend,
  since: number,
  deliveries: number | null,
): z.infer<typeof resendAnswerSchema>['data'] => ({
  object: 'resend',
  what,
  since: formatTimestamp(since),
  deliveries,
});

/** Makes a delivery due now. Throws `invalid_status` if its endpoint is disabled. */
export async function resendDelivery(transaction: Transaction, delivery: Delivery): Promise<Delivery> {
  await requireEnabled(transaction, delivery.endpoint_id);
  return (await dueNow(transaction, delivery.id)) ?? delivery;
}

/**
 * Sends again what an endpoint did not take since `since` (milliseconds since 1970). `failed`: deliveries whose last attempt failed,
 * up to 1,000 at once. `missing`: events that have no delivery, for example because they are older than the endpoint. They begin
 * a minute before `since`, because the node that wrote an event may have a clock that is behind. Returns how
 * many deliveries are due; null for `missing`, which the worker counts. Throws `not_found` and `invalid_status`.
 */
export async function resend(
  transaction: Transaction,
  id: string,
  what: Resend,
  since: number,
  act: Act,
): Promise<number | null> {
  await requireEnabled(transaction, id);
  let deliveries: number | null = null;
  if (what === 'failed') deliveries = await failedDueNow(transaction, id, since);
  else await moveBack(transaction, id, await lastBefore(transaction, since, await newestEntry(transaction)));
  await change(transaction, id, act, 'webhook.resent', () => ({}), { what, since: formatTimestamp(since) });
  return deliveries;
}

async function requireEnabled(transaction: Transaction, id: string): Promise<void> {
  const endpoint = await findEndpoint(transaction, id);
  if (endpoint && endpoint.disabled_at !== null)
    throw new OperationalError('invalid_status', phrase('The endpoint is disabled: enable it first.'));
}
