// Power cuts: at any step of the server, of what was not synced anything may be lost, and of what was answered nothing is.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { copyProgram, type ProgramCopy } from '../support/program-copy.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { Answers } from './power-cut-answers.ts';
import { Disk } from './power-cut-disk.ts';
import { compileWatcher, type Step } from './power-cut-log.ts';
import { layDown } from './power-cut-remains.ts';
import { type Run, type RunOptions, run } from './power-cut-run.ts';
import { recover } from './recovery.ts';

const CUTS = Number(process.env.COUNTERFOIL_RUNS) || 60;
/** Cuts in what one server did; then another works. */
const CUTS_PER_RUN = Math.min(500, Math.ceil(CUTS / 2));
/** Cuts in what a server did that is known to lose payments. */
const CUTS_OF_THE_WORSE = 10;
/** How many of the cuts come right behind an answer, when what it promised has had the least time. */
const BEHIND_AN_ANSWER = 0.3;
/** How many come at a step of some file, each file as often as the next: most steps are the write-ahead log's. */
const BY_FILE = 0.4;
const LOSSES_SHOWN = 5;
const LOG = 'src/store/write-ahead-log.ts';
const FOLDED_AFTER = 'const FOLDED_PAGES = 4000;';
/** Stores that lose what was answered: where each is another, and how. */
const WORSE = {
  'that flushes nothing': [LOG, 'flushFile(this.#descriptor)', 'Promise.resolve()'],
  'that flushes the database instead of its log': [LOG, "-wal`, 'r'", "`, 'r'"],
} as const;

/** So much that the log is folded back as in ours; so many starts and stops that checkpoints lie across sectors. */
const LONG_WORKS = [{ runs: [20, 600, 20] }, { runs: [6, 4, 4, 4, 4, 4] }];

/** What servers do whose power is cut. `pages`: how often the write-ahead log is folded back, where it is not as in ours. */
const WORKS: readonly { runs: readonly number[]; pages?: number }[] = [
  { runs: [30, 30] },
  { runs: [40, 20], pages: 100 },
  ...(CUTS > 1000 ? LONG_WORKS : []),
];

const scratch = mkdtempSync(join(tmpdir(), 'counterfoil-cuts-'));
const library = join(scratch, 'power-cut.so');
const skip = compileWatcher(library) ?? false;
const { seed } = new SeededRandom();
after(() => rmSync(scratch, { recursive: true, force: true }));

/** Cuts the power `cuts` times during a run, starts on what is left, and returns what was lost. */
async function cutPower(
  { steps, checkoutBaseUrl }: Run,
  cuts: number,
  random: SeededRandom,
): Promise<string[]> {
  const answers = new Answers(steps);
  const whole = new Disk();
  for (const step of steps) whole.apply(step);
  const untold = answers.end(
    await recover(layDown(whole.live(), join(scratch, 'left'), random), checkoutBaseUrl),
  );
  if (untold > 0) console.log(`power-cut: ${untold} changes whose answers were not seen to leave`);
  const behind = answers.steps;
  assert.ok(behind.length > 0, 'nothing was answered');
  const byFile = stepsByFile(steps);
  const at = Array.from({ length: cuts }, () => {
    if (random.chance(BEHIND_AN_ANSWER)) return random.pick(behind);
    return random.chance(BY_FILE) ? random.pick(random.pick(byFile)) : random.between(0, steps.length - 1);
  }).sort((one, other) => one - other);
  const losses: string[] = [];
  const disk = new Disk();
  let taken = 0;
  for (const cut of at) {
    while (taken <= cut) disk.apply(steps[taken++]!);
    const cutSeed = random.between(1, 2 ** 30);
    const chance = new SeededRandom(cutSeed);
    const storage = layDown(disk.cut(chance), join(scratch, 'left'), chance);
    try {
      const found = await recover(storage, checkoutBaseUrl);
      const [loss, ...others] = [...answers.losses(found, cut), ...answers.strangers(found)];
      if (loss) losses.push(`step ${cut}, seed ${cutSeed}: ${loss}, and ${others.length} more`);
    } catch (error) {
      losses.push(`step ${cut}, seed ${cutSeed}: ${(error as Error).message}`);
    }
  }
  return losses;
}

/** The numbers of the steps that each file was opened, changed and synced by. */
function stepsByFile(steps: readonly Step[]): number[][] {
  const opened = new Map<number, string>();
  const found = new Map<string, number[]>();
  for (const [number, { kind, descriptor, bytes }] of steps.entries()) {
    if (kind === 'answer') continue;
    if (kind === 'open') opened.set(descriptor, bytes.toString());
    const path = descriptor < 0 ? bytes.toString() : opened.get(descriptor)!;
    found.set(path, [...(found.get(path) ?? []), number]);
  }
  return [...found.values()];
}

/** Has a server work, then cuts its power. */
async function lossesOf(options: Omit<RunOptions, 'library'>, cuts: number) {
  const worked = await run({ ...options, library });
  return { losses: await cutPower(worked, cuts, options.random), steps: worked.steps };
}

describe('power cut', { skip }, () => {
  let copy: ProgramCopy;
  before(() => {
    copy = copyProgram();
  });
  after(() => copy.remove());

  test(`${CUTS} power cuts lose nothing that was answered`, { timeout: Infinity }, async (context) => {
    context.diagnostic(`seed ${seed} (COUNTERFOIL_SEED), ${CUTS} cuts (COUNTERFOIL_RUNS)`);
    const losses: string[] = [];
    let steps = 0;
    for (let left = CUTS, round = 0; left > 0; left -= CUTS_PER_RUN, round++) {
      const random = new SeededRandom(seed + round);
      const { runs, pages } = WORKS[round % WORKS.length]!;
      if (pages) copy.change(LOG, FOLDED_AFTER, FOLDED_AFTER.replace('4000', String(pages)));
      const found = await lossesOf({ runs, random, ...(pages && copy) }, Math.min(left, CUTS_PER_RUN));
      losses.push(...found.losses);
      steps += found.steps.length;
    }
    context.diagnostic(`${CUTS} cuts in ${steps} steps, ${losses.length} of them with losses`);
    const shown = losses.slice(0, LOSSES_SHOWN).join('\n');
    assert.equal(losses.length, 0, `seed ${seed}: ${losses.length} losses, such as\n${shown}`);
  });

  for (const [what, [file, ours, worse]] of Object.entries(WORSE)) {
    test(`a store ${what} is found to lose what was answered`, async (context) => {
      copy.change(file, ours, worse);
      context.after(() => copy.change(file, ours, ours));
      const random = new SeededRandom(seed);
      const { losses } = await lossesOf({ runs: [30], random, ...copy }, CUTS_OF_THE_WORSE);
      context.diagnostic(
        `${losses.length} of ${CUTS_OF_THE_WORSE} cuts lose something, such as ${losses[0]}`,
      );
      assert.ok(
        losses.some((loss) => /told|gone/.test(loss)),
        losses.join('\n'),
      );
    });
  }
});
