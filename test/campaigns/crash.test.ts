// kill -9 under load, again and again: what was acknowledged is there to the byte, the rest is whole or absent.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { awakeMs } from '../support/awake.ts';
import { freePort } from '../support/free-ports.ts';
import { KEY, writeConfiguration } from '../support/harness.ts';
import { loadClient } from '../support/load-client.ts';
import { verifySqlite, viewSqlite } from '../support/read-only-store.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { type Store, temporaryStore } from '../support/stores.ts';
import { CrashLoad } from './crash-load.ts';
import { addReviewer, REVIEWED, ReviewLoad } from './crash-review.ts';
import { holdsWithin } from './promised-time.ts';

const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 40;
/** A store serves this many kills, then a fresh one: verifying all of a history each time would make long forms quadratic. */
const RUNS_PER_STORE = 10;
/** Stores worked on at the same time: starting a server and waiting for the kill leave the machine idle in turns. */
const LANES = 2;
const CLIENTS = 32;
const KILL_AFTER_MS = { from: 5, to: 250 };
/** The history is verified after every so many kills, and at the end of each store: a break stays where it is. */
const VERIFIED_EVERY = 2;
/** From the start of the process to its first answer, half of the times; the slowest may meet a busy machine, on which first starts are as slow. */
const RESTART_MEDIAN_MS = 3000; // other tests share the machine: the benchmark says what it takes alone
const RESTART_SLOWEST_MS = 10_000;
const LOSSES_SHOWN = 5;
const FIRST_ACKNOWLEDGEMENT_WITHIN_MS = 10_000;

const { seed } = new SeededRandom();

interface Tally {
  acknowledged: number;
  unanswered: number;
  unansweredButDone: number;
  decided: number;
  /** First starts of stores, for comparison. */
  startsMs: number[];
  restartsMs: number[];
  losses: string[];
}

describe('crash', () => {
  test(`${RUNS} kills under load lose nothing that was acknowledged`, {
    timeout: Infinity,
  }, async (context) => {
    console.log(`crash: seed ${seed} (COUNTERFOIL_SEED), ${RUNS} kills (COUNTERFOIL_RUNS)`);
    const tally: Tally = {
      ...{ acknowledged: 0, unanswered: 0, unansweredButDone: 0, decided: 0 },
      ...{ startsMs: [], restartsMs: [], losses: [] },
    };
    let left = RUNS;
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      const random = new SeededRandom(seed + lane);
      while (left > 0) {
        const kills = Math.min(RUNS_PER_STORE, left);
        left -= kills;
        const store = await temporaryStore('sqlite');
        try {
          await killOneStore(store, kills, random, tally);
        } finally {
          await store.drop();
        }
      }
    });
    await Promise.all(lanes);
    const restarts = tally.restartsMs.sort((a, b) => a - b);
    const median = restarts[restarts.length >> 1]!;
    context.diagnostic(
      `${RUNS} kills, ${tally.acknowledged} acknowledged, ${tally.unanswered} unanswered (${tally.unansweredButDone} of them done), ` +
        `${tally.decided} sent and decided, ` +
        `${tally.losses.length} losses; restart to first 200: median ${Math.round(median)} ms, slowest ${Math.round(restarts.at(-1)!)} ms`,
    );
    const shown = tally.losses.slice(0, LOSSES_SHOWN).join('\n');
    assert.equal(tally.losses.length, 0, `seed ${seed}: ${tally.losses.length} losses, such as\n${shown}`);
    assert.ok(tally.decided >= RUNS / 5, `${tally.decided} payments were decided`);
    const first = Math.max(...tally.startsMs);
    const told = `the slowest first start took ${Math.round(first)} ms`;
    assert.ok(median < Math.max(RESTART_MEDIAN_MS, 2 * first), `median restart took ${median} ms; ${told}`);
    assert.ok(
      restarts.at(-1)! < Math.max(RESTART_SLOWEST_MS, 6 * first),
      `slowest restart took ${restarts.at(-1)} ms; ${told}`,
    );
  });
});

/** Runs, kills, restarts and checks one store `kills` times. */
async function killOneStore(store: Store, kills: number, random: SeededRandom, tally: Tally): Promise<void> {
  const config = writeConfiguration(store, 'development', `log_level: error\n${REVIEWED}`);
  const file = join(store.storage, 'counterfoil.sqlite');
  const port = await freePort(); // the same after each restart: answers name it
  /** Starts a server. Answers when it does, and notes what that took. */
  const start = async (took: number[]) => {
    const begun = awakeMs();
    const server = await startServerProcess({ config, port, storage: store.storage });
    const client = loadClient(server.origin, KEY, CLIENTS);
    const health = await client.get('/health');
    took.push(awakeMs() - begun);
    assert.equal(health?.status, 200, server.output.join('\n'));
    return { server, client };
  };
  const load = new CrashLoad(random);
  const review = new ReviewLoad(await addReviewer(store), random);
  let { server, client } = await start(tally.startsMs);
  client.close();
  for (let kill = 0; kill < kills; kill++) {
    const killed = await loadAndKill(server, load, review, random);
    tally.acknowledged += killed.acknowledged;
    tally.unanswered += killed.unanswered;

    ({ server, client } = await start(tally.restartsMs));
    const found = await load.findLosses(client);
    tally.losses.push(...found.losses);
    tally.unansweredButDone += found.unansweredButDone;
    tally.losses.push(...review.losses(await statuses(file)));
    if (kill % VERIFIED_EVERY === 0 || kill === kills - 1)
      await verifySqlite(file, store.storage).catch((error) =>
        tally.losses.push(`history: ${error.message}`),
      );
    client.close();
  }
  tally.decided += review.decided;
  assert.equal(await server.end('SIGTERM'), 0, server.output.join('\n'));
  const [integrity] = await viewSqlite(file, (view) =>
    view.query<{ integrity_check: string }>('pragma integrity_check'),
  );
  assert.equal(integrity?.integrity_check, 'ok');
}

/** The status of every payment in a store, by its id. */
async function statuses(file: string): Promise<Map<string, string>> {
  const rows = await viewSqlite(file, (view) =>
    view.query<{ id: string; status: string }>('select id, status from payments'),
  );
  return new Map(rows.map(({ id, status }) => [id, status]));
}

/** Lets the clients loose and kills the server some milliseconds after its first acknowledgement. */
async function loadAndKill(
  server: ServerProcess,
  load: CrashLoad,
  review: ReviewLoad,
  random: SeededRandom,
): Promise<{ acknowledged: number; unanswered: number }> {
  const client = loadClient(server.origin, KEY, CLIENTS);
  const stop = new AbortController();
  const inTime = async (first: Promise<unknown>) => {
    let isOver = false;
    const over = first.finally(() => (isOver = true));
    over.catch(() => {}); // told below
    const told = () => 'nothing was acknowledged in time';
    await holdsWithin(FIRST_ACKNOWLEDGEMENT_WITHIN_MS, () => isOver, told);
    await over;
  };
  const reviewing = review.run(server.origin);
  await inTime(reviewing.firstStep); // before the crowd comes, behind which a page has to wait
  const round = load.run(client, CLIENTS, stop.signal);
  await inTime(round.firstAcknowledgement);
  // Early more often than late: what is rare in a server's life happens at its beginning.
  const { from, to } = KILL_AFTER_MS;
  await delay(from + random.next() ** 2 * (to - from));
  await server.end('SIGKILL');
  stop.abort();
  const counts = await round.finished;
  await reviewing.finished;
  client.close();
  return counts;
}
