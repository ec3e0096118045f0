// The open lines of the store with what is proposed for each: what is to be looked at, and what is certain.

import type { Payment } from '../../payments/payment.ts';
import type { Reader } from '../../store/database.ts';
import type { KeptLine } from '../kept.ts';
import { type LinePlace, listLines } from '../line-queries.ts';
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

/** Where a line stands in the list, which goes down. */
export const placeInList = ({ day, id }: LinePlace): string => `${day} ${id}`;

interface OpenOptions {
  /** Lines that are looked at with them, however old they are. */
  also?: readonly KeptLine[];
  shown?: number;
  older?: number;
}

/**
 * The open credits with their proposals, and the open debits that carry the reference of a payment: the newest day first. Older lines, and
 * debits whatever became of them, count as others that carry a reference. Throws `DatabaseError`.
 */
export async function openLines(
  database: Reader,
  how: ProposeOptions,
  { also = [], shown = OPEN_MAXIMUM, older = OLDER_MAXIMUM }: OpenOptions = {},
): Promise<LineProposals[]> {
  const newest = (direction: KeptLine['direction']) =>
    listLines(database, { state: 'open', direction }, undefined, shown);
  const credits = await newest('credit');
  const rows = new Map([...credits, ...(await newest('debit')), ...also].map((row) => [row.id, row]));
  const lines = [...rows.values()].sort((a, b) => (placeInList(a) > placeInList(b) ? -1 : 1)).map(bankLine);
  const after = credits.at(shown - 1);
  const options = { direction: 'credit' as const, after, most: older, prefixes: how.prefixes };
  const behind = after && (await olderLines(database, lines, options));
  return (await proposeBeside(database, lines, how, { behind, older })).filter(
    ({ line, proposals }) => line.direction === 'credit' || proposals.length > 0,
  );
}

/** Proposals for lines, held against the debits of the store that carry their references, and against lines `behind` them. */
export async function proposeBeside(
  database: Reader,
  lines: readonly BankLine[],
  how: ProposeOptions,
  { behind, older = OLDER_MAXIMUM }: { behind?: OlderLines | undefined; older?: number } = {},
): Promise<LineProposals[]> {
  const out = await olderLines(database, lines, {
    ...{ direction: 'debit', after: undefined, most: older, prefixes: how.prefixes },
  });
  const ids = new Set(lines.map(({ id }) => id));
  const others = [...(behind?.lines ?? []), ...out.lines].filter(({ id }) => !ids.has(id));
  const unseen = [behind?.unseen, out.unseen]
    .filter((day) => day !== undefined)
    .sort()
    .at(-1);
  return (await propose(database, [...lines, ...others], { ...how, unseen })).slice(0, lines.length);
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
