// Proposes payments for bank lines: gathers what the lines say, looks all of it up at once, and judges each pair.

import { formatAmount } from '../../lib/money.ts';
import { DAY_MS } from '../../lib/time.ts';
import { asOf, isDecided, type Payment } from '../../payments/payment.ts';
import { hasLivePayments } from '../../review/candidate-queries.ts';
import type { Reader } from '../../store/database.ts';
import type { KeptLine } from '../kept.ts';
import { linesOfPayments } from '../line-queries.ts';
import { judgeLine, MATCH_LEVELS, type Proposal, type Surroundings } from './judge-line.ts';
import { type BankLine, evidenceOf, isOutgoing, mayMatch } from './line-evidence.ts';
import { byReferenceOf, lookUp, type Namings, namingsOf } from './line-payments.ts';

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

/**
 * Proposes payments for each of `lines`. Lines that cannot be the money of a payment get none: pending ones, reversals, zero. A debit
 * gets the payment whose whole reference it carries, as money that was taken back. Changes nothing. Throws `DatabaseError`.
 */
export async function propose(
  database: Reader,
  lines: readonly BankLine[],
  { now, prefixes }: ProposeOptions,
): Promise<LineProposals[]> {
  const said = (line: BankLine) => ({ line, evidence: evidenceOf(line, prefixes) });
  const credits = lines.filter(mayMatch).map(said);
  const outgoing = lines.filter(isOutgoing).map(said);
  const found = await lookUp(database, credits, outgoing);
  const read = credits.map((one) => ({ line: one.line, namings: namingsOf(one, found) }));
  const namings = new Map(read.map((one) => [one.line.id, one.namings]));
  const out = outgoing.flatMap((one) =>
    byReferenceOf(one, found).map(([payment]) => ({ line: one.line, payment })),
  );
  const around = await surroundingsOf(database, now, read, out);
  return lines.map((line) => {
    const proposals = [...(namings.get(line.id)?.values() ?? [])].flatMap(
      ({ payment, naming }) => judgeLine(line, payment, naming, around(line, payment)) ?? [],
    );
    const back = out.filter((one) => one.line === line).map(({ payment }) => takenBack(line, payment, now));
    return { line, proposals: back.length > 0 ? back : best(line, proposals) };
  });
}

type Outgoing = { line: BankLine; payment: Payment };

/** Gathers what counts around each line and payment: other lines, and other payments that the line names. */
async function surroundingsOf(
  database: Reader,
  now: number,
  credits: readonly { line: BankLine; namings: Namings }[],
  outgoing: readonly Outgoing[],
): Promise<(line: BankLine, payment: Payment) => Surroundings> {
  const payments = credits.flatMap(({ namings }) => [...namings.values()].map(({ payment }) => payment));
  const ids = [...new Set(payments.map(({ id }) => id))];
  const matched = Map.groupBy(await matchedLines(database, ids), ({ payment_id }) => payment_id!);
  const hasLive = payments.some(({ mode }) => mode === 'test') && (await hasLivePayments(database));
  const out = new Map(outgoing.map(({ line, payment }) => [payment.id, line.day]));
  const carriers = new Map<string, BankLine[]>();
  const named = new Map<string, NamedPayments>();
  for (const { line, namings } of credits) {
    named.set(line.id, namedBy(line, namings));
    for (const [id, { naming }] of namings)
      if (naming.reference?.form === 'whole') carriers.set(id, [...(carriers.get(id) ?? []), line]);
  }
  return (line, { id, mode }) => {
    const others = (matched.get(id) ?? []).filter((one) => one.id !== line.id);
    const rivals = (carriers.get(id) ?? []).filter((one) => one.id !== line.id);
    const { ids, isSum } = named.get(line.id)!;
    return {
      now,
      matched: others.length > 0 ? { day: others.at(-1)!.day, minor: sumOf(others) } : undefined,
      takenBackOn: out.get(id),
      rivals: { count: rivals.length, minor: sumOf(rivals) },
      named: ids.has(id) ? ids.size : 0,
      together: isSum && ids.has(id),
      isTest: mode === 'test' && hasLive,
    };
  };
}

const sumOf = (some: readonly Pick<KeptLine, 'amount_minor'>[]) =>
  some.reduce((sum, { amount_minor }) => sum + amount_minor, 0);

interface NamedPayments {
  ids: ReadonlySet<string>;
  /** Whether there are several whose amounts come to the line's. */
  isSum: boolean;
}

/**
 * The payments that a line names. Of those whose merchant's reference it names, only an open one of exactly its amount counts beside one
 * whose transfer reference it carries: words are alike by chance, and an order may have been paid in a second try.
 */
function namedBy(line: BankLine, namings: Namings): NamedPayments {
  const undecided = (payment: Payment) => !isDecided(payment);
  const all = [...namings.values()];
  const whole = all.filter(({ naming }) => naming.reference?.form === 'whole').map(({ payment }) => payment);
  const byWords = all
    .filter(({ naming }) => naming.reference?.form !== 'whole' && naming.named !== undefined)
    .map(({ payment }) => payment)
    .filter((payment) => undecided(payment) && payment.currency === line.currency);
  const sums = [...whole.filter(undecided), ...byWords].filter(({ currency }) => currency === line.currency);
  if (sums.length > 1 && sumOf(sums) === line.amount_minor)
    return { ids: new Set(sums.map(({ id }) => id)), isSum: true };
  const tries = new Set(whole.map(({ merchant_reference }) => merchant_reference));
  const others = byWords.filter(
    ({ amount_minor, merchant_reference }) =>
      whole.length > 0 && amount_minor === line.amount_minor && !tries.has(merchant_reference),
  );
  return { ids: new Set([...whole, ...others].map(({ id }) => id)), isSum: false };
}

/** A debit that carries the reference of a payment: it is the money of none, and its payment may have lost its own. */
function takenBack(line: BankLine, stored: Payment, now: number): Proposal {
  const money = `${line.currency} ${formatAmount(line.amount_minor)}`;
  return {
    payment: asOf(stored, now),
    level: 'possible',
    case: 'taken_back',
    sentence: `${money} went out with the reference of this payment.`,
    act: 'If you did not return it yourself, tell the merchant. Then ignore the line with a reason.',
    facts: [],
  };
}

/** The best first. What merely has the same amount is left out beside what the line names. */
function best({ day }: BankLine, proposals: readonly Proposal[]): Proposal[] {
  const end = Date.parse(day) + DAY_MS;
  const rank = ({ level, case: kind, facts, payment }: Proposal) => [
    MATCH_LEVELS.indexOf(level),
    kind === 'two_lines' ? 1 : 0,
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
  // The payments that one transfer is for are proposed together.
  return (isByReference ? named : sorted).filter(
    ({ case: kind }, place) => kind === 'several' || place < PROPOSALS_MAXIMUM,
  );
}

async function matchedLines(database: Reader, ids: readonly string[]): Promise<KeptLine[]> {
  const found: KeptLine[] = [];
  for (let i = 0; i < ids.length; i += AT_ONCE)
    found.push(...(await linesOfPayments(database, ids.slice(i, i + AT_ONCE))));
  return found;
}
