// An account over some days: balances that the bank named against those that the lines make, in the report and its file.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { Bank, checked, methodsOf } from '../support/bank.ts';
import { camt, type Entry } from '../support/camt.ts';
import { Clerk } from '../support/clerk.ts';
import { type Client, signIn } from '../support/console.ts';
import { sharedHarness } from '../support/harness.ts';
import { haveReviewers } from '../support/reviewers.ts';
import { ENGINES } from '../support/stores.ts';

/** An account for each test, so that one store serves them all. */
const ACCOUNTS = [
  'DE75512108001245126199',
  'DE89370400440532013000',
  'NL86INGB0002445588',
  'AT611904300234573201',
  'GB82WEST12345698765432',
];
/** Amounts of KWD, those out with a minus, and the balance behind them; of the bank's own no thousandths are kept. */
const THOUSANDTHS: readonly [amounts: string[], balance: string][] = [
  [['1.234', '1.235'], '2.469'],
  [['0.009', '0.009', '0.009'], '2.487'],
  [['1.230'], '3.717'],
  [['2.005', '-0.009'], '5.713'],
];
const METHODS = methodsOf(...ACCOUNTS);

for (const engine of ENGINES) {
  describe(`a period on ${engine}`, () => {
    const harness = sharedHarness(engine);
    const bank = new Bank(harness);
    let client: Client;
    before(async () => {
      client = await signIn(harness);
    });

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
    const page = async (account: string, from: string, to: string) =>
      (await client.get(`/statements/report?account=${account}%20EUR&from=${from}&to=${to}`)).body;
    /** Opening and closing balance, that of the bank, and each line with the balance behind it. */
    async function read(account: string, from: string, to: string, currency = 'EUR') {
      const asked = `account=${account}%20${currency}&from=${from}&to=${to}`;
      const { text } = await client.get(`/statements/report.ndjson?${asked}`);
      const rows: Record<string, string | null>[] = text
        .trim()
        .split('\n')
        .map((row) => JSON.parse(row));
      const balances = ['opening', 'closing', 'bank'].map(
        (name) => rows.find(({ row }) => row === name)!.balance,
      );
      return [...balances, rows.flatMap(({ row, day, balance }) => (row === 'line' ? [[day, balance]] : []))];
    }

    test('opening balance, lines and closing balance add up, from the first statement on and within', async () => {
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
      const second = [
        ['2026-11-03', '139.90'],
        ['2026-11-03', null],
      ];
      assert.deepEqual(await read(account, '2026-11-01', '2026-11-30'), [
        ...['100.00', '0.00', '0.00'],
        [['2026-11-02', '149.90'], ...second, ['2026-11-05', '0.00']],
      ]);
      const body = await page(account, '2026-11-01', '2026-11-30');
      assert.match(body, /make the closing balance of the bank\./);
      assert.match(body, /To look at ?€49\.90 \(1\)/);
      assert.doesNotMatch(body, /differs/);
      assert.deepEqual(await read(account, '2026-11-03', '2026-11-04'), [
        '149.90',
        '139.90',
        '139.90',
        second,
      ]);
      assert.deepEqual(await read(account, '2026-11-04', '2026-11-04'), ['139.90', '139.90', '139.90', []]);
    });

    test('a statement that is missing is told with the sum and the day from which on they differ', async () => {
      const account = ACCOUNTS[1]!;
      await statement(account, '2026-11-02', ['100.00', '110.00'], [{ amount: '10.00', bank: 'M1' }]);
      await statement(account, '2026-11-04', ['135.50', '140.50'], [{ amount: '5.00', bank: 'M3' }]);
      const period = await read(account, '2026-11-01', '2026-11-30');
      assert.deepEqual(period.slice(0, 3), ['100.00', '115.00', '140.50']);
      const body = await page(account, '2026-11-01', '2026-11-30');
      assert.match(body, /€25\.50 is not among the lines\..* 4 Nov 2026 on\..*differs/);
    });

    test('sums hold the thousandths of their lines, however they are added', async () => {
      const account = ACCOUNTS[4]!;
      for (const [place, [amounts, balance]] of THOUSANDTHS.entries()) {
        const day = `2026-11-0${place + 2}`;
        const entries = amounts.map((amount, i) => ({
          ...{ amount: amount.replace('-', ''), currency: 'KWD', day, bank: `T${place}${i}` },
          direction: amount.startsWith('-') ? ('DBIT' as const) : ('CRDT' as const),
        }));
        const balances = place === 0 ? (['0.000', '2.469'] as [string, string]) : undefined;
        await bring(camt(entries, { account, currency: 'KWD', day, ...(balances && { balances }) }));
        assert.equal((await read(account, day, day, 'KWD'))[1], balance, day);
      }
      const [opening, closing] = await read(account, '2026-11-01', '2026-11-30', 'KWD');
      assert.deepEqual([opening, closing], ['0.00', '5.722']);
      assert.equal(
        (await read(account, '2026-11-05', '2026-11-30', 'KWD'))[1],
        '5.713',
        'from the bank’s balance on',
      );
      assert.match((await client.get('/statements')).body, /7 · KWD\s?5\.731/);
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
      await bank.paste('30.00 EUR\tORDER-1', '2026-11-03', account);
      const whole = await read(account, '2026-11-01', '2026-11-30');
      assert.deepEqual(whole, [
        ...['0.00', '30.00', '30.00'],
        [
          ['2026-11-02', '10.00'],
          ['2026-11-03', '30.00'],
          ['2026-11-03', null],
        ],
      ]);
      // A line that is split counts by its parts.
      await haveReviewers(harness.service);
      const [line] = await bank.linesOf('I1');
      await new Clerk(bank).split(line!.id, [{ ...(await bank.pay(10)), minor: 600 }]);
      assert.deepEqual((await read(account, '2026-11-01', '2026-11-30')).slice(0, 3), whole.slice(0, 3));
    });

    test('without any balance nothing is compared; a later one tells the opening balance', async () => {
      const account = ACCOUNTS[3]!;
      await statement(account, '2026-11-02', undefined, [{ amount: '10.00', bank: 'N1' }]);
      const none = await read(account, '2026-11-01', '2026-11-03');
      assert.deepEqual(none, [null, null, null, [['2026-11-02', null]]]);
      assert.match(await page(account, '2026-11-01', '2026-11-03'), /named no balance/);
      await statement(account, '2026-11-06', ['10.00', '15.00'], [{ amount: '5.00', bank: 'N2' }]);
      assert.deepEqual((await read(account, '2026-11-02', '2026-11-03')).slice(1, 3), ['10.00', '10.00']);
    });
  });
}
