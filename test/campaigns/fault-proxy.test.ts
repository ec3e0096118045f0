// Two nodes whose ways to PostgreSQL break again and again: no answer is wrong, none is missing, and all is well right afterwards.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { SECOND_MS } from '../../src/lib/time.ts';
import { awakeMs } from '../support/awake.ts';
import { FAULTS, type Fault, FaultProxy } from '../support/fault-proxy.ts';
import { type LoadClient, loadClient } from '../support/load-client.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { KEYS, SHOP } from '../support/shop.ts';
import { FaultLoad } from './fault-load.ts';
import { type Site, startSite } from './node-processes.ts';

type Kind = Fault['kind'];
const KINDS = Object.keys(FAULTS) as Kind[];
/** How many faults: each kind once, or, for the long form, COUNTERFOIL_RUNS=200. */
const COUNT = Number(process.env.COUNTERFOIL_RUNS) || KINDS.length;
/** What nobody notices until a deadline passes lasts for longer than any request may take. */
const LONG: readonly Kind[] = ['blackhole', 'stall'];
const LONG_MS = { from: 10_200, to: 11_000 };
const SHORT_MS = { from: 200, to: 1200 };
/** Of one node. */
const SHORT_IN_A_ROUND = 3;
const NODES = 2;
const BACK_WITHIN_MS = 2 * SECOND_MS;
/** The journal's connection and the readers' (src/store/postgres.ts). */
const CONNECTIONS_OF_A_NODE = 5;
/** For as long as the server leaves a transaction to a client that says nothing, and a little longer. */
const OTHERS_WAIT_MS = 6 * SECOND_MS;
const GONE_WITHIN_MS = 5 * SECOND_MS;

describe('faults between nodes and PostgreSQL', () => {
  const random = new SeededRandom();
  const proxies: FaultProxy[] = [];
  let site: Site;
  before(async () => {
    console.log(`fault-proxy: seed ${random.seed} (COUNTERFOIL_SEED), ${COUNT} faults (COUNTERFOIL_RUNS)`);
    site = await startSite({
      nodes: NODES,
      random,
      configuration: SHOP,
      async databaseUrl(database_url, node) {
        const url = new URL(database_url);
        proxies[node] ??= await FaultProxy.start(Number(url.port), random);
        url.port = String(proxies[node].port);
        return url.href;
      },
    });
  });
  after(async () => {
    await site?.close();
    await Promise.all(proxies.map((proxy) => proxy.close()));
  });

  /** The kinds in rounds: for each node a long fault, if any are left, and some short ones, in any order. */
  function rounds(): Kind[][][] {
    const chosen = COUNT === KINDS.length ? KINDS : Array.from({ length: COUNT }, () => random.pick(KINDS));
    const long = random.shuffled(chosen.filter((kind) => LONG.includes(kind)));
    const short = random.shuffled(chosen.filter((kind) => !LONG.includes(kind)));
    const all: Kind[][][] = [];
    while (long.length + short.length > 0) {
      const next = () => random.shuffled([...long.splice(0, 1), ...short.splice(0, SHORT_IN_A_ROUND)]);
      all.push(random.shuffled(Array.from({ length: NODES }, next)));
    }
    return all;
  }

  /** One fault after the other on the way of one node. */
  async function suffer(proxy: FaultProxy, kinds: readonly Kind[]): Promise<void> {
    for (const kind of kinds) {
      const { from, to } = LONG.includes(kind) ? LONG_MS : SHORT_MS;
      await proxy.begin(FAULTS[kind](random));
      await delay(random.between(from, to));
      await proxy.heal();
      await delay(random.between(SHORT_MS.from, SHORT_MS.to));
    }
  }

  /** How long it takes until a node creates, reads and shows again, in milliseconds. */
  async function back(origin: string): Promise<number> {
    const begun = awakeMs();
    const client = loadClient(origin, KEYS.all, 1);
    for (;;) {
      const created = await client.post('/v1/payments', { amount: 1, currency: 'EUR' });
      const id = created?.status === 201 ? JSON.parse(created.text).data.id : undefined;
      const read = await client.get(`/v1/payments/${id}`);
      const page = await client.get(`/payment.php?payment_id=${id}`);
      const ms = awakeMs() - begun;
      if (read?.status === 200 && page?.status === 200) {
        client.close();
        return ms;
      }
      assert.ok(ms < 30 * SECOND_MS, `${origin} does not come back, seed ${random.seed}: ${created?.text}`);
    }
  }

  test(`${COUNT} faults under load: every request is answered in time and truly, and nothing acknowledged is lost.`, {
    timeout: Infinity,
  }, async (context) => {
    const origins = site.nodes.map(({ origin }) => origin);
    const loads = [KEYS.card, KEYS.details].map((key, home) => new FaultLoad(origins, home, key, random));
    const running = loads.map((load) => load.run());
    await Promise.all(running.map((one) => one.begun));
    const usualMs = Math.max(...(await Promise.all(origins.map(back))));
    const backMs: number[] = [];
    for (const round of rounds()) {
      await Promise.all(round.map((kinds, node) => suffer(proxies[node]!, kinds)));
      backMs.push(...(await Promise.all(origins.map(back))));
    }
    const ended = await Promise.all(running.map((one) => one.end()));
    const slowest = Math.max(...backMs);
    context.diagnostic(JSON.stringify(ended.map(({ problems: _, ...seen }) => seen)));
    context.diagnostic(`full service ${Math.round(slowest)} ms after the faults at the latest`);
    const problems = ended.flatMap((one) => one.problems);
    assert.equal(problems.length, 0, `seed ${random.seed}:\n${problems.slice(0, 8).join('\n')}`);
    const told = `full service came back after ${Math.round(slowest)} ms; without a fault it takes ${Math.round(usualMs)}`;
    assert.ok(slowest < Math.max(BACK_WITHIN_MS, 4 * usualMs), told);
  });

  test('a node that falls silent amid a commit keeps the others waiting for seconds, and none of their requests fails.', async (context) => {
    const [silent, other] = site.nodes.map(({ origin }) => loadClient(origin, KEYS.all, 1)) as [
      LoadClient,
      LoadClient,
    ];
    const release = await site.holdCommits();
    const payment = { amount: 1, merchant_reference: 'silent' };
    const unheard = silent.post('/v1/payments', payment, `silent-${random.seed}`);
    try {
      while (!(await waitsForLock(proxies[0]!))) await delay(5);
      await proxies[0]!.begin({ kind: 'stall' });
      await release(); // what the silent node waited for it has now, and will not hear of it
      const begun = awakeMs();
      const answer = await other.post('/v1/payments', payment);
      const told = `the other node's answer took ${Math.round(awakeMs() - begun)} ms`;
      context.diagnostic(told);
      assert.equal(answer?.status, 201, told);
      assert.ok(awakeMs() - begun < OTHERS_WAIT_MS, told);
    } finally {
      await release();
      await proxies[0]!.heal();
      await unheard;
    }
    const settled = await silent.post('/v1/payments', payment, `silent-${random.seed}`);
    assert.equal(settled?.status, 201);
    silent.close();
    other.close();
  });

  /** Whether what passes through a proxy waits for the row that commits are held at. */
  async function waitsForLock(proxy: FaultProxy): Promise<boolean> {
    const waiting = await site.harness.service.database.query<{ client_port: number }>(
      `select client_port from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    );
    return waiting.some(({ client_port }) => proxy.connections.includes(client_port));
  }

  test('the entries have no gap and no double, and the history verifies.', async () => {
    const { database } = site.harness.service;
    const numbers = await database.query<{ number: number }>(
      'select number from audit_entries order by number',
    );
    for (const [index, { number }] of numbers.entries()) assert.equal(number, index + 1);
    assert.equal((await site.harness.verify()).entries, numbers.length);
  });

  test('no connection is left over: neither at PostgreSQL nor in the nodes.', {
    skip: existsSync('/proc/self/fd')
      ? false
      : 'this system has no /proc to count the sockets of a process in',
  }, async () => {
    await site.harness.stop(); // its connections are none of the nodes'
    const client = new pg.Client(site.harness.store.database_url!);
    await client.connect();
    const counted = async () => {
      const { rows } = await client.query<{ count: string }>(
        `select count(*) from pg_stat_activity where application_name = 'counterfoil' and datname = current_database()`,
      );
      return Number(rows[0]!.count);
    };
    const begun = awakeMs();
    while ((await counted()) > NODES * CONNECTIONS_OF_A_NODE && awakeMs() - begun < GONE_WITHIN_MS)
      await delay(50);
    const left = await counted();
    await client.end();
    assert.ok(left <= NODES * CONNECTIONS_OF_A_NODE, `${left} connections at PostgreSQL`);
    for (const [node, { process }] of site.nodes.entries()) {
      const sockets = socketsOf(process!.pid);
      const open = proxies[node]!.connections.length;
      assert.ok(open <= CONNECTIONS_OF_A_NODE, `${open} connections of node ${node} to PostgreSQL`);
      // Besides: what it listens on, its two pipes, and what clients left idle less than five seconds ago.
      assert.ok(
        sockets <= CONNECTIONS_OF_A_NODE + FaultLoad.CONNECTIONS,
        `${sockets} sockets of node ${node}`,
      );
    }
  });
});

function socketsOf(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  const kinds = readdirSync(folder).map((name) => {
    try {
      return readlinkSync(`${folder}/${name}`);
    } catch {
      return ''; // closed as we looked
    }
  });
  return kinds.filter((kind) => kind.startsWith('socket:')).length;
}
