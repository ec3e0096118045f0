// Webhook endpoints, and deliveries: one event on its way to one endpoint. No entry of the history tells of a delivery.
import type { ReadingPlace } from '../journal/reading-place.ts';
import { isDerivedId } from '../lib/ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../lib/time.ts';
import type { Mode } from '../merchants/merchant.ts';
import type { EventType } from '../payments/events/event.ts';
import { integer, integerOrNull, type RowOf, table, text, textOrNull } from '../store/table.ts';

export const ENDPOINT_ID_PREFIX = 'whe_';
export const isEndpointId = (text: string): boolean => /^whe_[0-9a-z]{36}$/.test(text);
/** Whether an endpoint is one of the configuration file. */
export const isConfigured = (id: string): boolean => isDerivedId(ENDPOINT_ID_PREFIX, id);
/** Endpoints of one merchant and mode. */
export const ENDPOINTS_MAXIMUM = 16;

/** Why an endpoint is off. */
export const DISABLED_REASONS = [
  'merchant',
  'administrator',
  'operator',
  'gone',
  'failing',
  'secret_lost',
] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** A row of `webhook_endpoints`. Times in milliseconds since 1970. */
export const ENDPOINTS = table('webhook_endpoints', {
  /** `whe_…`. */
  id: text(),
  /** `mer_…`. */
  merchant_id: text(),
  mode: text<Mode>(),
  /** 1 to 16: the place among the merchant's endpoints of the mode. */
  place: integer(),
  url: text(),
  /** The event types that are sent, as a JSON array; null for all. */
  types: textOrNull(),
  description: textOrNull(),
  /** `whsec_…`, sealed by the key ring; null if the key that sealed it is lost. */
  secret: textOrNull(),
  secret_made_at: integer(),
  /** The secret before, sealed. Signs along until `old_secret_until`. */
  old_secret: textOrNull(),
  old_secret_until: integerOrNull(),
  /** Null while it is enabled. */
  disabled_at: integerOrNull(),
  disabled_reason: textOrNull<DisabledReason>(),
  /** What the administrator who disabled it tells the merchant. */
  disabled_note: textOrNull(),
  salt: text(),
  version: integer(),
  created_at: integer(),
  updated_at: integer(),
});
export type Endpoint = RowOf<typeof ENDPOINTS>;

/** How an endpoint stands. `failing`: it is enabled and its last attempt failed. */
export const ENDPOINT_STATES = ['enabled', 'failing', 'disabled'] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];

/** Whether an endpoint takes events of a type. */
export function takes({ types }: Pick<Endpoint, 'types'>, type: EventType): boolean {
  return types === null || (JSON.parse(types) as string[]).includes(type);
}

/** The host name that an endpoint's webhooks are sent to. */
export const hostOf = ({ url }: Pick<Endpoint, 'url'>): string => new URL(url).hostname;

/** The same for endpoints of a tenant that are one to their receiver: their URLs differ in the fragment at most, which is not sent. */
export function receiverOf({ merchant_id, mode, url }: Endpoint): string {
  return `${merchant_id} ${mode} ${new URL(url).href.replace(/#.*$/s, '')}`;
}

/** A row of `webhook_queues`: no entry of the history tells of it. */
export interface Queue extends ReadingPlace {
  endpoint_id: string;
  /** When the first attempt since the last success failed; null after a success. */
  failing_since: number | null;
  /** The URL that last answered with success; null before the first success. */
  answered_url: string | null;
}

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
export const DELIVERIES = table('webhook_deliveries', {
  /** `dlv_…`. */
  id: text(),
  endpoint_id: text(),
  event_id: text(),
  type: text<EventType>(),
  payment_id: text(),
  /** The number of the entry that the event tells of. */
  number: integer(),
  status: text<DeliveryStatus>(),
  created_at: integer(),
  /** When the next attempt is due; null if there is none. */
  due_at: integerOrNull(),
  attempts: integer(),
  /** Attempts that failed since the delivery was queued, or last sent again by hand. */
  tries: integer(),
});
export type Delivery = RowOf<typeof DELIVERIES>;

/** A row of `webhook_attempts`. */
export const ATTEMPTS = table('webhook_attempts', {
  delivery_id: text(),
  /** Counts the attempts of a delivery from 1. */
  number: integer(),
  at: integer(),
  ms: integer(),
  outcome: text<'delivered' | 'failed'>(),
  /** The HTTP status; null if there was no answer. */
  status: integerOrNull(),
  /** What happened, as a clause. */
  reason: text(),
  /** What the receiver answered, at most 4 KiB. */
  reply: textOrNull(),
});
export type AttemptMade = RowOf<typeof ATTEMPTS>;

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
