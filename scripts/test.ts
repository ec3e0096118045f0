// Runs everything: types, lint, then the tests against a real PostgreSQL beside SQLite. Arguments: test files.
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../test/support/postgres-server.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const files = process.argv.slice(2);

/** Tests in a process or two, which wait for one another now and then, and campaigns, which start many. */
const AT_ONCE = { tests: 4, campaigns: 3 };
/** Tests whose promises are about time. */
const ALONE = ['slow-clients.test.ts', 'many-connections.test.ts', 'overload.test.ts'];

function run(command: string, args: string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

if (files.length === 0) {
  for (const [tool, ...args] of [
    ['tsc', '--noEmit'],
    ['biome', 'check', '--error-on-warnings'],
  ] as [string, ...string[]][]) {
    if ((await run(`node_modules/.bin/${tool}`, args)) !== 0) process.exit(1);
  }
}

const postgres = await startPostgres();
// Hundreds of processes load the same modules: each is compiled once.
const compiled = mkdtempSync(join(tmpdir(), 'counterfoil-compiled-'));
const env = {
  ...process.env,
  COUNTERFOIL_TEST_POSTGRES: postgres.url,
  NODE_COMPILE_CACHE: compiled,
};
const tests = files.length > 0 ? files : globSync('test/**/*.test.ts').sort();
const test = (some: string[], atOnce: number) =>
  some.length === 0
    ? 0
    : run(
        process.execPath,
        ['--test', `--test-concurrency=${atOnce}`, '--test-timeout=300000', ...some],
        env,
      );

// What measures time has the machine to itself, and comes last.
const alone = tests.filter((file) => ALONE.some((name) => file.endsWith(name)));
const others = tests.filter((file) => !alone.includes(file));
const isCampaign = (file: string) => file.includes('campaigns/');
const codes = [
  await test(
    others.filter((file) => !isCampaign(file)),
    AT_ONCE.tests,
  ),
  await test(others.filter(isCampaign), AT_ONCE.campaigns),
  await test(alone, 1),
];
await postgres.stop();
rmSync(compiled, { recursive: true, force: true });
process.exit(Math.max(...codes));
