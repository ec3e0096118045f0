// The named cases of a bank line and a payment: each has its own sentence and its own act, and only one of them may be certain.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { readStatements } from '#bank-statements';
import { creditorReference } from '../../../src/payments/methods/transfer/creditor-reference.ts';
import type { Payment } from '../../../src/payments/payment.ts';
import { findPayment } from '../../../src/payments/queries.ts';
import { submitPayment } from '../../../src/payments/submit.ts';
import { recordMoney } from '../../../src/review/record-money.ts';
import { checkFile, importFile } from '../../../src/statements/import-file.ts';
import { listLines } from '../../../src/statements/line-queries.ts';
import { acceptLine } from '../../../src/statements/matching/line-acts.ts';
import type { BankLine } from '../../../src/statements/matching/line-evidence.ts';
import type { LineCase } from '../../../src/statements/matching/matrix.ts';
import { openLines } from '../../../src/statements/matching/open-lines.ts';
import { propose } from '../../../src/statements/matching/propose.ts';
import { decide, submit } from '../../campaigns/history.ts';
import { ACCOUNT, camt, MATCHING } from '../../support/camt.ts';
import { sharedHarness } from '../../support/harness.ts';
import { editOutside } from '../../support/outside.ts';
import { ANA, haveReviewers } from '../../support/reviewers.ts';

const ACT = { actor: 'operator', request_id: null };
const OTTO = { name: 'WOLFF, OTTO', account: 'NL86INGB0002445588' };
const EVA = { name: 'Eva Brand', account: 'DE02120300000000202051' };

/** What is told of a line: level, case, sentence and act. */
type Expected = [level: string, kind: LineCase, sentence: string | RegExp, act: string];

describe('named cases', () => {
  const service = sharedHarness('sqlite');
  before(() => haveReviewers(service.service));

  let count = 0;
  const today = () => new Date(service.clock.now()).toISOString().slice(0, 10);
  async function pay(amount = 50, more: object = {}): Promise<Payment> {
    const { id } = await service.create({ amount, currency: 'EUR', ...more });
    service.service.database.refresh();
    return (await findPayment(service.service.database, id))!;
  }
  /** A line that carries a payment's reference, with its amount. */
  const lineFor = (payment: Payment, more: Partial<BankLine> = {}): BankLine => ({
    id: `lin_${++count}`,
    day: today(),
    amount_minor: payment.amount_minor,
    currency: 'EUR',
    direction: 'credit',
    booked: 1,
    reversal: 0,
    references: {},
    text: creditorReference(payment),
    counterparty: {},
    ...more,
  });
  /** What the customer says: the transfer comes from Otto Wolff, and from an account if one is given. */
  const announce = ({ id }: Payment, account: string | null) =>
    service.service.journal.commit(
      (transaction) =>
        submitPayment(transaction, id, 'req_s', {
          method: 'bank_transfer',
          whole: { transfer_name: 'Otto Wolff' },
          masked: {},
          payer: { name: 'Otto Wolff', email: null, account },
        }),
      id,
    );
  /** A line in the store that was matched with a payment. */
  async function match({ id }: Payment, amount: string): Promise<void> {
    const { database, journal } = service.service;
    const bank = `M${++count}`;
    const file = camt([{ amount, bank }], { number: String(count) });
    const methods = [{ accounts: [{ currency: 'EUR', holder: 'Shop', iban: ACCOUNT, rows: [] }] }];
    const checked = checkFile(readStatements(file, 'm.xml'), methods);
    await importFile(journal, checked, ACT, { despiteFaults: false, dryRun: false });
    database.refresh();
    const [line] = (await listLines(database, {}, undefined, 1000)).filter(
      ({ entry_reference }) => entry_reference === bank,
    );
    const { version } = (await findPayment(database, id))!;
    await journal.commit((one) => acceptLine(one, ANA, { line_id: line!.id, payment_id: id, version }));
  }
  /** Money by hand. */
  const record = ({ id }: Payment, amount_minor: number) =>
    service.service.journal.commit(
      (one) =>
        recordMoney(one, ANA, id, {
          amount_minor,
          received_on: today(),
          bank_reference: null,
          note: null,
          version: null,
        }),
      id,
    );
  async function told(...lines: BankLine[]): Promise<unknown[][]> {
    service.service.database.refresh();
    const all = await propose(service.service.database, lines, { ...MATCHING, now: service.clock.now() });
    return all.map(({ proposals: [first] }) =>
      first ? [first.level, first.case, first.sentence, first.act] : [],
    );
  }
  /** Of the first of the lines that `arrange` makes. */
  function holds(name: string, expected: Expected, arrange: () => Promise<BankLine[]>): void {
    test(name, async () => {
      const [[level, kind, sentence, act] = []] = await told(...(await arrange()));
      assert.deepEqual([level, kind, act], [expected[0], expected[1], expected[3]], String(sentence));
      if (expected[2] instanceof RegExp) assert.match(String(sentence), expected[2]);
      else assert.equal(sentence, expected[2]);
    });
  }

  holds(
    'exactly what was asked for',
    ['certain', 'exact', 'Nothing is odd about it.', 'Accept it.'],
    async () => [lineFor(await pay())],
  );
  const compare = 'Compare payer and text, and accept it if they fit.';
  const weaker: [string, Expected, (payment: Payment) => Partial<BankLine>][] = [
    [
      'a reference with a wrong character',
      ['likely', 'exact', 'One character of the reference is wrong.', compare],
      (payment) => {
        const reference = creditorReference(payment);
        return { text: reference.slice(0, 12) + (reference[12] === 'X' ? 'Y' : 'X') + reference.slice(13) };
      },
    ],
    [
      'a reference that was cut',
      ['likely', 'exact', 'The reference is cut.', compare],
      (payment) => ({ text: creditorReference(payment).slice(0, 15) }),
    ],
    [
      'the merchant’s reference alone',
      ['likely', 'exact', 'The transfer reference is missing, and the text names the payment.', compare],
      (payment) => ({ text: payment.merchant_reference! }),
    ],
    [
      'the payer’s name alone',
      [
        'likely',
        'exact',
        'The reference is missing, and the payer fits.',
        'Accept it if no other payment of this payer is meant.',
      ],
      () => ({ text: '', counterparty: { name: 'SÖDERBERG, INGA' } }),
    ],
    [
      'the amount alone',
      [
        'possible',
        'amount_only',
        'Only the amount speaks for it.',
        'Find out which payment is meant before you accept it.',
      ],
      () => ({ text: '', counterparty: { name: 'Otto Wolff' } }),
    ],
  ];
  for (const [i, [name, expected, more]] of weaker.entries())
    holds(`exactly what was asked for, with ${name}`, expected, async () => {
      const customer = { name: 'Inga Söderberg' };
      const payment = await pay(907.13 + i, { merchant_reference: `ORDER-907${i}`, customer });
      return [lineFor(payment, more(payment))];
    });
  holds(
    'less',
    [
      'likely',
      'less',
      'EUR 10.00 less arrived than was asked for.',
      'Keep it as received so far, or accept the difference with a reason.',
    ],
    async () => [lineFor(await pay(), { amount_minor: 4000 })],
  );
  holds(
    'less, and the bank says that it took charges',
    [
      'likely',
      'less',
      'EUR 10.00 less arrived than was asked for: the bank took them as charges.',
      'Accept it as paid, difference EUR 10.00.',
    ],
    async () => [lineFor(await pay(), { amount_minor: 4000, chargesMinor: 1000 })],
  );
  holds(
    'more',
    ['likely', 'more', 'EUR 10.00 more arrived than was asked for.', 'Accept it, and return EUR 10.00.'],
    async () => [lineFor(await pay(), { amount_minor: 6000 })],
  );
  holds(
    'another currency',
    [
      'likely',
      'other_currency',
      'CHF 50.00 arrived, EUR 50.00 was asked for.',
      'Find out what the bank credited, or return it.',
    ],
    async () => [lineFor(await pay(), { currency: 'CHF' })],
  );
  const two = ['likely', 'two_lines', 'Another line carries the reference of this payment.'] as const;
  holds('two lines for one payment', [...two, 'Accept one of them, and return the other.'], async () => {
    const payment = await pay();
    return [lineFor(payment), lineFor(payment)];
  });
  holds(
    'a second line that names the payment by its merchant’s reference',
    [...two, 'Accept one of them, and return the other.'],
    async () => {
      const payment = await pay(50.01, { merchant_reference: 'ORDER-5001' });
      return [lineFor(payment, { text: 'ORDER-5001' }), lineFor(payment)];
    },
  );
  const parts: [string, number[], byHand: number, together: string][] = [
    ['the parts of one payment', [3000, 2000], 0, '50.00'],
    ['less than one payment together', [2000, 500, 500], 0, '30.00'],
    ['more than one payment only together', [4000, 3000], 0, '70.00'],
    ['parts of which one may be the money by hand', [2500, 2500], 2500, '50.00'],
    ['parts beside money by hand', [2000, 2000], 1000, '50.00'],
  ];
  for (const [name, amounts, byHand, together] of parts)
    holds(
      `lines that are ${name}`,
      [
        'likely',
        'parts',
        `With the other lines of the same reference EUR ${together} of EUR 50.00 arrived.`,
        'Match each of them, then decide.',
      ],
      async () => {
        const payment = await pay();
        if (byHand > 0) await record(payment, byHand);
        return amounts.map((amount_minor) => lineFor(payment, { amount_minor }));
      },
    );
  for (const [name, more] of [
    ['in another currency', { currency: 'CHF', amount_minor: 2000 }],
    ['that covers the payment with the bank’s charges', { amount_minor: 4900, chargesMinor: 100 }],
  ] as const)
    holds(`less, beside a line ${name}`, [...two, 'Accept one of them, and return the other.'], async () => {
      const payment = await pay();
      return [lineFor(payment, { amount_minor: 2000 }), lineFor(payment, more)];
    });
  const rest: [string, number, string, string][] = [
    ['comes to the amount', 2000, 'it comes to what was asked for.', 'Accept it as the rest.'],
    ['is still too little', 500, 'EUR 15.00 less arrived than was asked for.', 'Keep it as received so far.'],
    ['is too much', 2500, 'EUR 5.00 more arrived than was asked for.', 'Accept it, and return EUR 5.00.'],
  ];
  for (const [name, amount_minor, sentence, act] of rest)
    holds(
      `a line after a part that was matched, which ${name}`,
      ['likely', 'rest', `With the EUR 30.00 that arrived before ${sentence}`, act],
      async () => {
        const payment = await pay();
        await match(payment, '30.00');
        return [lineFor(payment, { amount_minor })];
      },
    );
  holds(
    'twice: a line was matched with the payment',
    [
      'possible',
      'twice',
      'The money of this payment arrived on 20 Nov 2026 already.',
      'Return EUR 50.00, or find out what it is for.',
    ],
    async () => {
      const payment = await pay();
      await match(payment, '50.00');
      return [lineFor(payment)];
    },
  );
  holds(
    'the money that a payment was approved for by hand',
    [
      'likely',
      'recorded',
      'No line shows the EUR 50.00 that it was approved for: this is that money, unless it was paid twice.',
      'Link it. Nothing is decided anew.',
    ],
    async () => {
      const payment = await pay();
      await submit(service, payment.id);
      await decide(service, payment.id);
      return [lineFor(payment)];
    },
  );
  holds(
    'a rejected payment',
    [
      'possible',
      'rejected',
      'The payment was rejected.',
      'Match it, so that the payment says what arrived, and return EUR 50.00.',
    ],
    async () => {
      const payment = await pay();
      await submit(service, payment.id);
      await decide(service, payment.id, 'reject');
      return [lineFor(payment)];
    },
  );
  holds(
    'a cancelled payment',
    ['likely', 'cancelled', 'The payment was cancelled.', 'Record the money and decide, or return it.'],
    async () => {
      const payment = await pay();
      await service.request(`/v1/payments/${payment.id}/cancel`, { method: 'POST' });
      return [lineFor(payment)];
    },
  );
  const DAY = 86_400_000;
  const dayIn = (days: number) => new Date(service.clock.now() + days * DAY).toISOString().slice(0, 10);
  holds(
    'after the link had ended',
    [
      'likely',
      'late',
      /^The money came on \d+ \w+ \d{4}, and the link ended on \d+ \w+ \d{4}\.$/,
      'Record it, and decide.',
    ],
    async () => {
      const payment = await pay(50, { expires_in: 300 });
      service.clock.advance(2 * DAY);
      return [lineFor(payment)];
    },
  );
  holds(
    'on the last day of a link that has ended since',
    ['certain', 'exact', 'Nothing is odd about it.', 'Accept it.'],
    async () => {
      const payment = await pay(50, { expires_in: 3 * 86_400 });
      const day = dayIn(3);
      service.clock.advance(5 * DAY);
      return [lineFor(payment, { day })];
    },
  );
  holds(
    'of a link that has ended, on a day that the bank does not name',
    ['likely', 'late', /^The bank names no day, and the link ended on /, 'Record it, and decide.'],
    async () => {
      const payment = await pay(50, { expires_in: 300 });
      service.clock.advance(301_000);
      return [lineFor(payment, { day: '' })];
    },
  );
  holds(
    'before the payment was created',
    [
      'likely',
      'early',
      /^The money came on \d+ \w+ \d{4}, before the payment was created on \d+ \w+ \d{4}\.$/,
      'Find out which payment is meant.',
    ],
    async () => {
      const day = new Date(service.clock.now() - 3 * 86_400_000).toISOString().slice(0, 10);
      return [lineFor(await pay(), { day })];
    },
  );
  for (const [what, account] of [
    ['account', 'NL86INGB0002445588'],
    ['name', null],
  ] as const)
    holds(
      `from another payer than the customer announced by ${what}`,
      [
        'likely',
        'other_payer',
        'The money comes from another payer than was announced.',
        'Look who paid, and accept it if that is right.',
      ],
      async () => {
        const payment = await pay();
        await announce(payment, account);
        return [lineFor(payment, { counterparty: EVA })];
      },
    );
  holds(
    'from who was announced',
    ['certain', 'exact', 'Nothing is odd about it.', 'Accept it.'],
    async () => {
      const payment = await pay();
      await announce(payment, EVA.account);
      return [lineFor(payment, { counterparty: OTTO })];
    },
  );
  holds(
    'for a customer whom only the merchant named, somebody else may pay',
    ['certain', 'exact', 'Nothing is odd about it.', 'Accept it.'],
    async () => [lineFor(await pay(50, { customer: { name: 'Otto Wolff' } }), { counterparty: EVA })],
  );
  holds(
    'one line for two payments',
    [
      'likely',
      'several',
      'The transfer names 2 payments, which come to its amount.',
      'Match it with all of them.',
    ],
    async () => {
      const [one, other] = [await pay(), await pay(20)];
      const text = `${creditorReference(one)} and ${creditorReference(other)}`;
      return [lineFor(one, { text, amount_minor: 7000 })];
    },
  );
  const ambiguous: Expected = [
    'likely',
    'ambiguous',
    'The transfer names 2 payments, which do not come to its amount.',
    'Find out which of them is meant.',
  ];
  for (const amount of [50, 20])
    holds(
      `one line that names two payments, and is the money of one, of EUR ${amount}`,
      ambiguous,
      async () => {
        const [one, other] = [await pay(), await pay(amount)];
        return [lineFor(one, { references: { creditor: creditorReference(other) } })];
      },
    );
  holds('one line that names another open payment of its amount in words', ambiguous, async () => {
    const [one, other] = [await pay(), await pay(50, { merchant_reference: 'ORDER-7788' })];
    return [lineFor(one, { text: `${creditorReference(one)} ${other.merchant_reference}` })];
  });
  holds(
    'the second try of an order is named by both references',
    ['certain', 'exact', 'Nothing is odd about it.', 'Accept it.'],
    async () => {
      const order = { merchant_reference: 'ORDER-7799' };
      const [, second] = [await pay(50, order), await pay(50, order)];
      return [lineFor(second, { text: `${creditorReference(second)} ${order.merchant_reference}` })];
    },
  );
  for (const more of [{ reversal: 1 }, {}])
    holds(
      `the bank took the money back, ${more.reversal ? 'as a reversal' : 'as a debit'}`,
      [
        'possible',
        'taken_back',
        /^A line of \d+ \w+ \d{4} takes money out with the same reference\.$/,
        'Find out whether the money is still there.',
      ],
      async () => {
        const payment = await pay();
        return [lineFor(payment), lineFor(payment, { direction: 'debit', ...more })];
      },
    );
  holds(
    'a debit after the payment was approved',
    [
      'possible',
      'went_out',
      'EUR 50.00 went out with the reference of this payment.',
      'Match it, so that the payment says what went back. If you did not return it yourself, tell the merchant.',
    ],
    async () => {
      const payment = await pay();
      await submit(service, payment.id);
      await decide(service, payment.id);
      return [lineFor(payment, { direction: 'debit', reversal: 1 })];
    },
  );

  test('pending lines, credits that were returned to us, and zero are the money of no payment', async () => {
    const payment = await pay();
    for (const more of [{ booked: 0 }, { reversal: 1 }, { amount_minor: 0 }] as const)
      assert.deepEqual(await told(lineFor(payment, more)), [[]]);
    const debit = lineFor(payment, { direction: 'debit', text: 'ORDER-5001', amount_minor: 5001 });
    assert.deepEqual(await told(debit), [[]]);
  });

  test('a payment and a submission that come after the line are proposed for it', async () => {
    const bank = `M${++count}`;
    const entry = { amount: '61.37', bank, text: 'ORDER-6137', name: OTTO.name, iban: OTTO.account };
    const file = camt([{ ...entry, day: today() }], { number: String(count) });
    const methods = [{ accounts: [{ currency: 'EUR', holder: 'Shop', iban: ACCOUNT, rows: [] }] }];
    const { database, journal } = service.service;
    const checked = checkFile(readStatements(file, 'm.xml'), methods);
    await importFile(journal, checked, ACT, { despiteFaults: false, dryRun: false });
    const first = async () => {
      database.refresh();
      const all = await openLines(database, { ...MATCHING, now: service.clock.now() });
      const { proposals } = all.find(({ line }) => line.references.booking === bank)!;
      return proposals.map(({ payment, level, facts }) => [payment.id, level, facts.length])[0];
    };
    assert.equal(await first(), undefined);
    const other = await pay(61.37);
    assert.deepEqual(await first(), [other.id, 'possible', 2]);
    await announce(other, OTTO.account);
    assert.deepEqual(await first(), [other.id, 'likely', 3]);
    const named = await pay(61.37, { merchant_reference: 'ORDER-6137', customer: { name: 'Otto Wolff' } });
    assert.deepEqual(await first(), [named.id, 'likely', 4]);
  });

  test('a test payment among live ones takes no money', async () => {
    const payment = await pay(50.07);
    assert.equal((await told(lineFor(payment)))[0]![0], 'certain');
    const live = await pay(50.08);
    await editOutside(service.store, `update payments set mode = 'live' where id = '${live.id}'`);
    assert.deepEqual((await told(lineFor(payment)))[0], [
      'possible',
      'test',
      'It is a test payment: no money is meant for it.',
      'Return EUR 50.07, or find out what it is for.',
    ]);
    assert.deepEqual(await told(lineFor(payment, { text: '' })), [[]]);
    assert.equal((await told(lineFor(live)))[0]![0], 'certain');
  });
});
