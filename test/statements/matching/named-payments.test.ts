// Bank lines that no proposal finds, mistakes that are taken back, and lines that a bank's reference does not tell apart.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { addPerson, entryCount } from '../../support/admin.ts';
import { Bank, checked, METHODS, type Methods, methodsOf } from '../../support/bank.ts';
import { ACCOUNT, camt, type Entry, TRANSFERS, today } from '../../support/camt.ts';
import { Clerk, type Seen } from '../../support/clerk.ts';
import { open } from '../../support/customer.ts';
import { sharedHarness } from '../../support/harness.ts';
import { record, referenceOf, submit, sweep } from '../../support/payments.ts';
import { BEN, haveReviewers } from '../../support/reviewers.ts';

/** An MT940 file of one line, for an account as its bank writes it. */
const written = (account: string) =>
  Buffer.from(
    `:20:S\n:25:${account}\n:28C:1\n:60F:C261120EUR0,\n:61:2611201120C9,00NTRFNONREF//Q1\n:86:166?20Danke\n:62F:C261120EUR9,\n`,
  );
/** The same as it is read: under which account it is kept, and what is wrong with it. */
function readOf(account: string, methods: Methods, said?: string) {
  const { statements, faults } = checked(
    written(account),
    'd.sta',
    methods,
    said === undefined ? {} : { account: said },
  );
  return { own: statements[0]?.own, faults };
}

const STRANGER = 'DE02120300000000202051';

describe('lines that a reviewer names payments for', () => {
  const service = sharedHarness('sqlite', { configuration: TRANSFERS });
  const bank = new Bank(service);
  before(() => haveReviewers(service.service));
  const [ana, ben] = [new Clerk(bank), new Clerk(bank, BEN)];
  const payment = (id: string) => bank.payment(id);
  const pay = (amount: number) =>
    bank.pay(amount, { merchant_reference: `SHOP-${Math.round(amount * 100)}` });
  const received = async (paid: Seen) => (await bank.shown(paid))[1];
  /** Matches a line with a payment as it is now. */
  const match = async (line: string, { id }: Pick<Seen, 'id'>) => ana.match(line, await payment(id));
  /** These tests set the clock of the service forward. */
  const bring = (entry: Partial<Entry>) => bank.bring({ day: today(service), ...entry });
  const textFor = ({ id }: Seen) => referenceOf(service, id);
  const said = async (line: string) => {
    const { level, case: kind } = await bank.proposal(line);
    return [level, kind];
  };
  test('a card payout is the money of many payments, and its fee is booked as money out', async () => {
    const paid = [await pay(20), await pay(30), await pay(45)];
    const line = await bring({ amount: '93.15', text: `PAYOUT ${await textFor(paid[0]!)}` });
    await assert.rejects(ana.split(line, paid), /do not come/);
    await ana.split(line, paid, 'Card fee');
    assert.deepEqual(await Promise.all(paid.map(received)), ['20.00', '30.00', '45.00']);
    assert.equal((await bank.line(line)).state, 'split');
    // The parts and the fee make what the bank booked, and the fee takes no payment's money back.
    const parts = await bank.partsOf(line);
    const fee = parts.find(({ direction }) => direction === 'debit')!;
    assert.deepEqual([fee.amount_minor, fee.state, fee.note], [185, 'ignored', 'Card fee']);
    const sum = parts.reduce((all, one) => all + (one === fee ? -1 : 1) * one.amount_minor, 0);
    assert.equal(sum, 9315);
    await ana.join(line);
    assert.deepEqual([(await bank.line(line)).state, await received(paid[0]!)], ['open', '0.00']);
  });

  test('an act on a line that is pressed twice answers as done and changes nothing; what another did is refused', async () => {
    const [one, two, three, four] = [await pay(21), await pay(22), await pay(23), await pay(25)];
    const approved = await bring({ amount: '25.00' });
    const [whole, several] = [await bring({ amount: '21.00' }), await bring({ amount: '50.00' })];
    const split = (by: Clerk, more: object) => by.split(several, [two, { ...three, minor: 2300, ...more }]);
    const acts = [
      (by: Clerk, more: object) => by.match(whole, { ...one, ...more }),
      split,
      (by: Clerk, more: object) => by.approve(approved, { ...four, ...more }),
    ];
    const refused = { code: 'invalid_status' };
    const changesNothing = async (act: () => Promise<unknown>) => {
      const before = await entryCount(service);
      await act();
      assert.equal(await entryCount(service), before);
    };
    for (const act of acts) {
      await act(ana, {});
      await changesNothing(() => act(ana, {}));
      await assert.rejects(act(ben, {}), refused);
      await assert.rejects(act(ana, { id: (await pay(24)).id, version: 1 }), refused);
    }
    await assert.rejects(split(ana, { minor: 2200 }), refused);
    for (const takeBack of [() => ana.reopen(whole), () => ana.join(several)]) {
      await takeBack();
      await changesNothing(takeBack);
    }
    const again = await ana.approveCertain([[approved, four]], []);
    assert.deepEqual([again.decisions.map(({ outcome }) => outcome), again.left], [['approved'], []]);
  });

  test('what is left over of a line stays open as a line of its own', async () => {
    const paid = await pay(44);
    const line = await bring({ amount: '50.00', text: 'Danke' });
    await ana.split(line, [{ ...paid, minor: 4400 }]);
    const parts = await bank.partsOf(line);
    assert.deepEqual(
      parts.map(({ amount_minor, state }) => [amount_minor, state]),
      [
        [4400, 'matched'],
        [600, 'open'],
      ],
    );
    assert.equal(await received(paid), '44.00');
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
      // Twice: what was taken back can be done and taken back again.
      for (let time = 0; time < 2; time++) {
        await sweep(service); // or it changes the payment between a look and the match
        await match(line, { id });
        assert.doesNotMatch((await open(service, id)).body, /DE75|expired|cancelled/);
        await ana.reopen(line);
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
    const [sent, byHand] = [await pay(64), await pay(65)];
    await submit(service, sent.id);
    await record(service, byHand.id, 100, null);
    for (const { id } of [sent, byHand]) {
      const line = await bring({ amount: '64.00', text: 'Danke' });
      await match(line, { id });
      await ana.reopen(line);
      assert.equal((await payment(id)).status, 'requires_review');
    }
  });

  test('what went back counts until it is known to have arrived: then money that comes again is judged by the sum', async () => {
    const paid = await pay(100.5);
    const text = await textFor(paid);
    const first = await bring({ amount: '60.00', text });
    const back = await bring({ amount: '60.00', text: `Refund ${text}`, direction: 'DBIT' });
    const again = await bring({ amount: '100.50', text });
    await match(back, paid);
    assert.equal((await said(again))[1], 'taken_back');
    await match(first, paid);
    assert.deepEqual(await said(again), ['likely', 'again']);
    await ana.reopen(first);
    assert.equal((await said(again))[1], 'taken_back');
  });

  test('an ignored reversal counts for lines without a transfer reference, and lines of an undone import do not', async () => {
    const paid = await pay(71.17);
    const entry = { amount: '71.17', text: paid.merchant_reference!, name: 'Ada Eins' };
    const line = await bring(entry);
    const debit = await bring({ ...entry, text: 'Return', direction: 'DBIT', reversal: true });
    await ana.ignore(debit, 'Seen');
    assert.equal((await said(line))[1], 'taken_back');
    const text = await textFor(await pay(71.18));
    const wrong = await bring({ amount: '71.18', text, direction: 'DBIT' });
    const { statement_id } = await bank.line(wrong);
    await bank.undo(statement_id);
    assert.deepEqual(await said(await bring({ amount: '71.18', text })), ['certain', 'exact']);
  });

  test('lines under one reference of the bank are other money by the payer’s name and the references in their text', async () => {
    const [carla, dora] = [await textFor(await pay(50)), await textFor(await pay(50))];
    for (const [number, day, text, name, added] of [
      ['901', '2026-11-25', carla, 'Carla Drei', 1],
      ['902', '2026-11-26', dora, 'Dora Vier', 1],
      ['903', '2026-11-26', 'Bestellung', 'Emil Eins', 1],
      // The same money in another file: a name in capitals, or cut.
      ['904', '2026-11-26', 'Bestellung', 'EMIL EI', 0],
      ['905', '2026-11-25', carla, 'DREI, CARLA', 0],
    ] as const) {
      const file = camt([{ amount: '50.00', bank: 'SAME2', day, text, name }], { number });
      assert.deepEqual(await bank.counts(file), [[added, 0, 1 - added]], number);
    }
  });

  test('a reference that comes again behind the balance before is other money; what no line shows is a note', async () => {
    const take = async (
      number: string,
      day: string,
      balances?: [string, string],
      more: Partial<Entry> = {},
    ) => {
      const entry = { amount: '50.00', bank: 'SAME9', text: 'Danke', name: 'Carla Drei', ...more, day };
      const file = checked(camt([entry], { number, ...(balances && { balances }), day }));
      const [one] = (await bank.take(file))!;
      return [one!.added, file.notes.length];
    };
    assert.deepEqual(await take('951', '2027-02-05', ['0.00', '50.00']), [1, 0]);
    assert.deepEqual(await take('952', '2027-02-06', ['50.00', '100.00']), [1, 0]);
    assert.deepEqual(await take('953', '2027-02-07', ['100.00', '150.00']), [1, 0]);
    assert.deepEqual(await take('954', '2027-02-07', ['100.00', '150.00']), [0, 0], 'numbered anew');
    assert.deepEqual(await take('955', '2027-02-07'), [0, 0], 'the same line without balances');
    // A statement before it is not here: the line may be a known one.
    assert.deepEqual(await take('956', '2027-02-08', ['250.00', '300.00']), [0, 1]);
    // A batch is not the one before it either.
    const whole = { amount: '30.00', bank: 'SAMEB' };
    const batch = { ...whole, parts: [{ amount: '10.00' }, { amount: '20.00' }] };
    assert.deepEqual(await take('961', '2027-03-05', ['300.00', '330.00'], batch), [2, 0]);
    assert.deepEqual(await take('962', '2027-03-06', ['330.00', '360.00'], whole), [1, 0]);
    assert.deepEqual(await take('963', '2027-03-07', ['360.00', '390.00'], batch), [2, 0]);
  });

  test('an own account is known by its IBAN, with leading zeros, behind a BIC or a bank code, and by its further lines', () => {
    const rows = [
      { label: 'Sort code', value: '12-34-56' },
      { label: 'Account number', value: '12345678' },
    ];
    const methods = [...METHODS, { accounts: [{ currency: 'GBP', holder: 'Shop', rows }] }];
    const owns: Record<string, string | undefined> = {
      ...{ '51210800/0001245126199': ACCOUNT, 'SOGEDEFFXXX/1245126199': ACCOUNT, '1245126199': ACCOUNT },
      ...{ '0001245126199': ACCOUNT, '51210800/1245126199': ACCOUNT, '51210800/12451261': undefined },
      ...{ '123456 12345678': '123456 12345678', '123456/12345678': '123456/12345678' },
      ...{ 'GB99/12345678': 'GB99/12345678', '99': undefined },
    };
    for (const [other, own] of Object.entries(owns)) assert.equal(readOf(other, methods).own, own, other);
    assert.equal(readOf(ACCOUNT, methods).own, ACCOUNT);
    assert.equal(readOf(STRANGER, methods).own, undefined);
    const two = methodsOf(ACCOUNT, 'DE02120300001245126199');
    assert.equal(readOf('1245126199', two).own, undefined, 'of two own accounts');
  });

  test('a cut account is asked once', async () => {
    const { token: key } = await addPerson(service, 'reviewer');
    const statuses: number[] = [];
    for (const query of ['', `?account=${ACCOUNT}`, '']) {
      const headers = { 'content-type': 'application/octet-stream' };
      const asked = { method: 'POST', key, body: written('51210800/12451261'), headers };
      statuses.push((await service.request(`/admin/statements${query}`, asked)).status);
    }
    assert.deepEqual(statuses, [422, 201, 201]);
  });

  test('an account that a person names is asked against the one in the file, however either is spelled', () => {
    const further = 'KW81CBKU0000000000001234560101';
    const rows = [
      { label: 'Sort code', value: '12-34-56' },
      { label: 'Account', value: '87654321' },
    ];
    const bare = { currency: 'GBP', holder: 'Shop', rows };
    const methods = [{ accounts: [...methodsOf(ACCOUNT, further)[0]!.accounts, bare] }];
    const cases: [written: string, said: string | undefined, own: string | RegExp][] = [
      [further, ACCOUNT, /of the account KW81CBKU0000000000001234560101, which is not DE75/],
      ['1234560101', ACCOUNT, /of the account 1234560101, which is not DE75/],
      [STRANGER, ACCOUNT, /which is not DE75/],
      [ACCOUNT, STRANGER, /which is not DE02/],
      [ACCOUNT, '1245126199', ACCOUNT],
      ['1245126199', 'DE75 5121 0800 1245 1261 99', ACCOUNT],
      ['12345687654321', '87654321', '12345687654321'],
      ['12345687654321', ACCOUNT, /which is not DE75/],
      [ACCOUNT.slice(0, -1), ACCOUNT, ACCOUNT],
      [ACCOUNT.slice(0, -1), STRANGER, /DE02120300000000202051 is in no/],
      [ACCOUNT.slice(0, -1), undefined, /say with --account once which of them it is/],
    ];
    for (const [account, said, expected] of cases) {
      const { own, faults } = readOf(account, methods, said);
      const label = `${account} for ${said}: ${JSON.stringify(faults)}`;
      if (typeof expected === 'string') assert.deepEqual([own, faults], [expected, []], label);
      else assert.ok(own === undefined && expected.test(faults[0]!.text), label);
    }
  });
});
