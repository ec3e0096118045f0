// What administrators do with a payment under review: decisions by one or two, claims, notes, and what is told of them.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { entriesOf } from '../../src/journal/queries.ts';
import type { Transaction } from '../../src/journal/transaction.ts';
import { MINUTE_MS } from '../../src/lib/time.ts';
import { claim, release } from '../../src/review/act.ts';
import { approve, reject } from '../../src/review/decide.ts';
import { addPerson, byToken, inSession, type Person, paymentAs } from '../support/admin.ts';
import { sharedHarness } from '../support/harness.ts';
import { erase, note, submit } from '../support/payments.ts';
import { change, giveRole } from '../support/people.ts';
import { ANA, addReviewers, BEN, CLEO } from '../support/reviewers.ts';
import { ENGINES } from '../support/stores.ts';

const LIMITS = { USD: 100_00 };
const APPROVAL = { note: 'Seen on the statement.', bank_reference: 'B-7', version: null };
const REJECTION = {
  reason: 'duplicate' as const,
  note: 'Paid twice.',
  message: 'You paid before.',
  version: null,
};
/** What tests read of an act of review, and of an item of the timeline, as /admin shows them. */
interface Written {
  by: { id: string; name: string };
  entry_version: number;
  note: string | null;
  reason: string | null;
  message: string | null;
  actor_name: string;
  sentence: string;
}

const MOMENT = '\\d+ [A-Z][a-z]{2} \\d{4}, \\d\\d:\\d\\d UTC';

for (const engine of ENGINES) {
  describe(`review on ${engine}`, () => {
    const service = sharedHarness(engine);
    let auditor: Person;
    before(async () => {
      await addReviewers(service.service.journal);
      auditor = await addPerson(service, 'auditor');
    });

    async function waiting(amount = 100): Promise<string> {
      const { id } = await service.create({ amount });
      await submit(service, id);
      return id;
    }
    const commit = <T>(id: string, work: (transaction: Transaction) => Promise<T>) =>
      service.service.journal.commit(work, id);
    const approved = (id: string, by = ANA, more: object = {}) =>
      commit(id, (transaction) => approve(transaction, by, id, { ...APPROVAL, ...more }, LIMITS));
    const rejected = (id: string, by = ANA, more: object = {}) =>
      commit(id, (transaction) => reject(transaction, by, id, { ...REJECTION, ...more }));
    const claimed = (id: string, by = ANA, force = false) =>
      commit(id, (transaction) => claim(transaction, by, id, { force }));
    const released = (id: string, by = ANA) => commit(id, (transaction) => release(transaction, by, id));
    const seen = (id: string) => paymentAs(service, auditor, id);
    const factsOfEntries = async (id: string) =>
      (await entriesOf(service.service.database, id)).map(({ actor, action, facts }) => {
        const { row: _, ...rest } = JSON.parse(facts);
        return { actor, action, ...rest };
      });

    test('one approves a payment at the limit, with a note and the bank’s reference for administrators alone', async () => {
      const id = await waiting(100);
      const { payment, outcome } = await approved(id);
      assert.equal(outcome, 'approved');
      assert.equal(payment.status, 'approved');
      assert.equal(payment.decided_at, payment.updated_at);
      const { review, decided_at } = await seen(id);
      const [{ act, by, at, entry_version, ...written }] = review;
      assert.deepEqual([act, by.id, at, entry_version], ['approve', ANA.id, decided_at, 3]);
      assert.deepEqual([written.note, written.bank_reference], [APPROVAL.note, 'B-7']);
      assert.deepEqual((await factsOfEntries(id)).at(-1), {
        actor: ANA.actor,
        action: 'payment.approved',
        from: 'requires_review',
        amount_minor: 100_00,
        currency: 'USD',
        approvals: 1,
      });
      const { text } = await service.request(`/v1/payments/${id}`);
      assert.ok(!text.includes(APPROVAL.note) && !text.includes('B-7'), text);
    });

    test('above the limit the first approval is recorded, and another administrator’s approves', async () => {
      const id = await waiting(100.01);
      await claimed(id);
      const first = await approved(id);
      assert.equal(first.outcome, 'awaiting_second');
      assert.equal(first.payment.status, 'requires_review');
      assert.equal(first.payment.decided_at, null);
      const { claim, awaiting_second } = await seen(id);
      assert.deepEqual([claim, awaiting_second], [null, true], 'it is let go for the second');
      await assert.rejects(approved(id), {
        code: 'forbidden',
        message: /^You approved it on .*another administrator/,
      });
      const second = await approved(id, BEN);
      assert.equal(second.outcome, 'approved');
      const { review, timeline } = await seen(id);
      assert.deepEqual(
        review.map(({ by, entry_version }: Written) => [by.name, entry_version]),
        [
          ['Ana', 4],
          ['Ben', 5],
        ],
      );
      assert.deepEqual(
        timeline.slice(2).map(({ sentence }: Written) => sentence.replace(/ until .*/, '')),
        [
          'Ana claimed it',
          'Ana approved it as the first of two administrators.',
          'Ben confirmed the approval, so it is approved.',
        ],
      );
    });

    test('whoever has lost their access since they asked does nothing any more', async () => {
      const id = await waiting();
      const [token, session] = [await byToken(service, CLEO), await inSession(service, CLEO)];
      await claimed(id, token.principal);
      await released(id, session.principal);
      await token.revoke();
      await assert.rejects(approved(id, token.principal), { code: 'unauthorized' });
      await session.end();
      await assert.rejects(rejected(id, session.principal), { code: 'unauthorized' });
      await giveRole(service.service, CLEO.id, 'auditor');
      await assert.rejects(claimed(id, CLEO), { code: 'forbidden' });
      await giveRole(service.service, CLEO.id, 'reviewer');
      await change(service.service, CLEO.id, 'disable');
      await assert.rejects(approved(id, CLEO), { code: 'unauthorized' });
      await change(service.service, CLEO.id, 'enable');
      assert.equal((await seen(id)).version, 4, 'taken and let go, and nothing else');
    });

    test('one administrator is not two, though the limit has risen between their approvals', async () => {
      const id = await waiting(100.01);
      assert.equal((await approved(id)).outcome, 'awaiting_second');
      const again = commit(id, (transaction) => approve(transaction, ANA, id, APPROVAL, {}));
      await assert.rejects(again, { code: 'forbidden' });
      assert.equal((await approved(id, BEN)).outcome, 'approved');
    });

    test('the approval of somebody who may not decide any more does not count as one of two', async () => {
      const id = await waiting(100.01);
      await approved(id, CLEO);
      await change(service.service, CLEO.id, 'disable');
      assert.equal((await seen(id)).awaiting_second, false);
      assert.equal((await approved(id, ANA)).outcome, 'awaiting_second');
      assert.equal((await approved(id, BEN)).outcome, 'approved');
      await change(service.service, CLEO.id, 'enable');
      const other = await waiting(100.01);
      await approved(other, CLEO);
      await giveRole(service.service, CLEO.id, 'auditor');
      assert.equal((await approved(other, ANA)).outcome, 'awaiting_second');
      await giveRole(service.service, CLEO.id, 'reviewer');
    });

    test('a payment takes fifty notes', async () => {
      const id = await waiting();
      for (let i = 0; i < 50; i++) await note(service, id, `Seen ${i} times.`);
      await assert.rejects(note(service, id, 'Seen too often.'), { code: 'conflict' });
    });

    test('one rejects whatever the amount, and the customer is told the message alone', async () => {
      const id = await waiting(5000);
      await approved(id);
      const { payment } = await rejected(id, BEN);
      assert.equal(payment.status, 'rejected');
      assert.equal(payment.review_message, REJECTION.message);
      const entry = (await factsOfEntries(id)).at(-1)!;
      assert.equal(entry.reason, 'duplicate');
      assert.ok(!JSON.stringify(await factsOfEntries(id)).includes('Paid twice'));
      const page = await fetch(`${service.service.checkoutBaseUrl}/payment.php?payment_id=${id}`);
      const text = await page.text();
      assert.ok(text.includes(REJECTION.message) && !text.includes('Paid twice'));
    });

    test('whoever comes too late is told who decided and when', async () => {
      const id = await waiting();
      await approved(id, BEN);
      const message = new RegExp(`^Ben approved it on ${MOMENT}\\.$`);
      for (const late of [approved(id), rejected(id), claimed(id)])
        await assert.rejects(late, { code: 'invalid_status', status: 409, message });
      const { id: pending } = await service.create();
      await assert.rejects(approved(pending), { code: 'invalid_status' });
      await assert.rejects(approved('pay_unknown'), { code: 'not_found' });
      assert.equal((await seen(id)).version, 3);
    });

    test('a claim keeps others from deciding for ten minutes, unless they take it over', async () => {
      const id = await waiting();
      await claimed(id);
      const message = new RegExp(`^Ana has it until ${MOMENT}\\.$`);
      for (const other of [approved(id, BEN), rejected(id, BEN), claimed(id, BEN)])
        await assert.rejects(other, { code: 'conflict', status: 409, message });
      await released(id, BEN);
      assert.equal((await seen(id)).claim.by.id, ANA.id, 'only one’s own is let go');
      await claimed(id, BEN, true);
      assert.equal((await factsOfEntries(id)).at(-1)!.taken_from, ANA.id);
      await assert.rejects(approved(id), { code: 'conflict' });
      service.clock.advance(10 * MINUTE_MS);
      const { payment } = await approved(id);
      assert.deepEqual([payment.claimed_by, payment.claimed_until], [null, null]);
    });

    test('one’s own claim can be renewed and let go', async () => {
      const id = await waiting();
      const first = await claimed(id);
      service.clock.advance(1000);
      const again = await claimed(id);
      assert.ok(again.claimed_until! > first.claimed_until!);
      assert.equal((await released(id)).claimed_by, null);
      assert.equal((await released(id)).version, again.version + 1, 'nothing to let go changes nothing');
    });

    test('what changed since it was looked at is not decided, and is told', async () => {
      const id = await waiting();
      const { version } = await seen(id);
      await note(service, id, 'Ask first.', BEN);
      await assert.rejects(approved(id, ANA, { version }), {
        code: 'conflict',
        message: / Ben added a note on /,
      });
      await approved(id, ANA, { version: version + 1 });
    });

    test('two in one commit: the second is told of the first, who has no entry yet', async () => {
      const id = await waiting();
      const [one, other] = await Promise.allSettled([approved(id, ANA), rejected(id, BEN)]);
      assert.equal(one.status, 'fulfilled');
      assert.ok(other.status === 'rejected' && /^Ana approved it on /.test(other.reason.message));
    });

    test('notes stand in any status, in order, and in the timeline; erasing takes all that was written', async () => {
      const { id } = await service.create();
      await note(service, id, 'Called them.', BEN);
      await submit(service, id);
      await rejected(id);
      await note(service, id, 'They agreed.', BEN);
      const { timeline, review } = await seen(id);
      const names = ['Development Shop', 'Ben', 'The customer', 'Ana', 'Ben'];
      assert.deepEqual(
        timeline.map(({ actor_name }: Written) => actor_name),
        names,
      );
      assert.deepEqual(
        review.map(({ by, note, reason, message }: Written) => [by.name, note, reason, message]),
        [
          ['Ben', 'Called them.', null, null],
          ['Ana', 'Paid twice.', 'duplicate', REJECTION.message],
          ['Ben', 'They agreed.', null, null],
        ],
      );
      assert.equal(timeline[3].sentence, 'Ana rejected it: duplicate.');
      for (const { seal, number } of timeline) assert.ok(seal?.hash && number > 0);
      await erase(service, id);
      const erased = await seen(id);
      assert.equal(erased.timeline.length, 6);
      assert.deepEqual(erased.review, []);
      assert.ok(!JSON.stringify(erased).includes('agreed'));
      assert.equal(erased.timeline[3].sentence, timeline[3].sentence);
      await assert.rejects(approved(id), { code: 'invalid_status', message: /^It was rejected / });
    });

    test('the history verifies with all of it', async () => {
      await service.verify();
    });
  });
}
