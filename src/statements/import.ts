// Imports statements: what the store knows already is left as it is, everything else becomes rows with entries.

import { hasThousandths, type Statement, type StatementFault, type StatementLine } from '#bank-statements';
import { type Act, newSalt } from '../journal/audit-entry.ts';
import { recordNewRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { isOfText, timeOrderedId, timeOrderedIdOf } from '../lib/ids.ts';
import { ENGLISH, phrase, type Say } from '../lib/phrases.ts';
import { sha256Hex } from '../lib/secrets.ts';
import { sumMinor } from '../payments/payment.ts';
import { bookedBetween, closingBeside } from './balance-queries.ts';
import { STATEMENT_ID_PREFIX, STATEMENTS, signedText } from './kept.ts';
import { changeLines, KnownLines, type LineChange } from './known-lines.ts';
import { findStatementByDigest } from './line-queries.ts';
import { LINES_AT_ONCE, type LineParts, linePartsOf, type ToldLines, toldLines } from './told-lines.ts';

/** A statement of one of our accounts, which is kept under the name `own`. */
export interface OwnStatement {
  own: string;
  statement: Statement;
  /** What is told of its lines, if it does not hold them; and which statement of its file it is. */
  told?: ToldLines;
  place?: number;
}

/** A statement of which the number of lines and their digest are known. */
type ToldStatement = OwnStatement & { told: ToldLines };

const withTold = (one: OwnStatement): ToldStatement => ({
  ...one,
  told: one.told ?? toldLines(one.statement),
});
export const lineCount = ({ statement, told }: OwnStatement): number =>
  told?.overview.lines ?? statement.lines.length;

/** What an import of a statement came to. `id` is null if the statement was imported before. */
export interface Imported {
  id: string | null;
  account: string;
  statement: Statement;
  /** Lines that are new. */
  added: number;
  /** Lines that were known as pending and are booked now. */
  booked: number;
  /** Lines that were known. */
  known: number;
  /** The places of all lines that are not new, from 0. */
  knownAt: readonly number[];
  /** What is missing, if nothing is new though the balance moved otherwise than the known lines do. */
  missing?: string | undefined;
}

/** What came of a statement, in words: `58 new lines, 2 lines known before`. */
export function importedText(
  { id, added, booked, known }: Pick<Imported, 'id' | 'added' | 'booked' | 'known'>,
  say: Say = ENGLISH,
): string {
  if (id === null) return say`imported before`;
  const counts = [
    say.count(added, '{n} new line', '{n} new lines'),
    booked > 0 && say.count(booked, '{n} line booked by now', '{n} lines booked by now'),
    known > 0 && say.count(known, '{n} line known before', '{n} lines known before'),
  ];
  return counts.filter(Boolean).join(', ');
}

/**
 * Imports the statements of one file. A line is known again by its fingerprint. A pending line is booked by the line that follows. An
 * entry that is known whole is replaced by its transactions while it is open. Throws `conflict` if
 * a reviewer changes one of these lines at the same moment, and `DatabaseError` with `conflict` if another node imports the same money.
 */
export async function importStatements(
  transaction: Transaction,
  statements: readonly OwnStatement[],
  act: Act,
): Promise<Imported[]> {
  const accounts = new Map<string, KnownLines>();
  const imported: Imported[] = [];
  for (const one of statements.map(withTold)) {
    const lines = accounts.get(one.own) ?? new KnownLines(transaction, one.own, act);
    accounts.set(one.own, lines);
    imported.push(await importOne(transaction, lines, one, act));
  }
  for (const lines of accounts.values()) lines.insert();
  return imported;
}

/** Lines that are known and change, such as pending ones that are booked: the last commit changes them all. */
const CHANGES_MAXIMUM = 5000;

/** What hears of an import in several commits. */
export interface ImportTurns {
  /** Called in each commit, with the lines that stand by then, of how many. They are not seen yet. */
  onTurn?(transaction: Transaction, done: number, of: number): void;
  /** Waits between two commits. */
  rest?(): Promise<void>;
}

/**
 * Imports the statements of a file in one commit, or in several if they are large, so that others get their turn in between. Lines are
 * seen once their statement stands, and that is added by the last commit, with everything that changes in lines known before. So an
 * import that ends in between is seen nowhere; the same file again goes on where it ended. `parts` are the lines of statements that do not
 * hold theirs. Throws as `importStatements` and `Journal.commit` do.
 */
export async function importInTurns(
  commit: <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>,
  { statements, parts }: { statements: readonly OwnStatement[]; parts?: LineParts | undefined },
  act: Act,
  { onTurn, rest }: ImportTurns = {},
): Promise<Imported[]> {
  const of = statements.reduce((sum, one) => sum + lineCount(one), 0);
  if (!parts && of <= LINES_AT_ONCE) {
    return commit(async (transaction) => {
      const imported = await importStatements(transaction, statements, act);
      onTurn?.(transaction, of, of);
      return imported;
    });
  }
  const placed = statements.map((one, i) => ({ ...withTold(one), place: one.place ?? i }));
  const arrived = new Map(placed.map((one) => [one.place, newlyArrived(one)]));
  let before = 0;
  for await (const { place, lines } of parts?.() ?? linePartsOf(placed)) {
    const one = arrived.get(place);
    if (!one) continue;
    const done = before + lines.length;
    await linesArrive(commit, one, lines, act, (transaction) => onTurn?.(transaction, done, of));
    before = done;
    await rest?.();
  }
  return commit(async (transaction) => {
    const imported = await statementsArrive(transaction, [...arrived.values()], act);
    onTurn?.(transaction, of, of);
    return imported;
  });
}

/** A statement whose lines stand already, and what is still to be changed with it. */
interface Arrived extends ToldStatement {
  /** Undefined for one that was imported before, and before its first lines. */
  id: string | undefined;
  isKnown: boolean;
  digest: string;
  /** Lines that stand by now. */
  count: number;
  taken: Taken;
  changes: LineChange[];
}

const newlyArrived = (one: ToldStatement): Arrived => ({
  ...{ ...one, digest: digestOf(one), id: undefined, isKnown: false },
  ...{ count: 0, taken: noneTaken(), changes: [] },
});

/** Commits some lines of a statement. */
async function linesArrive(
  commit: <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>,
  arrived: Arrived,
  lines: StatementLine[],
  act: Act,
  onTurn: (transaction: Transaction) => void,
): Promise<void> {
  const { own, statement, digest } = arrived;
  if (arrived.isKnown) return;
  // A work may run again, so what it counts is counted once it is committed.
  const done = await commit(async (transaction) => {
    if (await findStatementByDigest(transaction, digest)) return undefined;
    const changes: LineChange[] = [];
    const known = new KnownLines(transaction, own, act, changes);
    const id = arrived.id ?? timeOrderedIdOf(STATEMENT_ID_PREFIX, transaction.now, digest);
    const taken = await known.take(id, { ...statement, lines }, (other) => isOfText(other, digest));
    known.insert();
    onTurn(transaction);
    return { id: taken.statementId, taken, changes };
  });
  if (!done) {
    Object.assign(arrived, { id: undefined, isKnown: true, taken: allKnown(arrived), changes: [] });
    return;
  }
  arrived.id = done.id;
  addTaken(arrived.taken, done.taken, arrived.count);
  arrived.count += lines.length;
  arrived.changes.push(...done.changes);
  if (arrived.changes.length > CHANGES_MAXIMUM)
    throw new OperationalError(
      'conflict',
      phrase('More than 5,000 lines that are known would change. Import the file in parts.'),
    );
}

const noneTaken = (): Taken => ({ added: 0, booked: 0, known: 0, knownAt: [] });

function addTaken(sum: Taken, { added, booked, known, knownAt }: Taken, from: number): void {
  sum.added += added;
  sum.booked += booked;
  sum.known += known;
  for (const place of knownAt) sum.knownAt.push(from + place);
}

/** Makes lines that arrived be seen: changes what is known otherwise, and adds the statements. */
async function statementsArrive(
  transaction: Transaction,
  arrived: readonly Arrived[],
  act: Act,
): Promise<Imported[]> {
  const imported: Imported[] = [];
  const isNothingNew = arrived.every(({ taken }) => taken.added + taken.booked === 0);
  for (const one of arrived) {
    const { own, statement, digest, taken, changes, isKnown } = one;
    // A statement without lines arrives here alone.
    const id = one.id ?? timeOrderedIdOf(STATEMENT_ID_PREFIX, transaction.now, digest);
    const before = isKnown ? undefined : await findStatementByDigest(transaction, digest);
    if (isKnown || before) {
      // A commit whose outcome was unknown is done again.
      const isOurs = before !== undefined && before.id === id;
      imported.push({
        account: own,
        statement,
        ...(isOurs ? { id, ...taken } : { id: null, ...allKnown(one) }),
      });
      continue;
    }
    await changeLines(transaction, changes, act);
    await addStatement(transaction, { ...one, id }, taken, act);
    const missing = isNothingNew ? await missingIn(transaction, one) : undefined;
    imported.push({ id, account: own, statement, ...taken, missing });
  }
  return imported;
}

/** What a statement came to. */
interface Taken extends Pick<Imported, 'added' | 'booked' | 'known'> {
  knownAt: number[];
}

const allKnown = (one: OwnStatement): Taken => ({
  ...{ added: 0, booked: 0, known: lineCount(one) },
  knownAt: Array.from({ length: lineCount(one) }, (_, place) => place),
});

async function importOne(
  transaction: Transaction,
  lines: KnownLines,
  one: ToldStatement,
  act: Act,
): Promise<Imported> {
  const { own, statement } = one;
  const digest = digestOf(one);
  const before = await findStatementByDigest(transaction, digest);
  const id = timeOrderedId(STATEMENT_ID_PREFIX, transaction.now);
  const taken = before ? allKnown(one) : await lines.take(id, statement);
  if (!before && !lines.digests.has(digest)) {
    lines.digests.add(digest);
    await addStatement(transaction, { ...one, id, digest }, taken, act);
  }
  const isNothingNew = !before && taken.added === 0 && taken.booked === 0 && !lines.hasNew;
  const missing = isNothingNew ? await missingIn(transaction, one) : undefined;
  return { id: before ? null : id, account: own, statement, ...taken, missing };
}

/** Adds the row of a statement, whose lines stand by now. */
async function addStatement(
  transaction: Transaction,
  { id, own, statement, told, digest }: ToldStatement & { id: string; digest: string },
  { added, booked, known }: Taken,
  act: Act,
): Promise<void> {
  const { account, format, file, number, from, to, opening, closing, faults, notes = [] } = statement;
  const doubts = [...faults, ...notes.filter(({ warning }) => warning)];
  const row = {
    id,
    account: own,
    currency: account.currency ?? closing?.currency ?? told.first?.currency ?? null,
    format,
    file,
    number: number ?? null,
    first_day: from ?? null,
    last_day: closing?.day ?? to ?? null,
    opening_minor: opening?.minor ?? null,
    closing_minor: closing?.minor ?? null,
    lines: told.overview.lines,
    faults: doubts.length > 0 ? JSON.stringify(doubts.map(withoutQuotes)) : null,
    digest,
    salt: newSalt(),
    version: 1,
    imported_at: transaction.now,
  };
  await transaction.insertNow(STATEMENTS, row);
  const facts = { format, lines: row.lines, added, booked, known };
  recordNewRow(transaction, act, 'statement.imported', STATEMENTS, row, facts);
}

/** What a statement without new lines says of money that no known line shows: its closing balance is not what those make. */
async function missingIn(
  transaction: Transaction,
  { own: account, statement: { opening, closing, to }, told }: ToldStatement,
): Promise<string | undefined> {
  const day = closing?.day ?? to;
  if (!opening || !closing || day === undefined || opening.minor === closing.minor) return undefined;
  const money = { account, currency: closing.currency };
  const before = await closingBeside(transaction, money, 'before', day);
  if (!before) return undefined;
  const booked = await bookedBetween(transaction, money, before.last_day, day);
  const reached = sumMinor([before.closing_minor, booked]);
  // Thousandths of a balance are not kept.
  const slack = hasThousandths(closing.currency) ? told.overview.lines + 1 : 0;
  if (Math.abs(reached - closing.minor) <= slack) return undefined;
  return `No line is new, but the closing balance is ${signedText(closing.minor)} and the known lines make ${signedText(reached)} ${closing.currency}: look which of its lines was taken for a known one.`;
}

/** A fault without what it quotes of the file: a cell can be a payer's name, and no erasure finds it here. */
export const withoutQuotes = ({ line, text }: StatementFault): StatementFault => ({
  line,
  text: text.replace(/".*"/s, '"…"'),
});

/** What a statement says, whatever its file is called. */
function digestOf({ own, statement, told }: ToldStatement): string {
  const { format, number, from, to, opening, closing } = statement;
  return sha256Hex(JSON.stringify([own, format, number, from, to, opening, closing, told.digest]));
}
