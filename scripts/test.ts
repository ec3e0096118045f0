// Runs types, lint and every deterministic test, on SQLite and a real PostgreSQL and in Chromium. Arguments: test files instead.
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { execute, startTestRun } from './test-run.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const asked = process.argv.slice(2);

/** A test waits more than it works, so twice as many files as processors run at the same time. */
const AT_ONCE = 4;
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

if (asked.length === 0 && !(await check())) process.exit(1);
const tests =
  asked.length > 0 ? asked : globSync('test/**/*.test.ts', { exclude: ['test/campaigns/**'] }).sort();
const run = await startTestRun();
const failed = await run.run({ files: tests, atOnce: AT_ONCE, timeoutMs: TIMEOUT_MS });
await run.end();
process.exit(failed.length > 0 ? 1 : 0);
