// What administrators do with a payment under review: decisions by one or two, claims, notes, and what is told of them.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { changeRole, disable, enable } from '../../src/administrators/manage.ts';
import { endSession, startSession } from '../../src/administrators/session.ts';
import { createToken, revokeToken } from '../../src/administrators/token.ts';
import { entriesOf } from '../../src/journal/queries.ts';
import type { Transaction } from '../../src/journal/transaction.ts';
import { CLAIM_MS, claimOf } from '../../src/payments/payment.ts';
import { findPayment } from '../../src/payments/queries.ts';
import { addNote, claim, release } from '../../src/review/act.ts';
import { approve, reject } from '../../src/review/decide.ts';
import { awaitsSecond, reviewActs } from '../../src/review/review.ts';
import { timelineOf } from '../../src/review/timeline.ts';
import { OPERATOR, sharedHarness } from '../support/harness.ts';
import { erase, submit } from '../support/payments.ts';
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
const MOMENT = '\\d+ [A-Z][a-z]{2} \\d{4}, \\d\\d:\\d\\d UTC';

for (const engine of ENGINES) {
  describe(`review on ${engine}`, () => {
    const service = sharedHarness(engine);
    before(async () => {
      await addReviewers(service.service.journal);
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
    const rowOf = async (id: string) => (await findPayment(service.service.database, id))!;
    const factsOfEntries = async (id: string) =>
      (await entriesOf(service.service.database, id)).map(({ actor, action, facts }) => {
        const { row: _, ...rest } = JSON.parse(facts);
        return { actor, action, ...rest };
      });
    const timeline = async (id: string) =>
      timelineOf(service.service.database, await rowOf(id), { covering: async () => undefined }, 'UTC');

    test('one approves a payment at the limit, with a note and the bank’s reference for administrators alone', async () => {
      const id = await waiting(100);
      const { payment, outcome } = await approved(id);
      assert.equal(outcome, 'approved');
      assert.equal(payment.status, 'approved');
      assert.equal(payment.decided_at, payment.updated_at);
      const [act] = reviewActs(payment);
      assert.deepEqual(act, {
        act: 'approve',
        by: ANA.id,
        at: payment.decided_at,
        entry_version: 3,
        note: APPROVAL.note,
        bank_reference: 'B-7',
      });
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
      assert.equal(claimOf(first.payment, 0), undefined, 'it is let go for the second');
      assert.ok(awaitsSecond(first.payment, new Set()));
      await assert.rejects(approved(id), {
        code: 'forbidden',
        message: /^You approved it on .*another administrator/,
      });
      const second = await approved(id, BEN);
      assert.equal(second.outcome, 'approved');
      assert.deepEqual(
        reviewActs(second.payment).map(({ by, entry_version }) => [by, entry_version]),
        [
          [ANA.id, 4],
          [BEN.id, 5],
        ],
      );
      assert.deepEqual(
        (await timeline(id)).slice(2).map(({ sentence }) => sentence.replace(/ until .*/, '')),
        [
          'Ana claimed it',
          'Ana approved it as the first of two administrators.',
          'Ben confirmed the approval, so it is approved.',
        ],
      );
    });

    test('whoever has lost their access since they asked does nothing any more', async () => {
      const id = await waiting();
      const { journal } = service.service;
      const wanted = { administratorId: CLEO.id, role: 'reviewer', name: 'script', days: 1 } as const;
      const { row } = await journal.commit((transaction) => createToken(transaction, wanted, OPERATOR));
      const { session } = await journal.commit((transaction) =>
        startSession(transaction, CLEO.id, 'totp', 'req_s'),
      );
      const byToken = { ...CLEO, token: row.id };
      const bySession = { ...CLEO, session: session.id };
      await claimed(id, byToken);
      await released(id, bySession);
      await journal.commit((transaction) => revokeToken(transaction, row.id, OPERATOR), row.id);
      await assert.rejects(approved(id, byToken), { code: 'unauthorized' });
      await journal.commit((transaction) => endSession(transaction, bySession), session.id);
      await assert.rejects(rejected(id, bySession), { code: 'unauthorized' });
      await journal.commit((transaction) => changeRole(transaction, CLEO.id, 'auditor', OPERATOR), CLEO.id);
      await assert.rejects(claimed(id, CLEO), { code: 'forbidden' });
      await journal.commit((transaction) => changeRole(transaction, CLEO.id, 'reviewer', OPERATOR), CLEO.id);
      await journal.commit((transaction) => disable(transaction, CLEO.id, OPERATOR), CLEO.id);
      await assert.rejects(approved(id, CLEO), { code: 'unauthorized' });
      await journal.commit((transaction) => enable(transaction, CLEO.id, OPERATOR), CLEO.id);
      assert.equal((await rowOf(id)).version, 4, 'taken and let go, and nothing else');
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
      await service.service.journal.commit((transaction) => disable(transaction, CLEO.id, OPERATOR), CLEO.id);
      assert.ok(!awaitsSecond(await rowOf(id), new Set([CLEO.id])));
      assert.equal((await approved(id, ANA)).outcome, 'awaiting_second');
      assert.equal((await approved(id, BEN)).outcome, 'approved');
      await service.service.journal.commit((transaction) => enable(transaction, CLEO.id, OPERATOR), CLEO.id);
      const other = await waiting(100.01);
      await approved(other, CLEO);
      await service.service.journal.commit(
        (transaction) => changeRole(transaction, CLEO.id, 'auditor', OPERATOR),
        CLEO.id,
      );
      assert.equal((await approved(other, ANA)).outcome, 'awaiting_second');
      await service.service.journal.commit(
        (transaction) => changeRole(transaction, CLEO.id, 'reviewer', OPERATOR),
        CLEO.id,
      );
    });

    test('a payment takes fifty notes', async () => {
      const id = await waiting();
      let notes = 0;
      const noted = () =>
        commit(id, (transaction) => addNote(transaction, ANA, id, `Seen ${++notes} times.`));
      for (let i = 0; i < 50; i++) await noted();
      await assert.rejects(noted(), { code: 'conflict' });
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
      await assert.rejects(approved(pending), {
        code: 'invalid_status',
        message: 'The payment is pending; only a requires_review payment can become approved.',
      });
      await assert.rejects(approved('pay_unknown'), { code: 'not_found' });
      assert.equal((await rowOf(id)).version, 3);
    });

    test('a claim keeps others from deciding for ten minutes, unless they take it over', async () => {
      const id = await waiting();
      await claimed(id);
      const message = new RegExp(`^Ana has it until ${MOMENT}\\.$`);
      for (const other of [approved(id, BEN), rejected(id, BEN), claimed(id, BEN)])
        await assert.rejects(other, { code: 'conflict', status: 409, message });
      await released(id, BEN);
      assert.equal((await rowOf(id)).claimed_by, ANA.id, 'only one’s own is let go');
      await claimed(id, BEN, true);
      assert.equal((await factsOfEntries(id)).at(-1)!.taken_from, ANA.id);
      await assert.rejects(approved(id), { code: 'conflict' });
      service.clock.advance(CLAIM_MS);
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
      const { version } = await rowOf(id);
      await commit(id, (transaction) => addNote(transaction, BEN, id, 'Ask first.'));
      await assert.rejects(approved(id, ANA, { version }), {
        code: 'conflict',
        message: /^The payment has changed since you looked at it\. Ben added a note on /,
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
      const note = (text: string) => commit(id, (transaction) => addNote(transaction, BEN, id, text));
      await note('Called them.');
      await submit(service, id);
      await rejected(id);
      await note('They agreed.');
      const before = await timeline(id);
      assert.deepEqual(
        before.map(({ actor_name, note }) => [actor_name, note]),
        [
          ['Development Shop', undefined],
          ['Ben', 'Called them.'],
          ['The customer', undefined],
          ['Ana', 'Paid twice.'],
          ['Ben', 'They agreed.'],
        ],
      );
      assert.equal(before[3]!.reason, 'duplicate');
      assert.equal(before[3]!.message, REJECTION.message);
      assert.equal(before[3]!.sentence, 'Ana rejected it: duplicate.');
      for (const { seal, number } of before) assert.ok(seal?.hash && number > 0);
      await erase(service, id);
      const erased = await timeline(id);
      assert.equal(erased.length, 6);
      assert.deepEqual(reviewActs(await rowOf(id)), []);
      assert.ok(!JSON.stringify(erased).includes('agreed'));
      assert.equal(erased[3]!.sentence, 'Ana rejected it: duplicate.');
      await assert.rejects(approved(id), { code: 'invalid_status', message: /^It was rejected on / });
    });

    test('the history verifies with all of it', async () => {
      await service.verify();
    });
  });
}
