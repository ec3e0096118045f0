// What a run of tests needs: a folder in memory, a PostgreSQL, a Chromium, and processes that run test files one after another.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchShared } from '../test/support/chromium.ts';
import { startPostgres } from '../test/support/postgres-server.ts';
import { makeTemplates } from '../test/support/stores.ts';
import { Report } from './test-report.ts';
import type { Told } from './test-worker.ts';

const WORKER = fileURLToPath(new URL('test-worker.ts', import.meta.url));
/** The young generation of a test's process, in MB: large enough that nothing is collected while modules load. */
const YOUNG_MB = 32;
/** A memory file system on Linux, and the free bytes that a run needs there. */
const IN_MEMORY = '/dev/shm';
const ROOM_BYTES = 4 * 2 ** 30;

/** Test files that run in the same way. */
export interface Part {
  /** They start in this order. */
  files: readonly string[];
  /** Whether each has a process of its own; the others of a part share processes. */
  apart?: boolean;
  env?: NodeJS.ProcessEnv;
}

export interface TestRun {
  /**
   * Runs the files of all parts, `atOnce` of them at the same time, and prints what becomes of them. Returns those with a failure.
   * `timeoutMs` is for one test.
   */
  run(parts: readonly Part[], options: { atOnce: number; timeoutMs: number }): Promise<string[]>;
  readonly report: Report;
  /** Stops PostgreSQL and Chromium. */
  end(): Promise<void>;
}

/** Starts a command that writes to this terminal. Resolves to its exit code, 1 where it could not start. */
export function execute(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  return new Promise((done) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
    child.on('exit', (code) => done(code ?? 1));
    child.on('error', (error) => {
      console.error(error.message);
      done(1);
    });
  });
}

/** Creates the folder of all files of a run. It lies in memory where there is room, so that no test waits for the disk. */
function makeFolder(): void {
  const free = () => {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return Math.min(bavail * bsize, process.availableMemory());
  };
  const isRoomy = existsSync(IN_MEMORY) && free() > ROOM_BYTES;
  const folder = mkdtempSync(join(isRoomy ? IN_MEMORY : tmpdir(), 'counterfoil-'));
  chmodSync(folder, 0o711); // servers of the tests have accounts of their own
  process.env.TMPDIR = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
}

/** Starts PostgreSQL and Chromium. Test files stand below the current folder. */
export async function startTestRun(report = new Report()): Promise<TestRun> {
  makeFolder();
  const chromium = await launchShared();
  const postgres = await startPostgres();
  process.env.COUNTERFOIL_TEST_POSTGRES = postgres.url;
  await makeTemplates();
  process.env.COUNTERFOIL_TEST_CHROMIUM = chromium.url;
  process.env.NODE_COMPILE_CACHE = resolve('node_modules/.cache'); // many processes load the same modules, as `bin/counterfoil.js` does
  return {
    report,
    async run(parts, { atOnce, timeoutMs }) {
      const queues = parts.map((part) => ({ ...part, files: [...part.files] }));
      const failed: string[] = [];
      const work = async () => {
        for (;;) {
          // Whoever is free helps where most is left.
          const queue = queues.reduce((most, one) => (one.files.length > most.files.length ? one : most));
          if (queue.files.length === 0) return;
          failed.push(...(await runInProcess(queue, timeoutMs, report)));
        }
      };
      if (queues.length > 0) await Promise.all(Array.from({ length: atOnce }, work));
      return failed;
    },
    async end() {
      await Promise.all([postgres.stop(), chromium.close()]);
    },
  };
}

/**
 * Takes files of a queue and runs them in one process, until there are none, or one fails: what that left behind shall fail no other.
 * Returns those that failed.
 */
async function runInProcess(
  queue: { files: string[]; apart?: boolean; env?: NodeJS.ProcessEnv },
  timeoutMs: number,
  report: Report,
): Promise<string[]> {
  const worker = fork(WORKER, {
    execArgv: [
      `--min-semi-space-size=${YOUNG_MB}`,
      `--test-timeout=${timeoutMs}`,
      `--test-reporter=${WORKER}`,
      '--test-reporter-destination=stdout',
    ],
    env: { ...process.env, ...queue.env },
    serialization: 'advanced',
  });
  let file: string | undefined;
  const failed: string[] = [];
  const fail = (name: string, error?: string) => {
    if (!failed.includes(name)) failed.push(name);
    if (error) report.take({ kind: 'test', file: name, name: 'its process', skipped: undefined, error });
  };
  const next = () => {
    const isLast = failed.length > 0 || (queue.apart && file !== undefined);
    file = isLast ? undefined : queue.files.shift();
    worker.send(file ?? '');
    report.begin(file);
  };
  const done: string[] = [];
  worker.on('message', (told: Told) => {
    if (told.kind === 'test' && told.error !== undefined) fail(file ?? told.file);
    if (told.kind === 'late') for (const name of done.slice(-1)) fail(name);
    report.take(told);
    if (told.kind !== 'file') return;
    done.push(told.file);
    next();
  });
  next();
  const code = await endOf(worker);
  if (file !== undefined) fail(file, `ended with ${code} before its tests did`);
  else if (code !== 0 && failed.length === 0) fail(done.at(-1)!, `ended with ${code}`);
  return failed;
}

/** How a process ended, once all it told is heard. */
async function endOf(worker: ChildProcess): Promise<number | string> {
  const [[code, signal]] = await Promise.all([once(worker, 'exit'), once(worker, 'disconnect')]);
  return code ?? signal;
}
