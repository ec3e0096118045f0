// What is proposed for bank lines: each evidence, each odd case with its own sentence, and only what is certain is called so.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  creditorReference,
  isCreditorReference,
  qrReference,
  shortReference,
} from '../../../src/payments/methods/transfer/creditor-reference.ts';
import type { Payment } from '../../../src/payments/payment.ts';
import { findPayment } from '../../../src/payments/queries.ts';
import { submitPayment } from '../../../src/payments/submit.ts';
import type { Proposal } from '../../../src/statements/matching/judge-line.ts';
import { type BankLine, namesAgree } from '../../../src/statements/matching/line-evidence.ts';
import { propose } from '../../../src/statements/matching/propose.ts';
import { type Harness, startHarness } from '../../support/harness.ts';

import { ENGINES } from '../../support/stores.ts';

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

for (const engine of ENGINES) {
  describe(`proposals on ${engine}`, () => {
    let service: Harness;
    before(async () => {
      service = await startHarness(engine);
    });
    after(() => service.close());

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
      const all = await propose(database(), given, { now: service.clock.now(), prefixes: ['INV-'] });
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
      assert.deepEqual(told(await one(lineFor(payment, text))), [payment.id, 'likely', 'exact']);
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
}

test('names agree whatever their order, accents and initials, and not by an initial alone', () => {
  for (const [one, other] of [
    ['Erika Mustermann', 'MUSTERMANN, ERIKA'],
    ['E. Mustermann', 'Erika Mustermann'],
    ['Zoë Müller', 'ZOE MUELLER'],
    ['Jan Peter de Vries', 'J.P. de Vries'],
  ] as const)
    assert.ok(namesAgree(one, other), `${one} / ${other}`);
  for (const [one, other] of [
    ['Erika Mustermann', 'Otto Mustermann'],
    ['E.', 'Erika'],
    ['', 'Erika'],
  ] as const)
    assert.ok(!namesAgree(one, other), `${one} / ${other}`);
});
