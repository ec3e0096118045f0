// One failover and what follows it: the primary dies, its standby takes over, the old one comes back as if nothing had been.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { awakeMs } from '../support/awake.ts';
import { KEY } from '../support/harness.ts';
import { type LoadClient, loadClient } from '../support/load-client.ts';
import type { PostgresHost } from '../support/postgres-hosts.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { CrashLoad } from './crash-load.ts';
import type { FailoverSite } from './failover-site.ts';

const CLIENTS = 12;
const KILL_AFTER_MS = { from: 200, to: 1500 };
const ON_THE_NEW_MS = 300;
/** How long the nodes cannot reach the new primary, with the old one there. */
const OUT_OF_REACH_MS = 500;
const BACK_WITHIN_MS = 20_000;
/** How often all connections are cut while both servers take writes: each time the nodes choose anew. */
const CUTS = 3;
const CUT_EACH_MS = 100;

export interface Round {
  acknowledged: number;
  /** From the kill to the first 201 of the slowest node. */
  outageMs: number;
  /** What was answered while only the old primary could be reached. */
  refused: number;
  losses: string[];
}

/** Fails over from `site.primary` to its standby, brings the old primary back, and makes it the standby of the new one. */
export async function failOver(site: FailoverSite, load: CrashLoad, random: SeededRandom): Promise<Round> {
  const [old, next] = [site.primary, site.standby];
  const clients = site.nodes.map(({ origin }) => loadClient(origin, KEY, CLIENTS));
  const client = inTurns(clients);
  const enough = new AbortController();
  const running = load.run(client, CLIENTS, enough.signal, { repeating: true });
  let outageMs: number;
  let before: unknown;
  try {
    await running.firstAcknowledgement;
    await delay(random.between(KILL_AFTER_MS.from, KILL_AFTER_MS.to));
    outageMs = await promoted(old, next, clients, load.anyAcknowledged()!);
    await delay(ON_THE_NEW_MS);

    old.demandStandby(false); // nothing of its own keeps it from taking writes
    await old.start(['log_statement=all', 'log_line_prefix=%a: ']);
    before = await standOf(old);
    await cutAll(next);
    await withFreshNode(site, old, load.anyAcknowledged()!);
  } finally {
    enough.abort();
    await running.finished;
  }
  const { acknowledged } = await running.finished;

  const refused = await withOnlyTheOld(site, next, clients, load.anyAcknowledged()!);
  await Promise.all(clients.map((one) => firstCreated(one, awakeMs())));
  assert.deepEqual(await standOf(old), before, 'the old primary took a write');
  requireUnused(old);

  const { losses } = await load.findLosses(client);
  for (const one of clients) one.close();
  losses.push(...(await site.findFaults(next)));
  await old.kill();
  await old.follow(next);
  await next.requireStandby();
  [site.primary, site.standby] = [next, old];
  return { acknowledged, outageMs, refused, losses };
}

/**
 * How long it took from the kill of the one, through the promotion of the other, until each node has created a payment. In between
 * the standby is there, and is not used in the primary's place.
 */
async function promoted(
  old: PostgresHost,
  next: PostgresHost,
  clients: readonly LoadClient[],
  known: string,
): Promise<number> {
  const begun = awakeMs();
  await old.kill();
  for (const client of clients) {
    const read = await client.get(`/v1/payments/${JSON.parse(known).id}`);
    assert.equal(read?.status, 503, 'a standby was read');
  }
  await next.promote();
  return Math.max(...(await Promise.all(clients.map((one) => firstCreated(one, begun)))));
}

/** Cuts every connection of the nodes a few times, so that they choose anew with both servers there. */
async function cutAll(next: PostgresHost): Promise<void> {
  for (let cut = 0; cut < CUTS; cut++) {
    await next.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'counterfoil'",
    );
    await delay(CUT_EACH_MS);
  }
}

/** By its own log the old primary was asked what it is, and nothing else. */
function requireUnused(old: PostgresHost): void {
  const asked = old.log.filter((line) => /^counterfoil: LOG: +(statement|execute)/.test(line));
  assert.ok(asked.length > 0, 'the nodes have met the old primary');
  const used = asked.filter((line) => !line.includes('pg_is_in_recovery()'));
  assert.deepEqual(used, [], 'the old primary was asked for more than what it is');
}

/** Sends each request to the next node. */
function inTurns(clients: readonly LoadClient[]): LoadClient {
  let turn = 0;
  const next = () => clients[turn++ % clients.length]!;
  return {
    post: (path, body, key) => next().post(path, body, key),
    get: (path) => next().get(path),
    close() {},
  };
}

/** How long after `begun` a node has created a payment. */
async function firstCreated(client: LoadClient, begun: number): Promise<number> {
  for (;;) {
    const answer = await client.post('/v1/payments', { amount: 1, merchant_reference: randomUUID() });
    const ms = awakeMs() - begun;
    if (answer?.status === 201) return ms;
    assert.ok(ms < BACK_WITHIN_MS, `no write after ${Math.round(ms)} ms: ${answer?.text}`);
    await delay(5);
  }
}

/** What commits move. */
async function standOf(host: PostgresHost): Promise<unknown> {
  return host.query(
    'select entries, seals, (select count(*) from payments) as payments, (select count(*) from audit_entries) as written from journal_head',
  );
}

/** A node that starts now, and is told of the old primary first, serves what the new one holds. */
async function withFreshNode(site: FailoverSite, old: PostgresHost, known: string): Promise<void> {
  const node = await site.startNode(old);
  const client = loadClient(node.origin, KEY, 1);
  const read = await client.get(`/v1/payments/${JSON.parse(known).id}`);
  assert.equal(read?.status, 200, String(read?.text));
  await firstCreated(client, awakeMs());
  client.close();
  assert.equal(await node.end('SIGTERM'), 0, node.output.join('\n'));
}

/** Takes away the way to the new primary: the old one, which is there, is not used in its place. */
async function withOnlyTheOld(
  site: FailoverSite,
  next: PostgresHost,
  clients: readonly LoadClient[],
  known: string,
): Promise<number> {
  const way = site.wayTo(next);
  await way.begin({ kind: 'refuse' });
  let refused = 0;
  for (const until = performance.now() + OUT_OF_REACH_MS; performance.now() < until; ) {
    for (const client of clients) {
      const answers = [
        await client.post('/v1/payments', { amount: 2, merchant_reference: randomUUID() }),
        await client.get(`/v1/payments/${JSON.parse(known).id}`),
      ];
      for (const answer of answers) {
        assert.equal(answer?.status, 503, String(answer?.text));
        refused += 1;
      }
    }
  }
  await way.heal();
  return refused;
}
