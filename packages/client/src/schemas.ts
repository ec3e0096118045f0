// What the JSON API gives. Written by npm run docs from the definitions of its endpoints; change it there.

type PaymentStatus = 'pending' | 'requires_review' | 'approved' | 'rejected' | 'cancelled';
type StatusReason =
  | 'expired'
  | 'cancelled_by_merchant'
  | 'cancelled_by_customer'
  | 'payment_received'
  | 'transfer_not_received'
  | 'details_do_not_match'
  | 'duplicate'
  | 'other';
type EventType =
  | 'payment.created'
  | 'payment.submitted'
  | 'payment.approved'
  | 'payment.rejected'
  | 'payment.cancelled'
  | 'payment.expired'
  | 'payment.reopened'
  | 'payment.link_requested'
  | 'payment.money_received';
type DeliveryStatus = 'pending' | 'retrying' | 'delivered' | 'failed';
type ErrorCode =
  | 'bad_request'
  | 'invalid_json'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'request_timeout'
  | 'idempotency_in_progress'
  | 'invalid_status'
  | 'conflict'
  | 'payload_too_large'
  | 'uri_too_long'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'validation_failed'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error'
  | 'unavailable';
interface Payment {
  /** Payment identifier. */
  id: string;
  object: 'payment';
  /** Decimal amount with 2 decimal places. */
  amount: string;
  /** ISO 4217 code. */
  currency: string;
  status: PaymentStatus;
  /** Business name, as it was when the payment was created. */
  merchant_name: string;
  merchant_reference: string | null;
  /** Where to send the customer. */
  checkout_url: string;
  /** Same as `checkout_url`. */
  payment_url: string;
  /** ISO 8601 with a numeric UTC offset. */
  created_at: string;
  /** ISO 8601 with a numeric UTC offset. */
  expires_at: string;
  /** False for payments made with a test key. */
  livemode: boolean;
  description: string | null;
  return_url: string | null;
  cancel_url: string | null;
  customer: Customer | null;
  metadata: Record<string, unknown> | null;
  /** Why it was cancelled, opened again or rejected. */
  status_reason: StatusReason | null;
  /** ISO 8601 with a numeric UTC offset. */
  updated_at: string;
  /** What the customer submitted, masked. */
  payment_details: PaymentDetails | null;
  /** When the customer asked for a new link, after this one had expired. */
  link_requested_at: string | null;
  /** When it was sent for review: by the customer, or by an administrator who recorded money. */
  submitted_at: string | null;
  /** When it was approved or rejected. */
  decided_at: string | null;
  /** What the customer reads of a rejection. */
  review_message: string | null;
  /** The last day to pay by, as the customer reads it. Earlier than `expires_at` by the grace. */
  pay_by: string;
  /**
   * What is known to have arrived, less what went back; never below zero. All of it where an administrator approved
   * without recording money.
   */
  amount_received: string;
  /**
   * What the customer is still asked for. Zero once the payment is approved, rejected or cancelled, also where less
   * was accepted: it does not say that all was paid.
   */
  amount_due: string;
  /** What is known to have gone back of what had arrived. */
  amount_returned: string;
  /** When the customer said that they had sent the transfer, also if that came after the end. */
  announced_at: string | null;
  /** Language of the checkout page, unless the customer chooses another. */
  locale: string | null;
}

interface Customer {
  name: string | null;
  email: string | null;
  phone: string | null;
}

interface PaymentDetails {
  /** The method's id in the configuration. */
  method: string;
  /** `bank_transfer`, `manual`, `details` or `test_card`. */
  type: string;
  /** The configuration's name for the method. */
  name: string | null;
  /** ISO 8601 with a numeric UTC offset. */
  submitted_at: string;
  payer_name?: string;
  payer_email?: string;
  payer_phone?: string;
  transfer_name?: string;
  transfer_account?: string;
  /** The reference that the transfer carries, whole. */
  transfer_reference?: string;
  customer_reference?: string;
  /** The message to the merchant, whole. */
  note?: string;
  card?: {
    brand: string;
    last4: string;
  };
  [name: string]: unknown;
}

interface Event {
  /** The same at every read and every delivery. */
  id: string;
  object: 'event';
  type: EventType;
  /** When it happened: ISO 8601 with a numeric UTC offset. */
  timestamp: string;
  livemode: boolean;
  data: {
    payment_id: string;
    /** Counts the payment's events from 1 without a gap. */
    version: number;
    merchant_reference: string | null;
    /** The payment's status after this event. */
    status: PaymentStatus;
    status_reason: StatusReason | null;
    amount: string;
    currency: string;
    /** The payment's `amount_received` after this event. */
    amount_received: string;
    /** The payment's `amount_due` after this event. */
    amount_due: string;
    /** The money that this event tells of, in the same currency. Null if it tells of none. */
    received: {
      amount: string;
      received_on: string | null;
    } | null;
  };
}

interface ApiKey {
  /** Identifier of the key; no secret. */
  id: string;
  object: 'api_key';
  /** Whether payments made with it are real. */
  livemode: boolean;
  /** What it is for, in its maker’s words. */
  name: string | null;
  /** What the key begins with. */
  prefix: 'cfk_test_' | 'cfk_live_';
  /** The key's last four characters; null for one that the configuration file holds. */
  last_four: string | null;
  /** Null for a key that the configuration file holds. */
  created_at: string | null;
  /** To the minute, up to a minute late; null while it was not used yet. */
  last_used_at: string | null;
  /** When it stops working; null where it goes on until it is revoked. */
  expires_at: string | null;
  revoked_at: string | null;
  /** The id of the key that was made in its place. */
  replaced_by: string | null;
  /**
   * The id of the key it was made with; `operator` or `administrator` for one that was made for the merchant; null for
   * its first and for one of the configuration file.
   */
  created_by: string | null;
  /** A key that is replaced is `active` until it ends. */
  status: 'active' | 'expired' | 'revoked';
}

interface NewApiKey extends ApiKey {
  /** The key itself. It is told in this answer alone, and kept nowhere. */
  key: string;
}

interface WebhookEndpoint {
  id: string;
  object: 'webhook_endpoint';
  livemode: boolean;
  url: string;
  /** The event types that are sent; null for all. */
  types: EventType[] | null;
  description: string | null;
  status: 'enabled' | 'disabled';
  disabled_at: string | null;
  /** `gone`: your server answered 410. `failing`: no attempt succeeded for 5 days. */
  disabled_reason: 'merchant' | 'administrator' | 'operator' | 'gone' | 'failing' | 'secret_lost' | null;
  /** What the administrator who disabled it says. */
  disabled_note: string | null;
  /** When the first attempt since the last success failed. */
  failing_since: string | null;
  /** When it is disabled if no attempt succeeds before. */
  disables_at: string | null;
  /** ISO 8601 with a numeric UTC offset. */
  secret_made_at: string;
  /** Until when the secret before signs along. */
  old_secret_until: string | null;
  /** ISO 8601 with a numeric UTC offset. */
  created_at: string;
  /** ISO 8601 with a numeric UTC offset. */
  updated_at: string;
}

interface NewWebhookEndpoint extends WebhookEndpoint {
  /** `whsec_…`. Null where the answer is given again for an `Idempotency-Key`: who lost it rotates. */
  secret: string | null;
}

interface Delivery {
  id: string;
  object: 'delivery';
  endpoint_id: string;
  event_id: string;
  event_type: EventType;
  payment_id: string;
  /** `pending`: no attempt yet. `retrying`: the last attempt failed. `failed`: no further attempt. */
  status: DeliveryStatus;
  /** ISO 8601 with a numeric UTC offset. */
  created_at: string;
  next_attempt_at: string | null;
  attempt_count: number;
  last_attempt: Attempt | null;
}

interface Attempt {
  number: number;
  /** ISO 8601 with a numeric UTC offset. */
  at: string;
  outcome: 'delivered' | 'failed';
  /** The HTTP status your server answered; null without an answer. */
  status: number | null;
  /** How long the attempt took, in milliseconds. */
  ms: number;
  /** What happened, such as `Your server answered 500 in 212 ms`. */
  reason: string;
  /** What your server answered, at most 4 KiB. */
  reply: string | null;
}

interface WholeDelivery extends Delivery {
  attempts: Attempt[];
}

interface TestEvent {
  /** `evt_test_…`: of no payment, and never listed. */
  id: string;
  object: 'event';
  type: 'webhook.test';
  /** ISO 8601 with a numeric UTC offset. */
  timestamp: string;
  livemode: boolean;
  data: Record<string, unknown>;
}

export type {
  ApiKey,
  Attempt,
  Customer,
  Delivery,
  DeliveryStatus,
  ErrorCode,
  Event,
  EventType,
  NewApiKey,
  NewWebhookEndpoint,
  Payment,
  PaymentDetails,
  PaymentStatus,
  StatusReason,
  TestEvent,
  WebhookEndpoint,
  WholeDelivery,
};
