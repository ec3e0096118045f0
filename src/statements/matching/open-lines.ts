// The open lines of the store with what is proposed for each, held against older lines that carry the reference of a shown one.

import { timeOrderedFloor } from '../../lib/ids.ts';
import { DAY_MS } from '../../lib/time.ts';
import {
  asReference,
  creditorReference,
  qrReference,
} from '../../payments/methods/transfer/creditor-reference.ts';
import { PAYMENT_ID_PREFIX, type Payment } from '../../payments/payment.ts';
import { paymentsInRanges } from '../../review/queries.ts';
import type { Reader } from '../../store/database.ts';
import type { KeptLine } from '../kept.ts';
import { type LinePlace, listLines } from '../line-queries.ts';
import { type BankLine, bankLine, endToEndOf, mayMatch, referencesOn, wordsOn } from './line-evidence.ts';
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

const PAGE = 500;
/** Characters of a payment's id that tell when it was created. Its references in letters hold them, in upper case. */
const TIME_CHARACTERS = 10;
/** Characters of the two pieces of a reference in letters, behind its check digits, and of one in digits. */
const LETTERS = 7;
const DIGITS = 13;

interface OlderLines {
  lines: BankLine[];
  /** The day (YYYY-MM-DD) up to which there are lines that were not looked at; undefined if all were. */
  unseen: string | undefined;
}

interface Among {
  /** `open` credits; debits in whatever state, because what went back counts whatever became of its line. */
  direction: KeptLine['direction'];
  /** Where to begin; undefined: with the newest. */
  after: LinePlace | undefined;
  most: number;
  prefixes: readonly string[] | undefined;
}

/**
 * The lines behind `after` that carry a reference of one of `shown`. Of debits those that may carry a piece of one, name such a payment,
 * are reversals or have an end-to-end reference of `shown`.
 * Stops at the day on which the first of these payments was created, for no money comes before, with debits at the day of the
 * first of `shown`, and after `most` lines. Throws `DatabaseError`.
 */
async function olderLines(
  database: Reader,
  shown: readonly BankLine[],
  { direction, after, most, prefixes }: Among,
): Promise<OlderLines> {
  const credits = shown.filter(mayMatch);
  const ranges = credits.flatMap((line) => referencesOn(line, prefixes));
  const ids = new Set(ranges.map(({ low }) => low));
  const times = new Set([...ids].map((low) => low.slice(PAYMENT_ID_PREFIX.length).toUpperCase()));
  const lines: BankLine[] = [];
  const isOut = direction === 'debit';
  if (isOut ? credits.length === 0 : ids.size === 0) return { lines, unseen: undefined };
  const takesOut = isOut
    ? mayTakeBack(credits, await paymentsInRanges(database, ranges), prefixes)
    : undefined;
  const first = [...ids].reduce((one, other) => (one < other ? one : other), '~');
  const firstDay = credits.reduce((one, { day }) => (day === '' || one < day ? one : day), '~');
  const isBefore = ({ day }: LinePlace) =>
    timeOrderedFloor(PAYMENT_ID_PREFIX, (Date.parse(day) || 0) + 2 * DAY_MS) < first &&
    (!isOut || day < firstDay);
  const counts = (line: BankLine) =>
    takesOut?.(line) ??
    (mayCarry(line, times, TIME_CHARACTERS) && referencesOn(line, prefixes).some(({ low }) => ids.has(low)));
  const filter = !isOut ? { state: 'open' as const, direction } : { direction };
  let place = after;
  for (let looked = 0; looked < most; looked += PAGE) {
    const limit = Math.min(PAGE, most - looked);
    const page = await listLines(database, filter, place, limit);
    lines.push(
      ...page
        .filter(({ state }) => state !== 'replaced' && state !== 'undone')
        .map(bankLine)
        .filter(counts),
    );
    if (page.length < limit || isBefore(page.at(-1)!)) return { lines, unseen: undefined };
    place = page.at(-1)!;
    // SQLite answers without ever waiting: others get their turn between two pages.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { lines, unseen: place?.day };
}

/** Whether a debit may take back one of `credits`, which carry the references of `payments`. */
function mayTakeBack(
  credits: readonly BankLine[],
  payments: readonly Payment[],
  prefixes: readonly string[] | undefined,
): (debit: BankLine) => boolean {
  const ends = new Set(credits.flatMap((line) => endToEndOf(line) ?? []));
  const names = new Set<string | null>(payments.map(({ merchant_reference }) => merchant_reference));
  // A reference that was cut, or is wrong in one character, has one of two pieces of the whole.
  const pieces = (of: (payment: Payment) => string, from: number, length: number) =>
    new Set(payments.map(of).flatMap((text) => [text.slice(from, from + length), text.slice(-length)]));
  const letters = pieces(creditorReference, 4, LETTERS);
  const digits = pieces(qrReference, 0, DIGITS);
  return (debit) =>
    debit.reversal === 1 ||
    ends.has(endToEndOf(debit) ?? '') ||
    mayCarry(debit, letters, LETTERS) ||
    mayCarry(debit, digits, DIGITS) ||
    wordsOn(debit, prefixes).some((word) => names.has(word));
}

/** Whether one of `pieces`, of `length` characters of references, may stand on a line; a reference in digits may be anyone's. */
function mayCarry({ references, text }: BankLine, pieces: ReadonlySet<string>, length: number): boolean {
  const written = asReference([...Object.values(references), text].join(' ')).replaceAll(/[^0-9A-Z]/g, '');
  if (/\d{27}/.test(written)) return true;
  for (let at = 0; at + length <= written.length; at++)
    if (pieces.has(written.slice(at, at + length))) return true;
  return false;
}
