// Two nodes act on the same bank lines and payments at once: a line is used once, a payment is matched by one of them, a file comes in once.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Journal } from '../../../src/journal/journal.ts';
import type { Database } from '../../../src/store/database.ts';
import { Bank } from '../../support/bank.ts';
import { camt, type Entry, today } from '../../support/camt.ts';
import { Clerk, type Seen } from '../../support/clerk.ts';
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
    /** Each reviewer at a node of their own. */
    let clerks: [ana: Clerk, ben: Clerk];
    before(async () => {
      await haveReviewers(service.service);
      second = await openPatiently(service.store);
      journals = [service.service.journal, unhurried(second, service.clock)];
      clerks = [new Clerk(bank, ANA, journals[0]), new Clerk(bank, BEN, journals[1])];
    });

    const pay = () => bank.pay();
    const paymentNow = ({ id }: { id: string }) => bank.payment(id);
    const bring = async ({ id }: Seen, more: Partial<Entry> = {}) =>
      bank.bring({ day: today(service), text: await referenceOf(service, id), ...more });
    /** How many lines and parts of lines are the money of a payment. */
    const linesOn = async ({ id }: Seen) =>
      (await bank.lines({ state: 'matched' })).filter(({ payment_id }) => payment_id === id).length;
    const received = async (payment: Seen) => (await bank.shown(payment))[1];
    const isWon = ({ status }: PromiseSettledResult<unknown>) => status === 'fulfilled';
    /** Each loses to the other by a refusal, not by a fault. */
    function refusal(result: PromiseSettledResult<unknown>): void {
      if (result.status === 'rejected') assert.match(result.reason.code, /^(conflict|invalid_status)$/);
    }

    test('one line for two payments: one reviewer gets it', async () => {
      for (let n = 0; n < MEETINGS; n++) {
        const payments = [await pay(), await pay()] as const;
        const line = await bring(payments[0]);
        const results = await Promise.allSettled(clerks.map((clerk, i) => clerk.match(line, payments[i]!)));
        results.forEach(refusal);
        assert.equal(results.filter(isWon).length, 1);
        const winner = payments[results.findIndex(isWon)]!;
        assert.equal((await bank.line(line)).payment_id, winner.id);
        assert.deepEqual((await Promise.all(payments.map(received))).sort(), ['0.00', '49.90']);
      }
    });

    test('one line split by two reviewers, or split by one and matched by the other: one of them gets it whole', async () => {
      for (let n = 0; n < MEETINGS; n++) {
        const payments = [await pay(), await pay()];
        const line = await bring(payments[0]!, { amount: '99.80' });
        const split = (clerk: Clerk) => clerk.split(line, payments.toReversed());
        const [ana, ben] = clerks;
        const results = await Promise.allSettled([
          split(ana),
          n % 4 < 2 ? split(ben) : ben.match(line, payments[n % 2]!),
        ]);
        results.forEach(refusal);
        assert.equal(results.filter(isWon).length, 1);
        const { state } = await bank.line(line);
        const lines = (await Promise.all(payments.map(linesOn))).sort();
        assert.deepEqual(lines, state === 'split' ? [1, 1] : [0, 1]);
      }
    });

    test('two lines for one payment under review: the second reviewer must look again', async () => {
      for (let n = 0; n < MEETINGS; n++) {
        const created = await pay();
        await submit(service, created.id);
        const payment = await paymentNow(created);
        const lines = [await bring(payment), await bring(payment)];
        const results = await Promise.allSettled(clerks.map((clerk, i) => clerk.match(lines[i]!, payment)));
        results.forEach(refusal);
        assert.equal(results.filter(isWon).length, 1);
        assert.equal(await linesOn(payment), 1);
      }
    });

    test('a certain one that another node matches meanwhile is left and named, and the rest is approved', async () => {
      for (let n = 0; n < MEETINGS; n++) {
        const created = [await pay(), await pay()];
        for (const { id } of created) await submit(service, id);
        const payments = await Promise.all(created.map(paymentNow));
        const lines = [await bring(payments[0]!), await bring(payments[1]!)];
        const certain = await bank.certain();
        const pairs = payments.map((payment, i) => [lines[i]!, payment] as [string, Seen]);
        // A line without a reference, which the other reviewer takes for the first payment.
        const bare = await bring(payments[0]!, { text: 'Thank you' });
        const [approved, other] = await Promise.allSettled([
          clerks[0].approveCertain(pairs, certain),
          clerks[1].match(bare, payments[0]!),
        ]);
        assert.ok(approved.status === 'fulfilled', String(approved.status === 'rejected' && approved.reason));
        refusal(other);
        const { decisions, left } = approved.value;
        assert.equal(decisions.length + left.length, 2);
        assert.equal(left.length, isWon(other) ? 1 : 0, JSON.stringify(left));
        if (left[0]) assert.equal(left[0].payment_id, payments[0]!.id);
        for (const payment of payments) assert.equal(await linesOn(payment), 1);
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
      const [ana, ben] = clerks;
      await ana.match(line, first);
      const seen = await paymentNow(first);
      assert.equal(await received(first), '49.90');
      await ana.reopen(line);
      await ana.match(line, second);
      assert.deepEqual([await received(first), await received(second)], ['0.00', '49.90']);
      await assert.rejects(ben.decide(seen, 'approve'), { code: 'invalid_status' });
      // The line comes back to its payment, and counts again.
      await ana.reopen(line);
      await ana.match(line, await paymentNow(first));
      assert.deepEqual([await linesOn(first), await linesOn(second)], [1, 0]);
    });

    test('four eyes hold: the certain one above the limit waits, and who approved it does not confirm it', async () => {
      const payment = await pay();
      const line = await bring(payment);
      const certain = await bank.certain();
      const limit = { EUR: 1000 };
      const [ana, ben] = clerks;
      const press = (clerk: Clerk) => clerk.approveCertain([[line, payment]], certain, limit);
      assert.deepEqual(
        (await press(ana)).decisions.map(({ outcome }) => outcome),
        ['awaiting_second'],
      );
      // Pressed twice it answers as done, and is still the first of two; a colleague decides on the payment's page.
      const { version } = await paymentNow(payment);
      for (const [who, done, leftOver] of [
        [ana, ['awaiting_second'], 0],
        [ben, [], 1],
      ] as const) {
        const { decisions, left } = await press(who);
        assert.deepEqual([decisions.map(({ outcome }) => outcome), left.length], [done, leftOver]);
      }
      assert.equal((await paymentNow(payment)).version, version);
      await assert.rejects(ana.decide({ id: payment.id }, 'approve', limit), { code: 'forbidden' });
      await ben.decide({ id: payment.id }, 'approve', limit);
      assert.equal((await bank.shown(payment))[0], 'approved');
    });
  });
