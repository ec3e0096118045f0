// The client: what the API has, by its nouns.

import { Events } from './events.ts';
import { allOf, type Filter } from './list.ts';
import { Payments, TestPayments } from './payments.ts';
import type {
  ApiKeyRequest,
  ListApiKeysQuery,
  ListDeliveriesQuery,
  ResendRequest,
  RotationRequest,
  WebhookEndpointChange,
  WebhookEndpointRequest,
} from './requests.ts';
import type { ResendAnswer, RevokedApiKeyAnswer, RotatedApiKeyAnswer, WebhookTestAnswer } from './routes.ts';
import type {
  ApiKey,
  Delivery,
  NewApiKey,
  NewWebhookEndpoint,
  WebhookEndpoint,
  WholeDelivery,
} from './schemas.ts';
import { type CallOptions, type ClientOptions, Transport, type WriteOptions } from './transport.ts';

/**
 * A client of one service with one API key. It holds nothing open: make one and keep it. Its methods are named as the API names what they
 * do; they return `data` of its answers. Throws `TypeError` for a key or an address with which no request could be right.
 */
export class Counterfoil {
  /** Payment requests, and their links to checkout. */
  readonly payments: Payments;
  /** What became of payments, in the order of commits. */
  readonly events: Events;
  /** Where events are sent. */
  readonly webhookEndpoints: WebhookEndpoints;
  /** What was sent to webhook endpoints. */
  readonly deliveries: Deliveries;
  /** The merchant's API keys of the same mode. */
  readonly apiKeys: ApiKeys;
  /** Moves of test payments, without a person: for a test key alone. */
  readonly testPayments: TestPayments;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    this.payments = new Payments(transport);
    this.events = new Events(transport);
    this.webhookEndpoints = new WebhookEndpoints(transport);
    this.deliveries = new Deliveries(transport);
    this.apiKeys = new ApiKeys(transport);
    this.testPayments = new TestPayments(transport);
  }
}

class WebhookEndpoints {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates an endpoint. Its `secret` is shown here alone: store it. It is null after a lost answer: `rotateSecret` then makes another. */
  async create(endpoint: WebhookEndpointRequest, options?: WriteOptions): Promise<NewWebhookEndpoint> {
    const body = JSON.stringify(endpoint);
    return (await this.#transport.call('POST /v1/webhook_endpoints', { ...options, body })).data;
  }

  async read(id: string, options?: CallOptions): Promise<WebhookEndpoint> {
    return (await this.#transport.call('GET /v1/webhook_endpoints/{endpoint_id}', { ...options, id })).data;
  }

  /** All endpoints of the key's mode: at most 16. */
  async list(options?: CallOptions): Promise<WebhookEndpoint[]> {
    return (await this.#transport.call('GET /v1/webhook_endpoints', options)).data;
  }

  /** Changes an endpoint: `{ status: 'disabled' }` stops deliveries, `'enabled'` sends what happened meanwhile. */
  async change(id: string, change: WebhookEndpointChange, options?: CallOptions): Promise<WebhookEndpoint> {
    const asked = { ...options, id, body: JSON.stringify(change) };
    return (await this.#transport.call('PATCH /v1/webhook_endpoints/{endpoint_id}', asked)).data;
  }

  /** Deletes an endpoint and what waits for it. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.call('DELETE /v1/webhook_endpoints/{endpoint_id}', { ...options, id });
  }

  /** Makes a new secret; the old one signs along for 24 hours. It is null after a lost answer: rotate again. */
  async rotateSecret(id: string, options?: WriteOptions): Promise<NewWebhookEndpoint> {
    const route = 'POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret';
    return (await this.#transport.call(route, { ...options, id })).data;
  }

  /** Sends an event of the type `webhook.test`, once, and says what your server answered. */
  async test(id: string, options?: CallOptions): Promise<WebhookTestAnswer['data']> {
    return (await this.#transport.call('POST /v1/webhook_endpoints/{endpoint_id}/test', { ...options, id }))
      .data;
  }

  /** Sends again what failed, or what is missing, from a time on. */
  async resend(id: string, what: ResendRequest, options?: WriteOptions): Promise<ResendAnswer['data']> {
    const asked = { ...options, id, body: JSON.stringify(what) };
    return (await this.#transport.call('POST /v1/webhook_endpoints/{endpoint_id}/resend', asked)).data;
  }
}

class Deliveries {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The deliveries to an endpoint, newest first. */
  list(
    endpointId: string,
    filter?: Filter<ListDeliveriesQuery>,
    options?: CallOptions,
  ): AsyncGenerator<Delivery> {
    const route = 'GET /v1/webhook_endpoints/{endpoint_id}/deliveries';
    return allOf((cursor) =>
      this.#transport.call(route, { ...options, id: endpointId, query: { ...filter, ...cursor } }),
    );
  }

  /** A delivery with each of its attempts. */
  async read(id: string, options?: CallOptions): Promise<WholeDelivery> {
    return (await this.#transport.call('GET /v1/deliveries/{delivery_id}', { ...options, id })).data;
  }

  /** Sends a delivery again. */
  async resend(id: string, options?: WriteOptions): Promise<Delivery> {
    return (await this.#transport.call('POST /v1/deliveries/{delivery_id}/resend', { ...options, id })).data;
  }
}

/** What makes or ends keys is sent once: after a lost answer it throws `ConnectionError`, and `list` shows what was done. */
class ApiKeys {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates a key. Its `key` is shown here alone: store it. */
  async create(request: ApiKeyRequest = {}, options?: CallOptions): Promise<NewApiKey> {
    const body = JSON.stringify(request);
    return (await this.#transport.call('POST /v1/api_keys', { ...options, body })).data;
  }

  async read(id: string, options?: CallOptions): Promise<ApiKey> {
    return (await this.#transport.call('GET /v1/api_keys/{key_id}', { ...options, id })).data;
  }

  /** The keys, newest first. */
  list(filter?: Filter<ListApiKeysQuery>, options?: CallOptions): AsyncGenerator<ApiKey> {
    return allOf((cursor) =>
      this.#transport.call('GET /v1/api_keys', { ...options, query: { ...filter, ...cursor } }),
    );
  }

  /** Makes a key in the place of another, which works on for `overlap_seconds`, a day by default. */
  async rotate(
    id: string,
    request: RotationRequest = {},
    options?: CallOptions,
  ): Promise<RotatedApiKeyAnswer> {
    const asked = { ...options, id, body: JSON.stringify(request) };
    return this.#transport.call('POST /v1/api_keys/{key_id}/rotate', asked);
  }

  /** Ends a key at once. `keys_made` names the keys that were made with it and still work. */
  async revoke(id: string, options?: CallOptions): Promise<RevokedApiKeyAnswer> {
    return this.#transport.call('POST /v1/api_keys/{key_id}/revoke', { ...options, id });
  }
}
