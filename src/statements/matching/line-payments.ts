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
import type { OUT_BY } from './matrix-words.ts';

/** A line, and what it says. */
export interface ReadLine {
  line: BankLine;
  evidence: LineEvidence;
}

/** A line's payments by id, and how it names each. */
export type Namings = Map<string, { payment: Payment; naming: Naming }>;

/** What was looked up, by what it was looked up by. */
type Found = Awaited<ReturnType<typeof lookUp>>;

/** The bank's references of a line, as administrators may have typed them. */
const bankReferences = ({ references: { bank, booking } }: BankLine): string[] =>
  [...new Set([bank, booking])].flatMap((one) => (one === undefined ? [] : searchedReference(one)));

const amountKey = (minor: number, currency: string) => `${minor} ${currency}`;

/** Looks up what the lines say. Of `outgoing` only what names a payment counts. Throws `DatabaseError`. */
export async function lookUp(database: Reader, lines: readonly ReadLine[], outgoing: readonly ReadLine[]) {
  const both = [...lines, ...outgoing];
  const by = async (column: LookedUp, values: readonly (string | undefined)[]) => {
    const found = await paymentsWith(
      database,
      column,
      values.filter((one) => one !== undefined),
    );
    return Map.groupBy(found, (payment) => payment[column]!);
  };
  const amounts = lines
    .map(({ line }) => ({ minor: line.amount_minor, currency: line.currency }))
    .filter(({ minor }) => Number.isInteger(minor));
  const ids = [...new Set(both.flatMap(({ evidence }) => evidence.ids))];
  const named = ids.length > 0 ? await findPayments(database, ids) : [];
  return {
    byId: new Map(named.map((payment) => [payment.id, payment])),
    /** Those whose ids lie in ranges, in the order of their ids. */
    inRanges: await byReferences(database, both),
    byReference: await by(
      'merchant_reference',
      both.flatMap(({ evidence }) => evidence.references),
    ),
    byAccount: await by(
      'payer_account',
      lines.map(({ evidence }) => evidence.account),
    ),
    byName: await by(
      'payer_name',
      lines.map(({ evidence }) => evidence.name),
    ),
    byBank: await by(
      'bank_reference',
      lines.flatMap(({ line }) => bankReferences(line)),
    ),
    byAmount: Map.groupBy(await paymentsOfAmounts(database, amounts), ({ amount_minor, currency }) =>
      amountKey(amount_minor, currency),
    ),
  };
}
type LookedUp = 'merchant_reference' | 'payer_account' | 'payer_name' | 'bank_reference';

/** The payments whose references the lines may carry. Those of a line that carries no whole one are tried with a character changed. */
async function byReferences(database: Reader, lines: readonly ReadLine[]): Promise<Payment[]> {
  const rangesOf = (some: readonly ReadLine[]) => some.flatMap(({ evidence }) => evidence.ranges);
  const whole = sortedById(await paymentsInRanges(database, rangesOf(lines)));
  const unnamed = lines.filter((line) => byReferenceOf(line, { inRanges: whole }).length === 0);
  for (const { evidence } of unnamed) evidence.ranges = evidence.nearRanges();
  const near = await paymentsInRanges(database, rangesOf(unnamed));
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
