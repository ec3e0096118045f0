// Two nodes act on the same bank lines and payments at once: a line is used once, a payment is matched by one of them, a file comes in once.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Journal } from '../../../src/journal/journal.ts';
import type { Payment } from '../../../src/payments/payment.ts';
import { approve } from '../../../src/review/decide.ts';
import { factsOf } from '../../../src/review/facts.ts';
import { arrivalsOf } from '../../../src/review/review.ts';
import { linesOfPayments } from '../../../src/statements/line-queries.ts';
import { onStatement } from '../../../src/statements/matching/bank-fact.ts';
import { approveCertain } from '../../../src/statements/matching/certain-acts.ts';
import { acceptLine, reopenLine } from '../../../src/statements/matching/line-acts.ts';
import { acceptParts } from '../../../src/statements/matching/line-parts.ts';
import { certainPairs } from '../../../src/statements/matching/open-lines.ts';
import type { Database } from '../../../src/store/database.ts';
import { Bank } from '../../support/bank.ts';
import { camt, type Entry, today } from '../../support/camt.ts';
import { sharedHarness } from '../../support/harness.ts';
import { unhurried } from '../../support/journal.ts';
import { referenceOf, submit } from '../../support/payments.ts';
import { ANA, BEN, haveReviewers } from '../../support/reviewers.ts';
import { ENGINES, openPatiently } from '../../support/stores.ts';

/** How often two nodes meet. */
const MEETINGS = 8;

for (const engine of ENGINES)
  describe(`two nodes on ${engine}`, () => {
    let second: Database;
    let journals: [Journal, Journal];
    after(async () => {
      await journals[1].close();
      await second.close();
    });
    const service = sharedHarness(engine, { isVerified: true });
    const bank = new Bank(service);
    before(async () => {
      await haveReviewers(service.service);
      second = await openPatiently(service.store);
      journals = [service.service.journal, unhurried(second, service.clock)];
    });

    const pay = () => bank.pay();
    const paymentNow = ({ id }: { id: string }) => bank.payment(id);
    const bring = async ({ id }: Payment, more: Partial<Entry> = {}) =>
      bank.bring({ day: today(service), text: await referenceOf(service, id), ...more });
    const pairOf = (line_id: string, { id, version }: Payment) => ({ line_id, payment_id: id, version });
    const linesOn = ({ id }: Payment) => linesOfPayments(bank.database, [id]);
    const isWon = ({ status }: PromiseSettledResult<unknown>) => status === 'fulfilled';
    /** Each loses to the other by a refusal, not by a fault. */
    function refusal(result: PromiseSettledResult<unknown>): void {
      if (result.status === 'rejected') assert.match(result.reason.code, /^(conflict|invalid_status)$/);
    }

    test('one line for two payments: one reviewer gets it', async () => {
      for (let n = 0; n < MEETINGS; n++) {
        const payments = [await pay(), await pay()] as const;
        const line = await bring(payments[0]);
        const results = await Promise.allSettled(
          payments.map((payment, i) =>
            journals[i]!.commit((one) => acceptLine(one, [ANA, BEN][i]!, pairOf(line, payment)), payment.id),
          ),
        );
        results.forEach(refusal);
        assert.equal(results.filter(isWon).length, 1);
        const winner = payments[results.findIndex(isWon)]!;
        assert.equal((await bank.line(line)).payment_id, winner.id);
        const after = await Promise.all(payments.map(paymentNow));
        assert.deepEqual(
          after
            .map((one) => arrivalsOf(one).filter(({ act }) => act === 'record'))
            .map(({ length }) => length)
            .sort(),
          [0, 1],
        );
      }
    });

    test('one line split by two reviewers, or split by one and matched by the other: one of them gets it whole', async () => {
      for (let n = 0; n < MEETINGS; n++) {
        const payments = [await pay(), await pay()];
        const line = await bring(payments[0]!, { amount: '99.80' });
        const pairs = payments.map((payment) => pairOf(line, payment));
        const split = (i: 0 | 1) =>
          journals[i].commit((one) => acceptParts(one, [ANA, BEN][i]!, line, pairs.toReversed()));
        const match = () => journals[1].commit((one) => acceptLine(one, BEN, pairs[n % 2]!));
        const results = await Promise.allSettled([split(0), n % 4 < 2 ? split(1) : match()]);
        results.forEach(refusal);
        assert.equal(results.filter(isWon).length, 1);
        const { state } = await bank.line(line);
        const lines = (await Promise.all(payments.map(linesOn))).map(({ length }) => length).sort();
        assert.deepEqual(lines, state === 'split' ? [1, 1] : [0, 1]);
      }
    });

    test('two lines for one payment under review: the second reviewer must look again', async () => {
      for (let n = 0; n < MEETINGS; n++) {
        const created = await pay();
        await submit(service, created.id);
        const payment = await paymentNow(created);
        const lines = [await bring(payment), await bring(payment)];
        const results = await Promise.allSettled(
          lines.map((line, i) =>
            journals[i]!.commit((one) => acceptLine(one, [ANA, BEN][i]!, pairOf(line, payment)), payment.id),
          ),
        );
        results.forEach(refusal);
        assert.equal(results.filter(isWon).length, 1);
        assert.equal((await linesOn(payment)).length, 1);
      }
    });

    test('a certain one that another node matches meanwhile is left and named, and the rest is approved', async () => {
      for (let n = 0; n < MEETINGS; n++) {
        const created = [await pay(), await pay()];
        for (const { id } of created) await submit(service, id);
        const payments = await Promise.all(created.map(paymentNow));
        const lines = [await bring(payments[0]!), await bring(payments[1]!)];
        const certain = certainPairs(await bank.open());
        const pairs = payments.map((payment, i) => pairOf(lines[i]!, payment));
        // A line without a reference, which the other reviewer takes for the first payment.
        const bare = await bring(payments[0]!, { text: 'Thank you' });
        const [approved, other] = await Promise.allSettled([
          journals[0].commit((one) => approveCertain(one, ANA, pairs, certain, {})),
          journals[1].commit((one) => acceptLine(one, BEN, pairOf(bare, payments[0]!)), payments[0]!.id),
        ]);
        assert.ok(approved.status === 'fulfilled', String(approved.status === 'rejected' && approved.reason));
        refusal(other);
        const { decisions, left } = approved.value;
        assert.equal(decisions.length + left.length, 2);
        assert.equal(left.length, isWon(other) ? 1 : 0, JSON.stringify(left));
        if (left[0]) assert.equal(left[0].payment_id, payments[0]!.id);
        for (const payment of payments) assert.equal((await linesOn(payment)).length, 1);
      }
    });

    test('the same file on two nodes at once brings its lines once', async () => {
      for (let n = 0; n < MEETINGS; n++) {
        const entries = Array.from({ length: 20 }, (_, i) => ({ amount: '1.00', bank: `S${n}L${i}` }));
        const file = camt(entries, { number: `S${n}` });
        const imported = await Promise.all(journals.map((journal) => bank.take(file, { journal })));
        assert.deepEqual(
          imported.map((one) => one![0]!.added).sort((a, b) => a - b),
          [0, 20],
        );
      }
    });

    test('a match that is taken back counts no more, and an approval by what was seen before is refused', async () => {
      const [first, second] = [await pay(), await pay()];
      const line = await bring(first);
      const [journal] = journals;
      const money = async (payment: Payment) => {
        const now = await paymentNow(payment);
        const context = { now: service.clock.now(), timeZone: 'UTC' };
        const facts = await factsOf(bank.database, now, context, onStatement);
        return facts.filter(({ kind }) => kind === 'money_received' || kind === 'on_statement').length;
      };
      await journal.commit((one) => acceptLine(one, ANA, pairOf(line, first)));
      const seen = await paymentNow(first);
      assert.equal(await money(first), 1);
      await journal.commit((one) => reopenLine(one, ANA, line));
      await journal.commit((one) => acceptLine(one, ANA, pairOf(line, second)));
      assert.deepEqual([await money(first), await money(second)], [0, 1]);
      const approval = { note: null, bank_reference: null, version: seen.version };
      await assert.rejects(
        journal.commit((one) => approve(one, BEN, first.id, approval, {})),
        /The payment is pending/,
      );
      // The line comes back to its payment, and counts again.
      await journal.commit((one) => reopenLine(one, ANA, line));
      const again = await paymentNow(first);
      await journal.commit((one) => acceptLine(one, ANA, pairOf(line, again)));
      assert.deepEqual([(await linesOn(first)).length, (await linesOn(second)).length], [1, 0]);
    });

    test('four eyes hold: the certain one above the limit waits, and who approved it does not confirm it', async () => {
      const payment = await pay();
      const line = await bring(payment);
      const certain = certainPairs(await bank.open());
      const limit = { EUR: 1000 };
      const press = (who: typeof ANA) =>
        journals[0].commit((one) => approveCertain(one, who, [pairOf(line, payment)], certain, limit));
      assert.deepEqual(
        (await press(ANA)).decisions.map(({ outcome }) => outcome),
        ['awaiting_second'],
      );
      // Pressed twice it answers as done, and is still the first of two; a colleague decides on the payment's page.
      const { version } = await paymentNow(payment);
      for (const [who, done, leftOver] of [
        [ANA, ['awaiting_second'], 0],
        [BEN, [], 1],
      ] as const) {
        const { decisions, left } = await press(who);
        assert.deepEqual([decisions.map(({ outcome }) => outcome), left.length], [done, leftOver]);
      }
      assert.equal((await paymentNow(payment)).version, version);
      const approval = { note: null, bank_reference: null, version: null };
      const confirm = (who: typeof ANA) =>
        journals[0].commit((one) => approve(one, who, payment.id, approval, limit), payment.id);
      await assert.rejects(confirm(ANA), { code: 'forbidden' });
      assert.equal((await confirm(BEN)).outcome, 'approved');
    });
  });
