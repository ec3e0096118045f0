// Webhooks under failures: dead endpoints beside live ones, killed and stopped nodes, 410, and endpoints that fail for days.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DELIVERIES_KEPT_MS, delayAfter, RETRY_DELAYS_MS } from '../../src/webhooks/endpoint.ts';
import { LEASE_MS } from '../../src/webhooks/queue.ts';
import { sharedHarness } from '../support/harness.ts';
import { shared } from '../support/shared.ts';
import { ENGINES } from '../support/stores.ts';
import { becomes, eventually, until } from '../support/waiting.ts';
import { endpointsOf, type Shown } from '../support/webhook-endpoints.ts';
import { answering, type Received, WebhookReceiver } from '../support/webhook-receiver.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LONG = { expires_in: 15_000_000 };

test('ten attempts are spread over about 75 hours, each delay varied by a fifth; Retry-After lengthens one up to a day.', () => {
  const sum = (chance: number) =>
    RETRY_DELAYS_MS.reduce((total, _, i) => total + delayAfter(i + 1, chance)!, 0);
  assert.equal(sum(0.5), 75 * HOUR_MS + 35 * 60_000 + 5_000);
  assert.equal(sum(0) / sum(0.5), 0.8);
  assert.equal(sum(1) / sum(0.5), 1.2);
  assert.equal(delayAfter(10, 0.5), undefined);
  assert.equal(delayAfter(1, 0.5, 60_000), 60_000);
  assert.equal(delayAfter(9, 0.5, 60_000), DAY_MS);
  assert.equal(delayAfter(1, 0.5, 100 * DAY_MS), DAY_MS);
});

for (const engine of ENGINES) {
  describe(`webhooks under failures on ${engine}`, () => {
    const service = sharedHarness(engine, { isVerified: true });
    const receiver = shared(WebhookReceiver.start);

    const { add, read, change, deliveries, remove } = endpointsOf(service, (path) => receiver.url(path));
    const endpoint = async (path: string): Promise<string> => (await add(path)).id;
    /** Creates a payment and waits until another endpoint has heard of it: whoever is to hear of it at once has as well. */
    async function createAndTell(): Promise<{ id: string }> {
      const witness = await endpoint('/witness');
      const payment = await service.create(LONG);
      await becomes(true, () =>
        receiver.received.some(
          ({ path, event }) => path === '/witness' && event.data.payment_id === payment.id,
        ),
      );
      await remove(witness);
      return payment;
    }

    test('an endpoint that hangs and one that refuses delay no other.', async () => {
      const live = await endpoint('/live');
      const dead = [await endpoint('/hangs'), await endpoint('/refuses')];
      let open = 0;
      let most = 0;
      receiver.reply = ({ path }, response) => {
        if (path === '/live') response.end();
        if (path === '/refuses') response.socket!.destroy();
        if (path !== '/hangs') return;
        most = Math.max(most, ++open);
        response.on('close', () => open--);
      };
      for (let i = 0; i < 20; i++) {
        const { id } = await service.create(LONG);
        const isIt = ({ path, event }: Received) => path === '/live' && event.data.payment_id === id;
        // An attempt that hangs takes 15 seconds.
        await becomes(true, () => receiver.received.some(isIt));
      }
      assert.ok(most >= 1 && most <= 4, `${most} at once`);
      for (const id of [live, ...dead]) await remove(id);
      receiver.reply = answering(200);
    });

    test('what another node has is not sent until its lease ends.', async () => {
      const id = await endpoint('/leased');
      await service.create(LONG);
      await receiver.have(1, '/leased');
      await until(
        () =>
          service.service.database.query('select leased_by from webhook_queues where endpoint_id = ?', id),
        ([queue]) => queue?.leased_by === null,
      );
      const ends = service.clock.now() + LEASE_MS;
      await service.service.journal.commit((transaction) =>
        transaction.query(
          "update webhook_queues set leased_by = 'node_other', leased_until = ? where endpoint_id = ?",
          ends,
          id,
        ),
      );
      await createAndTell();
      assert.ok((await receiver.have(1, '/leased')).length === 1 || service.clock.now() >= ends);
      service.clock.advance(LEASE_MS);
      await receiver.have(2, '/leased');
      await remove(id);
    });

    test('what is sent again by hand while an attempt runs is sent after it.', async () => {
      const id = await endpoint('/slow');
      const running: { end(): unknown }[] = [];
      receiver.reply = (_received, response) => void running.push(response);
      await service.create(LONG);
      await receiver.have(1, '/slow');
      const [delivery] = await deliveries(id);
      const again = await service.request(`/v1/deliveries/${delivery!.id}/resend`, { method: 'POST' });
      assert.equal(again.status, 200);
      receiver.reply = answering(200);
      for (const attempt of running) attempt.end();
      const [first, second] = await receiver.have(2, '/slow');
      assert.equal(first!.id, second!.id);
      await remove(id);
      receiver.reply = answering(200);
    });

    test('410 disables; enabled again, the endpoint gets what happened meanwhile.', async () => {
      const id = await endpoint('/gone');
      receiver.reply = answering(410);
      const first = await service.create(LONG);
      const gone = await until(
        () => read(id),
        ({ status }) => status === 'disabled',
      );
      assert.equal(gone.disabled_reason, 'gone');
      receiver.reply = answering(200);
      const second = await createAndTell();
      assert.equal((await receiver.have(1, '/gone')).length, 1, 'nothing is sent while it is off');
      await change(id, { status: 'enabled' });
      service.clock.advance(HOUR_MS);
      const came = (await receiver.have(3, '/gone')).slice(1).map(({ event }) => event.data.payment_id);
      assert.deepEqual(new Set(came), new Set([first.id, second.id]));
      await remove(id);
    });

    test('after five days of failures an endpoint is disabled, and each final failure has an entry.', async () => {
      const id = await endpoint('/failing');
      receiver.reply = answering(500);
      await service.create(LONG);
      let delivery: Shown | undefined;
      for (let tries = 0; tries < 10; tries = delivery!.attempt_count) {
        if (tries > 0) service.clock.advance(1.3 * RETRY_DELAYS_MS[tries - 1]!);
        [delivery] = await until(
          () => deliveries(id),
          ([one]) => one !== undefined && one.attempt_count > tries,
        );
      }
      assert.ok(delivery);
      assert.deepEqual([delivery.status, delivery.next_attempt_at], ['failed', null]);
      assert.equal((await read(id)).status, 'enabled', 'its failures began four days ago');
      const entry = await until(
        () =>
          service.service.database.query<{ action: string }>(
            'select action from audit_entries where subject = ?',
            delivery.id,
          ),
        ({ length }) => length > 0,
      );
      assert.deepEqual(
        entry.map(({ action }) => action),
        ['webhook.delivery_failed'],
      );
      service.clock.advance(2 * DAY_MS);
      await service.create(LONG);
      const off = await until(
        () => read(id),
        ({ status }) => status === 'disabled',
      );
      assert.equal(off.disabled_reason, 'failing');
      receiver.reply = answering(200);
      await remove(id);
    });

    test('an address that is changed holds for what waits already.', async () => {
      const id = await endpoint('/old');
      receiver.reply = ({ path }, response) => void response.writeHead(path === '/old' ? 500 : 200).end();
      await service.create(LONG);
      const [waiting] = await until(
        () => deliveries(id),
        ([one]) => one !== undefined && one.attempt_count > 0,
      );
      await change(id, { url: receiver.url('/new') });
      await becomes(waiting!.event_id, () => {
        service.clock.advance(HOUR_MS);
        return receiver.received.find(({ path }) => path === '/new')?.id;
      });
      receiver.reply = answering(200);
      await remove(id);
    });

    test('nothing is sent to an endpoint that was changed in the store itself.', async () => {
      const id = await endpoint('/honest');
      const { service: inner } = service;
      const { url } = await read(id);
      const write = (to: string) =>
        inner.journal.commit((transaction) =>
          transaction.query('update webhook_endpoints set url = ?, version = version where id = ?', to, id),
        );
      await write(receiver.url('/thief'));
      await service.stop();
      await service.start();
      await createAndTell();
      assert.ok(!receiver.received.some(({ path }) => path === '/thief'));
      await eventually(() => service.logged.some((line) => line.includes('was changed in the store itself')));
      await service.service.journal.commit((transaction) =>
        transaction.query('update webhook_endpoints set url = ? where id = ?', String(url), id),
      );
      await service.stop();
      await service.start();
      await receiver.have(1, '/honest');
      await remove(id);
    });

    test('a node that stops finishes or leaves its deliveries to the next; what is old is removed.', async () => {
      const id = await endpoint('/restart');
      receiver.reply = (_received, response) => void setTimeout(() => response.end(), 300);
      const made = new Set<string>();
      for (let i = 0; i < 12; i++) made.add((await service.create(LONG)).id);
      await receiver.have(2, '/restart');
      await service.stop();
      await service.start();
      await until(
        () => deliveries(id),
        (all) => all.length === 12 && all.every(({ status }) => status === 'delivered'),
      );
      const came = await receiver.have(12, '/restart');
      assert.deepEqual(new Set(came.map(({ event }) => event.data.payment_id)), made);
      assert.ok(came.length <= 12 + 4, 'what was in flight comes twice at most');
      receiver.reply = answering(200);
      service.clock.advance(DELIVERIES_KEPT_MS + DAY_MS);
      await service.stop();
      await service.start();
      const left = await until(
        () => service.service.database.query('select id from webhook_deliveries where due_at is null'),
        ({ length }) => length === 0,
      );
      assert.deepEqual(left, []);
      assert.deepEqual(
        await service.service.database.query('select number from webhook_attempts limit 1'),
        [],
      );
      await remove(id);
    });
  });
}
