// A large statement is imported in several commits: it is seen as a whole or nowhere, one that ended goes on, and a second import adds nothing.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Journal } from '../../src/journal/journal.ts';
import { Bank, checked } from '../support/bank.ts';
import { camt } from '../support/camt.ts';
import { type Client, signIn } from '../support/console.ts';
import { sharedHarness, startHarness } from '../support/harness.ts';
import { ENGINES } from '../support/stores.ts';

const LINES = 2500;
const entry = (i: number) => ({ amount: `${10 + (i % 90)}.00`, bank: `B${i}`, text: `Order ${i}` });
const file = checked(camt(Array.from({ length: LINES }, (_, i) => entry(i))), 'large.xml');
const SMALL = camt([entry(0), { ...entry(2), status: 'PDNG' }], { number: '2' });

for (const engine of ENGINES)
  describe(`a large statement on ${engine}`, () => {
    const harness = sharedHarness(engine, { isVerified: true });
    const bank = new Bank(harness);
    let client: Client;
    before(async () => {
      client = await signIn(harness);
    });

    /** The lines of each statement, all lines that are seen, those that are booked, and all that are in the table. */
    async function stored() {
      const statements: { lines: number }[] = await bank.audited('statements');
      const seen = await bank.lines();
      const booked = seen.filter((one) => one.booked === 1).length;
      // The console has sums of what is seen alone.
      const { body } = await client.get('/statements');
      assert.equal(/No statement has been imported/.test(body), seen.length === 0);
      if (booked > 0) assert.match(body, new RegExp(`${booked} · €`));
      const [rows] = await bank.database.query<{ n: number }>('select count(*) as n from statement_lines');
      return [statements.map(({ lines }) => lines), seen.length, booked, Number(rows!.n)];
    }

    /** Imports the large file through a journal that ends before a commit. */
    function endBefore(commit: number) {
      const { journal } = harness.service;
      let commits = 0;
      const ending = {
        newestSeal: () => journal.newestSeal(),
        commit: (work: Parameters<Journal['commit']>[0]) =>
          ++commits === commit ? Promise.reject(new Error('ended')) : journal.commit(work),
      } as Journal;
      return assert.rejects(bank.take(file, { journal: ending }), /ended/);
    }

    test('an import that ended in between is seen nowhere, and lines of it are taken over by another file', async () => {
      await endBefore(3);
      assert.deepEqual(await stored(), [[], 0, 0, 1000]);
      assert.deepEqual(await bank.counts(SMALL), [[2, 0, 0]]);
      const [, seen, , rows] = await stored();
      assert.deepEqual([seen, rows], [2, 1000]);
    });

    test('what is known changes with the last commit alone', async () => {
      const before = await stored();
      await endBefore(6);
      assert.deepEqual(await stored(), [...before.slice(0, 3), LINES]);
    });

    test('the same file goes on where it ended, and is told as a whole', async () => {
      const turns: number[] = [];
      const onTurn = (_: unknown, done: number) => turns.push(done);
      const [whole] = (await bank.take(file, { onTurn }))!;
      assert.deepEqual([whole!.added + whole!.booked, whole!.known], [LINES - 2, 2]);
      assert.deepEqual(turns, [500, 1000, 1500, 2000, 2500, 2500]);
      assert.deepEqual(await stored(), [[2, LINES], LINES, LINES, LINES]);
    });

    test('the same file again adds nothing', async () => {
      const [again] = (await bank.take(file))!;
      assert.deepEqual([again!.id, again!.added, again!.known], [null, 0, LINES]);
      assert.deepEqual(await stored(), [[2, LINES], LINES, LINES, LINES]);
    });

    test('one that brings no new line though its balance moved says so', async () => {
      const take = async (number: string, day: string, ...balances: [string, string]) => {
        const entries = Array.from({ length: 600 }, (_, i) => ({ amount: '1.00', bank: `C${i}`, day }));
        const one = checked(camt(entries, { number, day, balances }));
        const [imported] = (await bank.take(one))!;
        return [imported!.added, ...one.notes.map(({ text }) => text)];
      };
      assert.deepEqual(await take('3', '2026-12-01', '0.00', '600.00'), [600]);
      const [added, note] = await take('4', '2026-12-02', '900.00', '1500.00');
      assert.equal(added, 0);
      assert.match(String(note), /^No line is new, .* 1500\.00/);
    });
  });

test('transactions of one entry are not compared with one another', async (t) => {
  await using harness = await startHarness('sqlite');
  const importOne = async (one: Parameters<typeof camt>[0][number]) =>
    (await new Bank(harness).take(camt([{ ...one, bank: 'E' }])))![0]!;
  const { parse } = Date;
  t.after(() => {
    Date.parse = parse;
  });
  let days = 0;
  Date.parse = (text) => {
    days += 1;
    return parse(text);
  };
  const parts = Array.from({ length: LINES }, (_, i) => ({ amount: '1.00', text: `Order ${i}` }));
  assert.equal((await importOne({ amount: `${LINES}.00`, parts })).added, LINES);
  assert.ok(days < 10 * LINES, `${days} days were looked at`);
  const whole = await importOne({ amount: `${LINES}.00` });
  assert.deepEqual([whole.added, whole.known], [0, 1]);
  await harness.verify();
});
