// A production installation below a path for proxies to stand in front of, and the load that goes past restarts of its nodes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { keyLine, newSecretKey } from '../../src/journal/keys/key-file.ts';
import { sha256Hex } from '../../src/lib/secrets.ts';
import { freePort } from '../support/free-ports.ts';
import { LIVE_KEY } from '../support/harness.ts';
import { HOST, type HttpsClient, newHttpsClient, type ProxyAnswer } from '../support/https-client.ts';
import type { RunningProxy } from '../support/proxy.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { type Engine, ON_DISK, type Store, temporaryStore } from '../support/stores.ts';

/** How many requests go past restarts; a node is restarted once in a thousand. */
const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 1000;
const RUNS_PER_RESTART = 1000;
const AT_ONCE = 8;
export const FORMS_PER_ADDRESS = 5;
/**
 * Between restarts, as docs/operating/upgrade.md asks: longer than a proxy takes to believe in a node again that was away. nginx counts whole
 * seconds, so that its `fail_timeout` of one takes up to two.
 */
const PAUSE_MS = 3000;
/** Before the first restart and after the last. */
const CALM_MS = 500;
/** Between a client's answer and its next request: the load lasts beyond the last restart. */
const BREATH_MS = 15;

const CONFIGURATION = `
environment: production
base_url: https://${HOST}/pay
trust_proxy: [127.0.0.1]
allow_root: true
nodes: 1
rate_limits: { enabled: false }
checkout_forms_per_address: ${FORMS_PER_ADDRESS}
methods:
  - { id: cash, type: manual, name: Cash, instructions: Pay the courier. }
merchants:
  - id: mer_proxied
    name: Proxied Shop
    keys:
      - { key_sha256: ${sha256Hex(LIVE_KEY)}, mode: live }
`;

export const BEARER = { authorization: `Bearer ${LIVE_KEY}` };
export const JSON_BODY = { ...BEARER, 'content-type': 'application/json' };

/** The service as nodes on one store, each on a port that it keeps. */
export interface Site {
  ports: number[];
  nodes: ServerProcess[];
  /** Ends a node in order and starts it anew. */
  restart(index: number): Promise<void>;
  close(): Promise<void>;
}

export async function startSite(engine: Engine, nodeCount: number): Promise<Site> {
  const store: Store = await temporaryStore(engine, ON_DISK);
  const stores = [store];
  while (stores.length < nodeCount) stores.push(await temporaryStore('sqlite', ON_DISK)); // for its folder alone
  const ports: number[] = [];
  const secrets = { COUNTERFOIL_SECRETS_KEY: keyLine(newSecretKey()) }; // all nodes share it
  const start = (index: number) => {
    const { storage } = stores[index]!;
    const config = join(storage, 'counterfoil.yaml');
    writeFileSync(config, CONFIGURATION, { mode: 0o600 });
    const { database_url } = store;
    return startServerProcess({
      config,
      port: ports[index]!,
      storage,
      database_url,
      env: secrets,
    });
  };
  for (const _ of stores) ports.push(await freePort());
  const nodes: ServerProcess[] = [];
  for (const index of stores.keys()) nodes.push(await start(index));
  return {
    ports,
    nodes,
    async restart(index) {
      assert.equal(await nodes[index]!.end('SIGTERM'), 0, 'a node ends in order');
      nodes[index] = await start(index);
    },
    async close() {
      for (const node of nodes) await node.end('SIGTERM');
      for (const one of stores) await one.drop();
    },
  };
}

/** Something on a port that takes a request and goes away without a word, as a node does that is killed. */
export async function startBrokenNode(): Promise<{ port: number; taken(): number; close(): void }> {
  let taken = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      taken++;
      socket.destroy();
    });
  });
  const port = await freePort();
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return { port, taken: () => taken, close: () => server.close() };
}

export async function create(client: HttpsClient, reference: string, headers: Record<string, string> = {}) {
  const body = JSON.stringify({ amount: 49.9, currency: 'EUR', merchant_reference: reference });
  return client.call('/pay/v1/payments', { method: 'POST', headers: { ...JSON_BODY, ...headers }, body });
}

/** How many payments have a reference. */
export async function countOf(client: HttpsClient, reference: string): Promise<number> {
  const answer = await client.call(`/pay/v1/payments?merchant_reference=${reference}`, { headers: BEARER });
  return JSON.parse(answer.text).data.length;
}

/**
 * Reads and creates (with idempotency keys) over connections that are kept, while nodes are restarted one after the other.
 * What fails is sent again until it is answered; each payment must then be there once. Tells how many failed at first.
 */
export async function besiege(site: Site, proxy: RunningProxy, report: (line: string) => void) {
  const client = newHttpsClient(proxy, AT_ONCE);
  const refused = new Set<number>();
  let sent = 0;
  let restarted = false;
  const one = async (number: number): Promise<ProxyAnswer> =>
    number % 2 === 0
      ? create(client, `load-${number}`, { 'idempotency-key': `load-${number}` })
      : client.call('/pay/v1/payments?limit=1', { headers: BEARER });
  async function untilAnswered(number: number): Promise<void> {
    for (;;) {
      const answer = await one(number).catch((error: Error) => error);
      const outcome = answer instanceof Error ? answer.message : String(answer.status);
      if (/^20[01]$/.test(outcome)) return;
      refused.add(number);
      assert.ok(!(answer instanceof Error), `a connection broke: ${outcome}`);
      assert.equal(JSON.parse(answer.text).error.code, 'unavailable', answer.text);
      assert.ok(Number(answer.headers['retry-after']) > 0, 'it says when to try again');
      await delay(100);
    }
  }
  const workers = Array.from({ length: AT_ONCE }, async () => {
    while (sent < RUNS || !restarted) {
      await untilAnswered(sent++);
      await delay(BREATH_MS);
    }
  });
  const restarts = (async () => {
    for (let n = 0; n < Math.max(site.nodes.length, RUNS / RUNS_PER_RESTART); n++) {
      await delay(n === 0 ? CALM_MS : PAUSE_MS);
      await site.restart(n % site.nodes.length);
    }
    await delay(CALM_MS);
    restarted = true;
  })();
  await Promise.all([...workers, restarts]);
  for (let number = 0; number < sent; number += 2) assert.equal(await countOf(client, `load-${number}`), 1);
  client.close();
  const lostWrites = [...refused].filter((number) => number % 2 === 0).length;
  const lostReads = refused.size - lostWrites;
  report(
    `${sent} requests (COUNTERFOIL_RUNS: ${RUNS} at least); refused at first: ${lostReads} reads, ${lostWrites} writes`,
  );
  return { lostReads, lostWrites };
}
