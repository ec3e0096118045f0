// A disk that runs full under load, again and again: writes wait their turn, nothing else stops, and space that returns is enough.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openSqlite } from '../../src/store/sqlite.ts';
import { awakeMs } from '../support/awake.ts';
import { freePort } from '../support/free-ports.ts';
import { KEY, writeConfiguration } from '../support/harness.ts';
import { loadClient } from '../support/load-client.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { temporaryStore } from '../support/stores.ts';
import {
  CLIENTS,
  create,
  type Load,
  requireAll,
  requireReadOnly,
  requireSound,
  requireWholeLines,
  startLoad,
  statusOf,
} from './disk-full.ts';
import { holdsWithin } from './promised-time.ts';
import {
  type DiskKind,
  mountSmallDisk,
  type SmallDisk,
  whyNoNamespace,
  whyNoSmallDisk,
} from './small-disk.ts';

const LONG = process.env.COUNTERFOIL_RUNS !== undefined;
const CYCLES = Number(process.env.COUNTERFOIL_RUNS) || 2;
const DISK_MIB = 96;
/** What the write-ahead log may come to: it is folded at 16 MiB, and where the fold is slower than commits, they wait for it at 64 MB. */
const LOG_MAXIMUM_BYTES = 68_000_000;
/** Of what a server says before it ends by itself. */
const LINES_SHOWN = 12;
const BACK_WITHIN_MS = 1000;
/** Of what merely is to happen. */
const SOON_MS = 10_000;
/** A log that was just folded takes some thousand creates more, which are written over what it held. */
const LOG_FULL_WITHIN_MS = 30_000;
/** The write-ahead log's index grows with the first page behind this one; so many letters fill a page. */
const INDEXED_PAGES = 4062;
const PAGE_FILLING = 3500;
/** How long a full disk is looked at with requests going on, and with none but those for health. */
const FULL_FOR_MS = 700;

interface Tally extends Load {
  backMs: number[];
  healthToldMs: number[];
  logBytes: number;
}

for (const kind of ['tmpfs', 'ext4'] as const) {
  describe(`a full disk (${kind})`, () => {
    const why = kind === 'ext4' && !LONG ? 'the long form alone: set COUNTERFOIL_RUNS' : whyNoSmallDisk(kind);
    test(
      `${CYCLES} fills under load: 503 for writes, all else goes on, and all is back within 1 s of space`,
      {
        skip: why ?? false,
        timeout: Infinity,
      },
      (context) => campaign(kind, (line) => context.diagnostic(line)),
    );
  });
}

// Without root, a user namespace where the system allows one: all of the above and below is run once more inside it.
test('in a namespace, where this is not run by root', {
  skip: whyNoNamespace() ?? false,
  timeout: Infinity,
}, () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const file = fileURLToPath(import.meta.url);
  const { status } = spawnSync('unshare', ['-rm', process.execPath, file], { env, stdio: 'inherit' });
  assert.equal(status, 0);
});

describe('a disk with room for the write-ahead log and none for its index', () => {
  test('is a full disk and no broken one.', { skip: whyNoSmallDisk('tmpfs') ?? false }, async () => {
    const disk = mountSmallDisk('tmpfs', DISK_MIB);
    const database = openSqlite(join(disk.directory, 'counterfoil.sqlite'), (error) => assert.fail(error));
    const write = (pages: number) =>
      database.transaction((transaction) =>
        transaction.insert(
          'filled',
          Array.from({ length: pages }, () => ({ text: 'x'.repeat(PAGE_FILLING) })),
        ),
      );
    try {
      await database.script('create table filled (text text)');
      await write(INDEXED_PAGES - 100); // the next write needs another piece of the index
      disk.fill();
      const failures: string[] = [];
      const attempt = () =>
        write(200).then(
          () => true,
          (error) => {
            failures.push(error.failure);
            return false;
          },
        );
      while (!(await attempt())) disk.give(4096);
      assert.deepEqual([...new Set(failures)], ['unavailable', 'unknown']);
    } finally {
      await database.close();
      disk.remove();
    }
  });
});

async function campaign(kind: DiskKind, report: (line: string) => void): Promise<void> {
  const disk = mountSmallDisk(kind, DISK_MIB);
  const elsewhere = await temporaryStore('sqlite'); // the configuration has room
  let server: ServerProcess | undefined;
  try {
    const config = writeConfiguration(elsewhere, 'development', 'log_level: error\n');
    const port = await freePort();
    const start = () => startServerProcess({ config, port, storage: disk.directory });
    server = await start();
    const tally: Tally = { acknowledged: new Map(), refused: 0, backMs: [], healthToldMs: [], logBytes: 0 };
    for (let cycle = 0; cycle < CYCLES; cycle++) await fillAndFree(server, disk, tally, cycle);

    // A stop on a full disk is a stop like any other, and the next start, on the full disk too, finds everything.
    disk.fill();
    assert.equal(await server.end('SIGTERM'), 0, server.output.join('\n'));
    requireWholeLines(join(disk.directory, 'checkpoints.jsonl'));
    server = await start();
    await requireAll(server, tally);
    disk.free();
    await requireAll(server, tally);
    assert.equal(await server.end('SIGTERM'), 0, server.output.join('\n'));
    await requireSound(disk);

    const longest = (numbers: number[]) => Math.round(Math.max(...numbers));
    report(
      `${CYCLES} fills, ${tally.acknowledged.size} acknowledged, 0 lost, ${tally.refused} refused with 503; ` +
        `full service at most ${longest(tally.backMs)} ms after space returned, health at most ${longest(tally.healthToldMs)} ms after the ` +
        `disk was full; write-ahead log at most ${Math.round(tally.logBytes / 1024)} KiB`,
    );
  } finally {
    if (typeof server?.child.exitCode === 'number' && server.child.exitCode !== 0)
      report(server.output.slice(-LINES_SHOWN).join('\n'));
    if (server?.child.exitCode === null) await server.end('SIGKILL');
    disk.remove();
    await elsewhere.drop();
  }
}

/** One cycle: load, a balloon, what may be had of a full disk, and the way back. */
async function fillAndFree(
  server: ServerProcess,
  disk: SmallDisk,
  tally: Tally,
  cycle: number,
): Promise<void> {
  const client = loadClient(server.origin, KEY, CLIENTS);
  const stop = new AbortController();
  const load = startLoad(client, stop.signal, tally, cycle);
  await load.warm;
  const [id, created] = [...tally.acknowledged].at(-1)!;

  const filled = performance.now();
  disk.fill();
  await until('health tells of it', async () => (await statusOf(server, '/health')) === 503);
  tally.healthToldMs.push(performance.now() - filled);
  const refused = async () => (await create(server)).status === 503;
  await until('writes meet the full disk', refused, LOG_FULL_WITHIN_MS);
  for (const until = performance.now() + FULL_FOR_MS; performance.now() < until; await delay(50))
    await requireReadOnly(server, id, created);
  const quiet = cycle % 2 === 1;
  if (quiet) {
    stop.abort();
    await load.over;
    for (const until = performance.now() + 2 * FULL_FOR_MS; performance.now() < until; await delay(50))
      assert.equal(await statusOf(server, '/health'), 503, 'the disk is full, also where nobody writes');
  }
  const { size } = statSync(join(disk.directory, 'counterfoil.sqlite-wal'));
  assert.ok(size <= LOG_MAXIMUM_BYTES, `the write-ahead log came to ${size} bytes`);
  tally.logBytes = Math.max(tally.logBytes, size);

  disk.free();
  const freed = awakeMs();
  await until('writes work again', async () => (await create(server)).status === 201);
  await until('health is well again', async () => (await statusOf(server, '/health/ready')) === 200);
  tally.backMs.push(awakeMs() - freed);
  assert.ok(tally.backMs.at(-1)! < BACK_WITHIN_MS, `full service took ${tally.backMs.at(-1)} ms`);
  stop.abort();
  await load.over;
  client.close();
}

function until(what: string, holds: () => Promise<boolean>, withinMs = SOON_MS): Promise<void> {
  return holdsWithin(withinMs, holds, () => `${what} within ${withinMs} ms`);
}
