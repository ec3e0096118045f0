// Proposes payments for bank lines: gathers what the lines say, looks all of it up at once, and judges each pair.
import type { Reader } from '../database/database.ts';
import { DAY_MS } from '../lib/time.ts';
import { creditorReference, qrReference, shortReference } from '../methods/transfer/creditor-reference.ts';
import type { Payment } from '../payments/payment.ts';
import { findPayments } from '../payments/queries.ts';
import type { KeptLine } from '../statements/kept.ts';
import { linesOfPayments } from '../statements/line-queries.ts';
import { paymentsInRanges, paymentsOfAmounts, paymentsWith } from './candidate-queries.ts';
import { judgeLine, MATCH_LEVELS, type Naming, type Proposal } from './judge-line.ts';
import {
  type BankLine,
  evidenceOf,
  type LineEvidence,
  mayMatch,
  type ReferenceRange,
} from './line-evidence.ts';

/** Proposals of one line that are shown. */
const PROPOSALS_MAXIMUM = 5;
/** Payments whose lines one statement asks for. */
const AT_ONCE = 500;

/** What is proposed for a line, the best first. */
export interface LineProposals {
  line: BankLine;
  proposals: Proposal[];
}

export interface ProposeOptions {
  /** Milliseconds since 1970. */
  now: number;
  /** What the bookkeeper writes before references, such as `INV-`. */
  prefixes?: readonly string[];
}

type Evidence = { line: BankLine; evidence: LineEvidence };
/** A line's payments by id, and how it names each. */
type Namings = Map<string, { payment: Payment; naming: Naming }>;

/**
 * Proposes payments for each of `lines`. Lines that cannot be the money of a payment get none: debits, pending ones, reversals, zero.
 * Changes nothing. Throws `DatabaseError`.
 */
export async function propose(
  database: Reader,
  lines: readonly BankLine[],
  { now, prefixes }: ProposeOptions,
): Promise<LineProposals[]> {
  const open = lines.filter(mayMatch).map((line) => ({ line, evidence: evidenceOf(line, prefixes) }));
  const found = await lookUp(database, open);
  const namings = new Map(open.map((one) => [one.line.id, namingsOf(one, found)]));
  const ids = [...new Set([...namings.values()].flatMap((one) => [...one.keys()]))];
  const matched = Map.groupBy(await matchedLines(database, ids), ({ payment_id }) => payment_id!);
  const carriers = new Map<string, number>();
  for (const one of namings.values())
    for (const [id, { naming }] of one)
      if (naming.reference?.form === 'whole') carriers.set(id, (carriers.get(id) ?? 0) + 1);

  return lines.map((line) => {
    const candidates = namings.get(line.id);
    if (!candidates) return { line, proposals: [] };
    const together = togetherOf(line, candidates);
    const proposals = [...candidates.values()].flatMap(({ payment, naming }) => {
      const other = matched.get(payment.id)?.find(({ id }) => id !== line.id);
      const isCarrier = naming.reference?.form === 'whole';
      const rivals = (carriers.get(payment.id) ?? 0) - (isCarrier ? 1 : 0);
      const surroundings = {
        now,
        matchedOn: other?.day,
        rivals: isCarrier || naming.reference ? Math.max(0, rivals) : 0,
        together: together.has(payment.id) ? together.size : 0,
      };
      return judgeLine(line, payment, naming, surroundings) ?? [];
    });
    return { line, proposals: best(line, proposals) };
  });
}

/** What was looked up, by what it was looked up by. */
interface Found {
  byId: Map<string, Payment>;
  byReference: Map<string, Payment[]>;
  byAccount: Map<string, Payment[]>;
  byName: Map<string, Payment[]>;
  byAmount: Map<string, Payment[]>;
  /** Those whose ids lie in ranges, in the order of their ids. */
  inRanges: Payment[];
}

const amountKey = (minor: number, currency: string) => `${minor} ${currency}`;

async function lookUp(database: Reader, lines: readonly Evidence[]): Promise<Found> {
  const all = <T>(of: (one: LineEvidence) => readonly T[]) => lines.flatMap(({ evidence }) => of(evidence));
  const amounts = lines.map(({ line }) => ({ minor: line.amount_minor, currency: line.currency }));
  const named = [...new Set(all(({ ids }) => ids))];
  const inRanges = await byReferences(database, lines);
  const byReference = await paymentsWith(
    database,
    'merchant_reference',
    all(({ references }) => references),
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
  return {
    byId: new Map(
      (named.length > 0 ? await findPayments(database, named) : []).map((payment) => [payment.id, payment]),
    ),
    inRanges,
    byReference: Map.groupBy(byReference, ({ merchant_reference }) => merchant_reference!),
    byAccount: Map.groupBy(byAccount, ({ payer_account }) => payer_account!),
    byName: Map.groupBy(byName, ({ payer_name }) => payer_name!),
    byAmount: Map.groupBy(byAmount, ({ amount_minor, currency }) => amountKey(amount_minor, currency)),
  };
}

/** The payments whose references the lines may carry. Those of a line that carries no whole one are tried with a character changed. */
async function byReferences(database: Reader, lines: readonly Evidence[]): Promise<Payment[]> {
  const whole = sortedById(
    await paymentsInRanges(
      database,
      lines.flatMap(({ evidence }) => evidence.ranges),
    ),
  );
  const unnamed = lines.filter(
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

const sortedById = (payments: Payment[]) => payments.sort((a, b) => (a.id < b.id ? -1 : 1));

/** The payments that a line may be for, and how it names each. */
function namingsOf({ line, evidence }: Evidence, found: Found): Namings {
  const namings: Namings = new Map();
  const add = (payment: Payment, naming: Naming) => {
    const before = namings.get(payment.id)?.naming ?? {};
    namings.set(payment.id, { payment, naming: { ...naming, ...before } });
  };
  for (const range of evidence.ranges)
    for (const payment of within(found.inRanges, range))
      if (hasReference(payment, range)) add(payment, { reference: range });
  for (const id of evidence.ids) {
    const payment = found.byId.get(id);
    if (payment) add(payment, { named: id });
  }
  for (const reference of evidence.references)
    for (const payment of found.byReference.get(reference) ?? []) add(payment, { named: reference });
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

/** The payments that a line names and whose amounts come to its own; none if it names fewer than two. */
function togetherOf(line: BankLine, namings: Namings): ReadonlySet<string> {
  const named = [...namings.values()].filter(
    ({ naming }) => naming.reference?.form === 'whole' || naming.named !== undefined,
  );
  const open = named.filter(({ payment }) => payment.currency === line.currency);
  const sum = open.reduce((all, { payment }) => all + payment.amount_minor, 0);
  return new Set(open.length > 1 && sum === line.amount_minor ? open.map(({ payment }) => payment.id) : []);
}

/** The best first. What merely has the same amount is left out beside what the line names. */
function best({ day }: BankLine, proposals: readonly Proposal[]): Proposal[] {
  const end = Date.parse(day) + DAY_MS;
  const rank = ({ level, facts, payment }: Proposal) => [
    MATCH_LEVELS.indexOf(level),
    payment.created_at > end ? 1 : 0,
    -facts.filter(({ kind }) => kind !== 'day').length,
    payment.status === 'requires_review' ? 0 : 1,
  ];
  const ranked = proposals.map((proposal) => ({ proposal, rank: rank(proposal) }));
  ranked.sort((a, b) => {
    const difference = a.rank.map((value, i) => value - b.rank[i]!).find((value) => value !== 0);
    return difference ?? (a.proposal.payment.id < b.proposal.payment.id ? 1 : -1);
  });
  const sorted = ranked.map(({ proposal }) => proposal);
  const named = sorted.filter(({ facts }) =>
    facts.some(({ kind }) => kind === 'reference' || kind === 'named'),
  );
  const isByReference = named.some(({ facts }) => facts.some(({ kind }) => kind === 'reference'));
  return (isByReference ? named : sorted).slice(0, PROPOSALS_MAXIMUM);
}

async function matchedLines(database: Reader, ids: readonly string[]): Promise<KeptLine[]> {
  const found: KeptLine[] = [];
  for (let i = 0; i < ids.length; i += AT_ONCE)
    found.push(...(await linesOfPayments(database, ids.slice(i, i + AT_ONCE))));
  return found;
}
