// What a run of tests needs: a folder in memory, a PostgreSQL, the browser, and node:test over given files.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { run as runFiles } from 'node:test';
import { spec } from 'node:test/reporters';
import { inspect } from 'node:util';
import chromium from '@sparticuz/chromium';
import { startPostgres } from '../test/support/postgres-server.ts';

/** The young generation of a test's process, in MB: large enough that nothing is collected while modules load. */
const YOUNG_MB = 32;
/** A memory file system on Linux, and the free bytes that a run needs there. */
const IN_MEMORY = '/dev/shm';
const ROOM_BYTES = 4 * 2 ** 30;

/** A test that failed. */
interface Failure {
  /** The path from the current folder. */
  file: string;
  name: string;
  error: string;
}

export interface Part {
  /** They start in this order. */
  files: string[];
  /** How many test files run at the same time. */
  atOnce: number;
  /** For one test, in milliseconds. */
  timeoutMs: number;
  env?: NodeJS.ProcessEnv;
}

export interface TestRun {
  /** Runs test files and prints their report. Returns those with a failure; all files where it cannot be told which. */
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
  process.env.COUNTERFOIL_TEST_POSTGRES = postgres.url;
  process.env.NODE_COMPILE_CACHE = join(folder, 'compiled'); // hundreds of processes load the same modules
  const parts: Failure[][] = [];

  async function run({ files, atOnce, timeoutMs, env = {} }: Part): Promise<string[]> {
    if (files.length === 0) return [];
    const own = process.env;
    process.env = { ...own, ...env }; // test files run in processes that inherit it
    const failures: Failure[] = [];
    const events = runFiles({
      files: files.map((file) => resolve(file)),
      concurrency: atOnce,
      timeout: timeoutMs,
      execArgv: [`--min-semi-space-size=${YOUNG_MB}`],
    });
    events.on('test:fail', ({ file = '', name, details: { error } }) => {
      failures.push({ file: relative('', file), name, error: inspect(error.cause ?? error) });
    });
    events.compose(new spec()).pipe(process.stdout, { end: false });
    await once(events, 'end');
    process.env = own;
    parts.push(failures);
    const failed = files.filter((file) => failures.some((failure) => failure.file === relative('', file)));
    return failures.length > 0 && failed.length === 0 ? files : failed;
  }

  async function end(): Promise<void> {
    await postgres.stop();
    for (const { file, name, error } of parts.slice(0, -1).flat())
      console.error(`\n✖ ${file}: ${name}\n${error}`);
  }

  return { run, end };
}
