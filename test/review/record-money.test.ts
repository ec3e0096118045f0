// Recording money that arrived for a payment which is pending, expired or cancelled: from where, once, and what the history says of it.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { entriesOf } from '../../src/journal/queries.ts';
import { approve, reject } from '../../src/review/decide.ts';
import { recordMoney } from '../../src/review/record-money.ts';
import { addPerson, type Person, paymentAs } from '../support/admin.ts';
import { signIn } from '../support/console.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { editOutside } from '../support/outside.ts';
import { askForLink, cancelAsCustomer, erase, submit } from '../support/payments.ts';
import { ANA, addReviewers, BEN } from '../support/reviewers.ts';
import { ENGINES } from '../support/stores.ts';

const MONEY = {
  amount_minor: 40_00,
  received_on: '2026-11-20',
  bank_reference: 'B-7',
  note: 'Ten are missing.',
  version: null,
};
const LIMITS = { USD: 100_00 };
const APPROVAL = { note: null, bank_reference: null, version: null };

for (const engine of ENGINES) {
  describe(`recording money on ${engine}`, () => {
    const service = sharedHarness(engine);
    let auditor: Person;
    before(async () => {
      await addReviewers(service.service.journal);
      auditor = await addPerson(service, 'auditor');
    });

    const commit: Harness['service']['journal']['commit'] = (work, id) =>
      service.service.journal.commit(work, id);
    const record = (id: string, more: object = {}, by = ANA) =>
      commit((transaction) => recordMoney(transaction, by, id, { ...MONEY, ...more }), id);
    const seen = (id: string) => paymentAs(service, auditor, id);
    const apiOf = async (id: string) => (await service.request(`/v1/payments/${id}`)).json.data;
    const entries = async (id: string) =>
      (await entriesOf(service.service.database, id)).map(({ actor, action, facts }) => {
        const { row: _row, ...rest } = JSON.parse(facts);
        return { actor, action, ...rest };
      });

    test('a pending payment is under review then, with an entry that holds no text of anybody', async () => {
      const { id } = await service.create();
      const recorded = await record(id);
      assert.equal(recorded.status, 'requires_review');
      assert.equal(recorded.status_reason, null);
      assert.equal(recorded.submitted_at, recorded.updated_at);
      const { review, updated_at, timeline } = await seen(id);
      const [{ by, at, ...act }] = review;
      assert.deepEqual([review.length, by.id, at], [1, ANA.id, updated_at]);
      assert.deepEqual(act, {
        act: 'record',
        entry_version: 2,
        amount: '40.00',
        currency: 'USD',
        received_on: '2026-11-20',
        bank_reference: 'B-7',
        note: 'Ten are missing.',
        line: null,
        reason: null,
        message: null,
      });
      assert.deepEqual((await entries(id)).at(-1), {
        actor: ANA.actor,
        action: 'payment.requires_review',
        from: 'pending',
        reason: null,
        received_minor: 40_00,
        currency: 'USD',
        received_on: '2026-11-20',
        arrived_minor: 40_00,
      });
      assert.equal(timeline.at(-1).sentence, 'Ana recorded that USD 40.00 arrived on 20 Nov 2026.');
    });

    for (const [what, reason] of [
      ['its customer', 'cancelled_by_customer'],
      ['its merchant', 'cancelled_by_merchant'],
    ] as const)
      test(`a payment that ${what} cancelled is opened again, and its merchant reads why`, async () => {
        const { id } = await service.create();
        if (reason === 'cancelled_by_customer') await cancelAsCustomer(service, id);
        else await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
        assert.equal((await apiOf(id)).status_reason, reason);
        await record(id);
        const { status, status_reason, submitted_at, updated_at, payment_details } = await apiOf(id);
        assert.deepEqual(
          [status, status_reason, payment_details],
          ['requires_review', 'payment_received', null],
        );
        assert.equal(submitted_at, updated_at);
        const { from, reason: told } = (await entries(id)).at(-1)!;
        assert.deepEqual([from, told], ['cancelled', 'payment_received']);
        assert.equal((await commit((t) => approve(t, BEN, id, APPROVAL, LIMITS), id)).outcome, 'approved');
        assert.equal((await apiOf(id)).status_reason, 'payment_received');
      });

    test('of a payment past its time the history says that it expired before it says that money came', async () => {
      const { id, expires_at } = await service.create({ expires_in: 300 });
      const { version } = await seen(id);
      service.clock.advance(300_001);
      // Nothing is awaited between the two, so that the sweeper comes after.
      const recorded = await record(id, { version });
      assert.equal(recorded.status_reason, 'payment_received');
      assert.deepEqual(
        (await entries(id)).map(({ actor, action, from, reason }) => [actor, action, from, reason]),
        [
          ['merchant:mer_development', 'payment.created', undefined, undefined],
          ['clock', 'payment.cancelled', 'pending', 'expired'],
          [ANA.actor, 'payment.requires_review', 'cancelled', 'payment_received'],
        ],
      );
      const { status } = await apiOf(id);
      assert.equal(status, 'requires_review', `though it expired at ${expires_at}`);
      await service.verify();
    });

    test('whose customer asked for a new link is no longer listed among those who wait for one', async () => {
      const { id } = await service.create({ expires_in: 300 });
      service.clock.advance(300_001);
      await askForLink(service, id);
      const client = await signIn(service, 'auditor');
      const listed = async () => (await client.get('/')).text.includes(id);
      assert.ok(await listed());
      await record(id);
      assert.ok(!(await listed()));
      await assert.rejects(askForLink(service, id), { code: 'invalid_status' });
    });

    test('it waits in the queue since the money was recorded, not since the payment was made', async () => {
      const { id } = await service.create();
      service.clock.advance(60_000);
      const other = (await service.create()).id;
      await submit(service, other);
      // Of two that wait since the same millisecond, the one that was made first stands first.
      service.clock.advance(1);
      await record(id);
      const { json } = await service.request('/admin/payments?status=requires_review&limit=100', {
        key: auditor.token,
      });
      const places = json.data.map((one: { id: string }) => one.id);
      assert.ok(places.includes(other) && places.indexOf(other) < places.indexOf(id), String(places));
    });

    test('no payment takes money that nobody can have brought; who comes second is told who was first, and asked', async () => {
      const { id } = await service.create();
      await record(id);
      const before = (await seen(id)).version;
      await assert.rejects(record(id, {}, BEN), {
        code: 'invalid_status',
        message:
          /^Ana recorded money on it on \d+ \w+ \d{4}, \d\d:\d\d UTC\. Say whether this is the same money/,
      });
      assert.equal((await record(id, { as: 'same' }, BEN)).version, before);
      const sent = (await service.create()).id;
      await submit(service, sent);
      await assert.rejects(record(sent), { code: 'invalid_status', message: /^It was sent / });
      await commit((t) => reject(t, BEN, sent, { ...APPROVAL, reason: 'other', message: null }), sent);
      await assert.rejects(record(sent), { code: 'invalid_status', message: /^Ben rejected it / });
      await assert.rejects(record(`pay_${'0'.repeat(36)}`), { code: 'not_found' });
      assert.equal((await seen(id)).version, before);
    });

    test('of a customer and three administrators at once one moves the payment', async () => {
      for (let round = 0; round < 5; round++) {
        const { id } = await service.create();
        const outcomes = await Promise.allSettled([
          record(id),
          submit(service, id),
          record(id, {}, BEN),
          record(id),
        ]);
        assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
        assert.equal(
          (await entries(id)).filter(({ action }) => action === 'payment.requires_review').length,
          1,
        );
        assert.equal((await seen(id)).version, 2);
      }
    });

    test('a payment that changed since it was looked at takes none', async () => {
      const { id } = await service.create();
      await cancelAsCustomer(service, id);
      await assert.rejects(record(id, { version: 1 }), { code: 'conflict', message: / It was cancelled\.$/ });
      assert.equal((await record(id, { version: 2 })).status, 'requires_review');
    });

    test('above the limit two administrators approve, and who recorded the money may be one of them', async () => {
      const { id } = await service.create({ amount: 100.01 });
      await record(id);
      const approved = (by: typeof ANA) => commit((t) => approve(t, by, id, APPROVAL, LIMITS), id);
      assert.equal((await approved(ANA)).outcome, 'awaiting_second');
      await assert.rejects(approved(ANA), { code: 'forbidden' });
      assert.equal((await approved(BEN)).outcome, 'approved');
    });

    test('a cancelled payment can be erased still, and takes money after that', async () => {
      const { id } = await service.create({ customer: { name: 'Ada' } });
      await cancelAsCustomer(service, id);
      await erase(service, id);
      assert.equal((await seen(id)).customer, null);
      assert.equal((await record(id)).status_reason, 'payment_received');
      await assert.rejects(erase(service, id), { code: 'invalid_status' });
      await service.verify();
    });

    test('a payment that was changed outside the service takes none, though it is past its time', async () => {
      const { id } = await service.create({ expires_in: 300 });
      await editOutside(service.store, `update payments set amount_minor = 1 where id = '${id}'`);
      service.clock.advance(300_001);
      // Nothing is awaited between the two, so that the sweeper comes after.
      await assert.rejects(record(id), { code: 'conflict', message: /changed outside the service/ });
      assert.deepEqual((await seen(id)).review, []);
    });
  });
}
