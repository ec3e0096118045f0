// A webhook endpoint: a URL of a merchant's server that events of one mode are sent to, and where its delivery has come to.

import type { ReadingPlace } from '../journal/reading-place.ts';
import { isDerivedId } from '../lib/ids.ts';
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
