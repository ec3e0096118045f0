// Webhooks: what became of a payment reaches the merchant's server by itself, signed, once the commit stands, and nothing is lost.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OTHER_KEY, sharedHarness } from '../support/harness.ts';
import { shared } from '../support/shared.ts';
import { ENGINES } from '../support/stores.ts';
import { until } from '../support/waiting.ts';
import { endpointsOf, type Shown } from '../support/webhook-endpoints.ts';
import { answering, WebhookReceiver } from '../support/webhook-receiver.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

for (const engine of ENGINES) {
  describe(`webhooks on ${engine}`, () => {
    const service = sharedHarness(engine, { isVerified: true });
    const receiver = shared(WebhookReceiver.start);

    const { add: endpoint, deliveries, remove } = endpointsOf(service, (path) => receiver.url(path));
    const others = endpointsOf(service, (path) => receiver.url(path), OTHER_KEY);
    /** Waits until deliveries of an endpoint are as `isDone` wants them. */
    const delivered = (id: string, isDone: (all: Shown[]) => boolean) => until(() => deliveries(id), isDone);

    test('each event arrives, signed, as GET /v1/events tells it.', async () => {
      const { id, secret } = await endpoint('/first');
      const payment = await service.create({ merchant_reference: 'order-1' });
      await service.request(`/v1/payments/${payment.id}/cancel`, { method: 'POST' });
      const received = await receiver.have(2, '/first');
      const { data: events } = (await service.request(`/v1/payments/${payment.id}/events`)).json;
      for (const one of received) {
        assert.ok(WebhookReceiver.isSigned(one, [secret]));
        assert.deepEqual(
          one.event,
          events.find((event: { id: string }) => event.id === one.id),
        );
      }
      const all = await delivered(id, (found) => found.every(({ status }) => status === 'delivered'));
      assert.deepEqual(all.map(({ event_type }) => event_type).sort(), [
        'payment.cancelled',
        'payment.created',
      ]);
      await remove(id);
    });

    test('an endpoint gets the types it asks for, of its own merchant alone.', async () => {
      const { id } = await endpoint('/types', { types: ['payment.cancelled'] });
      const other = await others.add('/other');
      const theirs: string[] = [];
      // The second time comes after whatever the first should not have sent.
      for (const time of [1, 2]) {
        const payment = await service.create();
        await service.request(`/v1/payments/${payment.id}/cancel`, { method: 'POST' });
        theirs.push((await service.create({}, { key: OTHER_KEY })).id);
        await receiver.have(time, '/types');
        await receiver.have(time, '/other');
      }
      assert.deepEqual(
        (await receiver.have(2, '/types')).map(({ event }) => event.type),
        ['payment.cancelled', 'payment.cancelled'],
      );
      assert.deepEqual(
        (await receiver.have(2, '/other')).map(({ event }) => event.data.payment_id),
        theirs,
      );
      await remove(id);
      await others.remove(other.id);
    });

    test('what is missing since a time begins a minute before it, because the clock of another node may be behind.', async () => {
      const create = () => service.create({ expires_in: 5_000_000 });
      service.clock.advance(5 * MINUTE_MS); // what other tests made is too old
      await create();
      service.clock.advance(2 * MINUTE_MS);
      const near = await create();
      service.clock.advance(MINUTE_MS / 2);
      const { id } = await endpoint('/missing');
      const since = new Date(Date.parse(near.created_at) + MINUTE_MS / 2).toISOString();
      const options = { method: 'POST', body: { what: 'missing', since } };
      const answer = await service.request(`/v1/webhook_endpoints/${id}/resend`, options);
      assert.equal(answer.status, 200, answer.text);
      const [first] = await receiver.have(1, '/missing');
      assert.equal(first!.event.data.payment_id, near.id);
      assert.equal((await deliveries(id)).length, 1);
      await remove(id);
    });

    test('a receiver that is down for 24 hours gets every event afterwards, with the same id at each attempt.', async () => {
      const { id } = await endpoint('/down');
      receiver.reply = answering(503);
      const made = new Set<string>();
      for (let i = 0; i < 5; i++) made.add((await service.create({ expires_in: 5_000_000 })).id);
      await delivered(id, (all) => all.length === 5 && all.every((one) => one.attempt_count >= 1));
      for (const [before, hours] of [1, 2, 3, 6, 12].entries()) {
        service.clock.advance(hours * HOUR_MS);
        await delivered(id, (all) => all.every((one) => one.attempt_count >= before + 2));
      }
      receiver.reply = answering(200);
      service.clock.advance(DAY_MS);
      await delivered(id, (all) => all.every(({ status }) => status === 'delivered'));
      const came = Map.groupBy(await receiver.have(5, '/down'), (one) => one.id);
      assert.equal(came.size, 5);
      for (const attempts of came.values()) assert.ok(attempts.length > 2, `${attempts.length}`);
      const paid = new Set([...came.values()].map(([one]) => one!.event.data.payment_id));
      assert.deepEqual(paid, made);
      await remove(id);
    });
  });
}
