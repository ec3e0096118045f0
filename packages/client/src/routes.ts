// The endpoints of the JSON API. Written by npm run docs from the definitions of its endpoints; change it there.
import type {
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
} from './requests.ts';
import type {
  ApiKey,
  Delivery,
  Event,
  NewApiKey,
  NewWebhookEndpoint,
  Payment,
  WebhookEndpoint,
  WholeDelivery,
} from './schemas.ts';

/** What each endpoint takes and gives. */
interface Routes {
  'POST /v1/payments': { query: undefined; body: PaymentRequest; answer: PaymentAnswer };
  'GET /v1/payments': { query: ListPaymentsQuery; body: undefined; answer: PaymentList };
  'POST /v1/payments/{payment_id}/cancel': { query: undefined; body: undefined; answer: PaymentAnswer };
  'GET /v1/payments/{payment_id}': { query: undefined; body: undefined; answer: PaymentAnswer };
  'POST /v1/payments/{payment_id}/send_link': { query: undefined; body: undefined; answer: PaymentAnswer };
  'POST /v1/test/payments/{payment_id}/submit': { query: undefined; body: undefined; answer: PaymentAnswer };
  'POST /v1/test/payments/{payment_id}/approve': { query: undefined; body: undefined; answer: PaymentAnswer };
  'POST /v1/test/payments/{payment_id}/reject': {
    query: undefined;
    body: TriedRejection;
    answer: PaymentAnswer;
  };
  'POST /v1/test/payments/{payment_id}/expire': { query: undefined; body: undefined; answer: PaymentAnswer };
  'POST /v1/test/payments/{payment_id}/record': { query: undefined; body: TriedMoney; answer: PaymentAnswer };
  'POST /v1/test/payments/{payment_id}/request_link': {
    query: undefined;
    body: undefined;
    answer: PaymentAnswer;
  };
  'GET /v1/events': { query: ListEventsQuery; body: undefined; answer: EventList };
  'GET /v1/events/{event_id}': { query: undefined; body: undefined; answer: EventAnswer };
  'GET /v1/payments/{payment_id}/events': {
    query: ListPaymentEventsQuery;
    body: undefined;
    answer: EventList;
  };
  'GET /v1/events/stream': { query: StreamEventsQuery; body: undefined; answer: undefined };
  'GET /v1/api_keys': { query: ListApiKeysQuery; body: undefined; answer: ApiKeyList };
  'POST /v1/api_keys': { query: undefined; body: ApiKeyRequest; answer: NewApiKeyAnswer };
  'GET /v1/api_keys/{key_id}': { query: undefined; body: undefined; answer: ApiKeyAnswer };
  'POST /v1/api_keys/{key_id}/rotate': {
    query: undefined;
    body: RotationRequest;
    answer: RotatedApiKeyAnswer;
  };
  'POST /v1/api_keys/{key_id}/revoke': { query: undefined; body: undefined; answer: RevokedApiKeyAnswer };
  'GET /v1/webhook_endpoints': { query: undefined; body: undefined; answer: WebhookEndpointList };
  'POST /v1/webhook_endpoints': {
    query: undefined;
    body: WebhookEndpointRequest;
    answer: NewWebhookEndpointAnswer;
  };
  'GET /v1/webhook_endpoints/{endpoint_id}': {
    query: undefined;
    body: undefined;
    answer: WebhookEndpointAnswer;
  };
  'DELETE /v1/webhook_endpoints/{endpoint_id}': {
    query: undefined;
    body: undefined;
    answer: DeletedWebhookEndpointAnswer;
  };
  'PATCH /v1/webhook_endpoints/{endpoint_id}': {
    query: undefined;
    body: WebhookEndpointChange;
    answer: WebhookEndpointAnswer;
  };
  'POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret': {
    query: undefined;
    body: undefined;
    answer: NewWebhookEndpointAnswer;
  };
  'POST /v1/webhook_endpoints/{endpoint_id}/test': {
    query: undefined;
    body: undefined;
    answer: WebhookTestAnswer;
  };
  'GET /v1/webhook_endpoints/{endpoint_id}/deliveries': {
    query: ListDeliveriesQuery;
    body: undefined;
    answer: DeliveryList;
  };
  'GET /v1/deliveries/{delivery_id}': { query: undefined; body: undefined; answer: DeliveryAnswer };
  'POST /v1/webhook_endpoints/{endpoint_id}/resend': {
    query: undefined;
    body: ResendRequest;
    answer: ResendAnswer;
  };
  'POST /v1/deliveries/{delivery_id}/resend': {
    query: undefined;
    body: undefined;
    answer: ResentDeliveryAnswer;
  };
}

/** The endpoints that make something and heed no `Idempotency-Key`: a request whose answer is lost cannot be sent again. */
export const UNKEYED: ReadonlySet<string> = new Set<keyof Routes>([
  'POST /v1/api_keys',
  'POST /v1/api_keys/{key_id}/rotate',
  'POST /v1/api_keys/{key_id}/revoke',
  'POST /v1/webhook_endpoints/{endpoint_id}/test',
]);

interface PaymentAnswer {
  data: Payment;
}

interface PaymentList {
  data: Payment[];
  /** Whether there are more behind the last. */
  has_more: boolean;
  /** Hand in as `cursor` for what comes next. */
  next_cursor: string | null;
  /** Only with `updated_after`: hand in as `updated_after` for what changes next, now or later. */
  next_updated_cursor?: string;
}

interface EventList {
  data: Event[];
  /** Whether there may be more behind the last. */
  has_more: boolean;
  /** Hand in as `after` for what comes next, now or later. Null before the first event. */
  next_cursor: string | null;
}

interface EventAnswer {
  data: Event;
}

interface ApiKeyList {
  data: ApiKey[];
  /** Whether there are more behind the last. */
  has_more: boolean;
  /** Hand in as `cursor` for what comes next. */
  next_cursor: string | null;
}

interface ApiKeyAnswer {
  data: ApiKey;
}

interface NewApiKeyAnswer {
  data: NewApiKey;
}

interface RotatedApiKeyAnswer {
  data: NewApiKey;
  /** The key that the new one takes the place of, with the moment it ends. */
  replaced: ApiKey;
}

interface RevokedApiKeyAnswer {
  data: ApiKey;
  /**
   * The ids of the keys that were made with it, or with one of those, and still work. After a leak, revoke each that
   * you did not make.
   */
  keys_made: string[];
}

interface WebhookEndpointList {
  data: WebhookEndpoint[];
  /** Whether there are more behind the last. */
  has_more: boolean;
  /** Hand in as `cursor` for what comes next. */
  next_cursor: string | null;
}

interface WebhookEndpointAnswer {
  data: WebhookEndpoint;
}

interface DeletedWebhookEndpointAnswer {
  data: {
    id: string;
    object: 'webhook_endpoint';
    deleted: true;
  };
}

interface NewWebhookEndpointAnswer {
  data: NewWebhookEndpoint;
}

interface WebhookTestAnswer {
  data: {
    object: 'test_delivery';
    event_id: string;
    delivered: boolean;
    status: number | null;
    ms: number;
    reason: string;
    reply: string | null;
  };
}

interface DeliveryList {
  data: Delivery[];
  /** Whether there are more behind the last. */
  has_more: boolean;
  /** Hand in as `cursor` for what comes next. */
  next_cursor: string | null;
}

interface DeliveryAnswer {
  data: WholeDelivery;
}

interface ResendAnswer {
  data: {
    object: 'resend';
    what: 'failed' | 'missing';
    since: string;
    /** How many deliveries are due now, up to 1,000: ask again while it is 1,000. Null for `missing`. */
    deliveries: number | null;
  };
}

interface ResentDeliveryAnswer {
  data: Delivery;
}

export type {
  ApiKeyAnswer,
  ApiKeyList,
  DeletedWebhookEndpointAnswer,
  DeliveryAnswer,
  DeliveryList,
  EventAnswer,
  EventList,
  NewApiKeyAnswer,
  NewWebhookEndpointAnswer,
  PaymentAnswer,
  PaymentList,
  ResendAnswer,
  ResentDeliveryAnswer,
  RevokedApiKeyAnswer,
  RotatedApiKeyAnswer,
  Routes,
  WebhookEndpointAnswer,
  WebhookEndpointList,
  WebhookTestAnswer,
};
