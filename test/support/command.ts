// Commands as their users run them: processes of their own, in a folder of their own, on pipes or on a terminal.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HostedCommand, HostedResult } from './command-host.ts';
import { isWhole } from './extent.ts';
import { KEY, writeConfiguration } from './harness.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const COMMAND = join(ROOT, 'bin/counterfoil.js');
const HOST = fileURLToPath(new URL('command-host.ts', import.meta.url));

/** The environment of a person who has set nothing that Counterfoil reads. */
export function plainEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const unset = /^(COUNTERFOIL_|npm_|NODE_|FORCE_COLOR$|NO_COLOR$|PORT$|DATABASE_URL$)/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !unset.test(name)));
  return {
    ...env,
    TERM: 'xterm-256color',
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
    ...extra,
  };
}

/** The environment of a store's operator. The configuration is written beside the store's files. */
export function operatorOf(...written: Parameters<typeof writeConfiguration>): Record<string, string> {
  const [{ storage, database_url }] = written;
  return {
    COUNTERFOIL_CONFIG: writeConfiguration(...written),
    COUNTERFOIL_STORAGE: storage,
    DATABASE_URL: database_url ?? '',
  };
}

export interface Folder {
  path: string;
  /** Its `counterfoil.yaml`. */
  config: string;
  remove(): void;
}

export const DEVELOPMENT = `# First comment
environment: development

merchants:
  # The shop's comment
  - id: mer_development
    name: Development Shop # beside the name
    keys:
      - key: ${KEY}
`;

/** A folder with a configuration, as a fresh clone has one. */
export function temporaryFolder(text = DEVELOPMENT): Folder {
  const path = mkdtempSync(join(tmpdir(), 'counterfoil-command-'));
  const config = join(path, 'counterfoil.yaml');
  writeFileSync(config, text, { mode: 0o600 });
  return { path, config, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export interface Running {
  child: ChildProcess;
  stdout: string;
  stderr: string;
  /** Answers when standard output matches; fails when the process ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** How it ended. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** The whole environment, where it is not a plain one with `env` over it. */
  environment?: NodeJS.ProcessEnv;
  /** What still runs then is killed, in milliseconds; else it is when this process ends. */
  endWithinMs?: number;
}

/** Starts any program. Its standard input stays open. */
export function start(program: string, args: readonly string[], options: RunOptions = {}): Running {
  const child = spawn(program, args, {
    cwd: options.cwd ?? tmpdir(),
    env: options.environment ?? plainEnvironment(options.env),
    stdio: 'pipe',
  });
  const kill = () => {
    child.kill('SIGKILL');
    child.stdout.destroy(); // a grandchild left behind may hold the other ends
    child.stderr.destroy();
  };
  const timer = options.endWithinMs && setTimeout(kill, options.endWithinMs);
  process.once('exit', kill); // a test that failed may not have ended it
  const running: Running = {
    child,
    stdout: '',
    stderr: '',
    ended: once(child, 'close').then(([code, signal]) => {
      clearTimeout(timer);
      process.off('exit', kill);
      return { code, signal };
    }),
    async until(pattern) {
      for (;;) {
        const found = pattern.exec(running.stdout);
        if (found) return found;
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`ended without ${pattern}: ${running.stdout}${running.stderr}`);
        const heard = new AbortController();
        const { signal } = heard;
        await Promise.race([once(child.stdout!, 'data', { signal }), once(child, 'close', { signal })]);
        heard.abort(); // whoever prints much would leave a listener behind each time
      }
    },
  };
  child.stdout!.on('data', (bytes) => (running.stdout += bytes));
  child.stderr!.on('data', (bytes) => (running.stderr += bytes));
  return running;
}

type Result = { code: number | null; stdout: string; stderr: string };

/** Commands that were run in a fresh process: where everything is asked for, each once; else one for all. */
const seen = new Set<string | undefined>();
/** Hosts that have nothing to do. */
const idle: ChildProcess[] = [];

/**
 * Runs `counterfoil …` to its end (`serve`, where it is refused), without a terminal and with nothing on standard input. A first run is a
 * fresh process with the program's own start, and so is one that asks for Node's options. The others share processes, because most of what
 * a command costs is the loading of its modules.
 */
export async function run(args: readonly string[], options: RunOptions = {}): Promise<Result> {
  const isPlain = !options.environment && !Object.keys(options.env ?? {}).some((name) => /^NODE_/.test(name));
  const kind = isWhole ? args[0] : 'any';
  if (isPlain && seen.has(kind)) return runHosted(args, options);
  seen.add(kind);
  const running = start(process.execPath, [COMMAND, ...args], options);
  running.child.stdin!.end();
  const { code } = await running.ended;
  return { code, stdout: running.stdout, stderr: running.stderr };
}

async function runHosted(args: readonly string[], options: RunOptions): Promise<Result> {
  const host = idle.pop() ?? fork(HOST, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] });
  const command: HostedCommand = {
    args,
    cwd: options.cwd ?? tmpdir(),
    env: plainEnvironment(options.env),
  };
  host.ref();
  host.channel!.ref();
  host.send(command);
  const done = new AbortController();
  const { signal } = done;
  const [result] = await Promise.race([
    once(host, 'message', { signal }) as Promise<[HostedResult]>,
    once(host, 'exit', { signal }).then(([code]): [Result] => [
      { code, stdout: '', stderr: 'it ended its host' },
    ]),
  ]);
  done.abort();
  if (host.connected) {
    // It ends with this process, which does not wait for it.
    host.unref();
    host.channel!.unref();
    idle.push(host);
  }
  return result;
}

/** A command that changed nothing and says why, and nothing else. */
export function requireRefusal({ code, stdout, stderr }: Result, wanted: 1 | 2 | 78, said: RegExp): void {
  assert.deepEqual([code, stdout], [wanted, ''], stderr);
  assert.match(stderr, said);
}

function succeeds(program: string, args: string[], pattern: RegExp): boolean {
  if (isAbsolute(program) && !existsSync(program)) return false;
  try {
    return pattern.test(
      execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    );
  } catch {
    return false;
  }
}

/** Whether this machine has the `script` of util-linux, which lends a process a terminal. */
export const hasTerminal = succeeds('script', ['--version'], /util-linux/);

/** Starts one command, as the terminal's only process (`exec`, for a shell between would end as Ctrl-C found it); what
 * is written to its standard input is typed there. */
export function startOnTerminal(line: string, options: RunOptions = {}): Running {
  return start(
    'script',
    ['--quiet', '--return', '--echo', 'never', '--command', `exec ${line}`, '/dev/null'],
    options,
  );
}

/** A Node too old to run the sources, where this machine has one: the wrapper's reason to be. */
export const oldNode = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .filter((node) => node !== process.execPath)
  .find((node) => succeeds(node, ['--version'], /^v(20|22|24)\./));

export const ANSI = new RegExp(String.fromCharCode(27));

/** What is read of a terminal's output: without colours, lines as they end in files. */
export function plainText(text: string): string {
  return text.replace(new RegExp(`${ANSI.source}\\[\\d+m`, 'g'), '').replaceAll('\r\n', '\n');
}
