// Bank lines that no proposal finds, mistakes that are taken back, and lines that a bank's reference does not tell apart.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { readStatements } from '#bank-statements';
import type { Principal } from '../../../src/administrators/administrator.ts';
import type { Transaction } from '../../../src/journal/transaction.ts';
import { creditorReference } from '../../../src/payments/methods/transfer/creditor-reference.ts';
import type { Payment } from '../../../src/payments/payment.ts';
import { findPayment } from '../../../src/payments/queries.ts';
import { recordMoney } from '../../../src/review/record-money.ts';
import { receivedSoFar } from '../../../src/review/review.ts';
import { bookedBetween } from '../../../src/statements/balance-queries.ts';
import { checkFile, importFile } from '../../../src/statements/import-file.ts';
import { findLine, listLines, partsOfLine } from '../../../src/statements/line-queries.ts';
import { approveCertain } from '../../../src/statements/matching/certain-acts.ts';
import {
  acceptLine,
  approveLine,
  ignoreLine,
  reopenLine,
} from '../../../src/statements/matching/line-acts.ts';
import { acceptParts, reopenParts } from '../../../src/statements/matching/line-parts.ts';
import { openLines } from '../../../src/statements/matching/open-lines.ts';
import { ownAccount, readingOptions } from '../../../src/statements/remembered.ts';
import { undoImport } from '../../../src/statements/undo.ts';
import { submit } from '../../campaigns/history.ts';
import { entryCount } from '../../support/admin.ts';
import { ACCOUNT, camt, type Entry, MATCHING, TRANSFERS } from '../../support/camt.ts';
import { open } from '../../support/customer.ts';
import { sharedHarness } from '../../support/harness.ts';
import { ANA, BEN, haveReviewers } from '../../support/reviewers.ts';

const ACT = { actor: 'operator', request_id: null };
const METHODS = [{ accounts: [{ currency: 'EUR', holder: 'Shop', iban: ACCOUNT, rows: [] }] }];
const OPTIONS = { despiteFaults: false, dryRun: false };

describe('lines that a reviewer names payments for', () => {
  const service = sharedHarness('sqlite', { configuration: TRANSFERS });
  before(() => haveReviewers(service.service));
  /** The day by the clock of the service, which these tests set forward. */
  const today = () => new Date(service.clock.now()).toISOString().slice(0, 10);
  const database = () => {
    service.service.database.refresh();
    return service.service.database;
  };
  const commit = <T>(work: (transaction: Transaction) => Promise<T>) => service.service.journal.commit(work);
  const payment = async (id: string) => (await findPayment(database(), id))!;
  const pay = async (amount: number): Promise<Payment> => {
    const merchant_reference = `SHOP-${Math.round(amount * 100)}`;
    return payment((await service.create({ amount, currency: 'EUR', merchant_reference })).id);
  };
  const partOf = ({ id, version }: Payment, amount_minor?: number) => ({
    payment_id: id,
    version,
    amount_minor,
  });
  let count = 0;
  async function bring(entry: Partial<Entry>): Promise<string> {
    const bank = `N${++count}`;
    const file = camt([{ amount: '1.00', day: today(), ...entry, bank }], { number: String(count) });
    await importFile(
      service.service.journal,
      checkFile(readStatements(file, 'a.xml'), METHODS),
      ACT,
      OPTIONS,
    );
    const lines = await listLines(database(), {}, undefined, 100);
    return lines.find(({ entry_reference }) => entry_reference === bank)!.id;
  }

  test('a card payout is the money of many payments, and its fee is booked as money out', async () => {
    const paid = [await pay(20), await pay(30), await pay(45)];
    const line = await bring({ amount: '93.15', text: `PAYOUT ${creditorReference(paid[0]!)}` });
    const parts = paid.map((one) => partOf(one));
    await assert.rejects(
      commit((one) => acceptParts(one, ANA, line, parts)),
      /do not come to the amount/,
    );
    await commit((one) => acceptParts(one, ANA, line, parts, 'Fee of the card company'));
    const received = await Promise.all(paid.map(async ({ id }) => receivedSoFar(await payment(id))));
    assert.deepEqual(received, [2000, 3000, 4500]);
    const stored = (await findLine(database(), line))!;
    assert.equal(stored.state, 'split');
    const fee = (await partsOfLine(database(), stored)).find(({ direction }) => direction === 'debit')!;
    assert.deepEqual([fee.amount_minor, fee.state, fee.note], [185, 'ignored', 'Fee of the card company']);
    // The parts and the fee make what the bank booked, and the fee takes no payment's money back.
    const money = { account: stored.account, currency: 'EUR' };
    const day = stored.day;
    const before = await bookedBetween(database(), money, '2000-01-01', day);
    await commit((one) => reopenParts(one, ANA, line));
    assert.equal(await bookedBetween(database(), money, '2000-01-01', day), before);
    assert.deepEqual(
      [(await findLine(database(), line))!.state, receivedSoFar(await payment(paid[0]!.id))],
      ['open', 0],
    );
  });

  test('an act on a line that is pressed twice answers as done and changes nothing; what another did is refused', async () => {
    const [one, two, three, four] = [await pay(21), await pay(22), await pay(23), await pay(25)];
    const approved = await bring({ amount: '25.00' });
    const [whole, several] = [await bring({ amount: '21.00' }), await bring({ amount: '50.00' })];
    const pair = { line_id: whole, ...partOf(one) };
    const both = [partOf(two), partOf(three, 2300)];
    const acts = [
      (by: Principal, more: object) => commit((work) => acceptLine(work, by, { ...pair, ...more })),
      (by: Principal, more: object) =>
        commit((work) => acceptParts(work, by, several, [both[0]!, { ...both[1]!, ...more }])),
      (by: Principal, more: object) =>
        commit((work) => approveLine(work, by, { line_id: approved, ...partOf(four), ...more }, {})),
    ];
    for (const act of acts) {
      await act(ANA, {});
      const before = await entryCount(service);
      await act(ANA, {});
      assert.equal(await entryCount(service), before);
      await assert.rejects(act(BEN, {}), { code: 'invalid_status' });
      await assert.rejects(act(ANA, { payment_id: (await pay(24)).id, version: 1 }), {
        code: 'invalid_status',
      });
    }
    await assert.rejects(acts[1]!(ANA, { amount_minor: 2200 }), { code: 'invalid_status' });
    for (const [reopen, line] of [
      [reopenLine, whole],
      [reopenParts, several],
    ] as const) {
      await commit((work) => reopen(work, ANA, line));
      const before = await entryCount(service);
      await commit((work) => reopen(work, ANA, line));
      assert.equal(await entryCount(service), before);
    }
    const certain = { line_id: approved, ...partOf(four) };
    const again = await commit((work) => approveCertain(work, ANA, [certain], [], {}));
    assert.deepEqual([again.decisions.map(({ outcome }) => outcome), again.left], [['approved'], []]);
  });

  test('what is left over of a line stays open as a line of its own', async () => {
    const paid = await pay(44);
    const line = await bring({ amount: '50.00', text: 'Danke' });
    await commit((one) => acceptParts(one, ANA, line, [partOf(paid, 4400)]));
    const parts = await partsOfLine(database(), (await findLine(database(), line))!);
    assert.deepEqual(
      parts.map(({ amount_minor, state }) => [amount_minor, state]),
      [
        [4400, 'matched'],
        [600, 'open'],
      ],
    );
    assert.equal(receivedSoFar(await payment(paid.id)), 4400);
  });

  test('a match by mistake is taken back for the customer, too: the payment is what it was, and its page says so', async () => {
    const MINUTES_S = 300;
    const rows: [string, number, (id: string) => Promise<unknown>, string | null, string[]][] = [
      ['pending', 61, async () => {}, null, ['payment.money_received', 'payment.reopened']],
      [
        'cancelled',
        62,
        (id) => service.request(`/v1/payments/${id}/cancel`, { method: 'POST' }),
        'cancelled_by_merchant',
        ['payment.reopened', 'payment.cancelled'],
      ],
      [
        'cancelled',
        63,
        async () => service.clock.advance(MINUTES_S * 1000),
        'expired',
        ['payment.reopened', 'payment.expired'],
      ],
    ];
    for (const [status, amount, arrange, reason, events] of rows) {
      const { id } = await service.create({ amount, currency: 'EUR', expires_in: MINUTES_S });
      await arrange(id);
      const before = (await open(service, id)).body;
      const line = await bring({ amount: `${amount}.00`, text: 'Danke' });
      const pair = async () => ({ line_id: line, payment_id: id, version: (await payment(id)).version });
      // Twice: what was taken back can be done and taken back again.
      for (let time = 0; time < 2; time++) {
        await commit(async (one) => acceptLine(one, ANA, await pair()));
        assert.doesNotMatch((await open(service, id)).body, /DE75|expired|cancelled/);
        await commit((one) => reopenLine(one, ANA, line));
        const after = await payment(id);
        assert.deepEqual([after.status, after.status_reason, after.submitted_at], [status, reason, null]);
        if (reason !== 'cancelled_by_merchant') assert.equal((await open(service, id)).body, before);
      }
      const { data } = (await service.request(`/v1/events?payment_id=${id}`)).json;
      const types = data.map(({ type }: { type: string }) => type);
      assert.deepEqual(types.slice(-4), [...events, ...events]);
    }
  });

  test('a match that is taken back leaves what the customer sent, and what is known besides', async () => {
    const sent = await pay(64);
    await submit(service, sent.id);
    const byHand = await pay(65);
    const money = {
      amount_minor: 100,
      received_on: today(),
      bank_reference: null,
      note: null,
      version: null,
    };
    await commit((one) => recordMoney(one, ANA, byHand.id, money));
    for (const { id } of [sent, byHand]) {
      const line = await bring({ amount: '64.00', text: 'Danke' });
      const { version } = await payment(id);
      await commit((one) => acceptLine(one, ANA, { line_id: line, payment_id: id, version }));
      await commit((one) => reopenLine(one, ANA, line));
      assert.equal((await payment(id)).status, 'requires_review');
    }
  });

  test('what went back counts until it is known to have arrived: then money that comes again is judged by the sum', async () => {
    const paid = await pay(100.5);
    const text = creditorReference(paid);
    const first = await bring({ amount: '60.00', text });
    const back = await bring({ amount: '60.00', text: `Refund ${text}`, direction: 'DBIT' });
    const again = await bring({ amount: '100.50', text });
    const said = async () => {
      const [one] = (await openLines(database(), { ...MATCHING, now: service.clock.now() })).find(
        ({ line }) => line.id === again,
      )!.proposals;
      return [one!.level, one!.case, one!.sentence];
    };
    const match = async (line: string) =>
      commit(async (one) =>
        acceptLine(one, ANA, {
          line_id: line,
          payment_id: paid.id,
          version: (await payment(paid.id)).version,
        }),
      );
    await match(back);
    assert.equal((await said())[1], 'taken_back');
    await match(first);
    assert.deepEqual(await said(), ['likely', 'again', 'EUR 60.00 arrived before and went back.']);
    await commit((one) => reopenLine(one, ANA, first));
    assert.equal((await said())[1], 'taken_back');
  });

  test('an ignored reversal counts for lines without a transfer reference, and lines of an undone import do not', async () => {
    const paid = await pay(71.17);
    const order = (await payment(paid.id)).merchant_reference!;
    const entry = { amount: '71.17', text: order, name: 'Ada Eins' };
    const line = await bring(entry);
    const debit = await bring({ ...entry, text: 'Return', direction: 'DBIT', reversal: true });
    const said = async (id: string) =>
      (await openLines(database(), { ...MATCHING, now: service.clock.now() })).find(
        (one) => one.line.id === id,
      )!.proposals[0]!.case;
    await commit((one) => ignoreLine(one, ANA, debit, 'Seen'));
    assert.equal(await said(line), 'taken_back');
    const other = await pay(71.18);
    const wrong = await bring({ amount: '71.18', text: creditorReference(other), direction: 'DBIT' });
    const { statement_id } = (await findLine(database(), wrong))!;
    await commit((one) => undoImport(one, statement_id, ACT));
    assert.equal(await said(await bring({ amount: '71.18', text: creditorReference(other) })), 'exact');
  });

  test('lines under one reference of the bank are other money by the payer’s name and the references in their text', async () => {
    const [carla, dora] = [await pay(50), await pay(50)];
    const entry = { amount: '50.00', bank: 'SAME2', day: '2026-11-25' };
    const first = camt([{ ...entry, text: creditorReference(carla), name: 'Carla Drei' }], { number: '901' });
    const take = async (file: Buffer) => {
      const [one] = (await importFile(
        service.service.journal,
        checkFile(readStatements(file, 'b.xml'), METHODS),
        ACT,
        OPTIONS,
      ))!;
      return [one!.added, one!.known];
    };
    assert.deepEqual(await take(first), [1, 0]);
    const second = { ...entry, day: '2026-11-26' };
    assert.deepEqual(
      await take(camt([{ ...second, text: creditorReference(dora), name: 'Dora Vier' }], { number: '902' })),
      [1, 0],
    );
    assert.deepEqual(
      await take(camt([{ ...second, text: 'Bestellung', name: 'Emil Eins' }], { number: '903' })),
      [1, 0],
    );
    // The same money in another file: a name in capitals, or cut.
    assert.deepEqual(
      await take(camt([{ ...second, text: 'Bestellung', name: 'EMIL EI' }], { number: '904' })),
      [0, 1],
    );
    assert.deepEqual(
      await take(
        camt([{ ...entry, text: creditorReference(carla), name: 'DREI, CARLA' }], { number: '905' }),
      ),
      [0, 1],
    );
  });

  test('a reference that comes again behind the balance before is other money; what no line shows is a note', async () => {
    const take = async (name: string, day: string, balances?: [string, string]) => {
      const entries = [{ amount: '50.00', bank: 'SAME9', day, text: 'Danke', name: 'Carla Drei' }];
      const file = camt(entries, { number: name, ...(balances && { balances }), day, account: ACCOUNT });
      const checked = checkFile(readStatements(file, 'c.xml'), METHODS);
      const [one] = (await importFile(service.service.journal, checked, ACT, OPTIONS))!;
      return [one!.added, ...checked.notes.map(({ text }) => text)];
    };
    assert.deepEqual(await take('951', '2027-02-05', ['0.00', '50.00']), [1]);
    assert.deepEqual(await take('952', '2027-02-06', ['50.00', '100.00']), [1]);
    assert.deepEqual(await take('953', '2027-02-07', ['100.00', '150.00']), [1]);
    assert.deepEqual(
      await take('954', '2027-02-07', ['100.00', '150.00']),
      [0],
      'the same statement, numbered anew',
    );
    assert.deepEqual(await take('955', '2027-02-07'), [0], 'the same line without balances');
    const [added, note] = await take('956', '2027-02-08', ['250.00', '300.00']);
    assert.equal(added, 0, 'a statement before it is not here: the line may be a known one');
    assert.match(
      String(note),
      /^No line is new, .*closing balance is 300\.00 and the known lines make 150\.00 EUR/,
    );
    const batch = { amount: '30.00', bank: 'SAMEB' };
    const parts = [{ amount: '10.00' }, { amount: '20.00' }];
    const news: number[] = [];
    for (const [day, balances, entry] of [
      ['2027-03-05', ['300.00', '330.00'], { ...batch, parts }],
      ['2027-03-06', ['330.00', '360.00'], batch],
      ['2027-03-07', ['360.00', '390.00'], { ...batch, parts }],
    ] as const) {
      const file = camt([{ ...entry, day } as Entry], {
        number: day,
        balances: [...balances],
        day,
        account: ACCOUNT,
      });
      const checked = checkFile(readStatements(file, 'b.xml'), METHODS);
      news.push((await importFile(service.service.journal, checked, ACT, OPTIONS))![0]!.added);
    }
    assert.deepEqual(news, [2, 1, 2], 'a batch is not the one before it either');
  });

  test('the lines under /admin carry their proposals', async () => {
    const paid = await pay(77.7);
    const line = await bring({ amount: '77.70', text: creditorReference(paid) });
    const shown = await openLines(database(), { ...MATCHING, now: service.clock.now() });
    assert.equal(shown.find((one) => one.line.id === line)!.proposals[0]!.level, 'certain');
  });

  test('an own account is known with leading zeros, behind a BIC or a bank code, and as a bare number; a cut one is asked once', async () => {
    for (const other of [
      '51210800/0001245126199',
      'SOGEDEFFXXX/1245126199',
      '1245126199',
      '0001245126199',
      '51210800/1245126199',
    ])
      assert.equal(ownAccount({ other }, METHODS), ACCOUNT, other);
    const cut = '51210800/12451261';
    assert.equal(ownAccount({ other: cut }, METHODS), undefined);
    const two = [
      ...METHODS,
      { accounts: [{ currency: 'EUR', holder: 'Shop', iban: 'DE02120300001245126199', rows: [] }] },
    ];
    assert.equal(ownAccount({ other: '1245126199' }, two), undefined, 'of two own accounts');
    const file = Buffer.from(
      `:20:S\n:25:${cut}\n:28C:1\n:60F:C261120EUR0,\n:61:2611201120C9,00NTRFNONREF//Q1\n:86:166?20Danke\n:62F:C261120EUR9,\n`,
    );
    const read = readStatements(file, 'd.sta');
    assert.match(checkFile(read, METHODS).faults[0]!.text, /say with --account once which of them it is/);
    assert.match(
      checkFile(read, METHODS, false, { account: 'DE02120300000000202051' }).faults[0]!.text,
      /DE02120300000000202051 is in no/,
    );
    const checked = checkFile(read, METHODS, false, { account: ACCOUNT });
    assert.deepEqual([checked.faults, checked.statements[0]!.own], [[], ACCOUNT]);
    await importFile(service.service.journal, checked, ACT, OPTIONS);
    const known = await readingOptions(database(), METHODS);
    assert.deepEqual(checkFile(read, METHODS, false, known).faults, []);
  });

  test('an account that a person names is asked against the one in the file, however either is spelled', () => {
    const stranger = 'DE02120300000000202051';
    const further = 'KW81CBKU0000000000001234560101';
    const rows = [
      { label: 'Sort code', value: '12-34-56' },
      { label: 'Account', value: '87654321' },
    ];
    const bare = { currency: 'GBP', holder: 'Shop', rows };
    const methods = [
      { accounts: [...METHODS[0]!.accounts, { ...METHODS[0]!.accounts[0]!, iban: further }, bare] },
    ];
    const cases: [written: string, said: string | undefined, own: string | RegExp][] = [
      [
        further,
        ACCOUNT,
        /^The statement is of the account KW81CBKU0000000000001234560101, which is not DE75/,
      ],
      ['1234560101', ACCOUNT, /^The statement is of the account 1234560101, which is not DE75/],
      [stranger, ACCOUNT, /which is not DE75/],
      [ACCOUNT, stranger, /which is not DE02/],
      [ACCOUNT, '1245126199', ACCOUNT],
      ['1245126199', 'DE75 5121 0800 1245 1261 99', ACCOUNT],
      ['12345687654321', '87654321', '12345687654321'],
      ['12345687654321', ACCOUNT, /which is not DE75/],
      [ACCOUNT.slice(0, -1), ACCOUNT, ACCOUNT],
      [ACCOUNT.slice(0, -1), undefined, /say with --account once which of them it is/],
    ];
    for (const [written, said, expected] of cases) {
      const file = Buffer.from(
        `:20:S\n:25:${written}\n:28C:1\n:60F:C261120EUR0,\n:61:2611201120C9,00NTRFNONREF//Q1\n:86:166?20Danke\n:62F:C261120EUR9,\n`,
      );
      const read = readStatements(file, 'd.sta');
      const { statements, faults } = checkFile(
        read,
        methods,
        false,
        said === undefined ? {} : { account: said },
      );
      const label = `${written} for ${said}: ${JSON.stringify(faults)}`;
      if (typeof expected === 'string') assert.deepEqual([statements[0]?.own, faults], [expected, []], label);
      else assert.ok(statements.length === 0 && expected.test(faults[0]!.text), label);
    }
  });
});
