// The open lines of the store with what is proposed for each: what is to be looked at, and what is certain.

import { DAY_MS } from '../../lib/time.ts';
import type { Payment } from '../../payments/payment.ts';
import type { Reader } from '../../store/database.ts';
import type { KeptLine } from '../kept.ts';
import { type LinePlace, listLines } from '../line-queries.ts';
import type { Proposal } from './judge-line.ts';
import { type BankLine, bankLine } from './line-evidence.ts';
import { type OlderLines, olderLines } from './older-lines.ts';
import { type LineProposals, type ProposeOptions, propose } from './propose.ts';

/** Open credits that are shown, the newest. Of debits as many. */
export const OPEN_MAXIMUM = 1000;
/** Older lines of each direction that are looked through for rivals of those. */
const OLDER_MAXIMUM = 10_000;

/** A line and the payment that it is certainly for. */
export interface CertainPair {
  line: BankLine;
  payment: Payment;
}

interface OpenOptions {
  /** A line that is looked at with them, however old it is. */
  also?: KeptLine;
  shown?: number;
  older?: number;
}

/**
 * The open credits with their proposals, and the open debits that carry the reference of a payment: the newest day first. Older lines
 * count as others that carry a reference. Throws `DatabaseError`.
 */
export async function openLines(
  database: Reader,
  how: ProposeOptions,
  { also, shown = OPEN_MAXIMUM, older = OLDER_MAXIMUM }: OpenOptions = {},
): Promise<LineProposals[]> {
  const newest = (direction: KeptLine['direction']) =>
    listLines(database, { state: 'open', direction }, undefined, shown);
  const lists = { credit: await newest('credit'), debit: await newest('debit') };
  const rows = [...lists.credit, ...lists.debit];
  if (also && rows.every(({ id }) => id !== also.id)) rows.push(also);
  const place = ({ day, id }: LinePlace) => `${day} ${id}`;
  const lines = rows.sort((a, b) => (place(a) > place(b) ? -1 : 1)).map(bankLine);
  const others: OlderLines[] = [];
  for (const direction of ['credit', 'debit'] as const) {
    const after = lists[direction].at(shown - 1);
    const options = { most: older, prefixes: how.prefixes };
    if (after) others.push(await olderLines(database, lines, direction, { after, ...options }));
  }
  const ids = new Set(rows.map(({ id }) => id));
  const rivals = others.flatMap((one) => one.lines).filter(({ id }) => !ids.has(id));
  const unseen = others
    .flatMap((one) => one.unseen ?? [])
    .sort()
    .at(-1);
  return (await propose(database, [...lines, ...rivals], how))
    .filter(
      ({ line, proposals }) => ids.has(line.id) && (line.direction === 'credit' || proposals.length > 0),
    )
    .map((one) => (unseen === undefined ? one : { ...one, proposals: one.proposals.map(doubt(unseen)) }));
}

/** Makes a certain proposal likely if lines up to the day `unseen` may be for its payment too: these lines were not read. */
const doubt =
  (unseen: string) =>
  (proposal: Proposal): Proposal => {
    const isSure = proposal.payment.created_at >= Date.parse(unseen) + DAY_MS;
    if (isSure || proposal.level !== 'certain') return proposal;
    return {
      ...proposal,
      level: 'likely',
      case: 'unseen',
      sentence: 'Too many lines are open: an older one may carry its reference.',
      act: 'Search for the reference, and accept it if this is the only line.',
    };
  };

/** Those whose payment is certain. */
export function certainPairs(lines: readonly LineProposals[]): CertainPair[] {
  return lines.flatMap(({ line, proposals }) =>
    proposals
      .filter(({ level }) => level === 'certain')
      .slice(0, 1)
      .map(({ payment }) => ({ line, payment })),
  );
}
