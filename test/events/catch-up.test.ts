// A stream that catches up: what happens while it reads the list is sent as well.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Database, Value } from '../../src/database/database.ts';
import { listEvents } from '../../src/events/list.ts';
import { EventStreams } from '../../src/events/streams.ts';
import { Feed } from '../../src/journal/feed.ts';
import { newestEntry } from '../../src/journal/queries.ts';
import { createLogger } from '../../src/lib/log.ts';
import { PAYMENT_ID_PREFIX } from '../../src/payments/payment.ts';
import { startHarness } from '../support/harness.ts';
import { eventually } from '../support/waiting.ts';

const PATIENCE_MS = 20_000;

test('what happens while a stream reads the list is sent, each once and in order', async () => {
  const service = await startHarness('sqlite');
  const { database, journal } = service.service;
  const tenant = { merchant_id: 'mer_development', mode: 'test' } as const;
  await service.create();
  const { end: after } = await listEvents(database, tenant, {}, undefined, 10);
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
  const feed = new Feed({ database, journal, prefix: PAYMENT_ID_PREFIX, log: createLogger('silent') });
  const streams = new EventStreams(late, feed);
  const server = createServer(async (_request, response) => {
    const begin = await streams.open({ tenant, filter: {}, after, mayGoOn: () => true }, response);
    response.writeHead(200);
    begin();
  });
  try {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    await isRead.promise;
    ids.push((await service.create()).id, (await service.create()).id);
    const newest = await newestEntry(database);
    await eventually(() => feed.reached >= newest);
    arrival.resolve();

    let text = '';
    const decoder = new TextDecoder();
    const told = () => [...text.matchAll(/"payment_id":"(\w+)"/g)].map(([, id]) => id);
    for await (const bytes of answer.body!) {
      text += decoder.decode(bytes, { stream: true });
      if (told().length >= ids.length) break;
    }
    assert.deepEqual(told(), ids);
  } finally {
    arrival.resolve();
    streams.stop();
    await feed.stop();
    server.closeAllConnections();
    server.close();
    await service.close();
  }
});
