// Events through the client: each once and in order, over pages, cuts and a restart, until the caller leaves.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createIn, OTHER_KEY, sharedHarness } from '../../../test/support/harness.ts';
import { becomes, eventually } from '../../../test/support/waiting.ts';
import type { Counterfoil, Event } from '../src/index.ts';
import { FaultyWay } from './support/faulty-way.ts';

describe('events through the client', () => {
  const service = sharedHarness('sqlite');
  let way: FaultyWay;
  let client: Counterfoil;
  before(async () => {
    way = await FaultyWay.to(service);
    client = way.client();
  });
  after(() => way.close());

  const ids = (events: readonly Event[]) => events.map(({ id }) => id);

  test('the list gives each once over several pages, goes on behind one, and is narrowed.', async () => {
    const payments = await createIn(service.service.journal, service, 130);
    await client.payments.cancel(payments[0]!);
    const all = await Array.fromAsync(client.events.list());
    assert.equal(new Set(ids(all)).size, 131);
    const behind = await Array.fromAsync(client.events.list({ after: all[99]!.id }));
    assert.deepEqual(behind, all.slice(100));
    const cancelled = await Array.fromAsync(
      client.events.list({ type: ['payment.cancelled', 'payment.expired'] }),
    );
    assert.deepEqual(cancelled, [all.at(-1)]);
    const [of] = await Array.fromAsync(client.events.list({ payment_id: payments[1]! }));
    assert.deepEqual(await client.events.read(of!.id), of);
    assert.equal((await Array.fromAsync(client.payments.list())).length, 130);
  });

  test('the stream gives each once and in order although it is cut amid blocks, refused and the service restarted.', async () => {
    const { id: begin } = (await Array.fromAsync(client.events.list())).at(-10)!;
    const seen: Event[] = [];
    const leaving = new AbortController();
    way.cutsBeforeBlock = 3;
    way.suffer('503 before', 'cut before', '429');
    const reading = (async () => {
      for await (const event of client.events.stream({ after: begin }, { signal: leaving.signal }))
        seen.push(event);
    })();
    for (let turn = 0; turn < 3; turn++) {
      const payments = await Promise.all(Array.from({ length: 4 }, () => service.create()));
      await Promise.all(
        payments.map(({ id }) => service.request(`/v1/payments/${id}/cancel`, { method: 'POST' })),
      );
      if (turn === 1) {
        await service.stop();
        await service.start();
      }
    }
    const all = await Array.fromAsync(client.events.list({ after: begin }));
    await becomes(ids(all), () => ids(seen));
    way.cutsBeforeBlock = undefined;
    leaving.abort();
    await reading;
    assert.ok(
      way.passed.filter(({ route }) => route.includes('/stream')).length >= all.length / 3,
      'it was cut',
    );
  });

  test('a stream without a position that is cut before its first event misses none.', async () => {
    await becomes(0, () => way.streams);
    way.suffer();
    way.cutsBeforeBlock = 0;
    const leaving = new AbortController();
    const events = client.events.stream({}, { signal: leaving.signal });
    const next = events.next();
    await becomes(1, () => way.streams);
    const { id } = await service.create();
    await eventually(() => way.passed.length > 1); // it was cut amid the event, and came again
    way.cutsBeforeBlock = undefined;
    assert.equal((await next).value!.data.payment_id, id);
    leaving.abort();
    await events.return();
  });

  test('leaving the loop ends the connection, and a refusal throws.', async () => {
    const { data } = await client.events.page({ limit: 1 });
    for await (const event of client.events.stream({ after: data[0]!.id })) if (event) break;
    await becomes(0, () => way.streams);
    const stranger = way.client({ key: 'cfk_test_unknown' });
    await assert.rejects(stranger.events.stream().next(), { code: 'unauthorized' });
    const other = way.client({ key: OTHER_KEY });
    await assert.rejects(other.events.stream({ after: data[0]!.id }).next(), { code: 'validation_failed' });
    assert.deepEqual(await client.events.stream({}, { signal: AbortSignal.abort() }).next(), {
      done: true,
      value: undefined,
    });
  });
});
