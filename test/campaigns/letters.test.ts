// kill -9 of nodes while they send letters: none is lost, and only the one that was on its way comes twice.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-ports.ts';
import { writeConfiguration } from '../support/harness.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { startServerProcess } from '../support/server-process.ts';
import { temporaryStore } from '../support/stores.ts';
import { eventually } from '../support/waiting.ts';
import { call } from './hook-tally.ts';
import { NodeProcess } from './node-processes.ts';

const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 10;
const KILL_AFTER_MS = { from: 50, to: 1500 };
/** Between two payments of the load: fewer letters than the server takes, so that each kill may hit one. */
const PAUSE_MS = 120;
const idIn = (text: string | undefined) => /payment_id=(pay_\w+)/.exec(text ?? '')![1]!;

/** Has links sent until `isOver`, whatever becomes of the nodes. Returns the payments whose sending was answered, with when. */
async function load(origin: () => string, isOver: () => boolean): Promise<Map<string, number>> {
  const answered = new Map<string, number>();
  for (let i = 0; !isOver(); i++) {
    await delay(PAUSE_MS);
    try {
      const customer = { email: `ada${i}@example.com` };
      const { status, json } = await call(origin(), '/v1/payments', 'POST', { amount: 1, customer });
      if (status !== 201) continue;
      const sent = await call(origin(), `/v1/payments/${json.data.id}/send_link`, 'POST');
      if (sent.status === 200) answered.set(json.data.id, Date.now());
    } catch {
      // The node is gone.
    }
  }
  return answered;
}

/** Kills nodes `RUNS` times, and holds the letters that came against those that were promised. Returns a sentence of figures. */
async function killAll(
  nodes: readonly NodeProcess[],
  server: MailServer,
  random: SeededRandom,
): Promise<string> {
  let isOver = false;
  const loading = load(
    () => random.pick(nodes).origin,
    () => isOver,
  );
  for (let kill = 0; kill < RUNS; kill++) {
    await delay(random.between(KILL_AFTER_MS.from, KILL_AFTER_MS.to));
    const node = random.pick(nodes);
    await node.end('SIGKILL');
    await node.start();
  }
  isOver = true;
  const promised = await loading;
  const came = () => new Set(server.taken.map(({ letter }) => idIn(letter.text)));
  await eventually(
    () => [...promised.keys()].every((id) => came().has(id)),
    () => `${promised.size} promised, ${came().size} came`,
  );
  const ids = new Set(server.taken.map(({ letter }) => letter.messageId));
  assert.equal(ids.size, came().size, 'a letter that comes again has the same Message-ID');
  const repeated = server.taken.length - ids.size;
  assert.ok(repeated <= RUNS, `${repeated} came again, ${RUNS} may`);
  return `${RUNS} kills, ${promised.size} letters promised: 0 lost, ${repeated} came again`;
}

describe('letters', () => {
  test(`${RUNS} kills of one node on SQLite lose no letter`, { timeout: Infinity }, async (context) => {
    const random = new SeededRandom();
    await using server = await startMailServer();
    const store = await temporaryStore('sqlite');
    const config = writeConfiguration(store, 'development', `${server.configuration}log_level: error\n`);
    const port = await freePort();
    const node = new NodeProcess(port, () => startServerProcess({ config, port, storage: store.storage }));
    await node.start();
    try {
      context.diagnostic(await killAll([node], server, random));
    } finally {
      await node.end('SIGKILL');
      await store.drop();
    }
  });
});
