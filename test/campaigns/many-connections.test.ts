// Thousands of connections that do little: they cost little, nobody beside them waits, and one too many is closed at once.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { connectionsMaximum, LIMITS } from '../../src/web/server.ts';
import { freePort } from '../support/free-ports.ts';
import { KEY, writeConfiguration } from '../support/harness.ts';
import { gaveUp, loadClient } from '../support/load-client.ts';
import { NODE_ARGUMENTS } from '../support/node-arguments.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { type Store, temporaryStore } from '../support/stores.ts';
import { residentMib, runApart } from './apart.ts';
import type { Crowd, Crowded } from './crowd.ts';

/** Each process needs a file for each: Node throws its own limit to the hard one by itself. */
const CONNECTIONS = Number(process.env.COUNTERFOIL_RUNS) || 2000;
const STAY_MS = process.env.COUNTERFOIL_RUNS ? 60_000 : 2500;
/** What keeps a connection: a request in less than the five seconds after which one without is closed. */
const EVERY_MS = process.env.COUNTERFOIL_RUNS ? 4000 : 2000;
const BEYOND = 20;
const RSS_MAXIMUM_MIB = 350;
const P99_MAXIMUM_MS = 500;
const LOAD_CLIENTS = 8;
/** A client whose answer took longer may find its connection closed. */
const STILL_MS = 3000;
const ROOM_WITHIN_MS = 5000;

const gather = (orders: Crowd) => runApart<Crowded>('./crowd.ts', orders);

describe('many connections', () => {
  let store: Store;
  let server: ServerProcess;
  let port: number;
  before(async () => {
    store = await temporaryStore('sqlite');
    port = await freePort();
    const config = writeConfiguration(store, 'development', 'log_level: error\n');
    const { storage } = store;
    server = await startServerProcess({
      config,
      port,
      storage,
      nodeArguments: NODE_ARGUMENTS,
      env: { MALLOC_ARENA_MAX: '1' },
    });
  });
  after(async () => {
    await server.end('SIGTERM');
    await store.drop();
  });

  /**
   * Creates, one after the other on each of some connections, until `end`. How long each answer took, ascending. A server that stood
   * still may give one up, and closes the connection of a client that did.
   */
  async function load(end: Promise<unknown>): Promise<number[]> {
    const client = loadClient(server.origin, KEY, LOAD_CLIENTS);
    const times: number[] = [];
    let goesOn = true;
    end.finally(() => (goesOn = false)).catch(() => {});
    const work = async () => {
      let before = 0;
      while (goesOn) {
        const begun = performance.now();
        const answer = await client.post('/v1/payments', { amount: 1 });
        const ms = performance.now() - begun;
        const stoodStill = answer ? gaveUp(answer) : before > STILL_MS;
        if (!stoodStill) assert.equal(answer?.status, 201, 'no request fails beside the crowd');
        times.push(ms);
        before = ms;
      }
    };
    await Promise.all(Array.from({ length: LOAD_CLIENTS }, work));
    client.close();
    return times.sort((a, b) => a - b);
  }

  test(`${CONNECTIONS} that ask every ${EVERY_MS} ms take little memory, and load beside them goes on`, {
    timeout: Infinity,
  }, async (context) => {
    const crowd = gather({ port, connections: CONNECTIONS, everyMs: EVERY_MS, stayMs: STAY_MS });
    await crowd.there;
    let most = 0;
    const looks = setInterval(() => (most = Math.max(most, residentMib(server.pid))), 200);
    const times = await load(crowd.gone);
    clearInterval(looks);
    const { opened, answered, failed } = await crowd.gone;
    // A machine that stands still meets each client once.
    const p99 = times[Math.ceil((times.length - LOAD_CLIENTS) * 0.99) - 1]!;
    context.diagnostic(
      `${opened} connections, ${answered} answers, ${failed} failed; beside them ${times.length} creates, p99 ${Math.round(p99)} ms; ` +
        `resident memory ${Math.round(most)} MiB at most`,
    );
    assert.equal(opened, CONNECTIONS);
    assert.equal(failed, 0);
    assert.ok(answered >= CONNECTIONS, 'each was answered');
    assert.ok(most < RSS_MAXIMUM_MIB, `${most} MiB`);
    assert.ok(p99 < P99_MAXIMUM_MS, `p99 ${p99} ms`);
  });

  test('as many as are taken, and each one more is closed at once', async (context) => {
    const connections = connectionsMaximum(1);
    assert.equal(connections, LIMITS.connections, 'this machine lets a process have files enough');
    const crowd = gather({ port, connections, stayMs: 0, beyond: BEYOND });
    await crowd.there;
    const { opened, failed, turnedAway, turnedAwayMs } = await crowd.gone;
    context.diagnostic(
      `${opened} taken, ${turnedAway} of ${BEYOND} more turned away within ${Math.round(turnedAwayMs)} ms`,
    );
    assert.equal(opened, connections);
    assert.equal(failed, 0, 'those that are there are left alone');
    assert.equal(turnedAway, BEYOND);
    const client = loadClient(server.origin, KEY, 1);
    for (const deadline = performance.now() + ROOM_WITHIN_MS; (await client.get('/health'))?.status !== 200; )
      assert.ok(performance.now() < deadline, 'when they have gone there is room again');
    client.close();
  });
});
