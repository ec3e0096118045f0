// A server at work whose every step is written down: payments are created, paid and cancelled, the server is stopped and started again.
import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load, send, TYPED } from '../support/customer.ts';
import { freePort } from '../support/free-ports.ts';
import { KEY } from '../support/harness.ts';
import { gaveUp, type LoadClient, loadClient } from '../support/load-client.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { Disk } from './power-cut-disk.ts';
import { readSteps, type Step, watched } from './power-cut-log.ts';

const CLIENTS = 4;
const KEYED = 0.5;
const CANCELLED = 0.3;
const PAID = 0.1;
const KILLED = 0.3;
const CONFIGURATION = `environment: development
log_level: error
checkout_forms_per_address: 100000
methods:
  - id: cash
    type: manual
    name: Cash on delivery
    instructions: Pay the courier.
merchants:
  - id: mer_development
    name: Development Shop
    keys: [{ key: ${KEY} }]
`;

/** The folder of the store, below the watched one: it is the server that makes it. */
const STORAGE = 'data/storage';
/** Where the store is among the files that a power cut left in `folder`. */
export const storageIn = (folder: string) => join(folder, STORAGE);

export interface WatchedSite {
  storage: string;
  port: number;
  /** Starts a server whose steps are written down. */
  start(options?: StartOptions): Promise<ServerProcess>;
  /** What all its servers did by now. */
  steps(): Step[];
  /** All steps taken one after the other give the files that are there, or the log has left something out: fails then. */
  requireWhole(): void;
  /** Kills what still runs, and removes everything. */
  remove(): void;
}

interface StartOptions {
  /** The program, where it is another than ours. */
  command?: string;
  env?: Record<string, string>;
}

/** A place for servers, one after the other. `library`: see `compileWatcher`. */
export async function watchedSite(library: string): Promise<WatchedSite> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'counterfoil-power-')));
  const config = join(folder, 'counterfoil.yaml');
  const disk = join(folder, 'disk');
  const log = join(folder, 'log');
  mkdirSync(disk);
  writeFileSync(config, CONFIGURATION, { mode: 0o600 });
  const storage = storageIn(disk);
  const port = await freePort(); // the same for each server: answers name it
  const servers: ServerProcess[] = [];
  return {
    storage,
    port,
    async start({ command, env } = {}) {
      const server = await startServerProcess({
        ...{ config, port, storage },
        ...(command && { command }),
        env: { ...env, ...watched(library, disk, log) },
      });
      servers.push(server);
      return server;
    },
    steps: () => readSteps(log),
    requireWhole: () => requireWhole(readSteps(log), disk),
    remove() {
      for (const { child } of servers) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface RunOptions extends StartOptions {
  library: string;
  /** How many payments each run of the server creates. They are stopped or killed, the last is killed. */
  runs: readonly number[];
  random: SeededRandom;
}

export interface Run {
  steps: Step[];
  checkoutBaseUrl: string;
}

/** Lets a server work, and makes sure that its log tells of everything that its files hold. */
export async function run({ library, runs, random, ...options }: RunOptions): Promise<Run> {
  const site = await watchedSite(library);
  try {
    let checkoutBaseUrl = '';
    for (const [index, payments] of runs.entries()) {
      const server = await site.start(options);
      checkoutBaseUrl = String(server.ready.checkout_base_url);
      await work(server.origin, payments, random);
      const isKilled = index === runs.length - 1 || random.chance(KILLED);
      const code = await server.end(isKilled ? 'SIGKILL' : 'SIGTERM');
      assert.equal(code, isKilled ? null : 0, server.output.join('\n'));
    }
    site.requireWhole();
    return { steps: site.steps(), checkoutBaseUrl };
  } finally {
    site.remove();
  }
}

/** Creates `payments`, a few at a time; some are cancelled by the merchant, some paid by a customer. */
async function work(origin: string, payments: number, random: SeededRandom): Promise<void> {
  const client = loadClient(origin, KEY, CLIENTS);
  let left = payments;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (left-- > 0) await live(origin, client, random);
  });
  await Promise.all(clients);
  client.close();
}

/** One payment's life, as far as it goes here. */
async function live(origin: string, client: LoadClient, random: SeededRandom): Promise<void> {
  const keyed = () => (random.chance(KEYED) ? crypto.randomUUID() : undefined);
  const ask = async (path: string, body?: object, key?: string): Promise<{ id: string }> => {
    const answer = body || key ? await client.post(path, body, key) : await client.get(path);
    if (answer && gaveUp(answer)) return ask(path, body, key);
    assert.ok(answer && answer.status < 300, JSON.stringify(answer));
    return JSON.parse(answer.text).data;
  };
  const createKey = keyed();
  const body = { amount: random.between(1, 1e6) / 100, metadata: { keyed: createKey !== undefined } };
  const { id } = await ask('/v1/payments', body, createKey);
  if (random.chance(CANCELLED)) await ask(`/v1/payments/${id}/cancel`, {}, keyed());
  else if (random.chance(PAID)) {
    const form = await load(new URL(`${origin}/payment.php?payment_id=${id}`));
    const answer = await send(form, TYPED.cash, { follow: false });
    assert.equal(answer.status, 303, answer.text);
    await ask(`/v1/payments/${id}`); // what it is now, for whoever compares
  }
}

function requireWhole(steps: readonly Step[], folder: string): void {
  const disk = new Disk();
  for (const step of steps) disk.apply(step);
  const live = disk.live();
  const there = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('-shm'))
    .map((entry) => join(entry.parentPath, entry.name));
  assert.deepEqual([...live.keys()].map((path) => join(folder, path)).sort(), there.sort());
  for (const [path, bytes] of live)
    assert.ok(bytes.equals(readFileSync(join(folder, path))), `the log of ${path} leaves something out`);
}
