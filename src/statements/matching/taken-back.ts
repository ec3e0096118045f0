// Finds the debits that take the money of a credit back, and says what each is known by.

import { namesAgree } from '../../lib/search-terms.ts';
import { dateIn } from '../../lib/time.ts';
import { accountsAgree } from '../../payments/methods/transfer/payer-account.ts';
import type { Payment } from '../../payments/payment.ts';
import { isSettled, returnsOf } from '../../review/review.ts';
import { type BankLine, endToEndOf, type TakenBack } from './line-evidence.ts';
import { byReferenceOf, type Namings, type ReadLine, sortedById } from './line-payments.ts';
import { BACK_BY } from './matrix-words.ts';

/**
 * Looks up the debits that take back the money of a line and a payment, the strongest first. Any amount counts where a debit names the
 * payment or the transfer: a bank keeps a fee, or takes one. `credits` are the lines with the payments that they may be for,
 * `named` the ids of debits that carry the reference of some payment.
 */
export function takenBackOf(
  credits: readonly { line: BankLine; namings: Namings }[],
  { outgoing, named }: { outgoing: readonly ReadLine[]; named: readonly string[] },
  timeZone: string,
): (line: BankLine, payment: Payment) => TakenBack | undefined {
  const found = credits.flatMap(({ namings }) => [...namings.values()].map(({ payment }) => payment));
  const payments = [...new Map(found.map((payment) => [payment.id, payment])).values()];
  const naming = debitsNaming(payments, outgoing);
  const near = [...naming.values()].flat().filter(({ by }) => BY_REFERENCE.has(by));
  const byTransfer = debitsByTransfer(
    credits.map(({ line }) => line),
    outgoing.map(({ line }) => line),
    new Set([...named, ...near.map(({ line }) => line.id)]),
  );
  return (line, payment) => {
    const known = knownReturns(payment);
    const from = [line.day, dateIn(timeZone, payment.created_at)].sort()[0]!;
    // No money goes back before it came: a reference tells the payment whatever the day, an order number or a payer does not.
    const counts = ({ by, line: { id, day } }: TakenBack) =>
      !known.has(id) && (BY_REFERENCE.has(by) || day === '' || day >= from);
    const all = [...(naming.get(payment.id) ?? []), ...byTransfer(line)].filter(counts);
    return STRENGTH.map((by) => all.find((one) => one.by === by)).find((one) => one !== undefined);
  };
}

const STRENGTH = Object.keys(BACK_BY) as TakenBack['by'][];
const BY_REFERENCE: ReadonlySet<TakenBack['by']> = new Set<TakenBack['by']>(['whole', 'cut', 'corrected']);

/** The lines by which money of a payment went back that is known to have arrived: the sum of what is known says all of it. */
const knownReturns = (payment: Payment): ReadonlySet<string | undefined> =>
  new Set(isSettled(payment) ? returnsOf(payment).map(({ line }) => line) : []);

/** The debits that name each of `payments`, by its id. */
function debitsNaming(payments: Payment[], outgoing: readonly ReadLine[]): Map<string, TakenBack[]> {
  const inRanges = sortedById(payments);
  const byId = new Map(inRanges.map((payment) => [payment.id, payment]));
  const byName = Map.groupBy(inRanges, ({ merchant_reference }) => merchant_reference);
  const naming = new Map<string, TakenBack[]>();
  const add = ({ id }: Payment, one: TakenBack) => naming.set(id, [...(naming.get(id) ?? []), one]);
  if (payments.length === 0) return naming;
  for (const { line, evidence } of outgoing) {
    for (const [payment, { form }] of byReferenceOf({ evidence }, { inRanges }))
      add(payment, { by: form, line });
    const byWords = evidence.references.flatMap((one) => byName.get(one) ?? []);
    for (const payment of [...evidence.ids.flatMap((id) => byId.get(id) ?? []), ...byWords])
      add(payment, { by: 'named', line });
  }
  return naming;
}

/**
 * The debits that take back a transfer: by its end-to-end reference, or reversals to its payer of no more than it. A reversal that
 * carries a payment's reference (`elsewhere`), or the end-to-end reference of one of `credits`, takes back that one.
 */
function debitsByTransfer(
  credits: readonly BankLine[],
  debits: readonly BankLine[],
  elsewhere: ReadonlySet<string>,
): (line: BankLine) => readonly TakenBack[] {
  const byEnd = Map.groupBy(debits, endToEndOf);
  const ends = new Set(credits.map(endToEndOf));
  const reversals = debits.filter((line) => {
    const end = endToEndOf(line);
    return line.reversal === 1 && !elsewhere.has(line.id) && (end === undefined || !ends.has(end));
  });
  const found = new Map<string, TakenBack[]>();
  return (credit) => {
    const before = found.get(credit.id);
    if (before) return before;
    const end = endToEndOf(credit);
    const all = [
      ...(end === undefined ? [] : (byEnd.get(end) ?? [])).map((line) => ({ by: 'endToEnd', line }) as const),
      ...reversals
        .filter((line) => line.amount_minor <= credit.amount_minor && line.currency === credit.currency)
        .filter((line) => isSamePayer(line, credit))
        .map((line) => ({ by: 'payer', line }) as const),
    ];
    found.set(credit.id, all);
    return all;
  };
}

/** Whether two lines name one account, or one name where one of them names no account. */
function isSamePayer({ counterparty: to }: BankLine, { counterparty: from }: BankLine): boolean {
  if (to.account !== undefined && from.account !== undefined)
    return accountsAgree(to.account, from.account) === true;
  return to.name !== undefined && from.name !== undefined && namesAgree(to.name, from.name);
}
