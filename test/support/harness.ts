// The whole service in this process, on a temporary store and a real socket, with a clock that tests move.
import { readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { readCheckpoints } from '../../src/journal/checkpoint.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { SECRETS_FILE } from '../../src/journal/keys/key-file.ts';
import { type Verification, verifyHistory } from '../../src/journal/verify.ts';
import { createLogger } from '../../src/lib/log.ts';
import { type Clock, systemClock } from '../../src/lib/time.ts';
import { keyDigest } from '../../src/merchants/merchant.ts';
import { ROW_CHECKS } from '../../src/operate/checks/row-checks.ts';
import { readConfiguration } from '../../src/operate/config.ts';
import { type Service, startService } from '../../src/operate/main.ts';
import type { Pace } from '../../src/operate/work.ts';
import { createPayment } from '../../src/payments/create.ts';
import { DEFAULT_TERMS } from '../../src/payments/pay-by.ts';
import { parsePaymentRequest } from '../../src/payments/request.ts';
import { freePort } from './free-ports.ts';
import { served } from './outside.ts';
import { CHEAP } from './password.ts';
import { shared } from './shared.ts';
import { type Engine, type Store, storeToServe } from './stores.ts';
import { LONGER_THAN_A_TEST_MS } from './waiting.ts';
import { rememberSecret } from './webhook-receiver.ts';

/** Time goes on by itself, until a test stops it, and by leaps a test asks for. */
export class TestClock implements Clock {
  #offset = 0;
  #stoppedAt: number | undefined;
  now(): number {
    return (this.#stoppedAt ?? systemClock.now()) + this.#offset;
  }
  /** Leaves the leaps alone: for what depends on less time than a process may stand still. */
  stop(): void {
    this.#stoppedAt ??= systemClock.now();
  }
  /** Undoes `stop`, as if it had not been. */
  go(): void {
    this.#stoppedAt = undefined;
  }
  advance(ms: number): void {
    this.#offset += ms;
  }
}

/** Who acts where a command does. */
export const OPERATOR = { actor: 'operator', request_id: null };

/** The development key, of Development Shop. */
export const KEY = 'cfk_test_development_key_replace_before_production';
/** A test key of Other Shop. */
export const OTHER_KEY = 'cfk_test_ccnBvvPzL34JktAryfEaJ1eVnXlQ82M63KPYlL6DwvO1uDNzy';
/** A key of Development Shop that expired in 2020. */
export const EXPIRED_KEY = 'cfk_test_5IBcqcGeLxx9jXbVtGs95CBW15Mtcp1XW6QgxaYAWUI4LNIck';
/** A live key and a test key of Production Shop, in `production` harnesses alone. */
export const LIVE_KEY = 'cfk_live_rr4BamsA7oGqTB2WCrcSCrNRjv9LvcnFe2kkPYiwfW60k9nas';
export const TEST_KEY_IN_PRODUCTION = 'cfk_test_5OrfwScgJiTetAaPj9hmxoCd9xsNsgSvLvNilEPtSAV3TnHIL';

const DEVELOPMENT = `
environment: development
merchants:
  - id: mer_development
    name: Development Shop
    keys:
      - key: ${KEY}
      - key: ${EXPIRED_KEY}
        expires_at: 2020-01-01T00:00:00+00:00
  - id: mer_other
    name: Other Shop
    keys:
      - key: ${OTHER_KEY}
`;

const PRODUCTION = `
environment: production
base_url: https://pay.example/api
checkout_base_url: https://pay.example/checkout
trust_proxy: [192.0.2.1]
merchants:
  - id: mer_production
    name: Production Shop
    keys:
      - key_sha256: ${keyDigest(LIVE_KEY)}
        mode: live
      - key_sha256: ${keyDigest(TEST_KEY_IN_PRODUCTION)}
        mode: test
`;

/** Answers have all the time that a test has, and passwords cost little. */
export const PATIENT: Pace = { answerMs: LONGER_THAN_A_TEST_MS, passwordCost: CHEAP };

/** Starts a service that ends no idle connection: a process that stood still might send a request on it just then. */
export async function startPatiently(...parts: Parameters<typeof startService>): Promise<Service> {
  const service = await startService(...parts);
  service.app.server.keepAliveTimeout = LONGER_THAN_A_TEST_MS;
  return service;
}

/** Where other nodes on the same database answer in the place of this process (several-nodes.test.ts), on PostgreSQL. */
const OTHER_NODES = process.env.COUNTERFOIL_TEST_ORIGIN;

/** The keys for secrets of a node's storage, as another node of its store is given them. */
export function secretsOf({ storage }: Pick<Store, 'storage'>): { COUNTERFOIL_SECRETS_KEY: string } {
  return { COUNTERFOIL_SECRETS_KEY: readFileSync(join(storage, SECRETS_FILE), 'utf8') };
}

/** Writes a configuration beside (not into) the store's files. Returns its path. */
export function writeConfiguration(
  store: Store,
  environment: 'development' | 'production' = 'development',
  extra = '',
): string {
  const file = join(store.storage, 'counterfoil.yaml');
  writeFileSync(file, (environment === 'production' ? PRODUCTION : DEVELOPMENT) + extra, { mode: 0o600 });
  return file;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body, for answers that are JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely and say what they expect there
  json: any;
}

export interface RequestOptions {
  method?: string;
  key?: string | null;
  headers?: Record<string, string>;
  /** Sent as it is when text or bytes, else as JSON. */
  body?: unknown;
}

/** Asks a service at an address, with the development key unless told otherwise. */
export async function ask(
  origin: string,
  path: string,
  { method = 'GET', key = KEY, headers = {}, body }: RequestOptions = {},
): Promise<Answer> {
  const raw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(origin + path, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
  const json = isJson ? JSON.parse(text) : undefined;
  rememberSecret(json);
  return { status: response.status, headers: response.headers, text, json };
}

export interface Harness {
  engine: Engine;
  store: Store;
  service: Service;
  clock: TestClock;
  /** Where the service listens; the base URLs in answers may be others. */
  origin: string;
  /** What was logged, a line each. */
  logged: string[];
  /** `path` as in the specification: `/health`, `/v1/payments`. Sends the development key unless told otherwise. */
  request(path: string, options?: RequestOptions): Promise<Answer>;
  /** Creates a payment and returns its `data`; fails the test when that is refused. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  create(fields?: object, options?: RequestOptions): Promise<any>;
  /** Verifies the history as `counterfoil audit verify` does. Throws `HistoryBroken`. */
  verify(): Promise<Verification>;
  /** Stops the service and keeps the store; `start` runs it again. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops and drops everything. */
  close(): Promise<void>;
  /** The same at the end of the block: `await using harness = await startHarness('sqlite');`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Creates payments in one commit of a node, however many. Returns their ids. */
export async function createIn(
  node: Journal,
  { service, clock }: Harness,
  count = 1,
  key = KEY,
  fields: object = {},
): Promise<string[]> {
  const wanted = parsePaymentRequest({ amount: 1, ...fields }, { strict: false, httpsOnly: false });
  const caller = service.directory.find(key, clock.now())!;
  const act = { actor: caller.actor, request_id: null };
  return node.commit((of) =>
    Array.from({ length: count }, () => createPayment(of, caller, act, wanted, DEFAULT_TERMS).id),
  );
}

export interface HarnessOptions {
  /** A store that is there already; `close` drops it. */
  store?: Store;
  environment?: 'development' | 'production';
  /** Further lines of the configuration file. */
  configuration?: string;
  /** The proxy that production trusts, where it is another than 192.0.2.1. */
  trustProxy?: string;
  /** Whether the history of a shared harness is verified once its tests are through. */
  isVerified?: boolean;
  /** `PATIENT` where this does not say otherwise. */
  pace?: Pace;
}

/** A harness for the tests of the suite, or the file, that calls this: started before them and closed after them. */
export function sharedHarness(engine: Engine, options: HarnessOptions = {}): Harness {
  return shared(
    () => startHarness(engine, options),
    async (harness) => options.isVerified && harness.verify(),
  );
}

export async function startHarness(engine: Engine, options: HarnessOptions = {}): Promise<Harness> {
  const store = options.store ?? (await storeToServe(engine));
  const others = engine === 'postgres' ? OTHER_NODES : undefined;
  const address = others ? `base_url: ${others}\n` : '';
  const file = writeConfiguration(store, options.environment, (options.configuration ?? '') + address);
  const clock = new TestClock();
  const logged: string[] = [];
  const environment = {
    COUNTERFOIL_STORAGE: store.storage,
    DATABASE_URL: store.database_url ?? undefined,
    COUNTERFOIL_SECRETS_KEY: others && process.env.COUNTERFOIL_SECRETS_KEY,
  };
  const configuration = readConfiguration(file, environment);
  const log = createLogger(configuration.log_level, { write: (line: string) => void logged.push(line) });
  if (options.trustProxy) configuration.trust_proxy = [options.trustProxy];
  const start = async () => {
    configuration.port = await freePort(); // another one each time: clients may not know yet that the last has gone
    const service = await startPatiently(configuration, {
      log,
      clock,
      pace: { ...PATIENT, ...options.pace },
      onBroken: (error) => {
        throw error;
      },
    });
    served.set(store.storage, service.database);
    return service;
  };

  const harness: Harness = {
    engine,
    store,
    service: await start(),
    clock,
    origin: '',
    logged,
    request: (path, asked) => ask(harness.origin, path, asked),
    async create(fields = {}, requestOptions = {}) {
      const body = { amount: 49.9, ...fields };
      const answer = await harness.request('/v1/payments', { method: 'POST', body, ...requestOptions });
      if (answer.status !== 201) throw new Error(`create answered ${answer.status}: ${answer.text}`);
      return answer.json.data;
    },
    verify() {
      const reading = readCheckpoints(store.storage);
      return verifyHistory(harness.service.database, reading, ROW_CHECKS);
    },
    stop() {
      served.delete(store.storage);
      return harness.service.stop();
    },
    async start() {
      harness.service = await start();
      locate();
    },
    async close() {
      await harness.stop();
      await store.drop();
    },
    [Symbol.asyncDispose]: () => harness.close(),
  };
  function locate(): void {
    const { port } = harness.service.app.server.address() as AddressInfo;
    const { pathname } = new URL(harness.service.baseUrl);
    harness.origin = others ?? `http://127.0.0.1:${port}${pathname === '/' ? '' : pathname}`;
  }
  locate();
  return harness;
}
