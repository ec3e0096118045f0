// kill -9 of `counterfoil move` at random moments, up to PostgreSQL and back: the same command goes on, and ends with all of it.
//
// Longer: COUNTERFOIL_RUNS=50 npm test -- test/campaigns/move.test.ts
// Again:  COUNTERFOIL_SEED=(as printed), with the same COUNTERFOIL_RUNS.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { seed } from '../../bench/seed.ts';
import { COMMAND, run, start, temporaryFolder } from '../support/command.ts';
import { contentsOf } from '../support/contents.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type Store, temporaryStore } from '../support/stores.ts';

const KILLS = Number(process.env.COUNTERFOIL_RUNS) || 3;
const PAYMENTS = 3000;
/** A move meets so many kills at most before it may end; then it begins anew, the other way. */
const KILLS_OF_ONE = 4;
/** Kills come no later than a whole move took, and a little. */
const LATEST = 1.1;

const random = new SeededRandom();
const folder = temporaryFolder();
let first: string;

before(async () => {
  console.log(`move: seed ${random.seed} (COUNTERFOIL_SEED), ${KILLS} kills (COUNTERFOIL_RUNS)`);
  first = mkdtempSync(join(tmpdir(), 'counterfoil-move-'));
  await seed(first, PAYMENTS);
});
after(() => {
  rmSync(first, { recursive: true, force: true });
  folder.remove();
});

interface Tally {
  kills: number;
  /** Kills after which rows were kept and gone on from. */
  moves: number;
  /** Moves that had ended before their kill came. */
  spared: number;
}

interface Way {
  to: 'postgres' | 'sqlite';
  storage: string;
  url: string;
}

/** Starts a move. */
function begin({ to, storage, url }: Way, ...options: string[]) {
  const env = { COUNTERFOIL_CONFIG: folder.config, COUNTERFOIL_STORAGE: storage, DATABASE_URL: url };
  return start(process.execPath, [COMMAND, 'move', '--to', to, '--json', ...options], { env });
}

/** Moves until it ends by itself, killed `kills` times before; each kill comes `wholeMs` after the start at the latest. */
async function moveUnderKills(way: Way, kills: number, wholeMs: number, tally: Tally): Promise<number> {
  for (let left = kills; ; left--) {
    const begun = performance.now();
    const running = begin(way);
    if (left > 0) {
      const end = new AbortController();
      const moment = random.between(1, Math.ceil(wholeMs * LATEST));
      await Promise.race([delay(moment, undefined, end), running.ended]).catch(() => {});
      end.abort();
      running.child.kill('SIGKILL');
    }
    const { code, signal } = await running.ended;
    if (signal === 'SIGKILL') {
      tally.kills++;
      continue;
    }
    assert.deepEqual([code, running.stderr], [0, ''], `seed ${random.seed}`);
    if (left > 0) tally.spared++;
    tally.moves++;
    assert.equal(JSON.parse(running.stdout).moved, true);
    return performance.now() - begun;
  }
}

test(`a move that is killed ${KILLS} times ends with every row, verified`, {
  timeout: Infinity,
}, async (context) => {
  const tally: Tally = { kills: 0, moves: 0, spared: 0 };
  const original = await contentsOf({ storage: first, database_url: null });
  // How long one takes is learnt by the first that ends.
  let wholeMs = 1500;
  while (tally.kills < KILLS) wholeMs = await upAndBack(original, wholeMs, tally);
  context.diagnostic(
    `${tally.kills} kills, ${tally.moves} moves that ended, ${tally.spared} ended before their kill`,
  );
});

/** Moves to PostgreSQL and back again under kills. Returns how long a whole move took so far at most. */
async function upAndBack(
  original: Awaited<ReturnType<typeof contentsOf>>,
  wholeMs: number,
  tally: Tally,
): Promise<number> {
  const postgres: Store = await temporaryStore('postgres');
  const fresh = await temporaryStore('sqlite');
  const url = postgres.database_url!;
  const kills = () => Math.min(random.between(1, KILLS_OF_ONE), KILLS - tally.kills);
  const requireOriginal = async (storage: string, database_url: string | null, which: string) =>
    assert.deepEqual(await contentsOf({ storage, database_url }), original, `${which}, seed ${random.seed}`);
  try {
    const tookMs = await moveUnderKills({ to: 'postgres', storage: first, url }, kills(), wholeMs, tally);
    await requireOriginal(first, url, 'what was moved up');
    await requireOriginal(first, null, 'the source');
    const longestMs = Math.max(wholeMs, tookMs);
    await moveUnderKills({ to: 'sqlite', storage: fresh.storage, url }, kills(), longestMs, tally);
    await requireOriginal(fresh.storage, null, 'what was moved back');
    const env = { COUNTERFOIL_CONFIG: folder.config, COUNTERFOIL_STORAGE: fresh.storage };
    const { code, stderr } = await run(['audit', 'verify'], { env });
    assert.deepEqual([code, stderr], [0, '']);
    return longestMs;
  } finally {
    await postgres.drop();
    await fresh.drop();
  }
}
