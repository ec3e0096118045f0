// A stream that catches up: what happens while it reads the list is sent as well, and nothing that a failover may take back.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Feed } from '../../../src/journal/feed.ts';
import { entriesAfter, newestEntry } from '../../../src/journal/queries.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { EventStreams } from '../../../src/payments/events/streams.ts';
import type { Database, Value } from '../../../src/store/database.ts';
import { startHarness } from '../../support/harness.ts';
import { eventually } from '../../support/waiting.ts';

const TENANT = { merchant_id: 'mer_development', mode: 'test' } as const;

/** Opens a stream of `streams` behind an entry. `told` is the payments that it has told of by now. */
async function listen(streams: EventStreams, number: number) {
  const server = createServer(async (_request, response) => {
    const asked = { tenant: TENANT, filter: {}, after: { number, id: '' }, mayGoOn: () => true };
    const begin = await streams.open(asked, response);
    response.writeHead(200);
    begin();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  let text = '';
  const answer = await fetch(`http://127.0.0.1:${port}`);
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of answer.body!) text += decoder.decode(bytes, { stream: true });
  })().catch(() => {}); // it is ended by `close`
  return {
    told: () => [...text.matchAll(/"payment_id":"(\w+)"/g)].map(([, id]) => id),
    async close() {
      streams.stop();
      server.closeAllConnections();
      server.close();
      await reading;
    },
  };
}

test('what happens while a stream reads the list is sent, each once and in order', async () => {
  const service = await startHarness('sqlite');
  const { database, journal } = service.service;
  await service.create();
  const after = await newestEntry(database);
  const ids = [(await service.create()).id];

  // The first read of the list is as it is, and arrives late.
  const arrival = Promise.withResolvers<void>();
  const isRead = Promise.withResolvers<void>();
  let isFirst = true;
  const late = {
    async query(sql: string, ...values: Value[]) {
      const rows = await database.query(sql, ...values);
      if (isFirst && /from audit_entries\s+where number > /.test(sql)) {
        isFirst = false;
        isRead.resolve();
        await arrival.promise;
      }
      return rows;
    },
  } as unknown as Database;
  const feed = new Feed({ database, journal, prefix: 'pay_', log: createLogger('silent') });
  const stream = await listen(new EventStreams(late, feed), after);
  try {
    await isRead.promise;
    ids.push((await service.create()).id, (await service.create()).id);
    const newest = await newestEntry(database);
    await eventually(() => feed.reached >= newest);
    arrival.resolve();
    await eventually(() => stream.told().length >= ids.length);
    assert.deepEqual(stream.told(), ids);
  } finally {
    arrival.resolve();
    await stream.close();
    await feed.stop();
    await service.close();
  }
});

test('what is not known to stand is sent once it is', async () => {
  const service = await startHarness('sqlite');
  const { database } = service.service;
  await service.create();
  const after = await newestEntry(database);
  const ids = [(await service.create()).id];
  const reached = await newestEntry(database);
  ids.push((await service.create()).id);
  // On PostgreSQL a read may show what a failover takes back: the feed has handed out the first alone.
  const feed = { add() {}, async begin() {}, reached, newest: reached } as unknown as Feed;
  const streams = new EventStreams(database, feed);
  const stream = await listen(streams, after);
  try {
    await eventually(() => stream.told().length > 0);
    await sleep(200);
    assert.deepEqual(stream.told(), ids.slice(0, 1));
    await streams.hear(await entriesAfter(database, reached, 10));
    await eventually(() => stream.told().length > 1);
    assert.deepEqual(stream.told(), ids);
  } finally {
    await stream.close();
    await service.close();
  }
});
