// Backups of a server under load, each restored over an older one by a command that is killed first: nothing acknowledged is missing.
//
// Longer: COUNTERFOIL_RUNS=100 npm test -- test/campaigns/backup.test.ts
// Again:  COUNTERFOIL_SEED=(as printed), with the same COUNTERFOIL_RUNS.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { restoreFolder } from '../../src/store/open.ts';
import { type BackupPlace, backupPlace, copyKeys } from '../support/backups.ts';
import type { Running } from '../support/command.ts';
import { freePort } from '../support/free-ports.ts';
import { KEY, writeConfiguration } from '../support/harness.ts';
import { type LoadClient, loadClient } from '../support/load-client.ts';
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
/** No answer may take longer while a backup is made, but where one without it took a tenth of that: other tests share the machine. */
const SLOWEST_MS = 5000;
/** Kills come no later than a restore took from the beginning of its work, and a little. */
const LATEST = 1.2;
const REPEATED = 5;

const random = new SeededRandom();

interface Tally {
  acknowledged: number;
  backupsMs: number[];
  /** What killed restores left: a store that no server starts on, the older one, the one restored; `spared` had ended before. */
  killedRestores: { none: number; older: number; restored: number; spared: number };
  /** How long a restore works, its start-up apart: learnt from those that end. */
  restoreMs: number;
  before: number[];
  during: number[];
  /** The slowest answer of each backup. */
  slowest: number[];
}

test(`${RUNS} backups under load hold all that was acknowledged before, and harm nobody`, {
  timeout: Infinity,
}, async (context) => {
  console.log(`backup: seed ${random.seed} (COUNTERFOIL_SEED), ${RUNS} backups (COUNTERFOIL_RUNS)`);
  const tally: Tally = {
    acknowledged: 0,
    backupsMs: [],
    killedRestores: { none: 0, older: 0, restored: 0, spared: 0 },
    restoreMs: 50,
    before: [],
    during: [],
    slowest: [],
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
  const { none, older, restored, spared } = tally.killedRestores;
  context.diagnostic(
    `${RUNS} backups, ${tally.acknowledged} payments acknowledged before them, none missing; a backup took ${told(tally.backupsMs)}; ` +
      `answers without one: ${told(tally.before)}; while one was made: ${told(tally.during)}; ` +
      `restores killed: ${none} left no store to start on, ${older} the older one, ${restored} the whole one restored, ${spared} had ended`,
  );
  const most = Math.max(SLOWEST_MS, 10 * Math.max(...tally.before));
  // A machine that stands still makes one of them late.
  const [, second] = tally.slowest.sort((a, b) => b - a);
  assert.ok((second ?? 0) < most, told(tally.during));
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
  let older: string | undefined;
  for (let run = 0; run < runs; run++) {
    // Each start ends with a signed checkpoint, for the next backup to hold.
    const server = await startServerProcess({ config, port, storage: store.storage });
    let made: Awaited<ReturnType<typeof backUpUnderLoad>>;
    try {
      made = await backUpUnderLoad(server, load, acknowledged, place, tally);
      assert.equal(await server.end('SIGTERM'), 0, server.output.join('\n'));
    } finally {
      server.child.kill('SIGKILL');
    }
    const { backup, expected } = made;
    tally.acknowledged += expected.payments.size;

    const storage = place.freshStorage();
    if (older) assert.equal((await place.command(['restore', older], storage)).code, 0);
    await killRestore(place, { older, backup, storage }, tally);
    const restore = place.begin(['restore', backup, '--replace'], storage);
    await atWork(restore, storage);
    const begun = performance.now();
    assert.equal((await restore.ended).code, 0, restore.stderr);
    tally.restoreMs = performance.now() - begun;
    copyKeys(store.storage, storage);
    await requireRestored(storage, config, expected);
    older = backup;
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
  try {
    await Promise.race([round.firstAcknowledgement, round.finished]);
    await delay(BEFORE_MS);
    const expected = acknowledged.copy();
    const begun = performance.now();
    const earlier = tally.during.length;
    times = tally.during;
    const backup = await place.backUp();
    tally.backupsMs.push(performance.now() - begun);
    stop.abort();
    const { unanswered } = await round.finished;
    tally.slowest.push(Math.max(0, ...tally.during.slice(earlier)));
    // Among these are all that were answered in another way than they should have been.
    const { losses } = await load.findLosses(client);
    assert.deepEqual({ unanswered, losses }, { unanswered: 0, losses: [] }, `seed ${random.seed}`);
    return { backup, expected };
  } finally {
    stop.abort();
    client.close();
  }
}

/** Answers when a restore has begun to work in a fresh storage, which the folder it works in tells, or has ended. */
async function atWork({ child }: Running, storage: string): Promise<void> {
  const folder = restoreFolder({ storage });
  while (!existsSync(folder) && child.exitCode === null && child.signalCode === null) await delay(1);
}

interface Restore {
  /** What lies there before. */
  older: string | undefined;
  backup: string;
  storage: string;
}

/** Kills a restore, into nothing or over an older store, at any moment of its work, and looks at what it leaves. */
async function killRestore(
  place: BackupPlace,
  { older, backup, storage }: Restore,
  tally: Tally,
): Promise<void> {
  const restore = place.begin(['restore', backup, '--replace'], storage);
  await atWork(restore, storage);
  await delay(random.between(0, Math.ceil(tally.restoreMs * LATEST)));
  restore.child.kill('SIGKILL');
  const { signal } = await restore.ended;
  const left = tally.killedRestores;
  if (signal === null) left.spared++;
  const found = await stateOf(storage);
  if (found !== undefined && found === (await stateOf(backup))) left.restored++;
  else if (older && found !== undefined && found === (await stateOf(older))) left.older++;
  else {
    assert.equal(found, undefined, `seed ${random.seed}: neither the older store nor the one restored`);
    left.none++;
    if (!existsSync(restoreFolder({ storage })) && !older) return; // nothing was begun, and nothing was there
    const { code, stdout } = await place.command(['serve'], storage);
    assert.deepEqual([code, stdout], [78, ''], `seed ${random.seed}: a server starts on no store`);
    if (!older) return;
    const aside = readdirSync(storage).filter((name) => name.startsWith('replaced-'));
    assert.equal(aside.length, 1);
    assert.equal(await stateOf(join(storage, aside[0]!)), await stateOf(older), `seed ${random.seed}`);
  }
}

/** A store in a folder told by how far its history and its checkpoints go, verified; undefined if there is no database. */
async function stateOf(folder: string): Promise<string | undefined> {
  const file = join(folder, 'counterfoil.sqlite');
  if (!existsSync(file)) return undefined;
  const { entries, seals, checkpoints } = await verifySqlite(file, folder);
  return JSON.stringify({ entries, seals, checkpoints });
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
  try {
    assert.equal((await client.get('/health'))?.status, 200);
    for (const { path, body, key, text } of random.shuffled(expected.answers).slice(0, REPEATED)) {
      const again = await client.post(path, body, key);
      assert.deepEqual([again?.text, again?.replayed], [text, true]);
    }
    assert.equal(await server.end('SIGTERM'), 0, server.output.join('\n'));
  } finally {
    client.close();
    server.child.kill('SIGKILL');
  }
}
