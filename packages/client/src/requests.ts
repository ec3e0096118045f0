// What the JSON API takes. Written by npm run docs from the definitions of its endpoints; change it there.
import type { DeliveryStatus, EventType, PaymentStatus } from './schemas.ts';

/** Parameters: List the merchant's payments, newest first. */
interface ListPaymentsQuery {
  /** How many at most. */
  limit?: number | undefined;
  /** Only those with exactly this reference. */
  merchant_reference?: string | undefined;
  /** Only those in this status. */
  status?: PaymentStatus | undefined;
  /** The `next_cursor` of an earlier answer. */
  cursor?: string | undefined;
  /**
   * An RFC 3339 time, or the `next_updated_cursor` of an earlier answer: only payments that changed then or later,
   * each once, oldest change first. Not together with `cursor`.
   */
  updated_after?: string | undefined;
}

/** Parameters: List what became of the merchant's payments, oldest first. */
interface ListEventsQuery {
  /** How many at most. */
  limit?: number | undefined;
  /** An event id or the `next_cursor` of an earlier answer: only what came later. */
  after?: string | undefined;
  /** Only events of these types, parted by commas. */
  type?: readonly EventType[] | undefined;
  /** Only events of this payment. */
  payment_id?: string | undefined;
}

/** Parameters: List the events of one payment, oldest first. */
interface ListPaymentEventsQuery {
  /** How many at most. */
  limit?: number | undefined;
  /** An event id or the `next_cursor` of an earlier answer: only what came later. */
  after?: string | undefined;
  /** Only events of these types, parted by commas. */
  type?: readonly EventType[] | undefined;
}

/** Parameters: Be sent the merchant's events as they happen. */
interface StreamEventsQuery {
  /** An event id or the `next_cursor` of an earlier answer: only what came later. */
  after?: string | undefined;
  /** Only events of these types, parted by commas. */
  type?: readonly EventType[] | undefined;
  /** Only events of this payment. */
  payment_id?: string | undefined;
}

/** Parameters: List the merchant's API keys of the same mode, newest first. */
interface ListApiKeysQuery {
  /** How many at most. */
  limit?: number | undefined;
  /** The `next_cursor` of an earlier answer. */
  cursor?: string | undefined;
}

/** Parameters: List the deliveries to a webhook endpoint, newest first. */
interface ListDeliveriesQuery {
  /** How many at most. */
  limit?: number | undefined;
  /** The `next_cursor` of an earlier answer. */
  cursor?: string | undefined;
  /** Only deliveries of this status. */
  status?: DeliveryStatus | undefined;
  /** Only events of this payment. */
  payment_id?: string | undefined;
}

interface PaymentRequest {
  /** Greater than zero, at most 2 decimal places, judged as written. */
  amount: number;
  /** ISO 4217 code in either case. Default `USD`. */
  currency?: string | null | undefined;
  /** The merchant's own reference, such as an order number. Need not be unique. */
  merchant_reference?: string | null | undefined;
  /** What the payment is for. */
  description?: string | null | undefined;
  /** Where the customer goes after paying. Kept as the URL standard serialises it. */
  return_url?: string | null | undefined;
  /** Where the customer goes on cancelling. Kept as the URL standard serialises it. */
  cancel_url?: string | null | undefined;
  /** What is known of the customer. */
  customer?:
    | {
        /** The customer's name. */
        name?: string | null | undefined;
        /** The customer's e-mail address. */
        email?: string | null | undefined;
        /** The customer's telephone number. */
        phone?: string | null | undefined;
      }
    | null
    | undefined;
  /** Further data of the merchant: at most 16 KiB of JSON, 100 names, 5 levels, no U+0000. */
  metadata?: Record<string, unknown> | null | undefined;
  /** Language of the checkout page (BCP 47), unless the customer chooses another. Default: what their browser asks for. */
  locale?: string | null | undefined;
  /**
   * Seconds until the payment expires, 300 to 15552000. Default: 7 days unless configured otherwise. Customers read an
   * earlier day, `pay_by`.
   */
  expires_in?: number | null | undefined;
}

interface TriedRejection {
  /** What the customer is told, as plain text. */
  message?: string | null | undefined;
  reason?:
    | 'transfer_not_received'
    | 'details_do_not_match'
    | 'suspected_fraud'
    | 'duplicate'
    | 'other'
    | null
    | undefined;
}

interface TriedMoney {
  /** How much arrived. It may be less or more than the payment asks for. Default: all of it. */
  amount?: number | null | undefined;
}

interface ApiKeyRequest {
  /** What the key is for, in your words. The history keeps no copy of it. */
  name?: string | null | undefined;
  /** Seconds until the key stops working, 60 to 315360000. Without it, it works until it is revoked. */
  expires_in?: number | null | undefined;
}

interface RotationRequest {
  /** For how long the key that is replaced works on. Default: 86400, a day. */
  overlap_seconds?: 0 | 3600 | 86400 | 604800 | null | undefined;
  /** What the key is for, in your words. The history keeps no copy of it. */
  name?: string | null | undefined;
}

interface WebhookEndpointRequest {
  /** Where events are sent: an https URL with a host name, on port 443 or one that the operator allows. */
  url: string;
  /** The event types to send. `null`, or left out: all, also those that come later. */
  types?: readonly EventType[] | null | undefined;
  /** What the endpoint is for, in your words. */
  description?: string | null | undefined;
}

interface WebhookEndpointChange {
  url?: string | null | undefined;
  /** The event types to send. `null`, or left out: all, also those that come later. */
  types?: readonly EventType[] | null | undefined;
  /** What the endpoint is for, in your words. */
  description?: string | null | undefined;
  /** An endpoint that is enabled again gets what happened while it was disabled. */
  status?: 'enabled' | 'disabled' | null | undefined;
}

interface ResendRequest {
  /** `failed`: deliveries whose last attempt failed. `missing`: events that were never queued for the endpoint. */
  what: 'failed' | 'missing';
  /** From when on: an RFC 3339 time within the last 30 days. */
  since: string;
}

export type {
  ApiKeyRequest,
  ListApiKeysQuery,
  ListDeliveriesQuery,
  ListEventsQuery,
  ListPaymentEventsQuery,
  ListPaymentsQuery,
  PaymentRequest,
  ResendRequest,
  RotationRequest,
  StreamEventsQuery,
  TriedMoney,
  TriedRejection,
  WebhookEndpointChange,
  WebhookEndpointRequest,
};
