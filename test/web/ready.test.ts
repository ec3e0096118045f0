// Readiness: what keeps a node from taking requests is told by name, and a node that stops says so while it finishes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { DatabaseError } from '../../src/store/database.ts';
import { clockwork, cutNothing } from '../support/clockwork.ts';
import { type Harness, KEY, startHarness } from '../support/harness.ts';
import { eventually } from '../support/waiting.ts';
import { parseAnswers } from '../support/wire-client.ts';

/** What a write or a probe met counts for less. */
const PROBED_MS = 1000;

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

const ask = (service: Harness, path: string) => service.request(path, { key: null });

test('a node that works is ready; a store that takes no writes, and a journal that is not followed, are told by name.', async (context) => {
  const pass = clockwork(context);
  await using service = await startHarness('sqlite');
  const { status, json, headers } = await ask(service, '/health/ready');
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(json), ['status', 'version', 'time', 'failing']);
  assert.deepEqual([json.status, json.failing], ['ok', []]);
  assert.equal(headers.get('cache-control'), 'no-store');

  const { database } = service.service;
  const { query, transaction } = database;
  const failure = () => Promise.reject(new DatabaseError('unavailable', 'SECRET'));
  for (const [broken, check, health] of [
    [{ transaction: failure }, 'store_writable', 503],
    [{ query: failure }, 'journal_followed', 200],
  ] as const) {
    pass(PROBED_MS);
    Object.assign(database, broken);
    await eventually(async () => {
      const answer = await ask(service, '/health/ready');
      assert.doesNotMatch(answer.text, /SECRET/);
      return answer.status === 503 && answer.json.failing.join() === check;
    });
    assert.equal((await ask(service, '/health')).status, health);
    Object.assign(database, { query, transaction });
  }
  pass(PROBED_MS);
  await eventually(async () => (await ask(service, '/health/ready')).status === 200);
});

test('health is what the newest write met, not what a probe would; where nobody writes any more, it is well within a second.', async (context) => {
  await using service = await startHarness('sqlite');
  const stopped = performance.now();
  let passed = 0;
  context.mock.method(performance, 'now', () => stopped + passed);
  const { database } = service.service;
  const { transaction } = database;
  const health = async () => (await ask(service, '/health')).status;
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

test('a node that stops is not ready from that moment on, is healthy still, and finishes what it has accepted.', async () => {
  const service = await startHarness('sqlite');
  cutNothing(service);
  const port = portOf(service);
  let connections = 0;
  const { server } = service.service.app;
  server.on('connection', () => connections++);
  const body = '{"amount":1}';
  const create = await dial(port);
  create.socket.write(
    `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  const [ready, health] = [await dial(port), await dial(port)];
  ready.socket.write('GET /health/ready HTTP/1.1\r\nHost:');
  health.socket.write('GET /health HTTP/1.1\r\nHost:');
  await eventually(() => connections === 3);
  const stopped = service.close();
  await eventually(() => !server.listening);
  for (const { socket } of [ready, health]) socket.write(' x\r\n\r\n');
  const [told] = await ready.ended;
  assert.equal(told?.status, 503);
  assert.deepEqual(JSON.parse(told!.body).failing, ['accepting_requests']);
  assert.equal((await health.ended)[0]?.status, 200);
  create.socket.write(body);
  const [created] = await create.ended;
  assert.equal(created?.status, 201);
  assert.equal(created?.headers.get('connection'), 'close', 'what began before the stop says so too');
  await stopped; // the connection of what was answered holds nothing up
});
