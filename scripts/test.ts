// Runs types, lint and every deterministic test, on SQLite and a real PostgreSQL and in Chromium. Arguments: test files instead.
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { groupTests } from './test-groups.ts';
import { execute, startTestRun } from './test-run.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const asked = process.argv.slice(2);

/** A test waits more than it works, so three times as many files as the processors of a small machine run at the same time. */
const AT_ONCE = 6;
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

/** The files that work or wait longest, each in a process of its own. They start first, so that no processor is idle at the end. */
const LONGEST = [
  'webhooks/several',
  'webhooks/delivery',
  'console/gallery.browser',
  'checkout/browser',
  'events/stream',
  'database/postgres',
  'security/stolen-store',
  'checkout/injection',
  'commands/refusals',
  'authorisation',
  'registration/browser',
  'checkout/canary',
].map((name) => `test/${name}.test.ts`);

/** All tests, in the order of their start. Most of them share a process with others. */
function allTests(): string[] {
  const files = globSync('{test,packages/*/test}/**/*.test.ts', { exclude: ['test/campaigns/**'] }).sort();
  return groupTests(files, LONGEST);
}

const [isSound, run] = await Promise.all([asked.length > 0 || check(), startTestRun()]);
const failed = isSound
  ? await run.run({ files: asked.length > 0 ? asked : allTests(), atOnce: AT_ONCE, timeoutMs: TIMEOUT_MS })
  : ['types or lint'];
await run.end();
process.exit(failed.length > 0 ? 1 : 0);
