// SIGTERM under load, again and again: what was accepted is answered, what was not is not done, and the store is left closed.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-ports.ts';
import { KEY, writeConfiguration } from '../support/harness.ts';
import { gaveUp } from '../support/load-client.ts';
import { verifySqlite, viewSqlite } from '../support/read-only-store.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { type Store, temporaryStore } from '../support/stores.ts';

const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 6;
/** A store serves so many stops, then a fresh one, whose history is verified once. */
const RUNS_PER_STORE = 10;
const LANES = 2;
const CLIENTS = 32;
/** As in src/web/server.ts: a server that closes waits so long for the next request of a connection. */
const SPARED_MS = 100;
/** Half of the clients pause between an answer and their next request: less than that. */
const PAUSE_MS = 50;
const STOP_AFTER_MS = { from: 20, to: 300 };
const EXIT_WITHIN_MS = 10_000;

const { seed } = new SeededRandom();

/**
 * How a request ended. `answered`: with a whole answer. `refused`: no connection, or one that was closed before the server took it, or
 * given up by a server that stood still.
 * `dropped`: on a connection that had served before, without a whole answer, though it was sent while the server waited for it. One that
 * this process sends later, having stood still, finds its connection closed.
 */
type End = 'answered' | 'refused' | 'dropped' | 'unsure';

interface Tally {
  answered: number;
  refused: number;
  last: number;
  exitMs: number[];
  faults: string[];
}

describe('stop', () => {
  test(`${RUNS} stops under load drop nothing that was accepted`, { timeout: Infinity }, async (context) => {
    console.log(`stop: seed ${seed} (COUNTERFOIL_SEED), ${RUNS} stops (COUNTERFOIL_RUNS)`);
    const tally: Tally = { answered: 0, refused: 0, last: 0, exitMs: [], faults: [] };
    let left = RUNS;
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      const random = new SeededRandom(seed + lane);
      while (left > 0) {
        const runs = Math.min(RUNS_PER_STORE, Math.ceil(left / LANES));
        left -= runs;
        const store = await temporaryStore('sqlite');
        try {
          for (let run = 0; run < runs; run++) await loadAndStop(store, run, random, tally);
          await verifySqlite(join(store.storage, 'counterfoil.sqlite'), store.storage);
        } finally {
          await store.drop();
        }
      }
    });
    await Promise.all(lanes);
    const exits = tally.exitMs.sort((a, b) => a - b);
    context.diagnostic(
      `${exits.length} stops, ${tally.answered} answered (${tally.last} of them with the word that the connection ends), ` +
        `${tally.refused} refused before they were taken, ${tally.faults.length} faults; ` +
        `signal to exit: median ${Math.round(exits[exits.length >> 1]!)} ms, slowest ${Math.round(exits.at(-1)!)} ms`,
    );
    assert.deepEqual(tally.faults, [], `seed ${seed}`);
    assert.ok(tally.last > 0, 'stops met requests');
    assert.ok(exits.at(-1)! < EXIT_WITHIN_MS, `a stop took ${exits.at(-1)} ms`);
  });
});

/** Lets the clients loose, stops the server, and compares what was answered with what is stored. */
async function loadAndStop(store: Store, run: number, random: SeededRandom, tally: Tally): Promise<void> {
  const config = writeConfiguration(store, 'development', 'log_level: error\n');
  const server = await startServerProcess({ config, port: await freePort(), storage: store.storage });
  const ends = new Map<string, End>();
  const { promise: warm, resolve } = Promise.withResolvers<void>();
  let sparedUntil = Number.POSITIVE_INFINITY;
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let number = 0; ; number++) {
      const reference = `stop-${run}-${client}-${number}`;
      const { end, isLast } = await create(server, agent, reference, () => sparedUntil);
      ends.set(reference, end);
      if (end !== 'answered') return;
      if (isLast) tally.last++;
      resolve();
      if (client % 2 === 1) await delay(random.between(0, PAUSE_MS));
    }
  });
  const finished = Promise.all(clients);
  try {
    // Clients end with their first other answer: where none was ever answered, nothing would warm up.
    await Promise.race([warm, finished]);
    await delay(random.between(STOP_AFTER_MS.from, STOP_AFTER_MS.to));
    const begun = performance.now();
    sparedUntil = begun + SPARED_MS;
    const code = await server.end('SIGTERM');
    tally.exitMs.push(performance.now() - begun);
    await finished;
    if (code !== 0) tally.faults.push(`exit code ${code}: ${server.output.join('\n')}`);
  } finally {
    server.child.kill('SIGKILL');
    agent.destroy();
  }
  await compare(store, run, ends, tally);
}

/** One create on a kept connection, and how it ended; `isLast`: whether the answer said that its connection ends. */
function create(
  server: ServerProcess,
  agent: Agent,
  reference: string,
  sparedUntil: () => number,
): Promise<{ end: End; isLast: boolean }> {
  const { hostname, port } = new URL(server.origin);
  const body = JSON.stringify({ amount: 1, merchant_reference: reference });
  const headers = {
    authorization: `Bearer ${KEY}`,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  return new Promise((resolve) => {
    const begun = performance.now();
    let sent = Number.POSITIVE_INFINITY; // not yet
    const outgoing = request(
      { agent, hostname, port, method: 'POST', path: '/v1/payments', headers },
      (incoming) => {
        incoming.resume();
        incoming.on('close', () => {
          const status = incoming.complete ? incoming.statusCode! : 0;
          const isLate = gaveUp({ status, ms: performance.now() - begun });
          const end = status === 201 ? 'answered' : isLate ? 'unsure' : 'dropped';
          resolve({ end, isLast: incoming.headers.connection === 'close' });
        });
      },
    );
    outgoing.on('finish', () => (sent = performance.now()));
    outgoing.on('error', () => {
      const isDropped = outgoing.reusedSocket && sent < sparedUntil();
      resolve({ end: isDropped ? 'dropped' : 'refused', isLast: false });
    });
    outgoing.end(body);
  });
}

/** What was answered is stored, what was not is not, and the store was closed in order. */
async function compare(store: Store, run: number, ends: Map<string, End>, tally: Tally): Promise<void> {
  const file = join(store.storage, 'counterfoil.sqlite');
  if (existsSync(`${file}-wal`)) tally.faults.push(`stop ${run} left a write-ahead log`);
  const rows = await viewSqlite(file, (view) =>
    view.query<{ merchant_reference: string }>(
      'select merchant_reference from payments where merchant_reference like ?',
      `stop-${run}-%`,
    ),
  );
  const stored = new Set(rows.map((row) => row.merchant_reference));
  for (const [reference, end] of ends) {
    if (end === 'answered') tally.answered++;
    if (end === 'refused') tally.refused++;
    if (end === 'dropped') tally.faults.push(`${reference} was dropped`);
    if (end !== 'unsure' && stored.has(reference) !== (end === 'answered'))
      tally.faults.push(`${reference} was ${end} and is ${stored.has(reference) ? '' : 'not '}stored`);
  }
}
