// Erasing lines: with their payment, and by their age; the proof stays, and what is erased comes back with no file.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { DAY_MS } from '../../src/lib/time.ts';
import { forgetOldLines } from '../../src/statements/erase.ts';
import { Bank, checked } from '../support/bank.ts';
import { camt, type Entry } from '../support/camt.ts';
import { Clerk } from '../support/clerk.ts';
import { sharedHarness } from '../support/harness.ts';
import { editOutside } from '../support/outside.ts';
import { erase } from '../support/payments.ts';
import { haveReviewers } from '../support/reviewers.ts';
import { ENGINES } from '../support/stores.ts';

const SAID = { text: 'For Zoë', name: 'Anna Berg', iban: 'NL86INGB0002445588' };

for (const engine of ENGINES) {
  describe(`erasing statement lines on ${engine}`, () => {
    const service = sharedHarness(engine);
    const bank = new Bank(service);
    const ana = new Clerk(bank);
    before(() => haveReviewers(service.service));

    const bring = (...entries: Entry[]) => bank.take(camt(entries));
    const line = async (reference: string) => (await bank.linesOf(reference))[0]!;
    const forget = (now: number, days: number) =>
      forgetOldLines(service.service.journal, { now: () => now }, days);
    /** A payment whose money a line is. */
    async function paidBy(reference: string, amount: number, more: object = {}): Promise<string> {
      const payment = await bank.pay(amount, more);
      await ana.approve((await line(reference)).id, payment);
      return payment.id;
    }

    test('with the payment that it is the money of', async () => {
      await bring({ amount: '49.90', bank: 'A1', ...SAID }, { amount: '49.90', bank: 'A2', ...SAID });
      await erase(service, await paidBy('A1', 49.9));
      const erased = await line('A1');
      assert.deepEqual([erased.details, erased.amount_minor, erased.state], [null, 4990, 'matched']);
      assert.notEqual((await line('A2')).details, null);
    });

    test('rules about who paid, by the line or by what the payment says of its payer, and those that ended long ago', async () => {
      const people = ['Rule Payer', 'Rule Customer', 'Rule Ended', 'Rule Kept'];
      await bring(...people.map((name, i) => ({ ...SAID, amount: '1.00', bank: `R${i}`, name, iban: '' })));
      await bring({ ...SAID, amount: '52.00', bank: 'P1', name: 'Rule Payer', iban: '' });
      const paid = await paidBy('P1', 52, { customer: { name: 'Rule Customer' } });
      for (const i of people.keys()) await ana.makeRule((await line(`R${i}`)).id, `Of ${people[i]}`);
      const all = () => bank.database.query<Record<string, string>>('select * from line_rules');
      // Made in one moment, they have no order.
      const idOf = new Map((await all()).map(({ name, id }) => [name, id]));
      const rules = async () => {
        const stored = new Map((await all()).map(({ id, ...rule }) => [id, rule]));
        return people.map((name) => {
          const { name: kept, name_key, reason, state } = stored.get(idOf.get(name))!;
          return [kept, name_key, reason, state].join();
        });
      };
      await ana.endRule(idOf.get('Rule Ended')!);
      await erase(service, paid);
      const gone = ',,,ended';
      assert.deepEqual(await rules(), [
        gone,
        gone,
        'Rule Ended,ENDED RULE,Of Rule Ended,ended',
        'Rule Kept,KEPT RULE,Of Rule Kept,active',
      ]);
      await forget(Date.now() + 400 * DAY_MS, 300);
      assert.deepEqual((await rules()).slice(2), [gone, 'Rule Kept,KEPT RULE,Of Rule Kept,active']);
    });

    test('by its age, and a file that shows it again brings nothing back', async () => {
      const old = { amount: '5.00', bank: 'B1', day: '2026-01-02', ...SAID };
      const young = { amount: '6.00', bank: 'B2', day: '2026-03-02', ...SAID };
      await bring(old, young);
      const now = Date.UTC(2026, 2, 10);
      assert.equal(await forget(now, 30), 1);
      assert.equal((await line('B1')).details, null);
      assert.notEqual((await line('B2')).details, null);
      assert.equal(await forget(now + 20 * DAY_MS, 30), 0);
      const [again] = (await bring(old, young, { amount: '7.00', bank: 'B3' }))!;
      assert.deepEqual([again!.added, again!.known], [1, 2]);
      assert.equal((await line('B1')).details, null);
    });

    test('a line without a day is as old as its import', async () => {
      const undated: Entry = { amount: '3.00', bank: 'D1', day: '', status: 'PDNG', ...SAID };
      await bring(undated);
      const { created_at } = await line('D1');
      await forget(created_at + 29 * DAY_MS, 30);
      assert.notEqual((await line('D1')).details, null);
      await forget(created_at + 32 * DAY_MS, 30);
      assert.equal((await line('D1')).details, null);
    });

    test('a fault is stored without the cell that it quotes', async () => {
      const wrong = { amount: '49,90 "Anna" Berg\n', bank: 'F1', day: '2025-03-02' };
      const file = checked(camt([wrong, { amount: '1.00', bank: 'F2' }]));
      assert.match(file.faults[0]!.text, /Anna" Berg/);
      const [{ id } = { id: null }] = (await bank.take(file, { despiteFaults: true }))!;
      const stored = await bank.database.query<{ faults: string }>(
        'select faults from statements where id = ?',
        id,
      );
      const [fault] = JSON.parse(stored[0]!.faults);
      assert.equal(fault.text, 'This entry is left out: the amount "…" cannot be read.');
      assert.ok(fault.line > 0);
    });

    test('a line that was changed in the store itself is left, so that verifying goes on finding it', async () => {
      await bring({ amount: '8.00', bank: 'C1', day: '2025-01-02', ...SAID });
      const { id } = await line('C1');
      await service.verify();
      await editOutside(service.store, `update statement_lines set amount_minor = 9 where id = '${id}'`);
      assert.equal(await forget(Date.UTC(2025, 5, 1), 30), 0);
      assert.notEqual((await line('C1')).details, null);
      await assert.rejects(service.verify(), /is not as/);
    });
  });
}
