// node bench/events.ts: how late events arrive with 1,000 streams open on one node, and what 10,000 reads that wait weigh.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { newSecret } from '../src/lib/secrets.ts';
import { freePort } from '../test/support/free-ports.ts';

const MERCHANTS = 10;
const STREAMS = 1000;
const WAITS = 10_000;
const PAYMENTS = 200;
/** Between two payments. */
const PAUSE_MS = 50;
const AT_ONCE = 200;

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-bench-events-'));
const keys = Array.from({ length: MERCHANTS }, () => newSecret('cfk_test_'));
const config = join(folder, 'counterfoil.yaml');
const merchants = keys.map((key, i) => `  - {id: mer_${i}, name: Shop ${i}, keys: [{key: ${key}}]}`);
const lines = ['environment: development', 'log_level: warn', 'merchants:', ...merchants, ''];
writeFileSync(config, lines.join('\n'), { mode: 0o600 });
const port = await freePort();
const command = fileURLToPath(new URL('../bin/counterfoil.js', import.meta.url));
const flags = ['--max-semi-space-size=4', '--heap-growing-percent=50']; // as npm start has
const server = spawn(process.execPath, [...flags, command, 'serve', '--config', config], {
  env: {
    ...process.env,
    PORT: String(port),
    COUNTERFOIL_STORAGE: join(folder, 'storage'),
    MALLOC_ARENA_MAX: '1',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
await once(server.stdout, 'data');

const residentMb = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]) / 1024;

/** Sends a request on a connection of its own. Resolves with its answer's first bytes, and calls `hear` with all of them. */
function send(path: string, key: string, headers: Record<string, string>, hear: (text: string) => void) {
  const outgoing = request({
    port,
    path,
    agent: false,
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  outgoing.on('error', () => {});
  outgoing.on('response', (response) =>
    response
      .setEncoding('utf8')
      .on('data', hear)
      .on('error', () => {}),
  );
  outgoing.end();
  return outgoing;
}

async function create(key: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: '{"amount":1}' };
  const response = await fetch(`http://127.0.0.1:${port}/v1/payments`, init);
  return ((await response.json()) as { data: { id: string } }).data.id;
}

const quantile = (sorted: readonly number[], part: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!.toFixed(0);

async function streams(): Promise<void> {
  const latencies: number[] = [];
  const answeredAt = new Map<string, number>();
  let begun = 0;
  const hear = (text: string) => {
    if (text.startsWith('retry')) begun += 1;
    for (const [, id] of text.matchAll(/"payment_id":"(\w+)"/g))
      latencies.push(performance.now() - (answeredAt.get(id!) ?? performance.now()));
  };
  const open: ClientRequest[] = [];
  for (let i = 0; i < STREAMS; i++) {
    open.push(send('/v1/events/stream', keys[i % MERCHANTS]!, {}, hear));
    if (i % AT_ONCE === 0) await sleep(100);
  }
  while (begun < STREAMS) await sleep(10);
  for (let i = 0; i < PAYMENTS; i++) {
    answeredAt.set(await create(keys[i % MERCHANTS]!), performance.now());
    await sleep(PAUSE_MS);
  }
  await sleep(1500);
  const expected = (PAYMENTS * STREAMS) / MERCHANTS;
  latencies.sort((one, other) => one - other);
  console.log(
    `${STREAMS} streams: ${latencies.length} of ${expected} events; p50 ${quantile(latencies, 0.5)} ms, p99 ${quantile(latencies, 0.99)} ms, latest ${quantile(latencies, 1)} ms after the create was answered; ${residentMb().toFixed(0)} MB`,
  );
  for (const one of open) one.destroy();
}

async function waits(): Promise<void> {
  const ids = await Promise.all(keys.map(create));
  await sleep(2000);
  const before = residentMb();
  let answers = 0;
  const hear = () => {
    answers += 1;
  };
  const open: ClientRequest[] = [];
  for (let i = 0; i < WAITS; i++) {
    const which = i % MERCHANTS;
    open.push(send(`/v1/payments/${ids[which]}`, keys[which]!, { prefer: 'wait=50' }, hear));
    if (i % AT_ONCE === 0) await sleep(100);
  }
  await sleep(5000);
  const held = residentMb();
  console.log(
    `${WAITS} reads that wait: ${held.toFixed(0)} MB resident, ${before.toFixed(0)} MB before; ${answers} were answered early`,
  );
  for (const one of open) one.destroy();
}

try {
  await streams();
  await waits();
} finally {
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(folder, { recursive: true, force: true });
}
