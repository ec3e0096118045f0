// The open lines of the store with what is proposed for each: what is to be looked at, and what is certain.
import type { Reader } from '../database/database.ts';
import type { Payment } from '../payments/payment.ts';
import { type LinePlace, listLines } from '../statements/line-queries.ts';
import { type BankLine, bankLine } from './line-evidence.ts';
import { type LineProposals, type ProposeOptions, propose } from './propose.ts';

/** Open credits that are looked at together, the newest: each may be the rival of another. Of debits as many. */
export const OPEN_MAXIMUM = 1000;

/** A line and the payment that it is certainly for. */
export interface CertainPair {
  line: BankLine;
  payment: Payment;
}

/**
 * The open credits with their proposals, and the open debits that carry the reference of a payment: the
 * newest day first. Throws `DatabaseError`.
 */
export async function openLines(database: Reader, how: ProposeOptions): Promise<LineProposals[]> {
  const newest = (direction: 'credit' | 'debit') =>
    listLines(database, { state: 'open', direction }, undefined, OPEN_MAXIMUM);
  const rows = [...(await newest('credit')), ...(await newest('debit'))];
  const place = ({ day, id }: LinePlace) => `${day} ${id}`;
  const lines = rows.sort((a, b) => (place(a) > place(b) ? -1 : 1)).map(bankLine);
  return (await propose(database, lines, how)).filter(
    ({ line, proposals }) => line.direction === 'credit' || proposals.length > 0,
  );
}

/** Those whose payment is certain. */
export function certainPairs(lines: readonly LineProposals[]): CertainPair[] {
  return lines.flatMap(({ line, proposals }) =>
    proposals
      .filter(({ level }) => level === 'certain')
      .slice(0, 1)
      .map(({ payment }) => ({ line, payment })),
  );
}
