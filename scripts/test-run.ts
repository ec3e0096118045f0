// What a run of tests needs: a folder in memory, a PostgreSQL, the browser, and node:test over given files.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium from '@sparticuz/chromium';
import { startPostgres } from '../test/support/postgres-server.ts';
import type { TestFailure } from './failures.ts';

/** The young generation of a test's process, in MB: large enough that nothing is collected while modules load. */
const YOUNG_MB = 16;
/** A memory file system on Linux, and the free bytes that a run needs there. */
const IN_MEMORY = '/dev/shm';
const ROOM_BYTES = 4 * 2 ** 30;
const FAILURES = fileURLToPath(new URL('failures.ts', import.meta.url));

export interface Part {
  files: string[];
  /** How many test files run at the same time. */
  atOnce: number;
  /** For one test, in milliseconds. */
  timeoutMs: number;
  env?: NodeJS.ProcessEnv;
}

export interface TestRun {
  /** Runs test files and prints their report. Returns those with a failure; all files where the runner itself failed. */
  run(part: Part): Promise<string[]>;
  /** Stops PostgreSQL and prints the failures of all parts but the last again, because those stand far above. */
  end(): Promise<void>;
}

/** Starts a command that writes to this terminal. Resolves to its exit code, 1 where it could not start. */
export function execute(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
    child.on('exit', (code) => resolve(code ?? 1));
    child.on('error', (error) => {
      console.error(error.message);
      resolve(1);
    });
  });
}

/** Creates the folder of all files of a run. It lies in memory where there is room, so that no test waits for the disk. */
function makeFolder(): string {
  const free = () => {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return Math.min(bavail * bsize, process.availableMemory());
  };
  const isRoomy = existsSync(IN_MEMORY) && free() > ROOM_BYTES;
  const folder = mkdtempSync(join(isRoomy ? IN_MEMORY : tmpdir(), 'counterfoil-'));
  chmodSync(folder, 0o711); // servers of the tests have accounts of their own
  process.env.TMPDIR = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts PostgreSQL and unpacks the browser. */
export async function startTestRun(): Promise<TestRun> {
  const folder = makeFolder();
  const postgres = await startPostgres();
  // Two tests that unpack the browser at once would start what the other is still writing.
  await chromium.executablePath();
  const common = {
    ...process.env,
    COUNTERFOIL_TEST_POSTGRES: postgres.url,
    NODE_COMPILE_CACHE: join(folder, 'compiled'), // hundreds of processes load the same modules
  };
  const parts: TestFailure[][] = [];

  async function run({ files, atOnce, timeoutMs, env = {} }: Part): Promise<string[]> {
    if (files.length === 0) return [];
    const report = join(folder, `failures-${parts.length}`);
    const reporters = [
      ['spec', 'stdout'],
      [FAILURES, report],
    ].flatMap(([name, to]) => [`--test-reporter=${name}`, `--test-reporter-destination=${to}`]);
    const options = [
      `--min-semi-space-size=${YOUNG_MB}`,
      '--test',
      `--test-concurrency=${atOnce}`,
      `--test-timeout=${timeoutMs}`,
    ];
    const code = await execute(process.execPath, [...options, ...reporters, ...files], { ...common, ...env });
    const lines = existsSync(report) ? readFileSync(report, 'utf8').split('\n').filter(Boolean) : [];
    const failures = lines.map((line): TestFailure => JSON.parse(line));
    parts.push(failures);
    if (code !== 0 && failures.length === 0) return files; // the runner itself failed
    return files.filter((file) => failures.some((failure) => failure.file === file));
  }

  async function end(): Promise<void> {
    await postgres.stop();
    for (const { file, name, error } of parts.slice(0, -1).flat())
      console.error(`\n✖ ${file}: ${name}\n${error}`);
  }

  return { run, end };
}
