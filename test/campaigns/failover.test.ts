// PostgreSQL's primary killed under load and its standby promoted, again and again: nothing acknowledged is lost, nothing goes back.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { Seal } from '../../src/journal/audit-entry.ts';
import { Fence } from '../../src/journal/known-seal.ts';
import { silent } from '../../src/lib/log.ts';
import { CHECKS } from '../../src/operate/checks/checks.ts';
import type { Database } from '../../src/store/database.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { unhurried } from '../support/journal.ts';
import { NO_STANDBY, type PostgresHost } from '../support/postgres-hosts.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { LONGER_THAN_A_TEST_MS } from '../support/waiting.ts';
import { CrashLoad } from './crash-load.ts';
import { failOver } from './failover-round.ts';
import { type FailoverSite, startFailoverSite } from './failover-site.ts';
import { HookTally } from './hook-tally.ts';
import { becomesWithin } from './promised-time.ts';

const ROUNDS = Number(process.env.COUNTERFOIL_RUNS) || 1;
/** From the kill to the first 201 of the slowest node, with a promotion at once. */
const OUTAGE_MS = 5000;
/** Webhook endpoints that are sent to meanwhile. */
const ENDPOINTS = 3;
const LOSSES_SHOWN = 5;
const FOUND_WITHIN_MS = 5000;

/** As a server opens it where there is a fence, which has all the time that a test has. */
const open = (url: string, fence?: Fence) => openPostgres(url, fence, LONGER_THAN_A_TEST_MS);

/** What a check of doctor's says of a store, or of the hosts that its connection string names. */
async function examine(check: 'database_hosts' | 'standbys', database_url: string): Promise<string> {
  const database = await open(database_url);
  const subject = { settings: { database_url }, store: { database }, deadlineMs: LONGER_THAN_A_TEST_MS };
  const { is, says } = await CHECKS.find(({ id }) => id === check)!.look(subject as never);
  await database.close();
  return `${is}: ${says}`;
}

/** A connection string that names several hosts. */
const naming = (...hosts: PostgresHost[]) =>
  hosts[0]!.url.replace(/127\.0\.0\.1:\d+/, hosts.map(({ port }) => `127.0.0.1:${port}`).join());

describe('failover', { skip: NO_STANDBY ?? false }, () => {
  const random = new SeededRandom();
  let site: FailoverSite;
  before(async () => {
    console.log(`failover: seed ${random.seed} (COUNTERFOIL_SEED), ${ROUNDS} failovers (COUNTERFOIL_RUNS)`);
    site = await startFailoverSite(random);
  });
  after(() => site.close());

  test(`${ROUNDS} failovers under load lose nothing, and the old primary that comes back is neither written nor read.`, {
    timeout: Infinity,
  }, async (context) => {
    const load = new CrashLoad(random);
    const hooks = await HookTally.start(site.nodes[0]!.origin, ENDPOINTS, random);
    const outages: number[] = [];
    const losses: string[] = [];
    let [acknowledged, refused] = [0, 0];
    // One that a machine which stood still made slow is made up for by one more.
    const slow = () => outages.filter((ms) => ms >= OUTAGE_MS);
    for (let round = 0; round < ROUNDS + Math.min(slow().length, 1); round++) {
      const seen = await failOver(site, load, random);
      outages.push(seen.outageMs);
      losses.push(...seen.losses);
      acknowledged += seen.acknowledged;
      refused += seen.refused;
    }
    const { events, repeated } = await hooks.settle(site.nodes[1]!.origin).finally(() => hooks.close());
    outages.sort((a, b) => a - b);
    const [median, slowest] = [outages[outages.length >> 1]!, outages.at(-1)!];
    context.diagnostic(
      `${outages.length} failovers, ${acknowledged} acknowledged, ${losses.length} losses; kill to first 201: median ${Math.round(median)} ms, ` +
        `slowest ${Math.round(slowest)} ms; ${refused} requests refused while only the old primary was in reach; ` +
        `${events} events came to each of ${ENDPOINTS} webhook endpoints, ${repeated} of them again though they were not refused`,
    );
    const shown = losses.slice(0, LOSSES_SHOWN).join('\n');
    assert.equal(losses.length, 0, `seed ${random.seed}: ${losses.length} losses, such as\n${shown}`);
    assert.ok(slow().length < 2, `these failovers took too long: ${slow().map(Math.round)} ms`);
    const told = site.nodes
      .flatMap(({ output }) => output)
      .filter((line) => /a host of the database is not used/.test(line));
    assert.ok(
      told.some((line) => /older timeline/.test(line)),
      'the log says why the old primary is not used',
    );
  });

  test('a standby is not used by a server, whose store it is not; a command may look into it, and change nothing.', async () => {
    await assert.rejects(open(site.standby.url, new Fence(undefined, silent)), /is in recovery/);
    const database = await open(site.standby.url);
    const [payments] = await database.query<{ count: number }>('select count(*) as count from payments');
    assert.ok(payments!.count > 0);
    await assert.rejects(
      database.transaction(async () => {}),
      /is in recovery/,
    );
    await database.close();
  });

  test('a standby that is promoted beside a primary that lives takes over, and what was open to the old one is closed.', async () => {
    const { primary: old, standby: next } = site;
    const url = naming(old, next);
    const database = await open(url, new Fence(undefined, silent));
    const port = 'select inet_server_port() as port';
    const ofRead = async () => (await database.query<{ port: number }>(port))[0]!.port;
    const ofWrite = () =>
      database.transaction(async (transaction) => (await transaction.query<{ port: number }>(port))[0]!.port);
    assert.deepEqual([await ofRead(), await ofWrite()], [old.port, old.port]);

    old.demandStandby(false);
    await old.query('select pg_reload_conf()');
    await next.promote();
    await next.untilPrimary();
    const underWay = database.transaction((transaction) =>
      becomesWithin(FOUND_WITHIN_MS, next.port, async () => {
        await transaction.query('select 1');
        return ofRead();
      }),
    );
    await assert.rejects(underWay, { failure: 'unknown' }, 'a commit on the old one is acknowledged');
    assert.equal(await ofWrite(), next.port);
    await database.close();
    assert.equal(
      await examine('database_hosts', url),
      `warning: 127.0.0.1:${old.port} is on an older timeline: a primary from before another was promoted; 127.0.0.1:${next.port} is a primary`,
    );
  });

  test('a primary that was left behind by a promotion, and alone holds what is acknowledged, is used.', async () => {
    const { primary: old, standby: next } = site; // both take writes by now
    const url = naming(next, old);
    const seals: Seal[] = [];
    const acknowledged = await open(old.url);
    const journal = unhurried(acknowledged, undefined, { onSeal: (seal) => seals.push(seal) });
    await journal.commit((transaction) =>
      transaction.record({ actor: 'operator', action: 'x.y', subject: 'x', request_id: null, facts: {} }),
    );
    await acknowledged.close();
    const [seal] = seals as [Seal];
    /** With the patience of a server, which asks a host that stands still once more. */
    const opened = (): Promise<Database> =>
      openPostgres(url, new Fence(seal, silent)).catch((error) => {
        if (error.failure === 'unavailable') return opened();
        throw error;
      });
    const portUsed = async () => {
      const database = await opened();
      const [row] = await database.query<{ port: number }>('select inet_server_port() as port');
      await database.close();
      return row!.port;
    };
    assert.equal(await portUsed(), old.port);

    // Nor is it lost behind a host that does not say what its history is.
    const operator = new pg.Client(next.url);
    await operator.connect();
    await operator.query('begin; lock table seals in access exclusive mode');
    assert.equal(await portUsed(), old.port);
    await operator.end();
  });
});
