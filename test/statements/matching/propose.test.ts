// What is proposed for bank lines: each evidence, each odd case, and only what is certain is called so. What is said of each is in docs/matching.md.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { namesAgree } from '../../../src/lib/search-terms.ts';
import {
  creditorReference,
  isCreditorReference,
  qrReference,
  shortReference,
} from '../../../src/payments/methods/transfer/creditor-reference.ts';
import { accountsAgree } from '../../../src/payments/methods/transfer/payer-account.ts';
import { propose } from '../../../src/statements/matching/propose.ts';
import { Bank } from '../../support/bank.ts';
import { MATCHING, today } from '../../support/camt.ts';
import { sharedHarness } from '../../support/harness.ts';
import { editOutside } from '../../support/outside.ts';
import { announce, record } from '../../support/payments.ts';
import { haveReviewers } from '../../support/reviewers.ts';

type Payment = Awaited<ReturnType<Bank['pay']>>;
type BankLine = Parameters<typeof propose>[1][number];
type Proposal = Awaited<ReturnType<typeof propose>>[number]['proposals'][number];

const OTTO = { name: 'WOLFF, OTTO', account: 'NL86INGB0002445588' };
const EVA = { name: 'Eva Brand', account: 'DE02120300000000202051' };

let lines = 0;

function lineOf(more: Partial<BankLine> = {}): BankLine {
  return {
    ...{
      id: `lin_${++lines}`,
      day: today({ clock: Date }),
      amount_minor: 4990,
      currency: 'EUR',
      direction: 'credit',
    },
    ...{ booked: 1, reversal: 0, references: {}, text: '', counterparty: {} },
    ...more,
  };
}

describe('proposals', () => {
  const service = sharedHarness('sqlite');
  const bank = new Bank(service);
  before(() => haveReviewers(service.service));

  let amount = 100;
  /** A payment of an amount that no other has, where `more` names none. */
  const pay = (more: object = {}) => bank.pay(amount++, more);
  async function proposed(...given: BankLine[]): Promise<Proposal[][]> {
    const how = { ...MATCHING, now: service.clock.now(), prefixes: ['INV-'] };
    return (await propose(bank.database, given, how)).map(({ proposals }) => proposals);
  }
  const one = async (line: BankLine) => (await proposed(line))[0]![0];
  const told = (proposal: Proposal | undefined) =>
    proposal && [proposal.payment.id, proposal.level, proposal.case];
  const lineFor = (payment: Payment, text = creditorReference(payment), more: Partial<BankLine> = {}) =>
    lineOf({ amount_minor: payment.amount_minor, text, ...more });

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
    await announce(service, sent.id, OTTO.account);
    const found = await one(lineFor(sent, '', { counterparty: { account: OTTO.account } }));
    assert.deepEqual(told(found), [sent.id, 'likely', 'exact']);
  });

  const fifty = (more: object = {}) => pay({ amount: 50, ...more });
  const parts =
    (byHand: number, ...amounts: number[]) =>
    async () => {
      const payment = await fifty();
      if (byHand > 0) await record(service, payment.id, byHand, null);
      return amounts.map((amount_minor) => lineFor(payment, undefined, { amount_minor }));
    };
  const beside = (more: Partial<BankLine>) => async () => {
    const payment = await fifty();
    return [lineFor(payment, undefined, { amount_minor: 2000 }), lineFor(payment, undefined, more)];
  };
  const from = (counterparty: object, account: string | null) => async () => {
    const payment = await fifty();
    await announce(service, payment.id, account);
    return [lineFor(payment, undefined, { counterparty })];
  };
  const namesBoth = (other: number) => async () => {
    const [first, second] = [await fifty(), await fifty({ amount: other })];
    return [lineFor(first, undefined, { references: { creditor: creditorReference(second) } })];
  };
  /** Of the first of the lines. */
  const CASES: [name: string, level: string, kind: string, arrange: () => Promise<BankLine[]>][] = [
    [
      'a second line names it by its merchant’s reference',
      'likely',
      'two_lines',
      async () => {
        const payment = await fifty({ merchant_reference: 'ORDER-5001' });
        return [lineFor(payment, 'ORDER-5001'), lineFor(payment)];
      },
    ],
    ['parts of one payment', 'likely', 'parts', parts(0, 3000, 2000)],
    ['less than one payment together', 'likely', 'parts', parts(0, 2000, 500, 500)],
    ['more than one payment only together', 'likely', 'parts', parts(0, 4000, 3000)],
    ['parts of which one may be the money by hand', 'likely', 'parts', parts(2500, 2500, 2500)],
    ['parts beside money by hand', 'likely', 'parts', parts(1000, 2000, 2000)],
    ['less, beside another currency', 'likely', 'two_lines', beside({ currency: 'CHF', amount_minor: 2000 })],
    [
      'less, beside what covers it with charges',
      'likely',
      'two_lines',
      beside({ amount_minor: 4900, chargesMinor: 100 }),
    ],
    ['another account than was announced', 'likely', 'other_payer', from(EVA, OTTO.account)],
    ['another name than was announced', 'likely', 'other_payer', from(EVA, null)],
    ['who was announced, from another account', 'certain', 'exact', from(OTTO, EVA.account)],
    [
      'somebody else than the customer whom only the merchant named',
      'certain',
      'exact',
      async () => [
        lineFor(await fifty({ customer: { name: 'Otto Wolff' } }), undefined, { counterparty: EVA }),
      ],
    ],
    ['two payments, and the money of either', 'likely', 'ambiguous', namesBoth(50)],
    ['two payments, and the money of one', 'likely', 'ambiguous', namesBoth(20)],
    [
      'another open payment of its amount in words',
      'likely',
      'ambiguous',
      async () => {
        const [first, other] = [await fifty(), await fifty({ merchant_reference: 'ORDER-7788' })];
        return [lineFor(first, `${creditorReference(first)} ${other.merchant_reference}`)];
      },
    ],
    [
      'the second try of an order, by both references',
      'certain',
      'exact',
      async () => {
        const order = { merchant_reference: 'ORDER-7799' };
        const [, second] = [await fifty(order), await fifty(order)];
        return [lineFor(second, `${creditorReference(second!)} ${order.merchant_reference}`)];
      },
    ],
  ];
  for (const [name, level, kind, arrange] of CASES)
    test(`${name}: ${level}`, async () => {
      const [[first] = []] = await proposed(...(await arrange()));
      assert.deepEqual([first?.level, first?.case], [level, kind], String(first?.sentence));
    });

  test('pending lines, credits that were returned to us, and zero are the money of no payment', async () => {
    const payment = await pay({ merchant_reference: 'ORDER-5002' });
    for (const more of [{ booked: 0 }, { reversal: 1 }, { amount_minor: 0 }] as const)
      assert.deepEqual(await proposed(lineFor(payment, undefined, more)), [[]]);
    assert.deepEqual(await proposed(lineFor(payment, 'ORDER-5002', { direction: 'debit' })), [[]]);
  });

  test('a payment and a submission that come after the line are proposed for it', async () => {
    const line = await bank.bring({
      ...{ amount: '61.37', day: today(service), text: 'ORDER-6137', name: OTTO.name, iban: OTTO.account },
    });
    const first = async () => {
      const { proposals } = (await bank.open()).find((one) => one.line.id === line)!;
      return proposals.map(({ payment, level, facts }) => [payment.id, level, facts.length])[0];
    };
    assert.equal(await first(), undefined);
    const other = await bank.pay(61.37);
    assert.deepEqual(await first(), [other.id, 'possible', 2]);
    await announce(service, other.id, OTTO.account);
    assert.deepEqual(await first(), [other.id, 'likely', 3]);
    const named = await bank.pay(61.37, {
      merchant_reference: 'ORDER-6137',
      customer: { name: 'Otto Wolff' },
    });
    assert.deepEqual(await first(), [named.id, 'likely', 4]);
  });

  test('a test payment among live ones takes no money', async () => {
    const [payment, live] = [await pay(), await pay()];
    assert.equal((await one(lineFor(payment)))!.level, 'certain');
    await editOutside(service.store, `update payments set mode = 'live' where id = '${live.id}'`);
    assert.deepEqual(told(await one(lineFor(payment))), [payment.id, 'possible', 'test']);
    assert.equal(await one(lineFor(payment, '')), undefined);
    assert.equal((await one(lineFor(live)))!.level, 'certain');
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
