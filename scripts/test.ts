// Runs everything: types, lint, then the tests against a real PostgreSQL beside SQLite. Arguments: test files.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium from '@sparticuz/chromium';
import { startPostgres } from '../test/support/postgres-server.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const files = process.argv.slice(2);

/** Of a test, in milliseconds. The long forms of campaigns take as long as they take. */
const TIMEOUT_MS = process.env.COUNTERFOIL_RUNS ? 86_400_000 : 300_000;
/** Tests in a process or two, which wait more than they work, and campaigns, which start many. */
const AT_ONCE = { tests: 4, campaigns: 3 };
/** A young generation that holds all that a test loads, in MB: it is not collected while that is loaded. */
const YOUNG_MB = 16;
/** Tests whose promises are about time: those that wait for most of it, beside one another, and those that fill the machine. */
const PATIENT = ['late-answers.test.ts', 'slow-clients.test.ts'];
const ALONE = ['many-connections.test.ts', 'overload.test.ts'];

/** Where Linux keeps files in memory, and what must be free there, in bytes. */
const IN_MEMORY = '/dev/shm';
const ROOM_BYTES = 4 * 2 ** 30;

/** Where all files of a run go, and with it: in memory where there is room, for they wait for no disk there. */
function makeFolder(): string {
  const free = () => {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return Math.min(bavail * bsize, process.availableMemory());
  };
  const isRoomy = existsSync(IN_MEMORY) && free() > ROOM_BYTES;
  const folder = mkdtempSync(join(isRoomy ? IN_MEMORY : tmpdir(), 'counterfoil-'));
  chmodSync(folder, 0o711); // servers of the tests have accounts of their own
  return folder;
}

function run(command: string, args: string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
    child.on('exit', (code) => resolve(code ?? 1));
    child.on('error', (error) => {
      console.error(error.message);
      resolve(1);
    });
  });
}

/** Whether types and lint are in order. */
async function isInOrder(): Promise<boolean> {
  const found = await Promise.all([
    run('node_modules/.bin/tsc', ['--noEmit']),
    run('node_modules/.bin/biome', ['check', '--error-on-warnings']),
  ]);
  return found.every((code) => code === 0);
}

const folder = makeFolder();
process.env.TMPDIR = folder;
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
// Beside one another; what is wrong with types and lint is told in any case.
const starting = startPostgres();
starting.catch(() => {});
const inOrder = files.length > 0 || (await isInOrder());
const postgres = await starting;
if (!inOrder) {
  await postgres.stop();
  process.exit(1);
}
// Of two tests that unpack the browser, one would start what the other is still writing.
if (files.length !== 1) await chromium.executablePath();
const env = {
  ...process.env,
  COUNTERFOIL_TEST_POSTGRES: postgres.url,
  // Hundreds of processes load the same modules: each is compiled once.
  NODE_COMPILE_CACHE: join(folder, 'compiled'),
};
const tests = files.length > 0 ? files : globSync('test/**/*.test.ts').sort();
/** What node:test writes in front of the failures when it ends. */
const FAILURES = '✖ failing tests:';
/** What each part of the run said, in files. */
const reports: string[] = [];

/** Runs a part. */
function test(some: string[], atOnce: number): Promise<number> | number {
  if (some.length === 0) return 0;
  const report = join(folder, `report-${reports.length}`);
  reports.push(report);
  const options = [
    `--min-semi-space-size=${YOUNG_MB}`,
    '--test',
    `--test-concurrency=${atOnce}`,
    `--test-timeout=${TIMEOUT_MS}`,
    ...['stdout', report].flatMap((to) => ['--test-reporter=spec', `--test-reporter-destination=${to}`]),
  ];
  return run(process.execPath, [...options, ...some], env);
}

// What measures time comes last.
const among = (names: string[]) => tests.filter((file) => names.some((name) => file.endsWith(name)));
const timed = among([...PATIENT, ...ALONE]);
const others = tests.filter((file) => !timed.includes(file));
const isCampaign = (file: string) => file.includes('campaigns/');
const codes = [
  await test(
    others.filter((file) => !isCampaign(file)),
    AT_ONCE.tests,
  ),
  await test(others.filter(isCampaign), AT_ONCE.campaigns),
  await test(among(PATIENT), PATIENT.length),
  await test(among(ALONE), 1),
];
await postgres.stop();
// The last part's failures stand above; those of the others, thousands of lines ago.
for (const report of reports.slice(0, -1)) {
  const told = existsSync(report) ? readFileSync(report, 'utf8') : '';
  if (told.includes(FAILURES)) console.error(`\n${told.slice(told.indexOf(FAILURES)).trim()}`);
}
process.exit(Math.max(...codes));
