// How long `counterfoil move` takes, up to PostgreSQL and back, and how much memory at most.
//
// node_modules/.bin/node bench/move.ts [payments]
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../test/support/postgres-server.ts';
import { seed } from './seed.ts';

const COMMAND = fileURLToPath(new URL('../bin/counterfoil.js', import.meta.url));
const PAYMENTS = 1_000_000;
const LOOK_EVERY_MS = 200;

const payments = Number(process.argv[2]) || PAYMENTS;
const folder = mkdtempSync(join(tmpdir(), 'counterfoil-move-'));
const config = join(folder, 'counterfoil.yaml');
writeFileSync(config, 'environment: development\n', { mode: 0o600 });
const up = join(folder, 'up');
const back = join(folder, 'back');
mkdirSync(up, { mode: 0o700 });
mkdirSync(back, { mode: 0o700 });

/** The most memory a process has taken so far, in MiB, as Linux counts it; nothing once it has ended. */
function peakOf(pid: number): number | undefined {
  try {
    const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
    return Number(kib) / 1024;
  } catch {
    return undefined;
  }
}

async function move(to: string, storage: string, url: string): Promise<void> {
  const begun = performance.now();
  const child = spawn(process.execPath, [COMMAND, 'move', '--to', to, '--config', config, '--json'], {
    env: { ...process.env, DATABASE_URL: url, COUNTERFOIL_STORAGE: storage },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (bytes) => (printed += bytes));
  let peak = 0;
  while (child.exitCode === null && child.signalCode === null) {
    peak = peakOf(child.pid!) ?? peak;
    await delay(LOOK_EVERY_MS);
  }
  const seconds = (performance.now() - begun) / 1000;
  if (child.exitCode !== 0) throw new Error(`ended with ${child.exitCode ?? child.signalCode}`);
  const { rows } = JSON.parse(printed) as { rows: Record<string, number> };
  console.log(
    `move --to ${to}: ${rows.payments} payments in ${seconds.toFixed(1)} s, at most ${Math.round(peak)} MiB`,
  );
}

const server = await startPostgres();
try {
  console.log(`seeded ${payments} payments in ${(await seed(up, payments)).toFixed(1)} s`);
  await move('postgres', up, server.url);
  await move('sqlite', back, server.url);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
