// A real Vendure from npm with the plugin in it, a real Counterfoil, and what customers and staff of the shop do there.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { Counterfoil, type NewWebhookEndpoint, type Payment } from '../../packages/client/src/index.ts';
import { signatureHeader } from '../../src/webhooks/signing.ts';
import { ROOT, type Running, start } from '../support/command.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { freePort } from '../support/free-ports.ts';
import { type Harness, KEY } from '../support/harness.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { until } from '../support/waiting.ts';
import type { Installation } from './published.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
type Data = any;

/** The products of vendure-shop.cjs, by the ids of their variants. They cost the same. */
export const [LAMP, CANDLE] = [1, 2];

const PAYMENT = 'state checkoutUrl amount currencyCode payBy reviewMessage';
const CREATE = `mutation { createCounterfoilPayment { ${PAYMENT} } }`;

/** What a link leads to. */
export const idOf = (checkoutUrl: string) => new URL(checkoutUrl).searchParams.get('payment_id')!;

/** Somebody with a session at one of Vendure's APIs. */
class Session {
  readonly #url: string;
  #token: string | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  /** The data of an answer. Throws what the API says is wrong. */
  async ask(query: string, variables: object = {}): Promise<Data> {
    const answer = await fetch(this.#url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(this.#token && { authorization: `Bearer ${this.#token}` }),
      },
      body: JSON.stringify({ query, variables }),
    });
    this.#token = answer.headers.get('vendure-auth-token') ?? this.#token;
    const { data, errors } = (await answer.json()) as Data;
    if (errors) throw new Error(errors[0].message);
    return data;
  }
}

/** A customer without a browser. */
export class Shopper extends Session {
  /** Puts a product into the basket and fills in all that an order needs. Returns the order's code. */
  async fill(variant = LAMP): Promise<string> {
    await this.add(variant);
    await this.ask(
      'mutation { setCustomerForOrder(input: { firstName: "Ada", lastName: "Lovelace", emailAddress: "ada@example.org" }) { __typename } }',
    );
    await this.ask(
      'mutation { setOrderShippingAddress(input: { streetLine1: "1 Main Street", countryCode: "DE" }) { __typename } }',
    );
    await this.ship();
    return (await this.ask('{ activeOrder { code } }')).activeOrder.code;
  }

  /** Chooses how it is shipped. */
  async ship(): Promise<void> {
    await this.ask('mutation { setOrderShippingMethod(shippingMethodId: [1]) { __typename } }');
  }

  /** Fills a basket and asks for the link. */
  async order(variant = LAMP): Promise<{ code: string; id: string }> {
    const code = await this.fill(variant);
    return { code, id: idOf((await this.link()).checkoutUrl) };
  }

  async add(variant: number): Promise<void> {
    const mutation =
      'mutation ($variant: ID!) { addItemToOrder(productVariantId: $variant, quantity: 1) { __typename } }';
    const { addItemToOrder } = await this.ask(mutation, { variant });
    assert.equal(addItemToOrder.__typename, 'Order');
  }

  async link(): Promise<Data> {
    return (await this.ask(CREATE)).createCounterfoilPayment;
  }

  async state(orderCode: string): Promise<Data> {
    const query = `query ($orderCode: String!) { counterfoilPayment(orderCode: $orderCode) { ${PAYMENT} } }`;
    return (await this.ask(query, { orderCode })).counterfoilPayment;
  }

  /** Goes back from paying to the basket. */
  async goBack(): Promise<void> {
    await this.moveTo('AddingItems');
  }

  async moveTo(state: string): Promise<void> {
    const mutation =
      'mutation ($state: String!) { transitionOrderToState(state: $state) { ... on Order { state } } }';
    assert.equal((await this.ask(mutation, { state })).transitionOrderToState.state, state);
  }

  /** What a storefront of another payment method calls. */
  async addPayment(method: string, metadata: object): Promise<Data> {
    const mutation =
      'mutation ($input: PaymentInput!) { addPaymentToOrder(input: $input) { __typename ... on Order { state } } }';
    return (await this.ask(mutation, { input: { method, metadata } })).addPaymentToOrder;
  }
}

export class VendureSite {
  readonly client: Counterfoil;
  readonly staff: Session;
  /** The way from the shop to Counterfoil. */
  readonly way: FaultProxy;
  readonly #origin: string;
  readonly #endpoint: { id: string; secret: string };
  readonly #process: Running;

  /** Starts a shop beside a Counterfoil that serves already. `database`: of PostgreSQL; without it, Vendure keeps all in memory. */
  static async start(installation: Installation, harness: Harness, database = ''): Promise<VendureSite> {
    const client = new Counterfoil({ key: KEY, baseUrl: harness.origin });
    const way = await FaultProxy.start(Number(new URL(harness.origin).port), new SeededRandom());
    const port = await freePort();
    const url = `http://localhost:${port}/payments/counterfoil`;
    const endpoint = await client.webhookEndpoints.create({ url, types: ['payment.approved'] });
    const script = join(installation.folder, 'vendure-shop.cjs');
    cpSync(join(ROOT, 'test/campaigns/vendure-shop.cjs'), script);
    const env = {
      SHOP_PORT: `${port}`,
      SHOP_DATABASE: database,
      COUNTERFOIL_URL: `http://127.0.0.1:${way.port}`,
      COUNTERFOIL_KEY: KEY,
      COUNTERFOIL_WEBHOOK_SECRET: endpoint.secret!,
    };
    const running = start(process.execPath, [script], { cwd: installation.folder, env });
    await running.until(/^ready (\S+)$/m);
    const site = new VendureSite(client, way, endpoint, running, port);
    await site.staff.ask('mutation { login(username: "superadmin", password: "superadmin") { __typename } }');
    return site;
  }

  private constructor(
    client: Counterfoil,
    way: FaultProxy,
    { id, secret }: NewWebhookEndpoint,
    running: Running,
    port: number,
  ) {
    this.client = client;
    this.way = way;
    this.#endpoint = { id, secret: secret! };
    this.#process = running;
    this.#origin = `http://localhost:${port}`;
    this.staff = new Session(`${this.#origin}/admin-api`);
  }

  get storefront(): string {
    return `${this.#origin}/lamps`;
  }

  newShopper(): Shopper {
    return new Shopper(`${this.#origin}/shop-api`);
  }

  /** What the shop printed. */
  get printed(): string {
    return this.#process.stdout + this.#process.stderr;
  }

  /** Whether Counterfoil calls the shop. What happens meanwhile it sends later. */
  async call(isCalled: boolean): Promise<void> {
    await this.client.webhookEndpoints.change(this.#endpoint.id, {
      status: isCalled ? 'enabled' : 'disabled',
    });
  }

  /** A customer pays, and a person approves. */
  async approve(id: string): Promise<void> {
    await this.client.testPayments.submit(id);
    await this.client.testPayments.approve(id);
  }

  /** Posts a body to the shop's endpoint, signed with its secret unless told otherwise. Returns the status. */
  async post(body: string | Buffer, { secret = this.#endpoint.secret, sent = body } = {}): Promise<number> {
    const id = `evt_${randomUUID()}`;
    const at = Math.floor(Date.now() / 1000);
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': `${at}`,
      'webhook-signature': signatureHeader([secret], id, at, `${body}`),
    };
    const answer = await fetch(`${this.#origin}/payments/counterfoil`, {
      method: 'POST',
      headers,
      body: sent,
    });
    await answer.text();
    return answer.status;
  }

  /** Posts a webhook again until the shop has taken or refused it, as Counterfoil does. Returns the status. */
  deliver(body: string): Promise<number> {
    return until(
      () => this.post(body),
      (status) => status !== 500,
    );
  }

  /** The webhook of an approval as Counterfoil would send it, with an id of its own. */
  approvalOf({ id, merchant_reference }: Pick<Payment, 'id' | 'merchant_reference'>): string {
    const data = { payment_id: id, merchant_reference, status: 'approved' };
    return JSON.stringify({ id: `evt_${randomUUID()}`, object: 'event', type: 'payment.approved', data });
  }

  /** An order as staff see it. */
  async order(code: string): Promise<Data> {
    const query = `query ($code: String!) { orders(options: { filter: { code: { eq: $code } } }) { items {
      id state totalWithTax payments { id state amount transactionId method errorMessage refunds { state total } } lines { id quantity }
      history { items { type data } } } } }`;
    const { orders } = await this.staff.ask(query, { code });
    const { history, ...order } = orders.items[0];
    const notes = history.items.filter(({ type }: Data) => type === 'ORDER_NOTE');
    return { ...order, notes: notes.map(({ data }: Data) => data.note) };
  }

  async stop(): Promise<void> {
    this.#process.child.kill('SIGKILL');
    await this.#process.ended;
    await this.way.close();
  }
}
