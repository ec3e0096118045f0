// The open credits of the store with what is proposed for each: what is to be looked at, and what is certain.
import type { Reader } from '../database/database.ts';
import type { Payment } from '../payments/payment.ts';
import { listLines } from '../statements/line-queries.ts';
import { type BankLine, bankLine } from './line-evidence.ts';
import { type LineProposals, propose } from './propose.ts';

/** Open credits that are looked at together, the newest: each may be the rival of another. */
export const OPEN_MAXIMUM = 1000;

/** A line and the payment that it is certainly for. */
export interface CertainPair {
  line: BankLine;
  payment: Payment;
}

/** The open credits at `now` (milliseconds since 1970), the newest day first, with their proposals. Throws `DatabaseError`. */
export async function openCredits(database: Reader, now: number): Promise<LineProposals[]> {
  const filter = { state: 'open', direction: 'credit' } as const;
  const rows = await listLines(database, filter, undefined, OPEN_MAXIMUM);
  return propose(database, rows.map(bankLine), { now });
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
