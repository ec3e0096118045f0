// What the package exports: the client, its errors, amounts, webhooks, and the types of the API.
export { fromMinorUnits } from './amount.ts';
export { Counterfoil } from './client.ts';
export { ApiError, ConnectionError, CounterfoilError, WebhookVerificationError } from './errors.ts';
export type { NewPayment } from './payments.ts';
export type { ApiKeyRequest, WebhookEndpointChange, WebhookEndpointRequest } from './requests.ts';
export type {
  ApiKey,
  Attempt,
  Customer,
  Delivery,
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
} from './schemas.ts';
export type { CallOptions, ClientOptions, WriteOptions } from './transport.ts';
export { verifyWebhook } from './webhook.ts';
