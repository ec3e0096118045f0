// Statements in the store: imported once whatever files show them, whole or not at all, and held against the history.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readStatements } from '#bank-statements';
import { Bank, checked } from '../support/bank.ts';
import { camt, type Entry } from '../support/camt.ts';
import { sharedHarness } from '../support/harness.ts';
import { editOutside } from '../support/outside.ts';
import { ENGINES } from '../support/stores.ts';

for (const engine of ENGINES) {
  describe(`imported statements on ${engine}`, () => {
    const service = sharedHarness(engine);
    const bank = new Bank(service);
    const counts = (...args: Parameters<Bank['counts']>) => bank.counts(...args);
    const linesOf = (reference: string) => bank.linesOf(reference);
    const entry = (bank: string, more: Partial<Entry> = {}): Entry => ({ amount: '49.90', bank, ...more });

    test('a file again adds nothing, and neither does a file that overlaps', async () => {
      const first = [entry('A1'), entry('A2', { amount: '10.00' })];
      assert.deepEqual(await counts(camt(first)), [[2, 0, 0]]);
      assert.deepEqual(await counts(camt(first)), [[0, 0, 2]]);
      assert.deepEqual(await counts(camt([...first, entry('A3')])), [[1, 0, 2]]);
      assert.equal((await bank.audited('statements')).length, 2);
    });

    test('two lines alike in every field are two, once', async () => {
      const alike = { amount: '7.00', bank: null, text: 'Cash desk', name: 'Anna Berg' };
      const file = (number: string) => camt([alike, alike], { number });
      assert.deepEqual(await counts(file('1')), [[2, 0, 0]]);
      assert.deepEqual(await counts(file('2')), [[0, 0, 2]]);
    });

    test('the same money in 052, then 053, then as the transactions of 054 is counted once', async () => {
      const pending = camt([entry('B1', { amount: '100.00', status: 'PDNG' })], { message: '052' });
      assert.deepEqual(await counts(pending), [[1, 0, 0]]);
      assert.equal((await linesOf('B1'))[0]!.booked, 0);
      assert.deepEqual(await counts(camt([entry('B1', { amount: '100.00' })])), [[0, 1, 0]]);
      const parts = [
        { amount: '60.00', endToEnd: 'ORDER-1', name: 'Anna Berg' },
        { amount: '40.00', endToEnd: 'ORDER-2', name: 'Ben Cole' },
      ];
      const details = camt([entry('B1', { amount: '100.00', parts })], { message: '054' });
      assert.deepEqual(await counts(details), [[2, 0, 0]]);
      const lines = await linesOf('B1');
      const standing = lines.filter(({ state }) => state !== 'replaced');
      assert.deepEqual(standing.map(({ amount_minor }) => amount_minor).sort(), [4000, 6000]);
      assert.equal(lines.length, 3);
      const again = camt([entry('B1', { amount: '100.00' })], { number: '77' });
      assert.deepEqual(await counts(again), [[0, 0, 1]]);
    });

    test('an entry without a day has its statement’s, and is left out with its line if there is none', async () => {
      const undated = entry('Y1', { day: '' });
      assert.equal(await bank.take(camt([undated])), undefined);
      const [statement] = readStatements(camt([undated, entry('Y2')]), 'a.xml').statements;
      assert.deepEqual(
        statement!.lines.map(({ references }) => references.booking),
        ['Y2'],
      );
      assert.match(statement!.faults[0]!.text, /left out: neither it nor its statement names a day/);
      assert.ok(statement!.faults[0]!.line > 3);
      const balances = ['0.00', '49.90'] as const;
      assert.deepEqual(await counts(camt([undated], { balances, day: '2026-11-19' })), [[1, 0, 0]]);
      assert.equal((await linesOf('Y1'))[0]!.day, '2026-11-19');
      const pending = entry('Y3', { day: '', status: 'PDNG' });
      assert.deepEqual(await counts(camt([pending], { message: '052' })), [[1, 0, 0]]);
      assert.equal((await linesOf('Y3'))[0]!.day, '');
    });

    test('a reference that the bank used again for other money hides none of it', async () => {
      const said = { amount: '49.90', bank: '000123' };
      const first = entry('000123', { ...said, iban: 'NL86INGB0002445588', endToEnd: 'ORDER-1' });
      assert.deepEqual(await counts(camt([first], { message: '054' })), [[1, 0, 0]]);
      const others = [
        entry('000123', { ...said, iban: 'DE02120300000000202051', endToEnd: 'ORDER-1' }),
        entry('000123', { ...said, iban: 'NL86INGB0002445588', endToEnd: 'ORDER-2' }),
        entry('000123', { ...said, iban: 'NL86INGB0002445588', endToEnd: 'ORDER-1', day: '2026-12-20' }),
      ];
      for (const other of others)
        for (const added of [1, 0])
          assert.deepEqual(await counts(camt([other], { message: '054' })), [[added, 0, 1 - added]]);
      // The same booking with less said of it, and a day later, is known.
      for (const less of [entry('000123', said), { ...first, day: '2026-11-21' }])
        assert.deepEqual(await counts(camt([less], { message: '052' })), [[0, 0, 1]]);
      assert.equal((await linesOf('000123')).length, 4);
    });

    test('other money under a reference used again is known again, however a file tells it', async () => {
      const one = { amount: '81.00', iban: 'NL86INGB0002445588', endToEnd: 'ORDER-1' };
      const other = { amount: '81.00', iban: 'DE02120300000000202051', endToEnd: 'ORDER-2' };
      const told = (more: Partial<Entry>[], message: '052' | '053' | '054' = '053') =>
        counts(
          camt(
            more.map((each) => entry('000200', each)),
            { message },
          ),
        );
      assert.deepEqual(await told([one]), [[1, 0, 0]]);
      assert.deepEqual(await told([{ ...other, day: '2026-12-20' }]), [[1, 0, 0]]);
      // With less said of it, on the next day, or with both in one file, in either order.
      const { iban: _, ...less } = other;
      assert.deepEqual(await told([{ ...less, day: '2026-12-21' }], '052'), [[0, 0, 1]]);
      assert.deepEqual(await told([{ ...other, day: '2026-12-21' }, one]), [[0, 0, 2]]);
      assert.deepEqual(await told([one, { ...less, day: '2026-12-19' }], '054'), [[0, 0, 2]]);
      // A third time is a third line, and two alike are two.
      const third = { ...less, day: '2027-02-01' };
      assert.deepEqual(await told([third, third]), [[2, 0, 0]]);
      assert.deepEqual(await told([third, one, third], '054'), [[0, 0, 3]]);
      assert.equal((await linesOf('000200')).length, 4);
    });

    test('two that share a reference in one file are known again one by one', async () => {
      const [one, other] = [
        entry('000201', { iban: 'NL86INGB0002445588' }),
        entry('000201', { iban: 'DE02120300000000202051' }),
      ];
      assert.deepEqual(await counts(camt([one, other])), [[2, 0, 0]]);
      assert.deepEqual(await counts(camt([other], { message: '054' })), [[0, 0, 1]]);
      assert.deepEqual(await counts(camt([other, one], { message: '052' })), [[0, 0, 2]]);
      assert.equal((await linesOf('000201')).length, 2);
      // Two alike, of which the store has one under a fingerprint of its own; and one that names nobody.
      const later = { ...other, day: '2026-12-20' };
      assert.deepEqual(await counts(camt([later])), [[1, 0, 0]]);
      assert.deepEqual(await counts(camt([later, later], { message: '054' })), [[1, 0, 1]]);
      const [third, nobody] = [entry('000203', { iban: 'GB33BUKB20201555555555' }), entry('000203')];
      assert.deepEqual(await counts(camt([entry('000203', { iban: 'NL86INGB0002445588' })])), [[1, 0, 0]]);
      assert.deepEqual(await counts(camt([third, nobody], { message: '054' })), [[2, 0, 0]]);
    });

    test('an entry whose reference another one had, with its transactions, is other money', async () => {
      const parts = [{ amount: '60.00' }, { amount: '40.00' }];
      const whole = (day: string) => entry('000202', { amount: '100.00', day });
      const apart = (day: string) => camt([{ ...whole(day), parts }], { message: '054' });
      assert.deepEqual(await counts(apart('2026-11-20')), [[2, 0, 0]]);
      assert.deepEqual(await counts(camt([whole('2026-11-21')])), [[0, 0, 1]]);
      assert.deepEqual(await counts(camt([whole('2027-03-01')])), [[1, 0, 0]]);
      assert.deepEqual(await counts(camt([whole('2027-03-02')], { message: '052' })), [[0, 0, 1]]);
      assert.deepEqual(await counts(camt([whole('2027-06-01')])), [[1, 0, 0]]);
      const lines = await linesOf('000202');
      assert.equal(lines.filter(({ state }) => state === 'open').length, 4);
    });

    test('a pending line that comes again after it was booked changes nothing', async () => {
      await bank.take(camt([entry('C1')], { number: '11' }));
      const late = camt([entry('C1', { status: 'PDNG' })], { message: '052' });
      assert.deepEqual(await counts(late), [[0, 0, 1]]);
      assert.equal((await linesOf('C1'))[0]!.booked, 1);
    });

    const list = (today: string, text: string, mark?: string) => bank.paste(text, today, undefined, mark);

    test('a pasted list adds nothing twice, whatever day it is, and its lines say who pasted them', async () => {
      const rows = 'Anna Berg;PASTED-1;49,90\n20.11.2026;Ben Cole;12,00';
      assert.equal((await list('2026-11-20', rows)).added, 2);
      for (const day of ['2026-11-20', '2026-12-24'])
        assert.deepEqual([(await list(day, rows)).added, (await list(day, rows)).known], [0, 2], day);
      const pasted = (await bank.audited('statements')).filter(
        (one: Record<string, string>) => one.format === 'pasted',
      );
      assert.deepEqual(new Set(pasted.map(({ file }: { file: string }) => file)), new Set(['pasted by Ana']));
      const told = await bank.lines({ statement_id: pasted.at(-1).id });
      assert.deepEqual(told.map(({ day, amount_minor }) => [day, amount_minor]).sort(), [
        ['2026-11-20', 1200],
        ['2026-11-20', 4990],
      ]);
    });

    test('a statement takes the place of what was pasted before it, and a list knows what stands in a statement', async () => {
      const rows =
        '20.11.2026;Ada Lane;ORDER-2171;21,00\nCarl Berg;22,00\n20.11.2026;Dora Diaz;23,00\n20.11.2026;Eva;-24,00';
      assert.equal((await list('2026-11-21', rows)).added, 4);
      const all = async () =>
        (await bank.lines()).filter(({ amount_minor }) => [2100, 2200, 2300, 2400].includes(amount_minor));
      const before = new Map((await all()).map(({ id, amount_minor }) => [amount_minor, id]));
      const entries = [
        entry('Q1', { amount: '21.00', text: 'SVWZ+order 2171 thanks', day: '2027-03-01' }),
        entry('Q2', { amount: '21.00', text: 'SVWZ+order 2171 thanks', day: '2026-11-23' }),
        entry('Q3', { amount: '21.00', text: 'SVWZ+order 2171 thanks', day: '2026-11-21' }),
        entry('Q4', { amount: '22.00', name: 'BERG, CARL OTTO', day: '2026-11-19' }),
        entry('Q5', { amount: '23.00', name: 'Dora Other', day: '2026-11-20' }),
        entry('Q6', { amount: '24.00', name: 'Eva', day: '2026-11-20' }),
      ];
      assert.deepEqual(await counts(camt(entries)), [[4, 0, 2]]);
      const known = (await all()).filter(({ id }) => [...before.values()].includes(id));
      assert.deepEqual(
        known.map(({ amount_minor, day, entry_reference }) => [amount_minor, day, entry_reference]).sort(),
        [
          [2100, '2026-11-21', 'Q3'],
          [2200, '2026-11-19', 'Q4'],
          [2300, '2026-11-20', null],
          [2400, '2026-11-20', null],
        ],
      );
      // Neither of them again adds anything, nor a list of what a statement brought alone.
      assert.deepEqual(await counts(camt(entries, { number: '700' })), [[0, 0, 6]]);
      const again = await list('2026-11-22', rows);
      assert.deepEqual([again.added, again.known, again.knownAt], [0, 4, [0, 1, 2, 3]]);
      const other = await list('2026-11-22', '2026-11-20;Dora Other;23,00\n2026-11-20;Finn;23,00');
      assert.deepEqual([other.added, other.knownAt], [1, [0]]);
      // Of two alike one, of other money none, and of a later day none.
      const one = entry('Q7', { amount: '26.00', name: 'Hal Hill', day: '2026-11-22' });
      assert.equal((await list('2026-11-22', 'Gus Gray;ORDER-9911;25,00')).added, 1);
      const late = entry('Q8', { amount: '25.00', text: 'ORDER-9911', day: '2027-04-01' });
      assert.deepEqual(await counts(camt([one, late])), [[2, 0, 0]]);
      assert.deepEqual((await list('2026-11-23', 'Hal Hill;26,00\nHal Hill;26,00')).knownAt, [0]);
      assert.deepEqual((await list('2026-11-23', 'Hal Hill;26,00', '~1764000000000')).knownAt, []);
    });

    test('a dry run says what would come and leaves nothing', async () => {
      const file = camt([entry('F1')], { number: '21' });
      assert.deepEqual(await counts(file, { dryRun: true }), [[1, 0, 0]]);
      assert.deepEqual(await linesOf('F1'), []);
    });

    test('two imports of the same money at once bring it once', async () => {
      const files = ['31', '32', '33', '34'].map((number) => camt([entry('G1'), entry('G2')], { number }));
      const all = (await Promise.all(files.map((file) => counts(file)))).flat();
      assert.deepEqual(all.map((one) => one![0]).sort(), [0, 0, 0, 2]);
      assert.equal((await linesOf('G1')).length, 1);
    });

    test('a file whose commit fails leaves nothing of itself', async () => {
      const file = checked(camt([entry('H1'), entry('H2')], { number: '41' }));
      const { lines } = file.statements[0]!.statement;
      lines[1] = { ...lines[1]!, amountMinor: null as never };
      await assert.rejects(bank.take(file));
      assert.deepEqual(await linesOf('H1'), []);
    });

    test('a line that somebody changes or deletes in the store is found by verifying', async () => {
      await bank.take(camt([entry('J1'), entry('J2')], { number: '61' }));
      const [line] = await linesOf('J1');
      const set = (minor: number) =>
        editOutside(
          service.store,
          `update statement_lines set amount_minor = ${minor} where id = '${line!.id}'`,
        );
      const verify = () => {
        service.service.database.refresh();
        return service.verify();
      };
      // Whatever was done before.
      await verify();
      await set(5);
      await assert.rejects(verify(), /statement line lin_\w+ is not as entry \d+ left it/);
      await set(4990);
      for (const [sql, back, told] of [
        [
          `update statement_lines set state = 'matched', payment_id = 'pay_x' where id = '${line!.id}'`,
          `update statement_lines set state = 'open', payment_id = null where id = '${line!.id}'`,
          /statement line lin_\w+ is not as/,
        ],
        [
          `update statements set closing_minor = 7 where id = '${line!.statement_id}'`,
          `update statements set closing_minor = null where id = '${line!.statement_id}'`,
          /statement stm_\w+ is not as/,
        ],
      ] as const) {
        await editOutside(service.store, sql);
        await assert.rejects(verify(), told);
        await editOutside(service.store, back);
      }
      await verify();
      await editOutside(service.store, `delete from statement_lines where id = '${line!.id}'`);
      await assert.rejects(verify(), /line lin_\w+ is missing/);
    });
  });
}
