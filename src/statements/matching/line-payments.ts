// Looks up the payments that bank lines may be for, all lines at once, and says how each line names them.

import { searchedReference } from '../../lib/search-terms.ts';
import {
  creditorReference,
  qrReference,
  shortReference,
} from '../../payments/methods/transfer/creditor-reference.ts';
import type { Payment } from '../../payments/payment.ts';
import { findPayments } from '../../payments/queries.ts';
import { paymentsInRanges, paymentsOfAmounts, paymentsWith } from '../../review/queries.ts';
import { arrivalsOf } from '../../review/review.ts';
import type { Reader } from '../../store/database.ts';
import { handOf } from './judge-line.ts';
import type { BankLine, LineEvidence, ReferenceRange } from './line-evidence.ts';
import type { Naming } from './line-facts.ts';
import type { OUT_BY } from './matrix-outcomes.ts';

/** A line, and what it says. */
export interface ReadLine {
  line: BankLine;
  evidence: LineEvidence;
}

/** A line's payments by id, and how it names each. */
export type Namings = Map<string, { payment: Payment; naming: Naming }>;

/** What was looked up, by what it was looked up by. */
interface Found {
  byId: Map<string, Payment>;
  byReference: Map<string, Payment[]>;
  byAccount: Map<string, Payment[]>;
  byName: Map<string, Payment[]>;
  byAmount: Map<string, Payment[]>;
  byBank: Map<string, Payment[]>;
  /** Those whose ids lie in ranges, in the order of their ids. */
  inRanges: Payment[];
}

/** The bank's references of a line, as administrators may have typed them. */
const bankReferences = ({ references: { bank, booking } }: BankLine): string[] =>
  [...new Set([bank, booking])].flatMap((one) => (one === undefined ? [] : searchedReference(one)));

const amountKey = (minor: number, currency: string) => `${minor} ${currency}`;

/** Looks up what the lines say. Of `outgoing` only what names a payment counts. Throws `DatabaseError`. */
export async function lookUp(
  database: Reader,
  lines: readonly ReadLine[],
  outgoing: readonly ReadLine[],
): Promise<Found> {
  const all = <T>(of: (one: LineEvidence) => readonly T[]) => lines.flatMap(({ evidence }) => of(evidence));
  const amounts = lines
    .map(({ line }) => ({ minor: line.amount_minor, currency: line.currency }))
    .filter(({ minor }) => Number.isInteger(minor));
  const words = <T>(of: (one: LineEvidence) => readonly T[]) => [
    ...all(of),
    ...outgoing.flatMap(({ evidence }) => of(evidence)),
  ];
  const named = [...new Set(words(({ ids }) => ids))];
  const inRanges = await byReferences(database, lines, outgoing);
  const byReference = await paymentsWith(
    database,
    'merchant_reference',
    words(({ references }) => references),
  );
  const byAccount = await paymentsWith(
    database,
    'payer_account',
    all(({ account }) => (account === undefined ? [] : [account])),
  );
  const byName = await paymentsWith(
    database,
    'payer_name',
    all(({ name }) => (name === undefined ? [] : [name])),
  );
  const byAmount = await paymentsOfAmounts(database, amounts);
  const byBank = await paymentsWith(
    database,
    'bank_reference',
    lines.flatMap(({ line }) => bankReferences(line)),
  );
  return {
    byId: new Map(
      (named.length > 0 ? await findPayments(database, named) : []).map((payment) => [payment.id, payment]),
    ),
    inRanges,
    byReference: Map.groupBy(byReference, ({ merchant_reference }) => merchant_reference!),
    byAccount: Map.groupBy(byAccount, ({ payer_account }) => payer_account!),
    byName: Map.groupBy(byName, ({ payer_name }) => payer_name!),
    byBank: Map.groupBy(byBank, ({ bank_reference }) => bank_reference!),
    byAmount: Map.groupBy(byAmount, ({ amount_minor, currency }) => amountKey(amount_minor, currency)),
  };
}

/** The payments whose references the lines may carry. Those of a line that carries no whole one are tried with a character changed. */
async function byReferences(
  database: Reader,
  lines: readonly ReadLine[],
  outgoing: readonly ReadLine[],
): Promise<Payment[]> {
  const ranges = [...lines, ...outgoing].flatMap(({ evidence }) => evidence.ranges);
  const whole = sortedById(await paymentsInRanges(database, ranges));
  const unnamed = [...lines, ...outgoing].filter(
    ({ evidence }) =>
      !evidence.ranges.some((range) => within(whole, range).some((payment) => hasReference(payment, range))),
  );
  for (const { evidence } of unnamed) evidence.ranges = evidence.nearRanges();
  const near = await paymentsInRanges(
    database,
    unnamed.flatMap(({ evidence }) => evidence.ranges),
  );
  return sortedById([...new Map([...whole, ...near].map((payment) => [payment.id, payment])).values()]);
}

/** Sorts payments as `byReferenceOf` takes them. */
export const sortedById = (payments: Payment[]) => payments.sort((a, b) => (a.id < b.id ? -1 : 1));

/** The payments whose reference a line carries, with the reference. */
export function byReferenceOf(
  { evidence }: Pick<ReadLine, 'evidence'>,
  { inRanges }: Pick<Found, 'inRanges'>,
): [Payment, ReferenceRange][] {
  return evidence.ranges.flatMap((range) =>
    within(inRanges, range)
      .filter((payment) => hasReference(payment, range))
      .map((payment): [Payment, ReferenceRange] => [payment, range]),
  );
}

/**
 * The payments that a debit names, the strongest first: all whose whole reference it carries, else those that it names less surely, in
 * its currency, of which money is known.
 */
export function debitNamings(
  { line, evidence }: ReadLine,
  found: Found,
): { payment: Payment; by: keyof typeof OUT_BY }[] {
  const carried = byReferenceOf({ evidence }, found).map(([payment, { form }]) => ({ payment, by: form }));
  const words = evidence.references.flatMap((one) => found.byReference.get(one) ?? []);
  const named = [...evidence.ids.flatMap((id) => found.byId.get(id) ?? []), ...words];
  const isKnown = ({ status, review, currency }: Payment) =>
    currency === line.currency && (status === 'approved' || arrivalsOf({ review }).length > 0);
  const all = [...carried, ...named.map((payment) => ({ payment, by: 'named' as const }))];
  const whole = all.filter(({ by }) => by === 'whole');
  const some = whole.length > 0 ? whole : all.filter(({ payment }) => isKnown(payment));
  return [...new Map(some.toReversed().map((one) => [one.payment.id, one])).values()].toReversed();
}

/** The payments that a line may be for, and how it names each. */
export function namingsOf({ line, evidence }: ReadLine, found: Found): Namings {
  const namings: Namings = new Map();
  const add = (payment: Payment, naming: Naming) => {
    const before = namings.get(payment.id)?.naming ?? {};
    namings.set(payment.id, { payment, naming: { ...naming, ...before } });
  };
  for (const [payment, reference] of byReferenceOf({ evidence }, found)) add(payment, { reference });
  for (const id of evidence.ids) {
    const payment = found.byId.get(id);
    if (payment) add(payment, { named: id });
  }
  for (const reference of evidence.references)
    for (const payment of found.byReference.get(reference) ?? []) add(payment, { named: reference });
  for (const reference of bankReferences(line))
    for (const payment of found.byBank.get(reference) ?? [])
      if (handOf(line, payment)?.is === 'same') add(payment, { named: reference });
  for (const payment of found.byAccount.get(evidence.account ?? '') ?? []) add(payment, { payer: 'account' });
  for (const payment of found.byName.get(evidence.name ?? '') ?? []) add(payment, { payer: 'name' });
  for (const payment of found.byAmount.get(amountKey(line.amount_minor, line.currency)) ?? [])
    add(payment, {});
  return namings;
}

/** Those of `sorted` whose ids lie from `low` to before `high`. */
function within(sorted: readonly Payment[], { low, high }: ReferenceRange): readonly Payment[] {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle]!.id < low) from = middle + 1;
    else to = middle;
  }
  let end = from;
  while (end < sorted.length && sorted[end]!.id < high) end++;
  return sorted.slice(from, end);
}

/** Whether a payment's reference, in any of its forms, is or begins with the one of a range. */
function hasReference(payment: Payment, { reference, form }: ReferenceRange): boolean {
  const forms = [creditorReference(payment), shortReference(payment), qrReference(payment)];
  return forms.some((one) => (form === 'cut' ? one.startsWith(reference) : one === reference));
}
