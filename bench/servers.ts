// Starts what is measured as processes of their own, and looks at them from outside.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/free-ports.ts';
import { NODE_ARGUMENTS } from '../test/support/node-arguments.ts';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export interface Server {
  child: ChildProcess;
  port: number;
  /** Milliseconds from spawning the process to its first word. */
  readyMs: number;
  /** Resident memory, MB. */
  residentMb(): number;
  stop(): Promise<void>;
}

/** Waits until a server takes requests, whatever it answers to them. */
async function answers(port: number): Promise<void> {
  for (;;) {
    const there = await fetch(`http://127.0.0.1:${port}/health`).then(
      (response) => response.text(),
      () => undefined,
    );
    if (there !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The command under strace, with `delayMs` added to each flush of the disk. The process stays our child; strace is its grandchild. */
const slowed = (delayMs: number) => [
  ...['strace', '-D', '-f', '--seccomp-bpf', '-qqq', '-o', '/dev/null', '-e', 'trace=fdatasync,fsync'],
  ...['-e', `inject=fdatasync,fsync:delay_exit=${delayMs * 1000}`],
];

/**
 * `storage` is a directory, `databaseUrl` PostgreSQL's where it shall hold the store; the bare server takes neither. With `flushDelayMs`
 * each flush of the disk takes so much longer. `program`: the `bin/counterfoil.js` of another version.
 */
export async function startServer(
  kind: 'bare' | 'counterfoil' | 'one-commit',
  storage = '',
  databaseUrl = '',
  flushDelayMs?: number,
  program = path('../bin/counterfoil.js'),
): Promise<Server> {
  const port = await freePort();
  const config = path('../counterfoil.yaml');
  const command = {
    bare: [path('bare-server.ts')],
    counterfoil: [...NODE_ARGUMENTS, program, 'serve', '--config', config],
    'one-commit': [path('one-commit-server.ts')],
  }[kind];
  const log = join(tmpdir(), `counterfoil-bench-${process.pid}.log`);
  const begun = performance.now();
  const [executable, ...args] = [
    ...(flushDelayMs === undefined ? [] : slowed(flushDelayMs)),
    process.execPath,
    ...command,
  ];
  const child = spawn(executable!, args, {
    env: {
      ...process.env,
      PORT: String(port),
      COUNTERFOIL_CONFIG: config,
      COUNTERFOIL_STORAGE: storage,
      DATABASE_URL: databaseUrl,
      MALLOC_ARENA_MAX: '1', // as npm start does
    },
    stdio: ['ignore', openSync(log, 'a'), 'inherit'], // a file, so that nobody who measures has to read it
  });
  await answers(port);
  const readyMs = performance.now() - begun;
  return {
    child,
    port,
    readyMs,
    residentMb: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      rmSync(log, { force: true });
    },
  };
}
