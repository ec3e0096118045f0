// Events: what the history says of a merchant's payments, in the order of commits, each once, and nobody else's.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newestEntry } from '../../../src/journal/queries.ts';
import { addPerson, claimAs, post, sentForReview } from '../../support/admin.ts';
import { createIn, type Harness, KEY, OTHER_KEY, sharedHarness } from '../../support/harness.ts';
import { askForLink, listStretches, sweep } from '../../support/payments.ts';
import { ENGINES } from '../../support/stores.ts';
import { besideTwoNodes } from '../../support/two-nodes.ts';

const DAY_MS = 86_400_000;
/** So many entries are listed at once. */
const STRETCH = 256;

interface Event {
  id: string;
  type: string;
  data: { payment_id: string; version: number; status: string; status_reason: string | null };
}

/** Reads all events behind a cursor, a page at a time. */
async function walk(service: Harness, query = '', key = KEY, from: string | null = null) {
  const events: Event[] = [];
  let cursor = from;
  for (let more = true; more; ) {
    const answer = await service.request(`/v1/events?${query}${cursor ? `&after=${cursor}` : ''}`, { key });
    assert.equal(answer.status, 200, answer.text);
    events.push(...answer.json.data);
    ({ has_more: more, next_cursor: cursor } = answer.json);
  }
  return { events, cursor };
}

/** Creates payments of both merchants, in commits of some, each commit with its own share of them. Returns each merchant's ids in order. */
async function createMany(service: Harness, count: number): Promise<Record<string, string[]>> {
  const made: Record<string, string[]> = { [KEY]: [], [OTHER_KEY]: [] };
  for (let left = count, turn = 0; left > 0; turn++) {
    const shares = { [OTHER_KEY]: Math.min(left, 3 + ((turn * 7) % 13)), [KEY]: 40 };
    left -= shares[OTHER_KEY]!;
    shares[KEY] = Math.min(left, 40);
    left -= shares[KEY];
    await Promise.all(
      Object.entries(shares).map(async ([key, share]) =>
        made[key]!.push(...(await createIn(service.service.journal, service, share, key))),
      ),
    );
  }
  return made;
}

for (const engine of ENGINES) {
  describe(`events on ${engine}`, () => {
    const service = sharedHarness(engine);

    const ofPayment = async (id: string) => {
      const answer = await service.request(`/v1/payments/${id}/events`);
      assert.equal(answer.status, 200, answer.text);
      return answer.json.data as Event[];
    };

    test('each public change of a payment is one event, with the state after it.', async () => {
      const ana = await addPerson(service, 'administrator');
      const id = await sentForReview(service, { amount: 19.99, merchant_reference: 'order-1' });
      await claimAs(service, ana, id); // an entry, but no event
      await post(service, ana, `/admin/payments/${id}/reject`, { reason: 'suspected_fraud' });
      const late = await service.create({ expires_in: 300 });
      service.clock.advance(DAY_MS);
      await sweep(service);
      await askForLink(service, late.id);

      const told = (events: Event[]) =>
        events.map(({ type, data }) => [type, data.version, data.status, data.status_reason]);
      assert.deepEqual(told(await ofPayment(id)), [
        ['payment.created', 1, 'pending', null],
        ['payment.submitted', 2, 'requires_review', null],
        ['payment.rejected', 3, 'rejected', 'other'],
      ]);
      assert.deepEqual(told(await ofPayment(late.id)), [
        ['payment.created', 1, 'pending', null],
        ['payment.expired', 2, 'cancelled', 'expired'],
        ['payment.link_requested', 3, 'cancelled', 'expired'],
      ]);
      const [first] = await ofPayment(id);
      const { created_at } = (await service.request(`/v1/payments/${id}`)).json.data;
      assert.deepEqual(first, {
        id: first!.id,
        object: 'event',
        type: 'payment.created',
        timestamp: created_at,
        livemode: false,
        data: {
          payment_id: id,
          version: 1,
          merchant_reference: 'order-1',
          status: 'pending',
          status_reason: null,
          amount: '19.99',
          currency: 'USD',
          amount_received: '0.00',
          amount_due: '19.99',
          received: null,
        },
      });
      assert.ok(!first!.id.includes(id.slice(14)), 'the id does not hold what opens the checkout page');
      assert.deepEqual((await service.request(`/v1/events/${first!.id}`)).json.data, first);
    });

    test('money that arrived unannounced is told, and a cancelled payment that it opens again.', async () => {
      const ana = await addPerson(service, 'administrator');
      const { id: open } = await service.create({ amount: 5 });
      const { id: closed } = await service.create({ amount: 5 });
      await service.request(`/v1/payments/${closed}/cancel`, { method: 'POST' });
      const day = (await service.request(`/v1/payments/${open}`)).json.data.created_at.slice(0, 10);
      for (const id of [open, closed]) {
        const body = { amount: 5, received_on: day };
        assert.equal((await post(service, ana, `/admin/payments/${id}/record`, body)).status, 200);
      }
      await claimAs(service, ana, closed);
      await post(service, ana, `/admin/payments/${closed}/approve`);
      const told = async (id: string) =>
        (await ofPayment(id)).slice(1).map(({ type, data }) => [type, data.status, data.status_reason]);
      assert.deepEqual(await told(open), [['payment.money_received', 'requires_review', null]]);
      assert.deepEqual(await told(closed), [
        ['payment.cancelled', 'cancelled', 'cancelled_by_merchant'],
        ['payment.reopened', 'requires_review', 'payment_received'],
        ['payment.approved', 'approved', 'payment_received'],
      ]);
      const { status_reason } = (await service.request(`/v1/payments/${closed}`)).json.data;
      assert.equal(status_reason, 'payment_received');
    });

    test('a walk by cursor gives each event once, in the order of commits, before its stretches are listed and after.', async () => {
      const before = await walk(service, 'limit=100');
      const others = await walk(service, 'limit=100', OTHER_KEY);
      const made = await createMany(service, 3 * STRETCH + 7);
      const look = async () => {
        for (const [key, { cursor }, limits] of [
          [KEY, before, [100]],
          [OTHER_KEY, others, [100, 7]], // of fewer events
        ] as const) {
          for (const limit of limits) {
            const { events, cursor: end } = await walk(service, `limit=${limit}`, key, cursor);
            assert.deepEqual(
              events.map(({ data }) => data.payment_id),
              made[key],
            );
            assert.deepEqual((await walk(service, '', key, end)).events, [], 'nothing comes again');
          }
          const all = await walk(service, 'limit=100', key);
          assert.equal(new Set(all.events.map(({ id }) => id)).size, all.events.length);
          assert.deepEqual(
            all.events.slice(-made[key]!.length).map(({ data }) => data.payment_id),
            made[key],
          );
        }
      };
      await look();
      const { database } = service.service;
      await listStretches(service.service);
      const listed = await database.query(
        "select stretch from payment_stretches where merchant_id = 'mer_other'",
      );
      assert.ok(listed.length >= 3, `${listed.length} stretches`);
      assert.ok((await newestEntry(database)) % STRETCH !== 0, 'some entries are in no full stretch');
      await look();
      await service.verify();
    });

    test('filters narrow the list, and a rare type is found behind many others.', async () => {
      const { cursor } = await walk(service, 'limit=100');
      const { id } = await service.create();
      await createMany(service, 500);
      await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
      const { events } = await walk(service, 'type=payment.cancelled', KEY, cursor);
      assert.deepEqual(
        events.map(({ type, data }) => [type, data.payment_id, data.status_reason]),
        [['payment.cancelled', id, 'cancelled_by_merchant']],
      );
      assert.equal((await walk(service, `payment_id=${id}&limit=1`)).events.length, 2);
      const both = await walk(service, `payment_id=${id}&type=payment.approved,payment.cancelled`);
      assert.deepEqual(
        both.events.map(({ type }) => type),
        ['payment.cancelled'],
      );
      assert.equal((await service.request('/v1/events?type=payment.approved,payment.paid')).status, 422);
    });

    test("another merchant's events are as unknown as those that are not there.", async () => {
      const { id } = await service.create({}, { key: OTHER_KEY });
      const theirs = (await service.request(`/v1/payments/${id}/events`, { key: OTHER_KEY })).json.data[0].id;
      const unknown = theirs.replace(/_1$/, '_9');
      const bodies = new Set<string>();
      for (const one of [theirs, unknown, 'x', 'evt_', `${theirs}0`, theirs.toUpperCase()]) {
        const answer = await service.request(`/v1/events/${one}`);
        assert.equal(answer.status, 404, one);
        bodies.add(answer.text);
        assert.equal((await service.request(`/v1/events?after=${one}`)).status, 422, one);
      }
      assert.equal(bodies.size, 1);
      assert.equal((await service.request(`/v1/payments/${id}/events`)).status, 404);
      assert.deepEqual((await walk(service, `payment_id=${id}`)).events, []);
    });

    test('wrong parameters are told all at once.', async () => {
      const answer = await service.request(
        '/v1/events?limit=0&type=payment.paid&payment_id=x&after=a&after=b',
      );
      assert.equal(answer.status, 422);
      assert.deepEqual(Object.keys(answer.json.error.details).sort(), [
        'after',
        'limit',
        'payment_id',
        'type',
      ]);
    });
  });
}

test('a reader that follows the cursor misses nothing of what two nodes commit at once on postgres, and hears each payment in order.', async () => {
  const heard: { payment_id: string; version: number }[] = [];
  let cursor: string | null = null;
  const created = await besideTwoNodes(async (service) => {
    const read: Awaited<ReturnType<typeof walk>> = await walk(service, 'limit=100', KEY, cursor);
    cursor = read.cursor;
    heard.push(...read.events.map(({ data }) => data));
  });
  const versions = Map.groupBy(heard, ({ payment_id }) => payment_id);
  assert.deepEqual(new Set(versions.keys()), new Set(created));
  for (const [id, all] of versions)
    assert.deepEqual(
      all.map(({ version }) => version),
      [1, 2],
      id,
    );
});
