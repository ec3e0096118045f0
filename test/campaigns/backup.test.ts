// Backups of a server under load, each restored elsewhere, by a command that is killed the first time: nothing acknowledged is missing.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type BackupPlace, backupPlace } from '../support/backups.ts';
import { KEY, writeConfiguration } from '../support/harness.ts';
import { type LoadClient, loadClient } from '../support/load-client.ts';
import { freePort } from '../support/postgres-server.ts';
import { verifySqlite, viewSqlite } from '../support/read-only-store.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { type Store, temporaryStore } from '../support/stores.ts';
import { Acknowledged } from './acknowledged.ts';
import { CrashLoad } from './crash-load.ts';

const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 2;
/** A history grows with each: verifying all of it every time would make long forms quadratic. */
const RUNS_PER_STORE = 10;
const CLIENTS = 32;
/** Between a client's requests: the load shall be heavy and leave the other processor to the backup. */
const PAUSE_MS = 10;
/** How long the load is watched without a backup, for comparison. */
const BEFORE_MS = 300;
/** No answer may take longer while a backup is made; other tests share the machine. */
const SLOWEST_MS = 5000;
/** From before it reads anything to after its end. */
const KILL_RESTORE_AFTER_MS = { from: 100, to: 700 };
const REPEATED = 5;

const random = new SeededRandom();

interface Tally {
  acknowledged: number;
  backupsMs: number[];
  killedRestores: { none: number; whole: number };
  before: number[];
  during: number[];
}

test(`${RUNS} backups under load hold all that was acknowledged before, and harm nobody`, {
  timeout: Infinity,
}, async (context) => {
  console.log(`backup: seed ${random.seed} (COUNTERFOIL_SEED), ${RUNS} backups (COUNTERFOIL_RUNS)`);
  const tally: Tally = {
    acknowledged: 0,
    backupsMs: [],
    killedRestores: { none: 0, whole: 0 },
    before: [],
    during: [],
  };
  for (let left = RUNS; left > 0; left -= RUNS_PER_STORE) {
    const store = await temporaryStore('sqlite');
    const place = backupPlace(store);
    try {
      await backUpOneStore(store, place, Math.min(left, RUNS_PER_STORE), tally);
    } finally {
      place.remove();
      await store.drop();
    }
  }
  const { none, whole } = tally.killedRestores;
  context.diagnostic(
    `${RUNS} backups, ${tally.acknowledged} payments acknowledged before them, none missing; a backup took ${told(tally.backupsMs)}; ` +
      `answers without one: ${told(tally.before)}; while one was made: ${told(tally.during)}; ` +
      `restores killed: ${none} left no store, ${whole} the whole one`,
  );
  assert.ok(Math.max(...tally.during) < SLOWEST_MS, told(tally.during));
});

function told(ms: number[]): string {
  const sorted = ms.toSorted((a, b) => a - b);
  const at = (part: number) => Math.round(sorted[Math.floor((sorted.length - 1) * part)]!);
  return `median ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`;
}

async function backUpOneStore(store: Store, place: BackupPlace, runs: number, tally: Tally): Promise<void> {
  const config = writeConfiguration(store, 'development', 'log_level: error\n');
  const port = await freePort();
  const load = new CrashLoad(random);
  const acknowledged = new Acknowledged();
  for (let run = 0; run < runs; run++) {
    // Each start ends with a signed checkpoint, for the next backup to hold.
    const server = await startServerProcess({ config, port, storage: store.storage });
    const { backup, expected } = await backUpUnderLoad(server, load, acknowledged, place, tally);
    assert.equal(await server.end('SIGTERM'), 0, server.output.join('\n'));
    tally.acknowledged += expected.payments.size;

    const storage = place.freshStorage();
    if (run % 2 === 1) assert.equal((await place.command(['restore', backup], storage)).code, 0);
    await killRestore(place, backup, storage, tally);
    const restored = await place.command(['restore', backup, '--replace'], storage);
    assert.equal(restored.code, 0, restored.stderr);
    await requireRestored(storage, config, expected);
  }
}

/** What the backup is of, as far as it was acknowledged when it began. */
async function backUpUnderLoad(
  server: ServerProcess,
  load: CrashLoad,
  acknowledged: Acknowledged,
  place: BackupPlace,
  tally: Tally,
): Promise<{ backup: string; expected: Acknowledged }> {
  let times = tally.before;
  const client = acknowledged.over(loadClient(server.origin, KEY, CLIENTS), PAUSE_MS, (ms) => times.push(ms));
  const stop = new AbortController();
  const round = load.run(client, CLIENTS, stop.signal);
  await round.firstAcknowledgement;
  await delay(BEFORE_MS);
  const expected = acknowledged.copy();
  const begun = performance.now();
  times = tally.during;
  const backup = await place.backUp();
  tally.backupsMs.push(performance.now() - begun);
  stop.abort();
  const { unanswered } = await round.finished;
  // Among these are all that were answered in another way than they should have been.
  const { losses } = await load.findLosses(client);
  client.close();
  assert.deepEqual({ unanswered, losses }, { unanswered: 0, losses: [] }, `seed ${random.seed}`);
  return { backup, expected };
}

/** Kills a restore, into nothing or over a store, at any moment: what it leaves is no store, or a whole one. */
async function killRestore(place: BackupPlace, backup: string, storage: string, tally: Tally): Promise<void> {
  const restore = place.begin(['restore', backup, '--replace'], storage);
  await delay(random.between(KILL_RESTORE_AFTER_MS.from, KILL_RESTORE_AFTER_MS.to));
  restore.child.kill('SIGKILL');
  await restore.ended;
  const file = join(storage, 'counterfoil.sqlite');
  if (!existsSync(file)) {
    tally.killedRestores.none++;
    return;
  }
  const { entries } = await verifySqlite(file, storage);
  assert.ok(entries > 0 && existsSync(join(storage, 'checkpoint-key.pem')));
  tally.killedRestores.whole++;
}

/** A server starts on what was restored, and everything that was acknowledged is there as it was, or as it was changed since. */
async function requireRestored(storage: string, config: string, expected: Acknowledged): Promise<void> {
  const file = join(storage, 'counterfoil.sqlite');
  const found = await viewSqlite(file, (view) =>
    view.query<{ id: string; status: string }>('select id, status from payments'),
  );
  assert.deepEqual(expected.missingFrom(new Map(found.map(({ id, status }) => [id, status]))), []);
  const { payments } = await verifySqlite(file, storage);
  assert.equal(payments, found.length);
  const server = await startServerProcess({ config, port: await freePort(), storage });
  const client: LoadClient = loadClient(server.origin, KEY, CLIENTS);
  assert.equal((await client.get('/health'))?.status, 200);
  for (const { path, body, key, text } of random.shuffled(expected.answers).slice(0, REPEATED)) {
    const again = await client.post(path, body, key);
    assert.deepEqual([again?.text, again?.replayed], [text, true]);
  }
  client.close();
  assert.equal(await server.end('SIGTERM'), 0, server.output.join('\n'));
}
