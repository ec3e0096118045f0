// Bank lines that only the bookkeeper can tell: payments that are named on the line's page, and payments that fit alike.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { Bookkeeper, referenceOn } from '../../support/bookkeeper.ts';
import { ACCOUNT, TRANSFERS, today } from '../../support/camt.ts';
import { MANY_SIGN_INS } from '../../support/console.ts';
import { sharedHarness } from '../../support/harness.ts';
import { erase, referenceOf } from '../../support/payments.ts';

const NAME_IT = 'Match with these payments';

const service = sharedHarness('sqlite', { isVerified: true, configuration: `${MANY_SIGN_INS}${TRANSFERS}` });
let books: Bookkeeper;
before(async () => {
  books = await Bookkeeper.at(service);
});

let count = 0;
const order = async (amount: number, more: object = {}) => {
  const merchant_reference = `SN-${++count}`;
  const { id } = await service.create({ amount, currency: 'EUR', merchant_reference, ...more });
  return { id, merchant_reference };
};
/** An order with the reference that its customer reads. */
const referred = async (amount: number) => {
  const paid = await order(amount);
  return { ...paid, text: referenceOn(await books.reads(paid.id)) };
};
const bring = async (amount: string, more: object = {}) => {
  const bank = `F${++count}`;
  await books.bring([{ amount, bank, text: 'Danke', day: today(service), ...more }]);
  return bank;
};
const sums = async (...some: { id: string }[]) =>
  Promise.all(some.map(async ({ id }) => (await books.payment(id)).amount_received));

test('of two payments that fit alike each shows its order, no button has the focus, and an approval says why', async () => {
  const customer = { name: 'Petra Doppel' };
  const both = [await order(777.31, { customer }), await order(777.31, { customer })];
  const bank = await bring('777.31', { name: 'Petra Doppel', text: 'Bestellung' });
  const { proposals } = books.line(bank);
  assert.deepEqual(
    proposals.map((one: Record<string, string>) => [one.level, one.case]),
    Array(2).fill(['likely', 'alike']),
  );
  const page = await books.page(bank);
  for (const { merchant_reference } of both)
    assert.match(page.body, new RegExp(`${merchant_reference} CustomerPetra`));
  assert.doesNotMatch(page.text, /<(?:button|input|textarea)[^>]*autofocus/);
  assert.deepEqual((await books.press(bank, 'Approve the payment')).faults, ['note']);
  assert.equal((await books.payment(both[0]!.id)).status, 'pending');
});

test('a card payout is named for its payments, the fee is asked for, and all of it is taken back', async () => {
  const paid = [await order(20), await order(30), await order(45)];
  const bank = await bring('93.15', { text: 'CARD PAYOUT' });
  const payments = paid.map(({ merchant_reference }) => merchant_reference).join('\n');
  assert.deepEqual((await books.press(bank, NAME_IT)).faults, ['payments']);
  assert.match((await books.press(bank, NAME_IT, { payments: 'SN-NONE' })).body, /“SN-NONE”/);
  assert.match(
    (await books.press(bank, NAME_IT, { payments: `${paid[0]!.id} = many` })).body,
    /“many” is not an/,
  );
  assert.deepEqual((await books.press(bank, NAME_IT, { payments })).faults, ['charges']);
  await books.press(bank, NAME_IT, { payments, charges: 'Card fee' });
  const done = await books.page(bank);
  assert.match(done.body, /€20\.00 .*€45\.00 .*€1\.85 Card fee/);
  assert.deepEqual(await sums(...paid), ['20.00', '30.00', '45.00']);
  await books.press(bank, 'Take it back');
  assert.deepEqual(await sums(...paid), ['0.00', '0.00', '0.00']);
  for (const { id } of paid) assert.equal((await books.payment(id)).status, 'pending');
});

test('a part of a line is named with its amount, and what is left over is a line of its own', async () => {
  const paid = await order(60);
  const bank = await bring('50.00');
  await books.press(bank, NAME_IT, { payments: `${paid.merchant_reference} = 44,10` });
  const done = await books.page(bank);
  assert.match(done.body, /€44\.10 .*€5\.90 is to look at again/);
  assert.match((await books.reads(paid.id)).body, /€44\.10 of €60\.00 has arrived\. €15\.90 is left to pay/);
});

test('parts of a line keep their thousandths, what is left over as well, and its import is undone after all', async () => {
  const currency = 'BHD';
  const bringDinars = async (amount: string, more: object = {}) => {
    const bank = `F${++count}`;
    await books.bring([{ amount, currency, bank, day: today(service), ...more }], { currency });
    return bank;
  };
  const paid = [await order(3, { currency }), await order(2, { currency })] as const;
  const text = await referenceOf(service, paid[0].id);
  await books.press(await bringDinars('1.505', { text }), 'Match, decide later');
  const bank = await bringDinars('3.507');
  const payments = paid.map(({ merchant_reference }) => merchant_reference).join('\n');
  await books.press(bank, NAME_IT, { payments });
  assert.match((await books.page(bank)).body, /1\.495 .*2\.00 .*0\.012 is to look/);
  assert.deepEqual(await sums(...paid), ['3.00', '2.00']);
  const kept = await books.lines(`statement_id=${books.line(bank).statement_id}`);
  assert.deepEqual(
    kept.map(({ amount }) => amount).sort((a, b) => a - b),
    [0.012, 1.495, 2, 3.507],
  );
  await books.press(bank, 'Take it back');
  const done = await books.client.post('/statements/undo', { statement: books.line(bank).statement_id });
  assert.match(done.text, /import is undone: 1 line/);
});

test('what an approved payment lacks is told from a part of what it was approved for', async () => {
  for (const [as, received] of [
    ['It is the same money', '30.00'],
    ['It is other money', '50.00'],
  ] as const) {
    const { text, ...paid } = await referred(50);
    await books.act(paid.id, 'record', { amount: 30, received_on: today(service) });
    await books.act(paid.id, 'approve');
    const value = as === 'It is other money' ? 'besides' : 'same';
    await books.press(await bring('20.00', { text }), 'It is the same money', { as: value });
    assert.deepEqual(await sums(paid), [received]);
  }
  const { text, ...paid } = await referred(50);
  await books.announce(paid.id);
  await books.act(paid.id, 'approve');
  await books.press(await bring('20.00', { text }), 'Link with this payment');
  await books.press(await bring('50.00', { text, direction: 'DBIT' }), 'Record that it went back');
  await books.press(await bring('50.00', { text }), 'It is the same money', { as: 'besides' });
  assert.deepEqual(await sums(paid), ['50.00']);
  assert.match((await books.reads(paid.id)).body, /You have paid/);
});

test('what arrived beyond what was asked for is to be returned to who sent it', async () => {
  const paid = await order(49.9);
  const says = async () => (await books.get(`/payments/${paid.id}`)).body;
  assert.doesNotMatch(await says(), /bank statement/);
  const text = referenceOn(await books.reads(paid.id));
  await books.press(await bring('59.90', { text, name: 'Zoë Berg' }), 'Match, decide later');
  assert.match(await says(), /Worth a look.*€10\.00 more .*Return €10\.00 to “Zoë Berg”/);
});

test('where more went back than arrived, nothing arrived, and what was asked for is missing', async () => {
  const { text, ...paid } = await referred(50);
  await books.act(paid.id, 'record', { amount: 10, received_on: today(service) });
  await books.press(await bring('20.00', { text, direction: 'DBIT' }), 'Record that it went back');
  const { body } = await books.get(`/payments/${paid.id}`);
  assert.match(body, /€0\.00 arrived, €50\.00 less than was asked for/);
  for (const page of [body, (await books.get('/queue')).body])
    assert.doesNotMatch(page, /€60\.00 less|[-−]€10\.00/);
});

test('of a debit alone it is not said how much less arrived', async () => {
  const { text, ...paid } = await referred(50);
  await books.announce(paid.id);
  await books.act(paid.id, 'approve');
  await books.press(await bring('20.00', { text, direction: 'DBIT' }), 'Record that it went back');
  const { body } = await books.get(`/payments/${paid.id}`);
  assert.match(body, /€20\.00 went back on [^.:]*\./);
  assert.doesNotMatch(body, / less than /);
});

test('one transfer for the rest of one payment and for another is matched with both', async () => {
  const [part, other] = [await referred(100), await referred(7)];
  await books.press(await bring('40.00', { text: part.text }), 'Match, decide later');
  const bank = await bring('67.00', { text: `${part.text} ${other.text}` });
  assert.match((await books.page(bank)).body, /names 2 payments, .*€60\.00.*€7\.00/);
  await books.press(bank, 'Match with these 2 payments');
  assert.deepEqual(await sums(part, other), ['100.00', '7.00']);
});

test('one transfer for two payments, less the charges that the bank states, is matched with both', async () => {
  const paid = [await referred(80), await referred(9)] as const;
  const bank = await bring('87.50', { text: paid.map(({ text }) => text).join(' '), charges: '1.50' });
  assert.match((await books.page(bank)).body, /€1\.50 that the bank/);
  await books.press(bank, 'Match with these 2 payments');
  assert.deepEqual(await sums(...paid), ['80.00', '9.00']);
  assert.match((await books.page(bank)).body, /€80\.00 .*€9\.00 .*€1\.50 Charges of/);
});

test('of money that came and went back the customer reads that the transfer is waited for', async () => {
  const { text, ...paid } = await referred(52);
  await books.press(await bring('52.00', { text }), 'Match, decide later');
  await books.press(await bring('52.00', { text, direction: 'DBIT' }), 'Record that it went back');
  const page = await books.reads(paid.id);
  assert.equal(page.h1, 'Waiting for your transfer');
  assert.match(page.body, /€52\.00 was paid back\. .*DE75 5121/);
});

test('what arrived for a payment before or after it was rejected is to be returned, until it went back', async () => {
  for (const isLater of [false, true]) {
    const { text, ...paid } = await referred(36);
    const says = async () => (await books.get(`/payments/${paid.id}`)).body;
    const reject = () => books.act(paid.id, 'reject', { reason: 'other' });
    if (isLater) {
      await books.announce(paid.id);
      await reject();
    }
    const bank = await bring('36.00', { text, name: 'Li Wu' });
    await books.press(bank, isLater ? 'Record that it arrived' : 'Match, decide later');
    if (!isLater) {
      assert.match(await says(), /Nothing unusual.* exactly what/);
      await reject();
    }
    assert.match(await says(), /Worth a look.* exactly what was asked for\. Return €36\.00 to “Li Wu”\./);
    assert.match((await books.reads(paid.id)).body, /€36\.00 has arrived\. Contact/);
    await books.press(await bring('36.00', { text, direction: 'DBIT' }), 'Record that it went back');
    assert.doesNotMatch(await says(), /Return €/);
    assert.deepEqual([await sums(paid), (await books.payment(paid.id)).status], [['0.00'], 'rejected']);
  }
});

test('a debit is named as money that went back', async () => {
  const paid = await order(31);
  await books.press(await bring('31.00'), NAME_IT, { payments: paid.id });
  const back = await bring('11.00', { direction: 'DBIT' });
  await books.press(back, 'Record that it went back', { payments: paid.merchant_reference });
  assert.match((await books.reads(paid.id)).body, /€20\.00 of €31\.00 has arrived.* €11\.00 was paid/);
});

test('a debit in another currency than its payment is told, and no button would be refused', async () => {
  const { text, ...paid } = await referred(29);
  const francs = {
    amount: '29.00',
    bank: 'FRANCS',
    day: today(service),
    currency: 'CHF',
    direction: 'DBIT' as const,
  };
  await books.bring([{ ...francs, text }], { currency: 'CHF' });
  const page = await books.page('FRANCS');
  assert.match(page.body, /CHF 29\.00 went out .* another currency\./);
  assert.deepEqual(
    page.forms.filter(({ values }) => values.payment === paid.id),
    [],
  );
});

test('of money by hand with the amount of a named line it is asked whether it is the same', async () => {
  for (const [answer, sum] of [
    ['same', '30.00'],
    ['besides', '60.00'],
  ] as const) {
    const paid = await order(60);
    await books.act(paid.id, 'record', { amount: 30, received_on: today(service) });
    const bank = await bring('30.00');
    const asked = await books.press(bank, NAME_IT, { payments: paid.merchant_reference });
    assert.match(asked.body, new RegExp(`hand for ${paid.merchant_reference}:`));
    assert.deepEqual(await sums(paid), ['30.00']);
    const form = asked.forms.find(({ fields }) => fields.includes('payments'))!;
    await books.client.post(form.action, { ...form.values, as: answer });
    assert.deepEqual(await sums(paid), [sum]);
    assert.equal(
      (await books.page(bank)).forms.some(({ button }) => button === 'Take it back'),
      true,
    );
  }
});

test('an export tells the reference of a payment whose customer sent nothing', async () => {
  const paid = await order(41);
  const reference = referenceOn(await books.reads(paid.id));
  const { text } = await books.client.get(`/payments.csv?q=${paid.id}`);
  assert.match(text, new RegExp(reference));
  const cash = await order(42);
  await books.act(cash.id, 'record', { amount: 42, received_on: today(service) });
  await books.act(cash.id, 'approve');
  await erase(service, cash.id);
  const erased = (await books.client.get(`/payments.csv?q=${cash.id}`)).text;
  assert.match(erased, new RegExp(cash.id));
  assert.doesNotMatch(erased, /RF\d\d/);
});

test('amounts of three decimals are read and written whole, and never exact if they have thousandths', async () => {
  const currency = 'KWD';
  const paid = await service.create({ amount: 1.23, currency, merchant_reference: 'KWD-123' });
  const entry = { currency, text: 'KWD-123', day: today(service) };
  const entries = [
    { ...entry, amount: '1.234', bank: 'K1' },
    { ...entry, amount: '1.230', bank: 'K2' },
    { ...entry, amount: '0.009', bank: 'K3', text: 'Fee', direction: 'DBIT' as const },
  ];
  const taken = await books.bring(entries, { currency, balances: ['0.000', '2.455'], day: today(service) });
  assert.ok(taken);
  const said = (bank: string) => [books.line(bank).amount, books.line(bank).proposals[0]?.case];
  assert.deepEqual([said('K1'), said('K2')[0]], [[1.234, 'more'], 1.23]);
  const page = (await books.page('K1')).body;
  assert.match(page, /wrote it1\.234 KWD/);
  assert.match(page, /KWD 0\.004 more arrived than was asked for\. Accept it, and return KWD 0\.004\./);
  assert.doesNotMatch(page, /amount is exact/);
  const report = `/statements/report?account=${ACCOUNT}+KWD&from=${today(service)}&to=${today(service)}`;
  assert.match(
    (await books.get(report)).body,
    /thousandths .*: −KWD 0\.005\..*Opening balanceKWD 0\.00.*Closing balanceKWD 2\.455/,
  );
  const sta = `:20:S\n:25:${ACCOUNT}\n:28C:7\n:60F:C270101KWD0,000\n:61:2701010101C1,235NTRFNONREF//K9\n:86:Danke\n:62F:C270101KWD1,235\n`;
  assert.ok(await books.file(Buffer.from(sta)));
  assert.equal(await books.bring([{ amount: '1.234', bank: 'E1', text: 'x' }]), undefined);
  assert.equal((await books.payment(paid.id)).status, 'pending');
});
