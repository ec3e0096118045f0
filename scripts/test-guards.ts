// `npm run test:guards`: breaks each guard of guards.ts in a copy of the repository, one after another, and says which tests turn red.
// An argument: those whose file or sentence contains it. Exits with 1 where one is caught by nothing, or by `npm run test:all` alone
// though it concerns money, permission, personal data or the history.
import { execFileSync, spawnSync } from 'node:child_process';
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
import { rowOf } from './test-table.ts';

type Caught = 'npm test' | 'npm run test:all' | 'nothing';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
/** What the tests that ran last said. */
let said = '';
const copy = copyRepository();
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));

const wanted = process.argv[2] ?? '';
const guards = GUARDS.filter(({ file, keeps }) => file.includes(wanted) || keeps.includes(wanted));
// A file that is red before anything is broken would prove nothing.
const proving = [...new Set(guards.flatMap(({ red }) => red))].map(pathOf);
const redAlready = isRed(proving, '--listed')
  ? [...said.matchAll(/^ {2}npm test -- (\S+)$/gm)].map(([, file]) => file!)
  : [];
if (redAlready.length > 0) console.log(`red though nothing is broken, so not used: ${redAlready.join(', ')}`);
let isAllCaught = true;
for (const [place, guard] of guards.entries()) {
  const { caught, by } = tryOut(guard);
  const isRight = caught === 'npm test' || (caught === 'npm run test:all' && guard.matter === 'working');
  isAllCaught &&= isRight;
  const where = `${place + 1}/${guards.length} ${guard.matter}: ${guard.keeps} (${guard.file})`;
  console.log(
    `${isRight ? '✔' : '✖'} ${where}: ${caught === 'nothing' ? 'caught by nothing' : `${caught}, ${by}`}`,
  );
}
process.exit(isAllCaught ? 0 : 1);

function pathOf(name: string): string {
  return `test/${name}.test.ts`;
}

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
function tryOut({ file, text, broken, red }: Guard): { caught: Caught; by?: string } {
  const path = join(copy, 'src', file);
  const whole = readFileSync(path, 'utf8');
  const at = whole.indexOf(text);
  if (at === -1)
    throw new Error(`${file} no longer has ${JSON.stringify(text)}: give guards.ts what stands there now`);
  writeFileSync(path, whole.slice(0, at) + broken + whole.slice(at + text.length));
  try {
    const files = red.map(pathOf).filter((one) => !redAlready.includes(one));
    for (const by of files)
      if (rowOf(by)?.stand !== 'all' && isRed([by], '--listed')) return { caught: 'npm test', by };
    for (const by of files) if (isRed([by])) return { caught: 'npm run test:all', by };
    return { caught: 'nothing' };
  } finally {
    writeFileSync(path, whole);
  }
}

/** Whether tests of files fail. */
function isRed(files: readonly string[], ...flags: string[]): boolean {
  const { status, stdout } = spawnSync(process.execPath, ['scripts/test.ts', ...files, ...flags], {
    cwd: copy,
    encoding: 'utf8',
  });
  said = stdout;
  if (status !== 0 && !stdout.includes('✖')) throw new Error(`${files} could not be run:\n${stdout}`);
  return status !== 0;
}
