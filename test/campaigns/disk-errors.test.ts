// Disks that fail: whichever write or sync of the server is refused, nobody is told of what is not there, and a start fixes all.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { KEY } from '../support/harness.ts';
import { loadClient } from '../support/load-client.ts';
import { copyProgram, type ProgramCopy } from '../support/program-copy.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { Answers } from './power-cut-answers.ts';
import { Disk } from './power-cut-disk.ts';
import { compileWatcher, type Failing, failing, type Step } from './power-cut-log.ts';
import { layDown } from './power-cut-remains.ts';
import { type WatchedSite, watchedSite } from './power-cut-run.ts';
import { holdsWithin } from './promised-time.ts';
import { recover } from './recovery.ts';

const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 6;
/** So many payments are created after each start: in the long form enough for 5000 writes. */
const PAYMENTS = RUNS > 6 ? 220 : 12;
const CLIENTS = 2;
/** A disk that is full refuses so many writes, then there is room again. */
const FULL_FOR = 5;
const LOG = '-wal';
const NEVER = 2 ** 30;
const ENDS_WITHIN_MS = 10_000;
const LOSSES_SHOWN = 5;

const scratch = mkdtempSync(join(tmpdir(), 'counterfoil-errors-'));
const library = join(scratch, 'power-cut.so');
const skip = compileWatcher(library) ?? false;
const { seed } = new SeededRandom();
after(() => rmSync(scratch, { recursive: true, force: true }));

interface Outcome {
  /** Whether there was a server to ask: not where the failure kept it from starting. */
  started: boolean;
  created: number;
  /** 503, and answers that did not come. */
  refused: number;
  /** How it ended by itself; undefined where it had to be told. */
  ended: number | null | undefined;
  server: ServerProcess | undefined;
}

/** Starts a server on a disk that will fail, and creates payments until all are there or nobody answers. */
async function workOn(site: WatchedSite, failure: Failing, program?: ProgramCopy): Promise<Outcome> {
  const outcome: Outcome = { started: false, created: 0, refused: 0, ended: undefined, server: undefined };
  const env = { ...program?.env, ...failing(failure) };
  const server = await site.start({ ...program, env }).catch((error: Error) => {
    const [, code] = /^exited with (\d+)/.exec(error.message) ?? assert.fail(error);
    outcome.ended = Number(code);
  });
  if (!server) return outcome;
  Object.assign(outcome, { started: true, server });
  const client = loadClient(server.origin, KEY, CLIENTS);
  let left = PAYMENTS;
  const create = async () => {
    while (left-- > 0) {
      const answer = await client.post('/v1/payments', { amount: 10, metadata: { keyed: false } });
      if (answer?.status === 201) outcome.created++;
      else outcome.refused++;
      assert.ok(!answer || [201, 503].includes(answer.status), JSON.stringify(answer));
      if (!answer) return;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, create));
  client.close();
  return outcome;
}

/** Waits for a server to end by itself. */
async function itsEnd({ child, output }: ServerProcess): Promise<number | null> {
  await holdsWithin(
    ENDS_WITHIN_MS,
    () => child.exitCode !== null || child.signalCode !== null,
    () => `the server goes on after the disk failed: ${output.join('\n')}`,
  );
  return child.exitCode;
}

/** What is not there that was answered: in the files as they are, and when the power goes as well. */
async function lossesOf(site: WatchedSite, steps: readonly Step[], random: SeededRandom): Promise<string[]> {
  const answers = new Answers(steps);
  const origin = `http://127.0.0.1:${site.port}`;
  const disk = new Disk();
  for (const step of steps) disk.apply(step);
  const places = {
    'after the power went': layDown(disk.cut(random, 0), join(scratch, 'left'), random),
    'at the next start': site.storage,
  };
  const losses: string[] = [];
  for (const [when, storage] of Object.entries(places)) {
    try {
      losses.push(...answers.losses(await recover(storage, origin), steps.length));
    } catch (error) {
      losses.push(`${when}: ${(error as Error).message}`);
    }
  }
  return losses;
}

/** How many writes and syncs a start and its work take where nothing fails. */
async function countSteps(): Promise<Record<'starting' | 'all', Record<Failing['kind'], number>>> {
  const site = await watchedSite(library);
  const failure: Failing = { kind: 'sync', errno: 'EIO', first: NEVER, times: 1 };
  try {
    const { server } = await workOn(site, failure);
    const steps = site.steps();
    const firstAnswer = steps.findIndex(({ kind }) => kind === 'answer');
    await server!.end('SIGKILL');
    const count = (some: Step[]) => ({
      sync: some.filter(({ kind }) => kind === 'sync').length,
      write: some.filter(({ kind }) => kind === 'write').length,
    });
    return { starting: count(steps.slice(0, firstAnswer)), all: count(steps) };
  } finally {
    site.remove();
  }
}

/** How often a server wrote to the write-ahead log. The newest seal is written to a file of its own behind the first commit. */
function writesToLog(steps: readonly Step[]): number {
  const logs = new Map<number, boolean>();
  let writes = 0;
  for (const { kind, descriptor, bytes } of steps)
    if (kind === 'open') logs.set(descriptor, bytes.toString().endsWith(LOG));
    else if (kind === 'write' && logs.get(descriptor)) writes++;
  return writes;
}

describe('disk errors', { skip }, () => {
  test(`${RUNS} failures of the disk: no answer that is not true, and every start finds all`, {
    timeout: Infinity,
  }, async (context) => {
    context.diagnostic(`seed ${seed} (COUNTERFOIL_SEED), ${RUNS} failures (COUNTERFOIL_RUNS)`);
    const { starting, all } = await countSteps();
    const tally = { atTheStart: 0, ended: 0, wentOn: 0, refused: 0 };
    const losses: string[] = [];
    for (let round = 0; round < RUNS; round++) {
      const random = new SeededRandom(seed + round);
      // In turns: each kind of failure, while it starts and while it works.
      const kind = round % 3 === 0 ? 'sync' : 'write';
      const errno = round % 3 === 2 ? 'ENOSPC' : 'EIO';
      const working = round % 2 === 0;
      const first = working
        ? random.between(starting[kind] + 1, all[kind])
        : random.between(1, starting[kind]);
      const failure: Failing = { kind, errno, first, times: errno === 'ENOSPC' ? FULL_FOR : 1 };
      const told = `seed ${seed + round}: ${JSON.stringify(failure)}`;
      const site = await watchedSite(library);
      try {
        const { started, refused, server } = await workOn(site, failure);
        tally.refused += refused;
        if (!started) tally.atTheStart++;
        else if (errno === 'EIO' && refused > 0) {
          assert.equal(await itsEnd(server!), 1, told);
          tally.ended++;
        } else {
          // A full disk ends nobody; a commit that no client waits for, such as a stop's own, may fail as any other.
          const code = await server!.end('SIGTERM');
          const isRight = code === 0 || (errno === 'EIO' && code === 1);
          assert.ok(isRight, `${told}: ${code}: ${server!.output.join('\n')}`);
          tally.wentOn++;
        }
        losses.push(...(await lossesOf(site, site.steps(), random)).map((loss) => `${told}: ${loss}`));
      } finally {
        site.remove();
      }
    }
    context.diagnostic(JSON.stringify(tally));
    assert.equal(losses.length, 0, losses.slice(0, LOSSES_SHOWN).join('\n'));
  });

  test('a disk that is full when the set-up link is to be made: the server is ready without it, and says why', async () => {
    const sites = [await watchedSite(library), await watchedSite(library)] as const;
    try {
      const whole = await sites[0].start();
      assert.ok(whole.ready.setup_url);
      const failure: Failing = {
        ...{ kind: 'write', errno: 'ENOSPC', times: FULL_FOR, end: LOG },
        first: writesToLog(sites[0].steps()),
      };
      const server = await sites[1].start({ env: failing(failure) });
      assert.deepEqual([server.ready.event, server.ready.setup_url], ['ready', null]);
      const said = once(server.child, 'close');
      assert.equal(await server.end('SIGTERM'), 0);
      await said;
      assert.match(
        server.output.join('\n'),
        /"failure":"unavailable".*"no set-up link could be made: restart/,
      );
    } finally {
      for (const site of sites) site.remove();
    }
  });

  test('what is answered after a failed sync and a new start is there when the power goes', async () => {
    const { starting } = await countSteps();
    for (let first = starting.sync + 2; ; first++) {
      const site = await watchedSite(library);
      try {
        const { created, server } = await workOn(site, { kind: 'sync', errno: 'EIO', first, times: 1 });
        // The newest seal is written down each second: where the failure fell on that, the server goes on, and the next sync is tried.
        if (server!.output.some((line) => line.includes('the newest seal cannot be kept'))) continue;
        assert.ok(created > 0);
        assert.equal(await itsEnd(server!), 1);
        const after = await workOn(site, { kind: 'sync', errno: 'EIO', first: NEVER, times: 1 });
        assert.deepEqual([after.created, after.refused], [PAYMENTS, 0]);
        await after.server!.end('SIGKILL');
        assert.deepEqual(await lossesOf(site, site.steps(), new SeededRandom(seed)), []);
        return;
      } finally {
        site.remove();
      }
    }
  });

  test('a checkpoint that cannot be put on disk is logged, the server goes on, and the next is whole', async (context) => {
    const copy = copyProgram();
    copy.change('src/journal/checkpoint-signer.ts', 'const EVERY_MS = MINUTE_MS;', 'const EVERY_MS = 100;');
    const site = await watchedSite(library);
    const failure: Failing = { kind: 'sync', errno: 'EIO', first: 1, times: 3, end: '/checkpoints.jsonl' };
    try {
      const { created, refused, server } = await workOn(site, failure, copy);
      assert.deepEqual([created, refused], [PAYMENTS, 0]);
      const file = join(site.storage, 'checkpoints.jsonl');
      await holdsWithin(
        ENDS_WITHIN_MS,
        () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'),
        () => 'no checkpoint was signed',
      );
      assert.equal(await server!.end('SIGTERM'), 0);
      const complaints = server!.output.filter((line) => line.includes('no checkpoint could be signed'));
      context.diagnostic(`${complaints.length} complaints`);
      assert.equal(complaints.length, failure.times);
      assert.deepEqual(await lossesOf(site, site.steps(), new SeededRandom(seed)), []);
    } finally {
      site.remove();
      copy.remove();
    }
  });
});
