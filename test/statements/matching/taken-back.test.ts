// Money that went back: whatever a debit is known by, its credit is never certain and the sentence says how it is known. Ordinary debits count not.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { DAY_MS } from '../../../src/lib/time.ts';
import { Bank } from '../../support/bank.ts';
import { camt, type Entry, TRANSFERS, today } from '../../support/camt.ts';
import { signIn } from '../../support/console.ts';
import { isWhole } from '../../support/extent.ts';
import { sharedHarness } from '../../support/harness.ts';
import { referenceOf } from '../../support/payments.ts';

/** What a debit says of its credit, and what is said of it. */
const KNOWN_BY: Record<string, [(paid: Paid) => Partial<Entry>, string]> = {
  'its end-to-end reference': [({ n }) => ({ endToEnd: `e2e-99${n}` }), 'with the same end-to-end reference'],
  'its end-to-end reference, as a reversal': [
    ({ n, name }) => ({ endToEnd: `E2E-99${n}`, name, reversal: true }),
    'with the same end-to-end reference',
  ],
  'a reversal to its payer': [({ name }) => ({ name, reversal: true }), 'as a reversal to the same payer'],
  'a reversal to its account': [({ iban }) => ({ iban, reversal: true }), 'as a reversal to the same payer'],
  'the beginning of the reference': [
    ({ reference }) => ({ text: `RETURN ${reference.slice(0, 13)}` }),
    'with the beginning of the same reference',
  ],
  'a reference with a wrong character': [
    ({ reference }) => ({
      text: `RETURN ${reference.slice(0, 14)}${reference[14] === 'X' ? 'Y' : 'X'}${reference.slice(15)}`,
    }),
    'with the same reference but for one character',
  ],
  'the order number': [({ order }) => ({ text: `Refund ${order}` }), 'and names the payment'],
  'the payment’s id': [({ id }) => ({ text: `Refund ${id}` }), 'and names the payment'],
  'the whole reference': [({ reference }) => ({ text: `Refund ${reference}` }), 'with the same reference'],
};

/** What the bank kept, the day of the debit (credits come on day 5), and whether another file brings it: each once, or all of them. */
const GRID = [0, 5].flatMap((fee) =>
  [4, 5, 6].flatMap((day, i) =>
    [false, true].flatMap((isOther) =>
      isWhole || isOther === ((i + fee) % 2 === 0) ? [[fee, day, isOther] as const] : [],
    ),
  ),
);

interface Paid {
  n: number;
  id: string;
  amount: number;
  reference: string;
  order: string;
  name: string;
  iban: string;
}

describe('money that went back', () => {
  const service = sharedHarness('sqlite', { configuration: TRANSFERS });
  const bank = new Bank(service);
  let count = 100;
  before(() => service.clock.stop()); // so that no day begins between a payment and its lines
  /** Payments of one second may share the beginning of their references. */
  const inAnotherSecond = () => service.clock.advance(2000);
  const dayIn = (days: number) => today(service, days * DAY_MS);
  const bring = (entries: Entry[]) => bank.take(camt(entries, { number: String(++count) }));

  /** A payment whose payer, order number and amount no other has. */
  async function pay(): Promise<Paid> {
    const n = ++count;
    const order = `ORD-${n}00`;
    const { id } = await service.create({ amount: n, currency: 'EUR', merchant_reference: order });
    const reference = await referenceOf(service, id);
    const name = `Zed ${String.fromCodePoint(65 + (n % 26), 65 + Math.floor(n / 26))}x`;
    return { n, id, amount: n, reference, order, name, iban: ibanOf(n) };
  }
  const creditOf = ({ amount, reference, name, iban, n }: Paid): Entry => ({
    ...{ amount: `${amount}.00`, bank: `C${n}`, day: dayIn(5), text: reference, endToEnd: `E2E-99${n}` },
    ...{ name, iban },
  });
  const debitOf = ({ amount, n }: Paid, more: Partial<Entry>): Entry => ({
    ...{ amount: `${amount}.00`, bank: `D${n}`, day: dayIn(6), text: 'RETURN', direction: 'DBIT', ...more },
  });
  /** What is said of the line of a payment: in the list and on its own. */
  async function told(...paid: Paid[]): Promise<[string, boolean, string][]> {
    const open = await bank.open();
    const certain = new Set((await bank.certain(open)).map(({ payment }) => payment.id));
    const lineOf = (n: number, all: typeof open) =>
      all.find(({ line: { references } }) => (references.booking ?? references.bank) === `C${n}`)!;
    // Alone, with all debits behind it, it is told the same.
    const [first] = paid;
    const also = [await bank.line(lineOf(first!.n, open).line.id)];
    const alone = await bank.open({ shown: 1, also });
    const sentence = (all: typeof open) => lineOf(first!.n, all).proposals[0]!.sentence;
    assert.equal(sentence(alone), sentence(open));
    return paid.map(({ id, n }) => {
      const [proposal] = lineOf(n, open).proposals;
      return [proposal!.level, certain.has(id), proposal!.sentence];
    });
  }

  for (const [name, [says, how]] of Object.entries(KNOWN_BY))
    test(`a debit known by ${name}: its credit is never certain`, async () => {
      inAnotherSecond();
      const cells: [string, Paid][] = [];
      const [one, early, credits, late]: Entry[][] = [[], [], [], []];
      for (const [fee, day, isOther] of GRID) {
        const paid = await pay();
        const amount = `${paid.amount - fee}.00`;
        (isOther ? credits : one)!.push(creditOf(paid));
        (!isOther ? one : day === 6 ? late : early)!.push(
          debitOf(paid, { amount, day: dayIn(day), ...says(paid) }),
        );
        cells.push([`fee ${fee}, day ${day}, ${isOther ? 'another file' : 'one file'}`, paid]);
      }
      for (const file of [one, early, credits, late]) await bring(file!);
      const all = await told(...cells.map(([, paid]) => paid));
      for (const [i, [level, isCertain, sentence]] of all.entries()) {
        const cell = cells[i]![0];
        assert.deepEqual([level, isCertain], ['possible', false], `${cell}: ${sentence}`);
        assert.match(sentence, new RegExp(`^A line of \\d+ \\w+ \\d+ takes money out ${how}\\.$`), cell);
      }
    });

  test('an ordinary debit, or one of another payer or payment, leaves a credit certain', async () => {
    const ordinary: ((paid: Paid, other: Paid) => Partial<Entry>)[] = [
      () => ({ text: 'Office rent' }),
      ({ name, iban }) => ({ text: 'Purchase 4711', name, iban }),
      ({ name, amount }) => ({ name, amount: `${amount - 5}.00` }),
      () => ({ endToEnd: 'NOTPROVIDED' }),
      ({ n }) => ({ endToEnd: `E2E-98${n}` }),
      ({ order }) => ({ text: `Refund ${order}1` }),
      () => ({ text: 'RETURN', name: 'Somebody Else', reversal: true }),
      ({ name, amount }) => ({ name, amount: `${amount + 1}.00`, reversal: true }),
      // Before the payment was created, no money of it went back.
      ({ name }) => ({ name, reversal: true, day: dayIn(-1) }),
      // It takes another transfer of this payer back.
      ({ name }, other) => ({ name, reversal: true, text: other.reference, amount: '1.00' }),
      ({ name }, other) => ({ name, reversal: true, endToEnd: `E2E-99${other.n}`, amount: '1.00' }),
    ];
    inAnotherSecond();
    const all: Paid[] = [];
    for (const says of ordinary) {
      const [paid, other] = [await pay(), await pay()];
      await bring([creditOf(paid), creditOf(other), debitOf(paid, says(paid, other))]);
      all.push(paid);
    }
    for (const [i, [level, , sentence]] of (await told(...all)).entries())
      assert.equal(level, 'certain', `${ordinary[i]}: ${sentence}`);
  });

  test('a debit with the whole reference of another payment is no cut one of a payment with the same beginning', async () => {
    const byStart = new Map<string, Paid>();
    let both: [Paid, Paid] | undefined;
    service.clock.stop();
    // Of payments made in one second, one in 97 has the same check digits.
    while (!both) {
      const paid = await pay();
      const start = paid.reference.slice(0, 12);
      const before = byStart.get(start);
      if (before) both = [before, paid];
      byStart.set(start, paid);
    }
    const [paid, other] = both;
    await bring([creditOf(paid), debitOf(paid, { text: `Refund ${other.reference}`, amount: '1.00' })]);
    assert.equal((await told(paid))[0]![0], 'certain');
  });

  test('a return less a fee is not among what one press approves', async () => {
    const [paid, sound] = [await pay(), await pay()];
    await bring([
      ...[creditOf(paid), creditOf(sound)],
      debitOf(paid, { amount: `${paid.amount - 5}.00`, endToEnd: `E2E-99${paid.n}`, reversal: true }),
    ]);
    const page = await (await signIn(service)).get('/statements/certain');
    assert.ok(page.text.includes(sound.id) && !page.text.includes(paid.id));
  });
});

/** A German account with its check digits. */
function ibanOf(n: number): string {
  const bban = `12030000${String(n).padStart(10, '0')}`;
  return `DE${String(98n - (BigInt(`${bban}131400`) % 97n)).padStart(2, '0')}${bban}`;
}
