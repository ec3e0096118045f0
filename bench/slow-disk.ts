// npm run bench:slow-disk: reads, pages and health beside creators while each flush of the disk takes longer, made slow by strace.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { createOne } from './load.ts';
import { BODY, KEY } from './request.ts';
import { startServer } from './servers.ts';

/** What each flush takes more than the disk's own time. */
const DELAYS_MS = [0, 5, 20];
const READERS = 8;
const CREATORS = 16;
const MANY_CREATORS = 256;
const ROUND_S = Number(process.env.BENCH_ROUND_S ?? 8);

if (spawnSync('strace', ['--version']).error) {
  console.log('Skipped: strace is not installed. On Debian: apt-get install strace');
  process.exit(0);
}

interface Load {
  perSecond: number;
  p50: number;
  p99: number;
  p99_9: number;
  max: number;
}

async function load(port: number, path: string, connections: number, isCreating: boolean): Promise<Load> {
  const result = await autocannon({
    url: `http://127.0.0.1:${port}${path}`,
    method: isCreating ? 'POST' : 'GET',
    connections,
    duration: ROUND_S,
    headers: { authorization: `Bearer ${KEY}`, ...(isCreating && { 'content-type': 'application/json' }) },
    ...(isCreating && { body: JSON.stringify(BODY) }),
  });
  if (result.non2xx + result.errors > 0)
    throw new Error(`${path}: ${result.non2xx} refused, ${result.errors} failed`);
  const { p50, p99, p99_9, max } = result.latency;
  return { perSecond: result.requests.total / result.duration, p50, p99, p99_9, max };
}

const told = ({ perSecond, p50, p99, p99_9, max }: Load) =>
  `${Math.round(perSecond).toLocaleString('en').padStart(8)}/s, p50 ${p50}, p99 ${p99}, p99.9 ${p99_9}, longest ${max} ms`;

for (const delayMs of DELAYS_MS) {
  const storage = mkdtempSync(join(tmpdir(), 'counterfoil-slow-disk-'));
  const server = await startServer('counterfoil', storage, '', delayMs);
  const { port } = server;
  const id = await createOne(port);
  const read = `/v1/payments/${id}`;
  const report = (what: string, measured: Load) =>
    console.log(`+ ${String(delayMs).padStart(2)} ms a flush  ${what.padEnd(28)} ${told(measured)}`);
  await load(port, '/v1/payments', CREATORS, true); // to warm up
  report('reads alone', await load(port, read, READERS, false));
  for (const [what, path] of [
    ['reads', read],
    ['pages', `/payment.php?payment_id=${id}`],
    ['health', '/health'],
  ] as const) {
    const [seen, created] = await Promise.all([
      load(port, path, READERS, false),
      load(port, '/v1/payments', CREATORS, true),
    ]);
    report(`${what} beside ${CREATORS} creators`, seen);
    report(`  these creators`, created);
  }
  for (const creators of [CREATORS, 64, MANY_CREATORS])
    report(`${creators} creators alone`, await load(port, '/v1/payments', creators, true));
  await server.stop();
  rmSync(storage, { recursive: true, force: true });
}
