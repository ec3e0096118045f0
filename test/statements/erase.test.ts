// Erasing lines: with their payment, and by their age; the proof stays, and what is erased comes back with no file.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readStatements } from '#bank-statements';
import { findPayment } from '../../src/payments/queries.ts';
import { eraseLinesOf, eraseRulesOf, forgetOldLines } from '../../src/statements/erase.ts';
import { checkFile, importFile } from '../../src/statements/import-file.ts';
import { type KeptRule, saidOn } from '../../src/statements/kept.ts';
import { listLines } from '../../src/statements/line-queries.ts';
import { approveLine } from '../../src/statements/matching/line-acts.ts';
import { endRule, makeRule } from '../../src/statements/rules.ts';
import { ACCOUNT, camt, type Entry } from '../support/camt.ts';
import { sharedHarness } from '../support/harness.ts';
import { editOutside } from '../support/outside.ts';
import { ANA, haveReviewers } from '../support/reviewers.ts';
import { ENGINES } from '../support/stores.ts';

const METHODS = [{ accounts: [{ currency: 'EUR', holder: 'Shop', iban: ACCOUNT, rows: [] }] }];
const ACT = { actor: 'operator', request_id: null };
const DAY_MS = 86_400_000;
const SAID = { text: 'For Zoë', name: 'Anna Berg', iban: 'NL86INGB0002445588' };

for (const engine of ENGINES) {
  describe(`erasing statement lines on ${engine}`, () => {
    const service = sharedHarness(engine);

    async function bring(...entries: Entry[]) {
      const checked = checkFile(readStatements(camt(entries), 'a.xml'), METHODS);
      const options = { despiteFaults: false, dryRun: false };
      return importFile(service.service.journal, checked, ACT, options);
    }
    async function line(bank: string) {
      service.service.database.refresh();
      const lines = await listLines(service.service.database, {}, undefined, 100);
      return lines.find(({ entry_reference }) => entry_reference === bank)!;
    }

    test('with the payment that it is the money of', async () => {
      await haveReviewers(service.service);
      const { journal, database } = service.service;
      await bring({ amount: '49.90', bank: 'A1', ...SAID }, { amount: '49.90', bank: 'A2', ...SAID });
      const { id } = await service.create({ amount: 49.9, currency: 'EUR' });
      database.refresh();
      const { version } = (await findPayment(database, id))!;
      const pair = { line_id: (await line('A1')).id, payment_id: id, version };
      await journal.commit((one) => approveLine(one, ANA, pair, {}), id);
      assert.equal(await journal.commit((one) => eraseLinesOf(one, id, ACT)), 1);
      const erased = await line('A1');
      assert.deepEqual([erased.details, erased.amount_minor, erased.state], [null, 4990, 'matched']);
      assert.deepEqual(saidOn(erased), { references: {}, text: '', counterparty: {} });
      assert.notEqual((await line('A2')).details, null);
      await service.verify();
    });

    test('rules about who paid, by the line or by what the payment says of its payer, and those that ended long ago', async () => {
      await haveReviewers(service.service);
      const { journal, database } = service.service;
      const people = ['Rule Payer', 'Rule Customer', 'Rule Ended', 'Rule Kept'];
      await bring(...people.map((name, i) => ({ ...SAID, amount: '1.00', bank: `R${i}`, name, iban: '' })));
      await bring({ ...SAID, amount: '52.00', bank: 'P1', name: 'Rule Payer', iban: '' });
      const payment = await service.create({
        amount: 52,
        currency: 'EUR',
        customer: { name: 'Rule Customer' },
      });
      database.refresh();
      const { version } = (await findPayment(database, payment.id))!;
      const pair = { line_id: (await line('P1')).id, payment_id: payment.id, version };
      await journal.commit((one) => approveLine(one, ANA, pair, {}), payment.id);
      for (const i of people.keys()) {
        const made = await line(`R${i}`);
        await journal.commit((one) => makeRule(one, ANA, made, `Of ${people[i]}`));
      }
      const rules = async () => {
        database.refresh();
        const found = await database.query<KeptRule>('select * from line_rules order by id');
        return found.map(({ name, name_key, reason, state }) => [name, name_key, reason, state].join());
      };
      const [, , ended] = await database.query<KeptRule>('select * from line_rules order by id');
      await journal.commit((one) => endRule(one, ANA, ended!.id));
      await journal.commit(async (one) => {
        await eraseRulesOf(one, payment.id, ACT);
        return eraseLinesOf(one, payment.id, ACT);
      });
      const gone = ',,,ended';
      assert.deepEqual(await rules(), [
        gone,
        gone,
        'Rule Ended,ENDED RULE,Of Rule Ended,ended',
        'Rule Kept,KEPT RULE,Of Rule Kept,active',
      ]);
      const later = { now: () => Date.now() + 400 * DAY_MS } as Parameters<typeof forgetOldLines>[1];
      await forgetOldLines(journal, later, 300);
      assert.deepEqual((await rules()).slice(2), [gone, 'Rule Kept,KEPT RULE,Of Rule Kept,active']);
      await service.verify();
    });

    test('by its age, and a file that shows it again brings nothing back', async () => {
      const { journal } = service.service;
      const old = { amount: '5.00', bank: 'B1', day: '2026-01-02', ...SAID };
      const young = { amount: '6.00', bank: 'B2', day: '2026-03-02', ...SAID };
      await bring(old, young);
      const now = Date.UTC(2026, 2, 10);
      assert.equal(await forgetOldLines(journal, { now: () => now }, 30), 1);
      assert.equal((await line('B1')).details, null);
      assert.notEqual((await line('B2')).details, null);
      assert.equal(await forgetOldLines(journal, { now: () => now + 20 * DAY_MS }, 30), 0);
      const [again] = (await bring(old, young, { amount: '7.00', bank: 'B3' }))!;
      assert.deepEqual([again!.added, again!.known], [1, 2]);
      assert.equal((await line('B1')).details, null);
      await service.verify();
    });

    test('a line without a day is as old as its import', async () => {
      const { journal } = service.service;
      const undated: Entry = { amount: '3.00', bank: 'D1', day: '', status: 'PDNG', ...SAID };
      await bring(undated);
      const { created_at } = await line('D1');
      const at = (days: number) => ({ now: () => created_at + days * DAY_MS });
      await forgetOldLines(journal, at(29), 30);
      assert.notEqual((await line('D1')).details, null);
      await forgetOldLines(journal, at(32), 30);
      assert.equal((await line('D1')).details, null);
      await service.verify();
    });

    test('a fault is stored without the cell that it quotes', async () => {
      const wrong = { amount: '49,90 "Anna" Berg\n', bank: 'F1', day: '2025-03-02' };
      const read = readStatements(camt([wrong, { amount: '1.00', bank: 'F2' }]), 'faults.xml');
      assert.match(read.statements[0]!.faults[0]!.text, /Anna" Berg/);
      const checked = checkFile(read, METHODS);
      const [{ id } = { id: null }] = (await importFile(service.service.journal, checked, ACT, {
        despiteFaults: true,
        dryRun: false,
      }))!;
      service.service.database.refresh();
      const stored = await service.service.database.query<{ faults: string }>(
        'select faults from statements where id = ?',
        id,
      );
      const [fault] = JSON.parse(stored[0]!.faults);
      assert.equal(fault.text, 'This entry is left out: the amount "…" cannot be read.');
      assert.ok(fault.line > 0);
      await service.verify();
    });

    test('a line that was changed in the store itself is left, so that verifying goes on finding it', async () => {
      const { journal } = service.service;
      await bring({ amount: '8.00', bank: 'C1', day: '2025-01-02', ...SAID });
      const { id } = await line('C1');
      await editOutside(service.store, `update statement_lines set amount_minor = 9 where id = '${id}'`);
      service.service.database.refresh();
      assert.equal(await forgetOldLines(journal, { now: () => Date.UTC(2025, 5, 1) }, 30), 0);
      assert.notEqual((await line('C1')).details, null);
      await assert.rejects(service.verify(), /is not as entry/);
    });
  });
}
