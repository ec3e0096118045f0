// `npm run test:guards`: breaks each guard of guards.ts in a copy of the repository, one after another, and says which tests turn red.
// An argument: those whose matter, file or sentence contains it. Exits with 1 where one is caught by nothing, or by `npm run test:all` alone
// though it concerns money, permission, personal data or the history.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GUARDS, type Guard } from './guards.ts';
import { Report } from './test-report.ts';
import { startTestRun } from './test-run.ts';
import { type Extent, partsOf, rowOf } from './test-table.ts';
import type { Told } from './test-worker.ts';

interface Catch {
  guard: Guard;
  by: string;
  extent: Extent;
}

/** Tells of files that are to be green, and of those that are to be red nothing. */
class Spoken extends Report {
  isQuiet = true;

  override take(told: Told): void {
    if (!this.isQuiet) super.take(told);
  }
}

const TIMEOUT_MS = 300_000;
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const report = new Spoken();
const run = await startTestRun(report);
const copy = copyRepository();
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
process.chdir(copy);

const wanted = process.argv[2] ?? '';
const guards = GUARDS.filter(({ matter, file, keeps }) =>
  [matter, file, keeps].some((text) => text.includes(wanted)),
);
const caught: Catch[] = [];
const faults: string[] = [];
for (const [place, guard] of guards.entries()) {
  const found = await tryOut(guard);
  if (found) caught.push(found);
  const isRight = found && (found.extent === 'listed' || guard.matter === 'working');
  const who = found
    ? `${found.extent === 'listed' ? 'npm test' : 'npm run test:all'}, ${found.by}`
    : 'nothing';
  if (!isRight) faults.push(`${guard.keeps}: caught by ${who}`);
  console.log(
    `${isRight ? '✔' : '✖'} ${place + 1}/${guards.length} ${guard.matter}: ${guard.keeps} (${guard.file}): ${who}`,
  );
}
// A file that is red though nothing is broken proves nothing.
report.isQuiet = false;
for (const extent of ['listed', 'whole'] as const) {
  const proving = new Set(caught.filter((one) => one.extent === extent).map(({ by }) => by));
  for (const red of await redOf([...proving], extent)) faults.push(`${red} is red though nothing is broken`);
}
await run.end();
console.log(faults.length === 0 ? `all ${guards.length} are caught` : faults.join('\n'));
process.exit(faults.length === 0 ? 0 : 1);

/** Everything that git knows or would add, with our dependencies. */
function copyRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-guards-'));
  const list = ['ls-files', '--cached', '--others', '--exclude-standard'];
  for (const file of execFileSync('git', list, { encoding: 'utf8' }).split('\n')) {
    if (!existsSync(file) || file === '') continue;
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(file, join(folder, file));
  }
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Breaks a guard, runs the tests that must turn red one after another until one does, and puts the guard back. */
async function tryOut(guard: Guard): Promise<Catch | undefined> {
  const { file, text, broken, red } = guard;
  const path = join('src', file);
  const whole = readFileSync(path, 'utf8');
  const at = whole.indexOf(text);
  if (at === -1)
    throw new Error(`${file} no longer has ${JSON.stringify(text)}: give guards.ts what stands there now`);
  writeFileSync(path, whole.slice(0, at) + broken + whole.slice(at + text.length));
  try {
    const files = red.map((name) => `test/${name}.test.ts`);
    for (const by of files)
      if (rowOf(by)?.stand !== 'all' && (await redOf([by], 'listed')).length > 0)
        return { guard, by, extent: 'listed' };
    for (const by of files)
      if ((await redOf([by], 'whole')).length > 0) return { guard, by, extent: 'whole' };
    return undefined;
  } finally {
    writeFileSync(path, whole);
  }
}

/** Those of some files that fail. */
function redOf(files: readonly string[], extent: Extent): Promise<string[]> {
  return run.run(partsOf(files, extent), { atOnce: 2, timeoutMs: TIMEOUT_MS });
}
