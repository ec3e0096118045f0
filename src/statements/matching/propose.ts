// Proposes payments for bank lines: gathers what the lines say, looks all of it up at once, and judges each pair.

import { DAY_MS } from '../../lib/time.ts';
import type { PaymentTerms } from '../../payments/pay-by.ts';
import { isDecided, type Payment, sumMinor } from '../../payments/payment.ts';
import { hasLivePayments } from '../../review/queries.ts';
import { restOf } from '../../review/review.ts';
import type { Reader } from '../../store/database.ts';
import {
  MATCH_LEVELS,
  outgoingPair,
  type Pair,
  type Proposal,
  pairOf,
  proposalOf,
  type Surroundings,
} from './judge-line.ts';
import { type BankLine, evidenceOf, isOutgoing, mayMatch } from './line-evidence.ts';
import { debitNamings, lookUp, type Namings, namingsOf, type ReadLine } from './line-payments.ts';
import { rowOf } from './matrix.ts';
import { DIMENSIONS, type MatrixCell } from './matrix-words.ts';
import { takenBackOf } from './taken-back.ts';

/** Proposals of one line that are shown. */
const PROPOSALS_MAXIMUM = 5;

/** What is proposed for a line, the best first. */
export interface LineProposals {
  line: BankLine;
  proposals: Proposal[];
}

/** What the configuration says of matching. Days are compared in the time zone and the bank days that payments are created with. */
export interface MatchSettings extends Pick<PaymentTerms, 'timeZone' | 'calendar'> {
  /** What the bookkeeper writes before references, such as `INV-`. */
  prefixes: readonly string[];
}

export interface ProposeOptions extends MatchSettings {
  /** Milliseconds since 1970. */
  now: number;
  /** The day up to which there are open lines that `lines` does not hold. */
  unseen?: string | undefined;
}

/**
 * Proposes payments for each of `lines`. Lines that cannot be the money of a payment get none: pending ones, reversals, zero. A debit
 * gets the payments that it names, as money that went back. Changes nothing. Throws `DatabaseError`.
 */
export async function propose(
  database: Reader,
  lines: readonly BankLine[],
  how: ProposeOptions,
): Promise<LineProposals[]> {
  const said = (line: BankLine) => ({ line, evidence: evidenceOf(line, how.prefixes) });
  const credits = lines.filter(mayMatch).map(said);
  const outgoing = lines.filter(isOutgoing).map(said);
  const found = await lookUp(database, credits, outgoing);
  const read = credits.map((one) => ({ line: one.line, namings: namingsOf(one, found) }));
  const namings = new Map(read.map((one) => [one.line.id, one.namings]));
  const debits = new Map(outgoing.map((one) => [one.line.id, debitNamings(one, found)]));
  const named = [...debits].flatMap(([id, some]) => (some.some(({ by }) => by !== 'named') ? id : []));
  const around = await surroundingsOf(database, how, read, { outgoing, named });
  return lines.map((line) => {
    const back = debits.get(line.id);
    if (back) {
      const pairs = back.map(({ payment, by }) => outgoingPair(line, payment, by, around(line, payment)));
      return { line, proposals: pairs.slice(0, PROPOSALS_MAXIMUM).map(proposalOf) };
    }
    const pairs = [...(namings.get(line.id)?.values() ?? [])].flatMap(
      ({ payment, naming }) => pairOf(line, payment, naming, around(line, payment)) ?? [],
    );
    return { line, proposals: best(line, withAlike(pairs).map(proposalOf)) };
  });
}

const STRENGTH = Object.keys(DIMENSIONS.by) as MatrixCell['by'][];

/** Pairs of one line: of those with nothing odd, the ones that the same evidence speaks for are alike, if there are several. */
function withAlike(pairs: readonly Pair[]): Pair[] {
  const sound = pairs.filter(({ cell }) => rowOf(cell).kind === 'exact');
  const strongest = STRENGTH.find((by) => sound.some(({ cell }) => cell.by === by));
  const alike = sound.filter(({ cell }) => cell.by === strongest);
  if (alike.length < 2) return [...pairs];
  const count = alike.length === 2 ? 'Two' : alike.length;
  return pairs.map((pair) =>
    alike.includes(pair)
      ? {
          ...pair,
          cell: { ...pair.cell, beside: 'alike' },
          values: { ...pair.values, count: () => String(count) },
        }
      : pair,
  );
}

/** Gathers what counts around each line and payment: other lines, and other payments that the line names. */
async function surroundingsOf(
  database: Reader,
  { now, timeZone, calendar, unseen }: ProposeOptions,
  credits: readonly { line: BankLine; namings: Namings }[],
  debits: { outgoing: readonly ReadLine[]; named: readonly string[] },
): Promise<(line: BankLine, payment: Payment) => Surroundings> {
  const payments = credits.flatMap(({ namings }) => [...namings.values()].map(({ payment }) => payment));
  const hasLive = payments.some(({ mode }) => mode === 'test') && (await hasLivePayments(database));
  const takenBack = takenBackOf(credits, debits, timeZone);
  const carriers = new Map<string, BankLine[]>();
  const named = new Map<string, NamedPayments>();
  for (const { line, namings } of credits) {
    named.set(line.id, namedBy(line, namings));
    for (const [id, { naming }] of namings)
      if (naming.reference?.form === 'whole') carriers.set(id, [...(carriers.get(id) ?? []), line]);
  }
  return (line, payment) => {
    const { id, mode } = payment;
    const rivals = (carriers.get(id) ?? []).filter((one) => one.id !== line.id);
    const { ids, together } = named.get(line.id) ?? NONE_NAMED;
    return {
      ...{ now, timeZone, calendar, unseen },
      takenBack: takenBack(line, payment),
      rivals,
      named: ids.has(id) ? ids.size : 0,
      together: ids.has(id) ? together : undefined,
      isTest: mode === 'test' && hasLive,
    };
  };
}

interface NamedPayments {
  ids: ReadonlySet<string>;
  /** Of several: see `Surroundings`. */
  together: Surroundings['together'];
}
const NONE_NAMED: NamedPayments = { ids: new Set(), together: undefined };

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
  const together = sums.length > 1 ? togetherOf(line, sums) : undefined;
  if (together) return { ids: new Set(sums.map(({ id }) => id)), together };
  const tries = new Set(whole.map(({ merchant_reference }) => merchant_reference));
  const others = byWords.filter(
    ({ amount_minor, merchant_reference }) =>
      whole.length > 0 && amount_minor === line.amount_minor && !tries.has(merchant_reference),
  );
  return { ids: new Set([...whole, ...others].map(({ id }) => id)), together: undefined };
}

/** How the rests of payments come to the amount of a line; undefined if they do not. */
export function togetherOf(
  { amount_minor, chargesMinor = 0 }: Pick<BankLine, 'amount_minor' | 'chargesMinor'>,
  payments: readonly Payment[],
): Surroundings['together'] {
  const over = sumMinor([...payments.map(restOf), -amount_minor]);
  return over === 0 ? 'exact' : over === chargesMinor ? 'charges' : undefined;
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
