// A server of its own in development, with some merchants, for measurements over HTTP.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newSecret } from '../src/lib/secrets.ts';
import { freePort } from '../test/support/free-ports.ts';
import { NODE_ARGUMENTS } from '../test/support/node-arguments.ts';

export interface Shops {
  port: number;
  /** The test keys, one for each merchant. */
  keys: readonly string[];
  /** Resident memory, MB. */
  residentMb(): number;
  /** Processor time that the server has used, milliseconds. */
  processorMs(): number;
  post(path: string, key: string, body: object): Promise<{ id: string; secret?: string }>;
  /** Has the server stand still, and go on. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  stop(): Promise<void>;
}

/** Starts a server with `count` merchants on SQLite. `lines` are added to its configuration. */
export async function startShops(count: number, lines: readonly string[] = []): Promise<Shops> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-bench-'));
  const keys = Array.from({ length: count }, () => newSecret('cfk_test_'));
  const config = join(folder, 'counterfoil.yaml');
  const merchants = keys.map((key, i) => `  - {id: mer_${i}, name: Shop ${i}, keys: [{key: ${key}}]}`);
  const text = ['environment: development', 'log_level: warn', ...lines, 'merchants:', ...merchants, ''];
  writeFileSync(config, text.join('\n'), { mode: 0o600 });
  const port = await freePort();
  const command = fileURLToPath(new URL('../bin/counterfoil.js', import.meta.url));
  const server = spawn(process.execPath, [...NODE_ARGUMENTS, command, 'serve', '--config', config], {
    env: {
      ...process.env,
      PORT: String(port),
      COUNTERFOIL_STORAGE: join(folder, 'storage'),
      MALLOC_ARENA_MAX: '1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(server.stdout, 'data');
  const proc = (file: string) => readFileSync(`/proc/${server.pid}/${file}`, 'utf8');
  return {
    port,
    keys,
    residentMb: () => Number(/VmRSS:\s+(\d+)/.exec(proc('status'))![1]) / 1024,
    processorMs() {
      const fields = proc('stat').split(') ')[1]!.split(' ');
      return (Number(fields[11]) + Number(fields[12])) * 10; // clock ticks of 10 ms
    },
    async post(path, key, body) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return ((await response.json()) as { data: { id: string } }).data;
    },
    signal: (name) => void server.kill(name),
    async stop() {
      server.kill('SIGTERM');
      await once(server, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The value that `part` of all are below, as whole milliseconds. */
export const quantile = (sorted: readonly number[], part: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!.toFixed(0);
