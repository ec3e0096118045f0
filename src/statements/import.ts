// Imports statements: what the store knows already is left as it is, everything else becomes rows with entries.

import type { Statement, StatementFault } from '#bank-statements';
import { hasThousandths, signedAmount } from '#bank-statements';
import type { Act } from '../journal/audit-entry.ts';
import { newSalt } from '../journal/audit-entry.ts';
import { recordNewRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { counted } from '../lib/counted.ts';
import { OperationalError } from '../lib/errors.ts';
import { isOfText, timeOrderedId, timeOrderedIdOf } from '../lib/ids.ts';
import { sha256Hex } from '../lib/secrets.ts';
import { bookedBetween, closingBeside } from './balance-queries.ts';
import { STATEMENT_ID_PREFIX, STATEMENTS } from './kept.ts';
import { changeLines, KnownLines, type LineChange } from './known-lines.ts';
import { findStatementByDigest } from './line-queries.ts';

/** A statement of one of our accounts, which is kept under the name `own`. */
export interface OwnStatement {
  own: string;
  statement: Statement;
}

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
export function importedText({
  id,
  added,
  booked,
  known,
  missing,
}: Pick<Imported, 'id' | 'added' | 'booked' | 'known' | 'missing'>): string {
  if (id === null) return 'imported before';
  const counts = [
    counted(added, 'new line'),
    booked > 0 && `${counted(booked, 'line')} booked by now`,
    known > 0 && `${counted(known, 'line')} known before`,
    missing,
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
  for (const { own, statement } of statements) {
    const lines = accounts.get(own) ?? new KnownLines(transaction, own, act);
    accounts.set(own, lines);
    imported.push(await importOne(transaction, lines, { own, statement }, act));
  }
  for (const lines of accounts.values()) lines.insert();
  return imported;
}

/** Lines that one commit brings, so that others wait for a part of a second. */
const LINES_AT_ONCE = 500;
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
 * import that ends in between is seen nowhere; the same file again goes on where it ended. Throws as `importStatements` and
 * `Journal.commit` do.
 */
export async function importInTurns(
  commit: <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>,
  statements: readonly OwnStatement[],
  act: Act,
  { onTurn, rest }: ImportTurns = {},
): Promise<Imported[]> {
  const of = statements.reduce((sum, { statement }) => sum + statement.lines.length, 0);
  if (of <= LINES_AT_ONCE) {
    return commit(async (transaction) => {
      const imported = await importStatements(transaction, statements, act);
      onTurn?.(transaction, of, of);
      return imported;
    });
  }
  const arrived: Arrived[] = [];
  let before = 0;
  for (const one of statements) {
    const began = before;
    const turns = {
      onTurn: (transaction: Transaction, done: number) => onTurn?.(transaction, began + done, of),
      ...(rest && { rest }),
    };
    arrived.push(await linesArrive(commit, one, act, turns));
    before += one.statement.lines.length;
  }
  return commit(async (transaction) => {
    const imported = await statementsArrive(transaction, arrived, act);
    onTurn?.(transaction, of, of);
    return imported;
  });
}

/** A statement whose lines stand already, and what is still to be changed with it. */
interface Arrived extends OwnStatement {
  /** Undefined for one that was imported before. */
  id: string | undefined;
  digest: string;
  taken: Taken;
  changes: LineChange[];
}

async function linesArrive(
  commit: <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>,
  { own, statement }: OwnStatement,
  act: Act,
  { onTurn, rest }: ImportTurns,
): Promise<Arrived> {
  const digest = digestOf(own, statement);
  const arrived: Arrived = { own, statement, digest, id: undefined, taken: noneTaken(), changes: [] };
  for (let from = 0; from < statement.lines.length; from += LINES_AT_ONCE) {
    const part = { ...statement, lines: statement.lines.slice(from, from + LINES_AT_ONCE) };
    // A work may run again, so what it counts is counted once it is committed.
    const done = await commit(async (transaction) => {
      if (await findStatementByDigest(transaction, digest)) return undefined;
      const changes: LineChange[] = [];
      const lines = new KnownLines(transaction, own, act, changes);
      const id = arrived.id ?? timeOrderedIdOf(STATEMENT_ID_PREFIX, transaction.now, digest);
      const taken = await lines.take(id, part, (known) => isOfText(known, digest));
      lines.insert();
      onTurn?.(transaction, from + part.lines.length, statement.lines.length);
      return { id: taken.statementId, taken, changes };
    });
    if (!done) return { ...arrived, id: undefined, taken: allKnown(statement), changes: [] };
    arrived.id = done.id;
    addTaken(arrived.taken, done.taken, from);
    arrived.changes.push(...done.changes);
    if (arrived.changes.length > CHANGES_MAXIMUM)
      throw new OperationalError(
        'conflict',
        'More than 5,000 lines that are known would change. Import the file in parts.',
      );
    await rest?.();
  }
  return arrived;
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
  for (const { own, statement, id, digest, taken, changes } of arrived) {
    const before = id === undefined ? undefined : await findStatementByDigest(transaction, digest);
    if (id === undefined || before) {
      // A commit whose outcome was unknown is done again.
      const isOurs = before !== undefined && before.id === id;
      imported.push({
        account: own,
        statement,
        ...(isOurs ? { id, ...taken } : { id: null, ...allKnown(statement) }),
      });
      continue;
    }
    await changeLines(transaction, changes, act);
    await addStatement(transaction, { id, own, statement, digest }, taken, act);
    imported.push({ id, account: own, statement, ...taken });
  }
  return imported;
}

/** What a statement came to. */
interface Taken extends Pick<Imported, 'added' | 'booked' | 'known'> {
  knownAt: number[];
}

const allKnown = ({ lines }: Statement): Taken => ({
  ...{ added: 0, booked: 0, known: lines.length },
  knownAt: [...lines.keys()],
});

async function importOne(
  transaction: Transaction,
  lines: KnownLines,
  { own, statement }: OwnStatement,
  act: Act,
): Promise<Imported> {
  const digest = digestOf(own, statement);
  const before = await findStatementByDigest(transaction, digest);
  const id = timeOrderedId(STATEMENT_ID_PREFIX, transaction.now);
  const taken = before ? allKnown(statement) : await lines.take(id, statement);
  if (!before && !lines.digests.has(digest)) {
    lines.digests.add(digest);
    await addStatement(transaction, { id, own, statement, digest }, taken, act);
  }
  const isNothingNew = !before && taken.added === 0 && taken.booked === 0 && !lines.hasNew;
  const missing = isNothingNew ? await missingIn(transaction, own, statement) : undefined;
  return { id: before ? null : id, account: own, statement, ...taken, missing };
}

/** Adds the row of a statement, whose lines stand by now. */
async function addStatement(
  transaction: Transaction,
  { id, own, statement, digest }: OwnStatement & { id: string; digest: string },
  { added, booked, known }: Taken,
  act: Act,
): Promise<void> {
  const { account, format, file, number, from, to, opening, closing, faults } = statement;
  const row = {
    id,
    account: own,
    currency: account.currency ?? closing?.currency ?? statement.lines[0]?.currency ?? null,
    format,
    file,
    number: number ?? null,
    first_day: from ?? null,
    last_day: closing?.day ?? to ?? null,
    opening_minor: opening?.minor ?? null,
    closing_minor: closing?.minor ?? null,
    lines: statement.lines.length,
    faults: faults.length > 0 ? JSON.stringify(faults.map(withoutQuotes)) : null,
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
  account: string,
  { opening, closing, to, lines }: Statement,
): Promise<string | undefined> {
  const day = closing?.day ?? to;
  if (!opening || !closing || day === undefined || opening.minor === closing.minor) return undefined;
  const money = { account, currency: closing.currency };
  const before = await closingBeside(transaction, money, 'before', day);
  if (!before) return undefined;
  const reached = before.closing_minor + (await bookedBetween(transaction, money, before.last_day, day));
  // Thousandths of a line are not kept.
  const slack = hasThousandths(closing.currency) ? lines.length + 1 : 0;
  if (Math.abs(reached - closing.minor) <= slack) return undefined;
  return `but its closing balance is ${signedAmount(closing.minor)} and the known lines make ${signedAmount(reached)} ${closing.currency}: look which of its lines was taken for a known one`;
}

/** A fault without what it quotes of the file: a cell can be a payer's name, and no erasure finds it here. */
export const withoutQuotes = ({ line, text }: StatementFault): StatementFault => ({
  line,
  text: text.replace(/".*"/s, '"…"'),
});

/** What a statement says, whatever its file is called. */
function digestOf(own: string, { format, number, from, to, opening, closing, lines }: Statement): string {
  const said = lines.map(({ fingerprint, status, bookingDay, text, references, counterparty }) => [
    ...[fingerprint, status, bookingDay, text, references.endToEnd, references.creditor],
    ...[counterparty.name, counterparty.account],
  ]);
  return sha256Hex(JSON.stringify([own, format, number, from, to, opening, closing, said]));
}
