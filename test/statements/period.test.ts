// An account over some days: balances that the bank named against those that the lines make.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ENGLISH } from '../../src/lib/phrases.ts';
import { sumMinor } from '../../src/payments/payment.ts';
import { plainMoney } from '../../src/review/facts.ts';
import { lineSums } from '../../src/statements/line-queries.ts';
import { readPasted } from '../../src/statements/pasted.ts';
import { balanceSentence, type Period, periodOf } from '../../src/statements/period.ts';
import { Bank, checked, methodsOf } from '../support/bank.ts';
import { camt, type Entry } from '../support/camt.ts';
import { sharedHarness } from '../support/harness.ts';
import { ENGINES } from '../support/stores.ts';

/** An account for each test, so that one store serves them all. */
const ACCOUNTS = [
  'DE75512108001245126199',
  'DE89370400440532013000',
  'NL86INGB0002445588',
  'AT611904300234573201',
  'GB82WEST12345698765432',
];
/** Amounts of KWD, those out with a minus, and what they come to in minor units: of which day, in which lines. */
const THOUSANDTHS: readonly [amounts: string[], credits: number, whole: number][] = [
  [['1.234', '1.235'], 246.9, 246.9],
  [['0.009', '0.009', '0.009'], 2.7, 2.7],
  [['1.230'], 123, 123],
  [['2.005', '-0.009'], 200.5, 199.6],
];
const METHODS = methodsOf(...ACCOUNTS);

for (const engine of ENGINES) {
  describe(`a period on ${engine}`, () => {
    const bank = new Bank(sharedHarness(engine));

    const bring = (bytes: Uint8Array) => bank.take(checked(bytes, 'a.xml', METHODS));
    const statement = (
      account: string,
      day: string,
      balances: [string, string] | undefined,
      entries: Entry[],
    ) =>
      bring(
        camt(
          entries.map((one) => ({ day, ...one })),
          { account, day, ...(balances && { balances }) },
        ),
      );
    const read = (account: string, from: string, to: string) =>
      periodOf(bank.database, { account, currency: 'EUR' }, from, to);
    const figures = ({ opening, closing, bank, days }: Period) => ({
      opening,
      closing,
      bank,
      days: days.map((one) => [one.day, one.balance, one.bank]),
    });

    test('opening balance, days and closing balance add up, from the first statement on and within', async () => {
      const account = ACCOUNTS[0]!;
      await statement(account, '2026-11-02', ['100.00', '149.90'], [{ amount: '49.90', bank: 'P1' }]);
      await statement(
        account,
        '2026-11-03',
        ['149.90', '139.90'],
        [
          { amount: '10.00', bank: 'P2', direction: 'DBIT' },
          { amount: '99.00', bank: 'P3', status: 'PDNG' },
        ],
      );
      await statement(
        account,
        '2026-11-05',
        ['139.90', '0.00'],
        [{ amount: '139.90', bank: 'P4', direction: 'DBIT' }],
      );
      const whole = await read(account, '2026-11-01', '2026-11-30');
      assert.deepEqual(figures(whole), {
        opening: 10000,
        closing: 0,
        bank: 0,
        days: [
          ['2026-11-02', 14990, 14990],
          ['2026-11-03', 13990, 13990],
          ['2026-11-05', 0, 0],
        ],
      });
      assert.match(balanceSentence(ENGLISH, plainMoney, whole), /make the closing balance of the bank\.$/);
      const [credit] = whole.days[0]!.sums;
      assert.deepEqual(
        [credit!.direction, credit!.state, credit!.count, credit!.sum_minor],
        ['credit', 'open', 1, 4990],
      );
      const within = await read(account, '2026-11-03', '2026-11-04');
      assert.deepEqual([within.opening, within.closing, within.bank], [14990, 13990, 13990]);
      const quiet = await read(account, '2026-11-04', '2026-11-04');
      assert.deepEqual([quiet.opening, quiet.closing, quiet.bank, quiet.days], [13990, 13990, 13990, []]);
    });

    test('a statement that is missing is told with the sum and the day from which on they differ', async () => {
      const account = ACCOUNTS[1]!;
      await statement(account, '2026-11-02', ['100.00', '110.00'], [{ amount: '10.00', bank: 'M1' }]);
      await statement(account, '2026-11-04', ['135.50', '140.50'], [{ amount: '5.00', bank: 'M3' }]);
      const period = await read(account, '2026-11-01', '2026-11-30');
      assert.deepEqual([period.opening, period.closing, period.bank], [10000, 11500, 14050]);
      assert.match(
        balanceSentence(ENGLISH, plainMoney, period),
        /make EUR 115\.00, the bank says EUR 140\.50: EUR 25\.50 is not among the lines\. They differ from 4 Nov 2026 on\./,
      );
    });

    test('sums hold the thousandths of their lines, however they are added', async () => {
      const account = ACCOUNTS[4]!;
      const money = { account, currency: 'KWD' };
      let all = 0;
      for (const [place, [amounts, credits, whole]] of THOUSANDTHS.entries()) {
        const day = `2026-11-0${place + 2}`;
        const entries = amounts.map((amount, i) => ({
          ...{ amount: amount.replace('-', ''), currency: 'KWD', day, bank: `T${place}${i}` },
          direction: amount.startsWith('-') ? ('DBIT' as const) : ('CRDT' as const),
        }));
        const balances = place === 0 ? (['0.000', '2.469'] as [string, string]) : undefined;
        await bring(camt(entries, { account, currency: 'KWD', day, ...(balances && { balances }) }));
        const { days } = await periodOf(bank.database, money, day, day);
        assert.equal(days[0]!.sums.find(({ direction }) => direction === 'credit')!.sum_minor, credits, day);
        all = sumMinor([all, whole]);
      }
      const period = await periodOf(bank.database, money, '2026-11-01', '2026-11-30');
      assert.deepEqual([period.opening, period.closing], [0, all]);
      const later = await periodOf(bank.database, money, '2026-11-05', '2026-11-30');
      assert.equal(later.closing, sumMinor([246, 2.7, 123, 199.6]), 'from the bank’s balance on');
      const sums = await lineSums(bank.database);
      const credit = sums.find((one) => one.account === account && one.direction === 'credit');
      assert.equal(credit!.sum_minor, sumMinor(THOUSANDTHS.map(([, credits]) => credits)));
    });

    test('interim reports and pasted lists name no balance and add nothing to one', async () => {
      const account = ACCOUNTS[2]!;
      await statement(account, '2026-11-02', ['0.00', '10.00'], [{ amount: '10.00', bank: 'I1' }]);
      await bring(
        camt([{ amount: '20.00', bank: 'I2', day: '2026-11-03' }], {
          account,
          message: '052',
          balances: ['1.00', '2.00'],
          day: '2026-11-03',
        }),
      );
      const { statement: list } = readPasted('30.00 EUR\tORDER-1', {
        account: { iban: account },
        currency: 'EUR',
        file: 'pasted by Ana',
        today: '2026-11-03',
      });
      await bank.take({ statements: [{ own: account, statement: list }], faults: [], notes: [] });
      assert.deepEqual(figures(await read(account, '2026-11-01', '2026-11-30')), {
        opening: 0,
        closing: 3000,
        bank: 3000,
        days: [
          ['2026-11-02', 1000, 1000],
          ['2026-11-03', 3000, undefined],
        ],
      });
    });

    test('without any balance nothing is compared; a later one tells the opening balance', async () => {
      const account = ACCOUNTS[3]!;
      await statement(account, '2026-11-02', undefined, [{ amount: '10.00', bank: 'N1' }]);
      const none = await read(account, '2026-11-01', '2026-11-03');
      assert.deepEqual([none.opening, none.closing, none.bank], [undefined, undefined, undefined]);
      assert.match(balanceSentence(ENGLISH, plainMoney, none), /named no balance/);
      await statement(account, '2026-11-06', ['10.00', '15.00'], [{ amount: '5.00', bank: 'N2' }]);
      const known = await read(account, '2026-11-02', '2026-11-03');
      assert.deepEqual([known.closing, known.bank], [1000, 1000]);
    });
  });
}
