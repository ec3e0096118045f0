// What a pasted text means: lines as banks show them, each of which leads to its one payment.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { parseTypedAmount } from '../../../src/lib/money.ts';
import { addPerson, type Person } from '../../support/admin.ts';
import { type Client, signIn } from '../../support/console.ts';
import { sharedHarness } from '../../support/harness.ts';
import { announce, decide, erase, referenceOf, submit } from '../../support/payments.ts';

describe('what a text means', () => {
  const harness = sharedHarness('sqlite');
  let client: Client;
  let otto: Person;
  const ids: Record<'paid' | 'other', string> = { paid: '', other: '' };
  before(async () => {
    client = await signIn(harness);
    otto = await addPerson(harness, 'auditor');
    ids.other = (await harness.create({ amount: 1200.5, merchant_reference: 'INV-1' })).id;
    ids.paid = (await harness.create({ amount: 1200, currency: 'EUR', merchant_reference: 'INV-2' })).id;
    await announce(harness, ids.paid, 'de89370400440532013000', 'Jörg Müller-Abt');
    await submit(harness, ids.other, { payer_name: 'Zoë' });
    await decide(harness, ids.paid, 'approve', 'nts-2026 1187');
  });

  /** The payments that the console finds for a text. */
  const found = async (text: string) => {
    const { text: markup } = await client.get(`/payments?q=${encodeURIComponent(text)}`);
    return [...new Set(markup.match(/pay_[0-9a-z]{36}/g))];
  };
  /** The payments that a program finds by a reference. */
  const foundByReference = async (text: string) => {
    const path = `/admin/payments?reference=${encodeURIComponent(text)}`;
    const { data } = (await harness.request(path, { key: otto.token })).json;
    return data.map(({ id }: { id: string }) => id);
  };

  test('a line as a bank shows it means its payment', async () => {
    for (const text of [
      'Jörg Müller-Abt',
      'MUELLER ABT, JOERG',
      'GUTSCHRIFT 20.11. Joerg Mueller Abt KD 7',
      'DE89 3704 0044 0532 0130 00',
      'de89-3704-0044-0532-0130-00',
      'IBAN: DE89 3704 0044 0532 0130 00 BIC: COBADEFFXXX',
      'NTS-20261187',
      'nts-2026 1187',
      'KREF+NTS-20261187 MREF+9',
      'SVWZ+INV-2 DANKE',
      '1.200,00',
      '1,200.00',
      '1 200,00',
      "1'200.00 EUR",
      '1’200.00',
      '+1.200,00 EUR',
      '20.11. Überweisung 1.200,00 H',
      'Überweisung 1\u00a0200,00 H',
      'تحويل ١٬٢٠٠٫٠٠ من بنك',
      'दिनांक १,२००.०० जमा',
      '振込 １，２００．００ 円',
    ])
      assert.deepEqual(await found(text), [ids.paid], text);
  });

  test('a transfer reference is found though words touch it, and with O, I and l for 0 and 1', async () => {
    const reference = await referenceOf(harness, ids.paid);
    const [slips, wide] = [reference.replaceAll('0', 'o').replaceAll('1', 'l'), 0xff10 - 0x30];
    for (const text of [
      slips,
      `SVWZ+${reference}DATUM 25.11.`,
      `${reference.slice(0, 14)}Danke`,
      reference.replace(/\d/g, (digit) => String.fromCodePoint(wide + digit.charCodeAt(0))),
    ])
      assert.deepEqual(await found(text), [ids.paid], text);
    assert.deepEqual(await foundByReference(slips), [ids.paid]);
  });

  test('An erased payment is found by neither name, account nor bank reference.', async () => {
    const { id } = await harness.create({ amount: 7 });
    await announce(harness, id, 'NO9386011117947', 'Ola Berg');
    await decide(harness, id, 'approve', 'BG-77');
    const texts = ['Ola Berg', 'NO93 8601 1117 947', 'BG-77'];
    for (const text of texts) assert.deepEqual(await found(text), [id], text);
    await erase(harness, id);
    for (const text of texts) assert.deepEqual(await found(text), [], text);
  });

  test('A text that no payment has finds none.', async () => {
    for (const text of ['Jörg Meier', 'DE02120300000000202051', 'NTS-9', '1.200,00 USD', '1.2000,00', ', ,'])
      assert.deepEqual(await found(text), [], text);
  });

  test('A reference alone is never a name or an amount.', async () => {
    for (const text of ['Jörg Müller-Abt', '1200']) assert.deepEqual(await foundByReference(text), [], text);
    for (const text of ['INV-2', 'NTS-20261187'])
      assert.deepEqual(await foundByReference(text), [ids.paid], text);
  });
});

test('An amount is read as people of many countries write it.', () => {
  for (const [text, minor] of [
    ['49.90', 4990],
    ['49,9', 4990],
    ['1.200', 120_000],
    ['1.234.567,89', 123_456_789],
    ['1 234 567.89', 123_456_789],
    ['٤٩٫٩٠', 4990],
    ['1.200.00', undefined],
    ['1,20,000', undefined],
    ['0', undefined],
    ['', undefined],
  ] as const)
    assert.equal(parseTypedAmount(text), minor, text);
  for (const [text, minor] of [
    ['1.500', undefined],
    ['12,500', undefined],
    ['1.50', 150],
    ['1,500.00', 150_000],
    ['1500', 150_000],
  ] as const)
    assert.equal(parseTypedAmount(text, 'KWD'), minor, `KWD ${text}`);
});
