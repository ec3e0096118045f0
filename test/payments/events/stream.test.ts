// The event stream: what was missed, then each event a moment after its commit, for its merchant alone, without gap or double.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { openStream, type StreamClient } from '../../support/event-stream.ts';
import { createIn, type Harness, KEY, OTHER_KEY, startHarness } from '../../support/harness.ts';
import { heldUp, unhurried } from '../../support/journal.ts';
import { listStretches } from '../../support/payments.ts';
import { openPatiently } from '../../support/stores.ts';
import { becomes, eventually, LONGER_THAN_A_TEST_MS, standStill, until } from '../../support/waiting.ts';

/** Those of one merchant on a node. */
const STREAMS_MAXIMUM = 100;

/** How many streams are open on a node. */
const openOn = ({ service }: Harness) => service.streams.counters.open;
const created = (ids: readonly string[]) => ids.map((id) => `payment.created ${id}`);

/** A reader that has so few of many events that its buffers are never full, and the act by which they happen and it has heard of them. */
async function manyEvents(service: Harness) {
  const quick = await openStream(service, '?type=payment.cancelled');
  const expected: string[] = [];
  const happen = async () => {
    const [id] = await createIn(service.service.journal, service, 250);
    await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
    expected.push(`payment.cancelled ${id}`);
    await quick.heard(expected.length);
  };
  return { quick, expected, happen };
}

/** A thread that opens a stream, takes nothing behind its beginning until `words[GO]` is set, and counts in `words[READ]` what it reads. */
const [READ, GO] = [0, 1];
const READER = `
const { get } = require('node:http');
const { origin, KEY, words } = require('node:worker_threads').workerData;
const headers = { authorization: 'Bearer ' + KEY };
const request = get(origin + '/v1/events/stream', { headers }, (response) => {
  Atomics.wait(words, ${GO}, 0);
  response.on('data', () => Atomics.store(words, ${READ}, response.socket.bytesRead)).on('error', () => {});
}).on('error', () => {});
`;

describe('the event stream', () => {
  let service: Harness;
  const opened: StreamClient[] = [];
  const open = async (
    ...rest: [query?: string, options?: { key?: string; headers?: Record<string, string> }]
  ) => {
    const client = await openStream(service, ...rest);
    opened.push(client);
    return client;
  };
  before(async () => {
    service = await startHarness('sqlite');
  });
  after(() => service.close());
  const closeAll = async () => {
    for (const client of opened.splice(0)) client.close();
    await becomes(0, () => openOn(service));
  };

  test('an event arrives at once, and says what the list says.', async () => {
    const client = await open();
    assert.equal(client.status, 200);
    assert.equal(client.headers['content-type'], 'text/event-stream; charset=utf-8');
    assert.equal(client.headers['x-accel-buffering'], 'no');
    assert.equal(client.headers['cache-control'], 'no-store');
    assert.deepEqual(client.comments, ['retry: 1000']);
    const { id } = await service.create();
    await becomes(1, () => client.events.length);
    await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
    await becomes(2, () => client.events.length);
    const { data } = (await service.request(`/v1/payments/${id}/events`)).json;
    assert.deepEqual(
      client.events.map((one) => one.data),
      data,
    );
    assert.deepEqual(
      client.events.map((one) => one.id),
      data.map((one: { id: string }) => one.id),
    );
    await closeAll();
  });

  test('it shows nothing of another merchant, and no other type or payment than asked for.', async () => {
    const [theirs, cancelled] = [await open('', { key: OTHER_KEY }), await open('?type=payment.cancelled')];
    const { id } = await service.create();
    const one = await open(`?payment_id=${id}`);
    const other = await service.create({}, { key: OTHER_KEY });
    await service.create();
    await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
    // What comes next comes behind whatever should not have come.
    const next = await service.create();
    await service.request(`/v1/payments/${next.id}/cancel`, { method: 'POST' });
    const nextOther = await service.create({}, { key: OTHER_KEY });
    await Promise.all([theirs.heard(2), cancelled.heard(2), one.heard(1)]);
    assert.deepEqual(theirs.told, created([other.id, nextOther.id]));
    assert.deepEqual(cancelled.told, [`payment.cancelled ${id}`, `payment.cancelled ${next.id}`]);
    assert.deepEqual(one.told, [`payment.cancelled ${id}`]);
    await closeAll();
  });

  test('it goes on behind Last-Event-ID or after without gap or double while others write.', async () => {
    const { journal } = service.service;
    const [first] = await createIn(journal, service);
    const { data } = (await service.request(`/v1/payments/${first}/events`)).json;
    const expected = await createIn(journal, service, 250);
    let writing = true;
    const write = async () => {
      while (writing) {
        expected.push(...(await createIn(journal, service, 3)));
        await sleep(1);
      }
    };
    const writer = write();
    const cursor = data[0].id;
    const streams: StreamClient[] = [];
    for (let i = 0; i < 12; i++) {
      const options = i % 2 ? { headers: { 'last-event-id': cursor } } : {};
      streams.push(await open(`?after=${i % 2 ? 'evt_older' : cursor}`, options));
      await sleep(i % 5);
    }
    writing = false;
    await writer;
    for (const stream of streams) await stream.heard(expected.length);
    expected.push(...(await createIn(journal, service))); // behind whatever comes twice
    for (const stream of streams) await stream.heard(expected.length);
    for (const stream of streams) assert.deepEqual(stream.told, created(expected));
    await closeAll();
  });

  test('what comes in one burst while a stream catches up arrives whole.', async () => {
    const { journal } = service.service;
    const { next_cursor: cursor } = (await service.request(`/v1/events?limit=1`)).json;
    const streams = [];
    const expected: string[] = [];
    for (let i = 0; i < 4; i++) {
      streams.push(openStream(service, `?after=${cursor}`));
      for (let j = 0; j < 3; j++) expected.push(...(await createIn(journal, service, 250)));
    }
    const opening = await Promise.all(streams);
    opened.push(...opening);
    const last = created(expected).at(-1);
    for (const stream of opening) {
      await eventually(() => stream.told.length >= expected.length && stream.told.at(-1) === last);
      assert.deepEqual(stream.told.slice(-expected.length), created(expected));
      assert.equal(new Set(stream.told).size, stream.told.length);
    }
    await closeAll();
  });

  test('a position that is not theirs is a 422, and so is what the query does not take.', async () => {
    const { id } = await service.create({}, { key: OTHER_KEY });
    const [event] = (await service.request(`/v1/payments/${id}/events`, { key: OTHER_KEY })).json.data;
    for (const [path, headers, details] of [
      [`?after=${event.id}`, {}, ['after']],
      ['', { 'last-event-id': event.id }, ['after']],
      ['?type=x&payment_id=y', {}, ['payment_id', 'type']],
    ] as const) {
      const answer = await service.request(`/v1/events/stream${path}`, { headers });
      assert.equal(answer.status, 422, path);
      assert.deepEqual(Object.keys(answer.json.error.details).sort(), details);
    }
    assert.equal((await service.request('/v1/events/stream', { key: null })).status, 401);
    const head = await service.request('/v1/events/stream', { method: 'HEAD' });
    assert.equal(head.status, 200);
    assert.equal(openOn(service), 0);
  });

  test('a key that is revoked loses its stream.', async () => {
    const made = (await service.request('/v1/api_keys', { method: 'POST', body: { name: 'x' } })).json.data;
    const client = await open('', { key: made.key });
    await service.request(`/v1/api_keys/${made.id}/revoke`, { method: 'POST' });
    await becomes(true, () => client.isEnded);
    await closeAll();
  });
});

describe('the event stream of a node', () => {
  test('a heartbeat comes while nothing happens, and no limit for answers cuts it.', async () => {
    const service = await startHarness('sqlite', { pace: { heartbeatMs: 100, answerMs: 4000 } });
    try {
      const client = await until(
        () => openStream(service), // the limit may be too short for the first ones
        ({ status }) => status === 200,
      );
      await eventually(() => client.comments.length > 5 || client.isEnded); // one each second at most
      assert.deepEqual(client.comments.slice(0, 6), ['retry: 1000', ':', ':', ':', ':', ':']);
      assert.equal(client.isEnded, false);
      const { json } = await until(
        () => service.request('/v1/payments', { method: 'POST', body: { amount: 1 } }),
        ({ status }) => status === 201, // or too short for this, which may be done although it is refused
      );
      await becomes(`payment.created ${json.data.id}`, () => client.told.at(-1));
      client.close();
    } finally {
      await service.close();
    }
  });

  test('a stream that opens slowly is sent what happens from then on.', async () => {
    const service = await startHarness('sqlite', { pace: { heartbeatMs: 100 } });
    try {
      const held = await heldUp(service.service.journal); // an opening confirms the newest entry
      const opening = openStream(service);
      await becomes(1, () => openOn(service));
      await sleep(1200); // looks each second whether a heartbeat is due
      held.go();
      const client = await opening;
      const { id } = await service.create();
      await client.heard(1);
      assert.deepEqual([client.told, client.comments[0]], [created([id]), 'retry: 1000']);
      client.close();
    } finally {
      await service.close();
    }
  });

  test('a merchant that has too many is told, and a place becomes free.', async () => {
    const service = await startHarness('sqlite');
    try {
      const clients = await Promise.all(Array.from({ length: STREAMS_MAXIMUM }, () => openStream(service)));
      const refused = await service.request('/v1/events/stream');
      assert.equal(refused.status, 429);
      assert.match(refused.json.error.message, /100 event streams open/);
      assert.equal(refused.headers.get('retry-after'), '1');
      const other = await openStream(service, '', { key: OTHER_KEY });
      assert.equal(other.status, 200);
      clients[0]!.close();
      await becomes(STREAMS_MAXIMUM, () => openOn(service));
      assert.equal((await openStream(service)).status, 200);
    } finally {
      await service.close();
    }
  });

  test('a reader that pauses costs no more memory than two pages, and gets all it missed.', async () => {
    const service = await startHarness('sqlite', { pace: { stalledMs: LONGER_THAN_A_TEST_MS } });
    try {
      const sockets = new Set<Socket>();
      service.service.app.server.on('connection', (socket) => sockets.add(socket));
      const held = () => [...sockets].reduce((sum, { writableLength }) => sum + writableLength, 0);
      const [slow, quick] = [await openStream(service), await openStream(service)];
      slow.pause();
      const expected: string[] = [];
      for (let i = 0; i < 100; i++) expected.push(...(await createIn(service.service.journal, service, 250)));
      await quick.heard(expected.length);
      assert.ok(held() < 3 * 256 * 1024, `${held()} bytes are held`);
      slow.resume();
      await slow.heard(expected.length);
      for (const { told } of [quick, slow]) assert.deepEqual(told, created(expected));
    } finally {
      await service.close();
    }
  });

  test('a reader that takes nothing is dropped, and others go on.', async () => {
    const service = await startHarness('sqlite', { pace: { stalledMs: 200 } });
    try {
      const dead = await openStream(service);
      const { quick, expected, happen } = await manyEvents(service);
      dead.pause();
      const { counters } = service.service.streams;
      while (counters.dropped === 0) await happen();
      await becomes(1, () => openOn(service));
      dead.resume();
      await eventually(() => dead.isEnded);
      assert.equal(counters.dropped, 1);
      assert.deepEqual(quick.told, expected);
      assert.ok(!quick.isEnded);
    } finally {
      await service.close();
    }
  });

  test('a reader is not dropped that took all while the server stood still.', async () => {
    const stalledMs = 2000;
    const service = await startHarness('sqlite', { pace: { stalledMs } });
    const { streams, app } = service.service;
    const { happen } = await manyEvents(service);
    try {
      for (let isJudged = false; !isJudged; ) {
        const { dropped } = streams.counters;
        const accepted = once(app.server, 'connection');
        const words = new Int32Array(new SharedArrayBuffer(8));
        const reader = new Worker(READER, { eval: true, workerData: { origin: service.origin, KEY, words } });
        const [socket] = (await accepted) as [Socket];
        await becomes(2, () => openOn(service));
        while (!socket.writableNeedDrain && !socket.destroyed) await happen();
        const full = performance.now();
        await happen(); // now the server waits for the reader at any rate
        await setImmediate(); // what comes next are timers
        const hasTime = performance.now() - full < stalledMs / 2;
        isJudged = hasTime && streams.counters.dropped === dropped && !socket.destroyed; // or it was slow: once more
        Atomics.store(words, GO, 1);
        Atomics.notify(words, GO);
        if (isJudged) {
          standStill(stalledMs);
          while (Atomics.load(words, READ) < socket.bytesWritten - socket.writableLength) standStill(10);
          for (let turn = 0; turn < 3; turn++) await setImmediate();
          assert.equal(streams.counters.dropped, dropped);
        }
        await reader.terminate();
        await becomes(1, () => openOn(service));
      }
    } finally {
      await service.close();
    }
  });

  test('a stream says where it begins, so that nothing is missed by a client that is cut before its first event.', async () => {
    const service = await startHarness('sqlite');
    try {
      const { journal } = service.service;
      const cutAtOnce = async (key: string) => {
        const client = await openStream(service, '', { key });
        client.close();
        return { key, position: client.position! };
      };
      const cut = [await cutAtOnce(KEY), await cutAtOnce(OTHER_KEY)]; // before there is any event
      const [first, others] = [await service.create(), await service.create({}, { key: OTHER_KEY })];
      cut.push(await cutAtOnce(KEY)); // its newest entry is in no list of stretches yet
      const more = await createIn(journal, service, 600);
      await listStretches(service.service);
      cut.push(await cutAtOnce(OTHER_KEY)); // its newest entry is behind hundreds of others
      const missed = await service.create();
      const missedOther = await service.create({}, { key: OTHER_KEY });
      const expected = [
        [first.id, ...more, missed.id],
        [others.id, missedOther.id],
        [...more, missed.id],
        [missedOther.id],
      ];
      for (const [i, { key, position }] of cut.entries()) {
        for (const again of [`?after=${position}`, '']) {
          const headers: Record<string, string> = again === '' ? { 'last-event-id': position } : {};
          const client = await openStream(service, again, { key, headers });
          await client.heard(expected[i]!.length);
          assert.deepEqual(client.told, created(expected[i]!));
          assert.equal(client.position, position);
          client.close();
        }
        const { data } = (await service.request(`/v1/events?limit=1&after=${position}`, { key })).json;
        assert.equal(data[0].data.payment_id, expected[i]![0]);
        const [mine, another] = key === KEY ? [KEY, OTHER_KEY] : [OTHER_KEY, KEY];
        assert.equal((await service.request(`/v1/events/${cut[0]!.position}`, { key: mine })).status, 404);
        if (i > 1)
          assert.equal((await service.request(`/v1/events?after=${position}`, { key: another })).status, 422);
      }
    } finally {
      await service.close();
    }
  });

  test('a stop ends all streams at once, and a client goes on where it was on another node.', async () => {
    const service = await startHarness('sqlite');
    try {
      const client = await openStream(service);
      const { id: first } = await service.create();
      await client.heard(1);
      await service.stop();
      await eventually(() => client.isEnded);
      assert.ok(client.isWhole, 'the stream was ended, and not cut when the stop had waited for it');
      await service.start();
      const { id: missed } = await service.create();
      const again = await openStream(service, '', { headers: { 'last-event-id': client.events[0]!.id } });
      await again.heard(1);
      assert.deepEqual([client.told, again.told], [created([first]), created([missed])]);
    } finally {
      await service.close();
    }
  });

  test("another node's commits arrive in the order of commits, on postgres.", async () => {
    const service = await startHarness('postgres');
    const second = await openPatiently(service.store);
    try {
      const { journal } = service.service;
      const other = unhurried(second, service.clock);
      const client = await openStream(service);
      const [id] = await createIn(other, service);
      await becomes(1, () => client.events.length);
      assert.deepEqual(client.told, created([id!]));
      const made = await Promise.all(
        [journal, other, journal, other].map(async (node) => {
          const ids: string[] = [];
          for (let i = 0; i < 100; i++) ids.push(...(await createIn(node, service)));
          return ids;
        }),
      );
      await client.heard(1 + made.flat().length);
      const { data, next_cursor } = (await service.request('/v1/events?limit=100')).json;
      const listed = data.map((one: { id: string }) => one.id);
      for (let cursor = next_cursor; listed.length < 401; ) {
        const page = (await service.request(`/v1/events?limit=100&after=${cursor}`)).json;
        listed.push(...page.data.map((one: { id: string }) => one.id));
        cursor = page.next_cursor;
      }
      assert.deepEqual(
        client.events.map((one) => one.id),
        listed,
      );
      client.close();
    } finally {
      await second.close();
      await service.close();
    }
  });
});
