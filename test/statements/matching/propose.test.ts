// What is proposed for bank lines: each evidence, each odd case with its own sentence, and only what is certain is called so.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { namesAgree } from '../../../src/lib/search-terms.ts';
import {
  creditorReference,
  isCreditorReference,
  qrReference,
  shortReference,
} from '../../../src/payments/methods/transfer/creditor-reference.ts';
import { accountsAgree } from '../../../src/payments/methods/transfer/payer-account.ts';
import type { Payment } from '../../../src/payments/payment.ts';
import { findPayment } from '../../../src/payments/queries.ts';
import { submitPayment } from '../../../src/payments/submit.ts';
import type { Proposal } from '../../../src/statements/matching/judge-line.ts';
import type { BankLine } from '../../../src/statements/matching/line-evidence.ts';
import { propose } from '../../../src/statements/matching/propose.ts';
import { MATCHING } from '../../support/camt.ts';
import { sharedHarness } from '../../support/harness.ts';

let lines = 0;
const today = () => new Date().toISOString().slice(0, 10);

function lineOf(more: Partial<BankLine> = {}): BankLine {
  return {
    id: `lin_${++lines}`,
    day: today(),
    amount_minor: 4990,
    currency: 'EUR',
    direction: 'credit',
    booked: 1,
    reversal: 0,
    references: {},
    text: '',
    counterparty: {},
    ...more,
  };
}

describe('proposals', () => {
  const service = sharedHarness('sqlite');

  const database = () => service.service.database;
  let amount = 100;
  /** A payment of an amount that no other has. */
  async function pay(more: object = {}): Promise<Payment> {
    const { id } = await service.create({ amount: amount++, currency: 'EUR', ...more });
    database().refresh();
    return (await findPayment(database(), id))!;
  }
  /** The customer says that the money comes from Otto Wolff's account. */
  const announce = ({ id }: Payment) =>
    service.service.journal.commit(
      (transaction) =>
        submitPayment(transaction, id, 'req_s', {
          method: 'bank_transfer',
          whole: { transfer_name: 'Otto Wolff' },
          masked: {},
          payer: { name: 'Otto Wolff', email: null, account: 'NL86INGB0002445588' },
        }),
      id,
    );
  async function proposed(...given: BankLine[]): Promise<Proposal[][]> {
    database().refresh();
    const all = await propose(database(), given, {
      ...MATCHING,
      now: service.clock.now(),
      prefixes: ['INV-'],
    });
    return all.map(({ proposals }) => proposals);
  }
  const one = async (line: BankLine) => (await proposed(line))[0]![0];
  const told = (proposal: Proposal | undefined) =>
    proposal && [proposal.payment.id, proposal.level, proposal.case];
  const lineFor = ({ amount_minor }: Payment, text: string, more: Partial<BankLine> = {}) =>
    lineOf({ amount_minor, text, ...more });

  test('a reference in any form and place, with the exact amount, is certain', async () => {
    const payment = await pay();
    const reference = creditorReference(payment);
    const spaced = reference.replace(/(.{4})/g, '$1 ');
    const qr = qrReference(payment);
    for (const text of [
      reference,
      reference.toLowerCase(),
      spaced,
      `EREF+${reference}`,
      `SVWZ+Thanks ${spaced} for all`,
      `/RFB/${reference}/`,
      `INV-${reference}`,
      `${reference.slice(0, 9)}\n${reference.slice(9)}`,
      reference.replace(/(.{4})/g, '$1-'),
      shortReference(payment),
      qr,
      qr.replace(/(.{5})/g, '$1 '),
      // Words that touch it, on either side.
      `SVWZ+${reference}DATUM 25.11.2026, 10.11 UHR`,
      `SVWZ+${reference}ABWA+Otto`,
      `${reference}Danke`,
      `Rechnung${spaced}Danke`,
      `IBAN4711${shortReference(payment)}99`,
      `12345${qr}678`,
      // Letters that the alphabet has not, and digits of other scripts.
      reference.replaceAll('0', 'o').replaceAll('1', 'l'),
      reference.replaceAll('0', 'O').replaceAll('1', 'I'),
      reference.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
      reference.replace(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit))),
    ])
      assert.deepEqual(told(await one(lineFor(payment, text))), [payment.id, 'certain', 'exact'], text);
    for (const field of ['creditor', 'endToEnd', 'owner', 'entry'])
      assert.deepEqual(
        told(await one(lineFor(payment, '', { references: { [field]: reference } }))),
        [payment.id, 'certain', 'exact'],
        field,
      );
  });

  test('one character wrong, missing, too many or exchanged is found, and is never certain', async () => {
    const payment = await pay();
    const reference = creditorReference(payment);
    const wrong = reference[12] === 'X' ? 'Y' : 'X';
    const swapped = [...reference];
    const at = [...reference].findIndex((letter, i) => i > 5 && letter !== reference[i + 1]);
    [swapped[at], swapped[at + 1]] = [swapped[at + 1]!, swapped[at]!];
    for (const text of [
      reference.slice(0, 12) + wrong + reference.slice(13),
      reference.slice(0, 10) + reference.slice(11),
      `${reference.slice(0, 8)}Z${reference.slice(8)}`,
      swapped.join(''),
      `EREF+${reference.slice(0, 12)}${wrong}${reference.slice(13)}DATUM 25.11.`,
      `${reference.slice(0, 10)}${reference.slice(11)}Danke`,
    ]) {
      const found = await one(lineFor(payment, text));
      assert.deepEqual(told(found), [payment.id, 'likely', 'exact'], text);
      assert.match(found!.facts[0]!.text, /but for one character/);
    }
    assert.equal(
      (await one(lineOf({ amount_minor: 1, text: reference.slice(0, 12) + wrong + reference.slice(13) })))!
        .level,
      'possible',
    );
  });

  test('a reference that is wrong in one character finds its payment though the check digits are right by chance', async () => {
    // One in 97 of those with a digit in the place of a letter.
    for (let tries = 0; ; tries++) {
      assert.ok(tries < 3000, 'one is found');
      const payment = await pay();
      const reference = creditorReference(payment);
      const wrong = [...'XYZ']
        .flatMap((letter) =>
          [...reference].map((_, i) => reference.slice(0, i) + letter + reference.slice(i + 1)),
        )
        .find((one) => one.startsWith('RF') && one !== reference && isCreditorReference(one));
      if (wrong === undefined) continue;
      assert.deepEqual(told(await one(lineFor(payment, wrong))), [payment.id, 'likely', 'exact']);
      return;
    }
  });

  test('a reference that was cut is likely with the exact amount, and possible without', async () => {
    const payment = await pay();
    const text = creditorReference(payment).slice(0, 15);
    for (const cut of [text, `${text}Danke`, `SVWZ+${text}DATUM`])
      assert.deepEqual(told(await one(lineFor(payment, cut))), [payment.id, 'likely', 'exact'], cut);
    assert.equal((await one(lineOf({ amount_minor: 3, text })))?.level, 'possible');
  });

  test('the merchant’s reference, with the bookkeeper’s prefix or without, and the payment’s id name it', async () => {
    const payment = await pay({ merchant_reference: 'INV-2026-0815' });
    for (const text of ['INV-2026-0815', 'Invoice INV-2026-0815, thanks', '2026-0815', payment.id])
      assert.deepEqual(told(await one(lineFor(payment, text))), [payment.id, 'likely', 'exact'], text);
    const leading = await pay({ merchant_reference: '0000471' });
    assert.equal((await one(lineFor(leading, 'Order 0000471')))?.payment.id, leading.id);
    assert.equal((await one(lineFor(leading, 'Order 471')))?.level, 'possible');
  });

  test('the payer’s account or name with the exact amount is likely; the amount alone is possible', async () => {
    const payment = await pay({ customer: { name: 'Zoë Müller-Lüdenscheid', email: 'zoe@example.org' } });
    const named = (name: string) => one(lineFor(payment, 'Thank you', { counterparty: { name } }));
    for (const name of ['MUELLER-LUEDENSCHEID ZOE', 'Z. Müller Lüdenscheid'])
      assert.equal((await named(name))?.level, 'likely', name);
    assert.equal((await named('Otto Wolff'))?.level, 'possible');
    const sent = await pay();
    await announce(sent);
    const found = await one(lineFor(sent, '', { counterparty: { account: 'NL86INGB0002445588' } }));
    assert.deepEqual(told(found), [sent.id, 'likely', 'exact']);
  });
});

test('an account is the same with leading zeros, behind a BIC or a bank code, and as the number in an IBAN', () => {
  const iban = 'DE02120300000000202051';
  for (const account of [
    iban,
    '202051',
    '0000202051',
    'BYLADEM1001/202051',
    '12030000/202051',
    '12030000 0000202051',
    '12030000 202051',
    '12030000202051',
  ])
    for (const [one, other] of [[account, iban] as const, [iban, account] as const])
      assert.equal(accountsAgree(one, other), true, account);
  assert.equal(accountsAgree('0001245126199', '1245126199'), true);
  // A French account number stands before its key.
  assert.equal(
    accountsAgree('00001234567', 'FR7630006000010000123456789'.replace('00001234567', '00001234567')),
    undefined,
  );
  for (const account of ['DE75512108001245126199', '202052', '12030001/202051', '12030001202051', '51'])
    assert.notEqual(accountsAgree(account, iban), true, account);
});

test('names agree whatever their order, accents and initials, and not by an initial alone', () => {
  for (const [one, other] of [
    ['Erika Mustermann', 'MUSTERMANN, ERIKA'],
    ['E. Mustermann', 'Erika Mustermann'],
    ['Zoë Müller', 'ZOE MUELLER'],
    ['Jan Peter de Vries', 'J.P. de Vries'],
    // Equal is equal, however short.
    ['Jo Doe', 'Jo Doe'],
    ['Jo Doe', 'DOE JO'],
    ['Jo Doe', 'Jo B. Doe'],
    ['Li Wu', 'li wu'],
    ['Li Wu', 'Li X. Wu'],
    ['Bo Ng', 'NG, BO'],
    ['X Æ', 'x æ'],
    ['Q', 'q'],
    ['李伟', '李伟'],
    ['李 伟', '李伟'],
    ['山田　太郎', '山田太郎'],
    ['de la Cruz', 'DELACRUZ'],
    ['Øyvind Ås', 'OEYVIND AAS'.replace('AAS', 'AS')],
    ['Łukasz Gołąb', 'LUKASZ GOLAB'],
  ] as const)
    assert.ok(namesAgree(one, other), `${one} / ${other}`);
  for (const [one, other] of [
    ['Erika Mustermann', 'Otto Mustermann'],
    ['E.', 'Erika'],
    ['Bo Ng', 'Bo Li'],
    ['', 'Erika'],
    ['', ''],
  ] as const)
    assert.ok(!namesAgree(one, other), `${one} / ${other}`);
});
