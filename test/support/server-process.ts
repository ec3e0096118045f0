// The service as its operators run it: a process of its own, told apart by its port, ended by signals.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const COMMAND = fileURLToPath(new URL('../../bin/counterfoil.js', import.meta.url));

export interface ServerProcess {
  child: ChildProcess;
  pid: number;
  /** `http://127.0.0.1:PORT` */
  origin: string;
  /** The line that said it was ready. */
  ready: Record<string, unknown>;
  readyMs: number;
  /** Everything on standard output and error after that line. */
  output: string[];
  /** Sends a signal and answers with the exit code (null when a signal ended it). */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export interface ServerProcessOptions {
  config: string;
  /** 0: one that is free, where the configuration names no base URL. */
  port: number;
  storage: string;
  database_url?: string | null;
  env?: Record<string, string>;
  nodeArguments?: readonly string[];
  /** Another program than ours, or ours from another folder. */
  command?: string;
}

/** Starts `counterfoil serve` and answers when it is ready. */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const begun = performance.now();
  const child = spawn(
    process.execPath,
    [...(options.nodeArguments ?? []), options.command ?? COMMAND, 'serve', '--config', options.config],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        PORT: String(options.port),
        COUNTERFOIL_STORAGE: options.storage,
        DATABASE_URL: options.database_url ?? '',
        ...options.env,
      },
    },
  );
  const output: string[] = [];
  createInterface({ input: child.stderr! }).on('line', (line) => output.push(line));
  const exited = once(child, 'exit');
  const ready = await new Promise<Record<string, unknown>>((resolve, reject) => {
    let first = true;
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (!first) {
        output.push(line);
        return;
      }
      first = false;
      resolve(JSON.parse(line));
    });
    // Its last words may come after its exit, and not after its close.
    child.on('close', (code) => reject(new Error(`exited with ${code}: ${output.join('\n')}`)));
  });
  return {
    child,
    pid: child.pid!,
    origin: `http://127.0.0.1:${options.port || new URL(ready.base_url as string).port}`,
    ready,
    readyMs: performance.now() - begun,
    output,
    async end(signal) {
      child.kill(signal);
      const [code] = await exited;
      return code as number | null;
    },
  };
}
