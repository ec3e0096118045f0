// `npm test`: types, lint and every behaviour, once. What runs where and why is declared in test-table.ts.
// Arguments: test files instead, whole. `--all`: all of them whole. `--rest`: what `npm test` leaves out. `--listed`: files given, as it runs them.
// `--costs`: what it took.
// COUNTERFOIL_SEED repeats the order of a run.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { SeededRandom } from '../test/support/seeded-random.ts';
import { execute, startTestRun } from './test-run.ts';
import { type Extent, partsOf, testFiles } from './test-table.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const has = (flag: string) => process.argv.includes(flag);
/** What is run of the files. */
function extent(): Extent {
  if (has('--rest')) return 'rest';
  return !has('--listed') && (asked.length > 0 || has('--all')) ? 'whole' : 'listed';
}

/** A test waits about as long as it works. */
const AT_ONCE = Math.min(2 * availableParallelism(), availableParallelism() + 2);
/** For one test, in milliseconds. `COUNTERFOIL_RUNS` asks for a long form, which takes as long as it takes. */
const TIMEOUT_MS = process.env.COUNTERFOIL_RUNS ? 86_400_000 : 300_000;

/** Checks types and lint. */
async function check(): Promise<boolean> {
  const codes = await Promise.all([
    execute('node_modules/.bin/tsc', ['--noEmit']),
    execute('node_modules/.bin/biome', ['check', '--error-on-warnings']),
  ]);
  return codes.every((code) => code === 0);
}

const random = new SeededRandom();
console.log(`the order is that of seed ${random.seed} (COUNTERFOIL_SEED)`);
const [isSound, run] = await Promise.all([asked.length > 0 || has('--rest') || check(), startTestRun()]);
const parts = partsOf(asked.length > 0 ? asked : testFiles(), extent()).map((part) => ({
  ...part,
  files: random.shuffled(part.files),
}));
const failed = isSound ? await run.run(parts, { atOnce: AT_ONCE, timeoutMs: TIMEOUT_MS }) : ['types or lint'];
await run.end();
if (isSound) run.report.close(failed);
if (has('--costs')) run.report.tellCosts();
process.exit(failed.length > 0 ? 1 : 0);
