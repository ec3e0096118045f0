// A delivery: one event on its way to one endpoint, and the attempts that were made. No entry of the history tells of these rows.

import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../lib/time.ts';
import type { EventType } from '../payments/events/event.ts';

export const DELIVERY_ID_PREFIX = 'dlv_';
export const isDeliveryId = (text: string): boolean => /^dlv_[0-9a-z]{36}$/.test(text);

export const DELIVERY_STATUSES = ['pending', 'retrying', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** For how long deliveries and attempts are kept. */
export const DELIVERIES_KEPT_MS = 30 * DAY_MS;

/** Delays after the first, second … failed attempt. After the last delay comes the final attempt. */
export const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const;
/** A delay is made longer or shorter by up to this part of it, by chance. */
const JITTER = 0.2;
/** A receiver that asks for more time with `Retry-After` is given no more than this. */
const RETRY_AFTER_MAXIMUM_MS = DAY_MS;
/** An endpoint is disabled when attempts have failed for this long without a success. */
export const FAILING_MAXIMUM_MS = 5 * DAY_MS;

/** A row of `webhook_deliveries`. Times in milliseconds since 1970. */
export interface Delivery {
  /** `dlv_…`. */
  id: string;
  endpoint_id: string;
  event_id: string;
  type: EventType;
  payment_id: string;
  /** The number of the entry that the event tells of. */
  number: number;
  status: DeliveryStatus;
  created_at: number;
  /** When the next attempt is due; null if there is none. */
  due_at: number | null;
  /** Attempts that were made. */
  attempts: number;
  /** Attempts that failed since the delivery was queued, or last sent again by hand. */
  tries: number;
}

/** A row of `webhook_attempts`. */
export interface AttemptMade {
  delivery_id: string;
  /** Counts the attempts of a delivery from 1. */
  number: number;
  at: number;
  ms: number;
  outcome: 'delivered' | 'failed';
  /** The HTTP status; null if there was no answer. */
  status: number | null;
  /** What happened, as a clause. */
  reason: string;
  /** What the receiver answered, at most 4 KiB. */
  reply: string | null;
}

/**
 * How long the next attempt waits after `tries` that failed, in milliseconds; undefined after the last. `chance` is from 0 to 1,
 * `retryAfterMs` what the receiver asked for.
 */
export function delayAfter(
  tries: number,
  chance: number,
  retryAfterMs: number | null = null,
): number | undefined {
  const delay = RETRY_DELAYS_MS[tries - 1];
  if (delay === undefined) return undefined;
  const varied = Math.round(delay * (1 + JITTER * (2 * chance - 1)));
  return Math.max(varied, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAXIMUM_MS));
}
