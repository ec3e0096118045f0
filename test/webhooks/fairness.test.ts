// What one merchant's receivers may take of a node: slots are shared, a URL gets each event once, and strangers are tried gently.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Endpoint } from '../../src/webhooks/endpoint.ts';
import {
  replyThrottle,
  Slots,
  STORED_REPLIES_A_DAY,
  storedReply,
  TESTS_A_MINUTE,
  TRIALS_A_MINUTE,
} from '../../src/webhooks/queue.ts';
import { type Harness, LIVE_KEY, sharedHarness, startHarness, TestClock } from '../support/harness.ts';
import { shared } from '../support/shared.ts';
import { setState } from '../support/store-merchant.ts';
import { ENGINES } from '../support/stores.ts';
import { becomes, until } from '../support/waiting.ts';
import { endpointsOf } from '../support/webhook-endpoints.ts';
import { answering, WebhookReceiver } from '../support/webhook-receiver.ts';

const LONG = { expires_in: 15_000_000 };
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const at = (merchant: number, host: string, n = 0) =>
  ({ merchant_id: `mer_${merchant}`, url: `https://${host}/${n}` }) as Endpoint;

test('slow endpoints of many merchants leave a quiet one all the slots that an endpoint may have', () => {
  for (const merchants of [1, 8, 40]) {
    const slots = new Slots();
    for (let n = 0; n < 16; n++)
      for (let merchant = 0; merchant < merchants; merchant++)
        slots.take(at(merchant, `${n}.shop-${merchant}.example`), 4, () => {});
    assert.equal(
      slots.take(at(999, 'quiet.example'), 4, () => {}),
      4,
      `${merchants} merchants`,
    );
  }
  const slots = new Slots();
  let held = 0;
  for (let n = 0; n < 16; n++) held += slots.take(at(1, `${n}.example`), 4, () => {});
  assert.equal(held, 64, 'one merchant alone has four for each of its endpoints');
});

test('one host that many merchants name has no more slots than one merchant', () => {
  const slots = new Slots();
  let held = 0;
  for (let merchant = 0; merchant < 200; merchant++)
    held += slots.take(at(merchant, 'victim.example', merchant), 4, () => {});
  assert.ok(held <= 110, `${held} at once`);
  assert.equal(
    slots.take(at(999, 'quiet.example'), 4, () => {}),
    4,
  );
});

test('a sender that found no slot is woken when one is free, the longest waiting first', () => {
  const slots = new Slots();
  const woken: number[] = [];
  const all = Array.from({ length: 200 }, (_, n) => at(1, `${n}.example`));
  const taken = all.map((endpoint, n) => slots.take(endpoint, 4, () => woken.push(n)));
  const first = taken.indexOf(0);
  assert.ok(first > 20, `${first}`);
  slots.release(all[0]!, 4);
  assert.deepEqual(woken, [first]);
  slots.forget(all[first + 1]!);
  slots.release(all[1]!, 4);
  assert.deepEqual(woken, [first, first + 2]);
});

test('replies of a merchant are stored up to a number a day, whatever its endpoints', () => {
  const clock = new TestClock();
  clock.stop();
  const replies = replyThrottle(clock);
  const store = (n: number) => storedReply(replies, at(1, `${n % 16}.example`), 'no');
  for (let n = 0; n < STORED_REPLIES_A_DAY; n++) assert.equal(store(n), 'no');
  assert.equal(store(0), null);
  assert.equal(storedReply(replies, at(2, 'other.example'), 'no'), 'no');
  clock.advance(24 * 60 * MINUTE_MS);
  assert.equal(store(0), 'no');
});

test('docs/limits.md names for each limit a test file that is there', () => {
  const text = readFileSync('docs/limits.md', 'utf8');
  const [, table] = /## What the receiver of a webhook can hold\n(.*?)\n## /s.exec(text)!;
  const rows = table!.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| What'));
  assert.ok(rows.length >= 18);
  for (const row of rows)
    assert.ok(existsSync(`test/webhooks/${/`([a-z]+\.test\.ts)` \|$/.exec(row)![1]}`), row);
  assert.match(table!, new RegExp(`took one, in production \\| ${TRIALS_A_MINUTE} a minute`));
  assert.match(table!, new RegExp(`sends to a host \\| ${TESTS_A_MINUTE} a minute`));
  assert.match(table!, new RegExp(`stored \\| ${STORED_REPLIES_A_DAY} a day`));
});

for (const engine of ENGINES) {
  describe(`webhooks to one URL on ${engine}`, () => {
    const service = sharedHarness(engine, { isVerified: true });
    const receiver = shared(WebhookReceiver.start);

    const { add: endpoint, change, remove } = endpointsOf(service, (path) => receiver.url(path));

    test('each event comes once, signed with the secret of every endpoint that has the URL.', async () => {
      const all: { id: string; secret: string }[] = [];
      for (let n = 0; n < 8; n++) all.push(await endpoint(n === 0 ? '/one' : `/one#${n}`));
      const narrow = await endpoint('/one', { types: ['payment.cancelled'] });
      const marker = await endpoint('/marker');
      for (let n = 0; n < 5; n++) await service.create(LONG);
      await receiver.have(5, '/one');
      await receiver.have(5, '/marker');
      await delay(500);
      const came = await receiver.have(5, '/one');
      assert.equal(came.length, 5);
      for (const one of came) {
        for (const { secret } of all) assert.ok(WebhookReceiver.isSigned(one, [secret]));
        assert.ok(!WebhookReceiver.isSigned(one, [narrow.secret]), 'it takes no such events');
      }
      for (const { id } of [...all, narrow, marker]) await remove(id);
    });

    test('signatures have the time of the machine as soon as its clock is right again.', async () => {
      const { id } = await endpoint('/clock');
      const right = Date.now();
      // The clock was an hour ahead, and was set back: the service's own time goes on from there.
      service.clock.advance(60 * MINUTE_MS);
      Object.assign(service.clock, { wall: () => right });
      await service.create(LONG);
      const [one] = await receiver.have(1, '/clock');
      await service.request(`/v1/webhook_endpoints/${id}/test`, { method: 'POST' });
      const [, tested] = await receiver.have(2, '/clock');
      for (const { timestamp } of [one!, tested!]) assert.equal(timestamp, Math.floor(right / 1000));
      Object.assign(service.clock, { wall: undefined });
      await remove(id);
    });

    test('test events to one host are limited, and say when the next may be sent.', async () => {
      const all = [await endpoint('/tested/1'), await endpoint('/tested/2')];
      service.clock.stop();
      service.clock.advance(MINUTE_MS); // other tests sent some
      const send = (n: number) =>
        service.request(`/v1/webhook_endpoints/${all[n % 2]!.id}/test`, { method: 'POST' });
      for (let n = 0; n < TESTS_A_MINUTE; n++) assert.equal((await send(n)).status, 200);
      const refused = await send(0);
      assert.deepEqual([refused.status, refused.json.error.code], [429, 'rate_limited']);
      assert.match(refused.headers.get('retry-after')!, /^([1-9]|[1-5]\d|60)$/);
      service.clock.advance(MINUTE_MS);
      assert.equal((await send(0)).status, 200);
      service.clock.go();
      for (const { id } of all) await remove(id);
    });

    test('nothing is sent to a suspended merchant, and what happened meanwhile once it goes on.', async () => {
      const { id } = await endpoint('/suspended');
      const payment = await service.create({ expires_in: 3600 });
      await receiver.have(1, '/suspended');
      const { database } = service.service;
      await setState(service, 'mer_development', 'suspended');
      assert.equal((await service.request('/v1/payments')).status, 403);
      service.clock.advance(60 * MINUTE_MS);
      const isExpired = async () =>
        (await database.query('select id from payments where id = ? and status = ?', payment.id, 'cancelled'))
          .length;
      await becomes(1, isExpired);
      await delay(2500);
      assert.equal((await receiver.have(1, '/suspended')).length, 1);
      await setState(service, 'mer_development', 'resumed');
      await receiver.have(2, '/suspended');
      await remove(id);
    });

    test('types that the older endpoint does not take are sent for the younger.', async () => {
      const created = await endpoint('/two', { types: ['payment.created'] });
      const every = await endpoint('/two');
      const { id } = await service.create(LONG);
      await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
      const types = (await receiver.have(2, '/two')).map(({ event }) => event.type);
      assert.deepEqual(types.sort(), ['payment.cancelled', 'payment.created']);
      for (const one of [created, every]) await remove(one.id);
    });

    for (const [what, leave] of [
      ['deleted', (id: string) => remove(id)],
      ['disabled', (id: string) => change(id, { status: 'disabled' })],
      ['sent elsewhere', (id: string) => change(id, { url: receiver.url('/elsewhere') })],
    ] as const)
      test(`what waits for an endpoint that is ${what} is sent for the other with its URL.`, async () => {
        const path = `/left-${what.replace(' ', '-')}`;
        const [first, second] = [await endpoint(path), await endpoint(path)];
        receiver.reply = answering(500);
        const made = new Set<string>();
        for (let n = 0; n < 3; n++) made.add((await service.create(LONG)).id);
        await receiver.have(1, path);
        await becomes(true, async () => {
          const queues = await service.service.database.query<{ number: number }>(
            'select number from webhook_queues where endpoint_id in (?, ?)',
            first.id,
            second.id,
          );
          return queues.every(({ number }) => number === queues[0]!.number);
        });
        receiver.received.length = 0;
        receiver.reply = answering(200);
        await leave(first.id);
        await becomes(true, () => {
          const came = receiver.received.filter((one) => one.path === path);
          return new Set(came.map(({ event }) => event.data.payment_id)).size === made.size;
        });
        for (const one of what === 'deleted' ? [second] : [first, second]) await remove(one.id);
      });
  });
}

describe('a receiver that never took a webhook, in production', () => {
  let service: Harness;
  let receiver: WebhookReceiver;
  before(async () => {
    receiver = await WebhookReceiver.start();
    const port = new URL(receiver.url()).port;
    const allowed = ['127.0.0.0/8', '::1/128'];
    const configuration = `webhooks: ${JSON.stringify({ allowed_networks: allowed, ports: [Number(port)] })}\n`;
    service = await startHarness('sqlite', { environment: 'production', configuration });
  });
  after(async () => {
    await service.close();
    await receiver.close();
  });

  test('is tried a few times a minute whatever waits, and gets all of it once it takes one.', async () => {
    const { add, change } = endpointsOf(service, (path) => receiver.url(path), LIVE_KEY);
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) ids.push((await add(`/${n}`)).id);
    receiver.reply = answering(500);
    await service.create({}, { key: LIVE_KEY });
    await becomes(true, () => receiver.received.length > 0);
    service.clock.stop();
    for (let n = 0; n < 10; n++) await service.create({}, { key: LIVE_KEY });
    await becomes(TRIALS_A_MINUTE, () => receiver.received.length);
    await delay(2500);
    assert.equal(receiver.received.length, TRIALS_A_MINUTE, '44 deliveries are due');
    service.clock.advance(MINUTE_MS);
    await becomes(2 * TRIALS_A_MINUTE, () => receiver.received.length);
    receiver.reply = answering(200);
    service.clock.advance(MINUTE_MS);
    for (let n = 0; n < 4; n++) await receiver.have(11, `/${n}`);
    // A new address is a stranger again.
    receiver.reply = answering(500);
    for (const [n, id] of ids.entries()) await change(id, { url: receiver.url(`/new/${n}`) });
    service.clock.advance(MINUTE_MS);
    for (let n = 0; n < 10; n++) await service.create({}, { key: LIVE_KEY });
    // Some may still go to the old address, until the sender hears of the new one.
    const atNew = () => receiver.received.filter(({ path }) => path.startsWith('/new/')).length;
    await becomes(true, () => atNew() >= TRIALS_A_MINUTE);
    await delay(2500);
    const tries = atNew();
    assert.ok(tries <= 2 * TRIALS_A_MINUTE, `${tries} of 40: those of the minute before may be among them`);
  });
});

test('a receiver that took webhooks and fails is tried once a second, those of one merchant four times, until it takes one.', async () => {
  const service = await startHarness('sqlite');
  const receiver = await WebhookReceiver.start();
  const HOSTS = 6;
  const PAYMENTS = 20;
  const { port } = new URL(receiver.url());
  try {
    const { add } = endpointsOf(service, (n) => `http://h${n}.localhost:${port}/${n}`);
    for (let n = 0; n < HOSTS; n++) await add(String(n));
    await service.create();
    await becomes(HOSTS, () => receiver.received.length);
    receiver.reply = answering(500);
    service.clock.stop();
    for (let n = 0; n < PAYMENTS; n++) await service.create();
    // Also an attempt that did not get as far as the receiver counts.
    const sql = 'select count(*) as made from webhook_attempts';
    await until(
      () => service.service.database.query<{ made: number }>(sql),
      ([one]) => one!.made >= 2 * HOSTS,
    );
    await delay(2500);
    const tries = receiver.received.length - HOSTS;
    assert.ok(tries <= 4 * HOSTS + 4, `${tries} of ${HOSTS * PAYMENTS}: those that ran at once, and four`);
    service.clock.advance(SECOND_MS);
    await becomes(true, () => receiver.received.length > HOSTS + tries);
    receiver.reply = answering(200);
    const told = () =>
      new Set(receiver.received.map(({ path, event }) => `${path} ${event.data.payment_id}`));
    await becomes(HOSTS * (1 + PAYMENTS), () => {
      service.clock.advance(SECOND_MS);
      return told().size;
    });
  } finally {
    await service.close();
    await receiver.close();
  }
});
