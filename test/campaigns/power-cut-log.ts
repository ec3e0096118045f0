// The steps of a server that power-cut.c wrote down: what it did to its files, and what it answered, in the order it did so.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('power-cut.c', import.meta.url));
const KINDS = {
  O: 'open',
  W: 'write',
  T: 'truncate',
  S: 'sync',
  U: 'unlink',
  R: 'rename',
  M: 'make folder',
  A: 'answer',
  F: 'fail',
} as const;

export interface Step {
  kind: (typeof KINDS)[keyof typeof KINDS];
  descriptor: number;
  /** The offset of a write, the size of a truncation, the flags of an opening; 1 where what failed was a sync. */
  at: number;
  /** What was written or answered; else the path, below the watched folder. */
  bytes: Buffer;
}

/** Compiles the library that writes steps down. Returns what keeps it from being compiled, undefined where it lies in `file` now. */
export function compileWatcher(file: string): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux, whose C library it stands in front of';
  try {
    execFileSync('cc', ['-O1', '-shared', '-fPIC', '-o', file, SOURCE, '-ldl', '-lpthread'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return undefined;
  } catch (error) {
    const { code, stderr } = error as { code?: string; stderr?: Buffer };
    if (code === 'ENOENT') return 'needs a C compiler (cc)';
    throw new Error(`power-cut.c does not compile: ${stderr}`);
  }
}

/** What a server's environment needs, to have its steps below `folder` written down in `log`. */
export function watched(library: string, folder: string, log: string): Record<string, string> {
  return { LD_PRELOAD: library, COUNTERFOIL_WATCHED: folder, COUNTERFOIL_WATCH_LOG: log };
}

/** Steps that are not done but fail: see power-cut.c. */
export interface Failing {
  kind: 'sync' | 'write';
  errno: 'EIO' | 'ENOSPC';
  /** Which of them is the first, from 1, and how many fail from it on. */
  first: number;
  times: number;
  /** How the names of their files end; all files where it is not given. */
  end?: string;
}

/** What the environment needs in addition for steps to fail. */
export function failing({ kind, errno, first, times, end = '/' }: Failing): Record<string, string> {
  const number = constants.errno[errno];
  return { COUNTERFOIL_FAILING: `${kind === 'sync' ? 'S' : 'W'} ${number} ${first} ${times} ${end}` };
}

/** Reads a log: of each step its head (see `struct head`), then its bytes. */
export function readSteps(log: string): Step[] {
  const bytes = readFileSync(log);
  const steps: Step[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32LE(at + 13);
    steps.push({
      kind: KINDS[String.fromCharCode(bytes[at]!) as keyof typeof KINDS],
      descriptor: bytes.readInt32LE(at + 1),
      at: Number(bytes.readBigInt64LE(at + 5)),
      bytes: bytes.subarray(at + 17, at + 17 + length),
    });
    at += 17 + length;
  }
  return steps;
}
