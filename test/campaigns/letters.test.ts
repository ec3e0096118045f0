// kill -9 of nodes while they send letters: none is lost, and only the one that was on its way comes twice.
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { keyLine, newSecretKey } from '../../src/journal/keys/key-file.ts';
import { freePorts } from '../support/free-ports.ts';
import { ask, writeConfiguration } from '../support/harness.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { startServerProcess } from '../support/server-process.ts';
import { temporaryStore } from '../support/stores.ts';
import { eventually, until } from '../support/waiting.ts';
import { NodeProcess } from './node-processes.ts';

const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 4;
const KILL_AFTER_MS = { from: 50, to: 1500 };
/** Between two payments of the load: fewer letters than the server takes, so that each kill may hit one. */
const PAUSE_MS = 120;
/** For how long the server is silent: longer than the lease of a node, shorter than what a node waits for. */
const SILENT_MS = 24_000;
/** A letter comes within this after the answer that promised it, in one of so many rounds. */
const LEAVES_WITHIN_MS = 2000;
const ROUNDS = 5;
const idIn = (text: string | undefined) => /payment_id=(pay_\w+)/.exec(text ?? '')![1]!;

type Group = { nodes: readonly NodeProcess[]; server: MailServer; random: SeededRandom };

/** Runs `trial` with nodes that are processes of their own: one on SQLite, two on PostgreSQL. */
async function withNodes(engine: 'sqlite' | 'postgres', trial: (group: Group) => Promise<void>) {
  const random = new SeededRandom();
  await using server = await startMailServer();
  const store = await temporaryStore(engine);
  const ports = await freePorts(engine === 'sqlite' ? 1 : 2);
  const lines = `base_url: http://127.0.0.1:${ports[0]}\nnodes: ${ports.length}\nlog_level: error\n`;
  const config = writeConfiguration(store, 'development', server.configuration + lines);
  const { database_url } = store;
  const env = { COUNTERFOIL_SECRETS_KEY: keyLine(newSecretKey()) };
  const nodes = ports.map((port) => {
    const storage = database_url === null ? store.storage : mkdtempSync(join(store.storage, 'node-'));
    return new NodeProcess(port, () => startServerProcess({ config, port, storage, database_url, env }));
  });
  try {
    await Promise.all(nodes.map((node) => node.start()));
    await trial({ nodes, server, random });
  } finally {
    await Promise.all(nodes.filter((node) => node.process).map((node) => node.end('SIGKILL')));
    await store.drop();
  }
}

/** Has a link sent by one of `nodes`. Returns the payment; undefined where it was not answered that the letter is on its way. */
async function sendLink({ nodes, random }: Group, number: number): Promise<string | undefined> {
  const { origin } = random.pick(nodes);
  try {
    const customer = { email: `ada${number}@example.com` };
    const { status, json } = await ask(origin, '/v1/payments', {
      method: 'POST',
      body: { amount: 1, customer },
    });
    if (status !== 201) return undefined;
    const sent = await ask(origin, `/v1/payments/${json.data.id}/send_link`, { method: 'POST' });
    return sent.status === 200 ? json.data.id : undefined;
  } catch {
    return undefined; // The node is gone.
  }
}

/** Waits for the letters that were promised. Returns how many came more than once, each with one Message-ID. */
async function allCame({ server }: Group, promised: readonly string[]): Promise<number> {
  const came = new Set<string>();
  let read = 0;
  await eventually(
    () => {
      // Each letter is read once: this process is the mail server too, and shall not keep it waiting.
      for (; read < server.taken.length; read++) came.add(idIn(server.taken[read]!.letter.text));
      return promised.every((id) => came.has(id));
    },
    () => `${promised.length} promised, ${came.size} came`,
  );
  // What another node sends meanwhile would come later.
  await eventually(() => server.open() === 0);
  const ids = new Set(server.taken.map(({ letter }) => letter.messageId));
  assert.equal(ids.size, came.size, 'a letter that comes again has the same Message-ID');
  return server.taken.length - ids.size;
}

const killed = (engine: 'sqlite' | 'postgres') => (context: TestContext) =>
  withNodes(engine, async (group) => {
    const { nodes, random } = group;
    let kills = 0;
    const promised: string[] = [];
    const loading = (async () => {
      for (let number = 0; kills < RUNS; number++) {
        await delay(PAUSE_MS);
        const id = await sendLink(group, number);
        if (id) promised.push(id);
      }
    })();
    for (; kills < RUNS; kills++) {
      await delay(random.between(KILL_AFTER_MS.from, KILL_AFTER_MS.to));
      const node = random.pick(nodes);
      await node.end('SIGKILL');
      await node.start();
    }
    await loading;
    const repeated = await allCame(group, promised);
    assert.ok(repeated <= RUNS, `${repeated} came again, ${RUNS} may`);
    context.diagnostic(`${RUNS} kills, ${promised.length} letters promised: 0 lost, ${repeated} came again`);
  });

describe('letters', { concurrency: 3 }, () => {
  test(`${RUNS} kills of one node on SQLite lose no letter`, { timeout: Infinity }, killed('sqlite'));
  test(`${RUNS} kills of two nodes on PostgreSQL lose no letter`, { timeout: Infinity }, killed('postgres'));

  test('nodes that run send each letter once, also one that the server is silent about for longer than a lease', (context) =>
    withNodes('postgres', async (group) => {
      const { server } = group;
      const promised: string[] = [];
      /** Gives what waits for the letter that is promised here: when it came. */
      const promise = async () => {
        const id = (await until(() => sendLink(group, promised.length), Boolean))!;
        promised.push(id);
        const find = () => server.taken.find(({ letter }) => idIn(letter.text) === id);
        return async () => (await until(find, Boolean))!.at;
      };
      // Others use this machine, too: of several rounds one is enough, and in that each letter is in time.
      const slowestMs: number[] = [];
      while (slowestMs.length < ROUNDS && !((slowestMs.at(-1) ?? Infinity) <= LEAVES_WITHIN_MS)) {
        let slowest = 0;
        for (let i = 0; i < 5; i++) {
          const came = await promise();
          const answeredAt = Date.now();
          slowest = Math.max(slowest, (await came()) - answeredAt);
        }
        slowestMs.push(slowest);
      }
      context.diagnostic(`the slowest of five letters came ${slowestMs.join(', ')} ms after its answer`);
      assert.ok(slowestMs.at(-1)! <= LEAVES_WITHIN_MS, 'each letter is in time in one of the rounds');
      server.behave({ silentMs: SILENT_MS });
      const came = await promise();
      await came();
      server.behave('take');
      await promise();
      assert.equal(await allCame(group, promised), 0);
    }));
});
