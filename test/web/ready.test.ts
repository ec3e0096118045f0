// Readiness: what keeps a node from taking requests is told by name, and a node that stops says so while it finishes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseError } from '../../src/store/database.ts';
import { LIMITS } from '../../src/web/server.ts';
import { type Harness, KEY, sharedHarness, startHarness } from '../support/harness.ts';
import { parseAnswers } from '../support/wire-client.ts';

/** Less than a connection that nobody closes holds a stop up, and longer than a machine stands still. */
const HELD_UP_MS = LIMITS.keepAliveTimeoutMs - 1000;

const portOf = (service: Harness) => Number(new URL(service.origin).port);

/** A connection that sends what it is told, and the bytes that came back. */
async function dial(port: number) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => {});
  await once(socket, 'connect');
  const ended = once(socket, 'end').then(() => {
    socket.end();
    return parseAnswers(Buffer.concat(chunks));
  });
  return { socket, ended };
}

describe('readiness', () => {
  const service = sharedHarness('sqlite');

  test('a node that works is ready.', async () => {
    const { status, json, headers } = await service.request('/health/ready', { key: null });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(json), ['status', 'version', 'time', 'failing']);
    assert.deepEqual([json.status, json.failing], ['ok', []]);
    assert.equal(headers.get('cache-control'), 'no-store');
  });

  test('a store that takes no writes, and a journal that is not followed, are told by name.', async () => {
    const { database } = service.service;
    const { query, transaction } = database;
    const failure = () => Promise.reject(new DatabaseError('unavailable', 'SECRET'));
    try {
      await pause(1100); // the last probe is good for less
      database.transaction = failure;
      let answer = await service.request('/health/ready', { key: null });
      assert.deepEqual([answer.status, answer.json.failing], [503, ['store_writable']]);
      assert.doesNotMatch(answer.text, /SECRET/);
      assert.equal((await service.request('/health', { key: null })).status, 503);
      database.transaction = transaction;
      database.query = failure;
      await pause(1100);
      answer = await service.request('/health/ready', { key: null });
      assert.deepEqual([answer.status, answer.json.failing], [503, ['journal_followed']]);
      assert.equal((await service.request('/health', { key: null })).status, 200);
    } finally {
      Object.assign(database, { query, transaction });
    }
    await pause(1100);
    assert.equal((await service.request('/health/ready', { key: null })).status, 200);
  });

  test('health is what the newest write met, not what a probe would; where nobody writes any more, it is well within a second.', async (context) => {
    const { database } = service.service;
    const stopped = performance.now();
    let passed = 0;
    context.mock.method(performance, 'now', () => stopped + passed);
    const { transaction } = database;
    const health = async () => (await service.request('/health', { key: null })).status;
    const createInVain = async () => {
      database.transaction = () => Promise.reject(new DatabaseError('unavailable', 'full'));
      const { status } = await service.request('/v1/payments', { method: 'POST', body: { amount: 1 } });
      database.transaction = transaction;
      assert.equal(status, 503);
    };
    await createInVain();
    assert.equal(await health(), 503);
    await service.create();
    assert.equal(await health(), 200);
    await createInVain();
    for (passed of [0, 400]) assert.equal(await health(), 503);
    passed = 900;
    assert.equal(await health(), 200);
  });
});

test('a node that stops is not ready from that moment on, is healthy still, and finishes what it has accepted.', async () => {
  const service = await startHarness('sqlite');
  const port = portOf(service);
  const body = '{"amount":1}';
  const create = await dial(port);
  create.socket.write(
    `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  const [ready, health] = [await dial(port), await dial(port)];
  ready.socket.write('GET /health/ready HTTP/1.1\r\nHost:');
  health.socket.write('GET /health HTTP/1.1\r\nHost:');
  await pause(100);
  const stopped = service.close();
  await pause(100);
  for (const { socket } of [ready, health]) socket.write(' x\r\n\r\n');
  const [told] = await ready.ended;
  assert.equal(told?.status, 503);
  assert.deepEqual(JSON.parse(told!.body).failing, ['accepting_requests']);
  assert.equal((await health.ended)[0]?.status, 200);
  create.socket.write(body);
  const answered = performance.now();
  const [created] = await create.ended;
  assert.equal(created?.status, 201);
  assert.equal(created?.headers.get('connection'), 'close', 'what began before the stop says so too');
  await stopped;
  assert.ok(
    performance.now() - answered < HELD_UP_MS,
    'the connection of what was answered holds nothing up',
  );
});
