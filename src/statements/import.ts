// Imports statements: what the store knows already is left as it is, everything else becomes rows with entries.

import type { Statement, StatementFault } from '#bank-statements';
import { signedAmount } from '#bank-statements';
import type { Act } from '../journal/audit-entry.ts';
import { newSalt } from '../journal/audit-entry.ts';
import { recordNewRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { counted } from '../lib/counted.ts';
import { timeOrderedId } from '../lib/ids.ts';
import { sha256Hex } from '../lib/secrets.ts';
import { bookedBetween, closingBeside } from './balance-queries.ts';
import { STATEMENT_ID_PREFIX, STATEMENTS } from './kept.ts';
import { KnownLines } from './known-lines.ts';
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

/** Lines of a statement that one commit brings: it takes about half a second, so that others need not wait longer. */
const LINES_AT_ONCE = 1000;

/**
 * Imports a file in several commits if a statement of it is large, so that others get their turn in between. A statement stands once its
 * last lines do: an import that ends in between is made whole by importing the file again. Throws as `importStatements` and
 * `Journal.commit` do.
 */
export async function importInTurns(
  commit: <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>,
  statements: readonly OwnStatement[],
  act: Act,
): Promise<Imported[]> {
  if (statements.every(({ statement }) => statement.lines.length <= LINES_AT_ONCE))
    return commit((transaction) => importStatements(transaction, statements, act));
  const imported: Imported[] = [];
  for (const one of statements) imported.push(await importLarge(commit, one, act));
  return imported;
}

async function importLarge(
  commit: <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>,
  { own, statement }: OwnStatement,
  act: Act,
): Promise<Imported> {
  const digest = digestOf(own, statement);
  let id: string | undefined;
  let sum: Taken = { added: 0, booked: 0, known: 0, knownAt: [] };
  for (let from = 0; from === 0 || from < statement.lines.length; from += LINES_AT_ONCE) {
    const part = { ...statement, lines: statement.lines.slice(from, from + LINES_AT_ONCE) };
    const isLast = from + LINES_AT_ONCE >= statement.lines.length;
    // A work may run again, so what it counts is counted once it is committed.
    const done = await commit(async (transaction) => {
      if (await findStatementByDigest(transaction, digest)) return undefined;
      const of = id ?? timeOrderedId(STATEMENT_ID_PREFIX, transaction.now);
      const lines = new KnownLines(transaction, own, act);
      const taken = await lines.take(of, part);
      lines.insert();
      const all: Taken = {
        added: sum.added + taken.added,
        booked: sum.booked + taken.booked,
        known: sum.known + taken.known,
        knownAt: [...sum.knownAt, ...taken.knownAt.map((place) => from + place)],
      };
      if (isLast) await addStatement(transaction, { id: of, own, statement, digest }, all, act);
      return { of, all };
    });
    if (!done) return { id: null, account: own, statement, ...allKnown(statement) };
    id = done.of;
    sum = done.all;
  }
  return { id: id!, account: own, statement, ...sum };
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
  { opening, closing, to }: Statement,
): Promise<string | undefined> {
  const day = closing?.day ?? to;
  if (!opening || !closing || day === undefined || opening.minor === closing.minor) return undefined;
  const money = { account, currency: closing.currency };
  const before = await closingBeside(transaction, money, 'before', day);
  if (!before) return undefined;
  const reached = before.closing_minor + (await bookedBetween(transaction, money, before.last_day, day));
  if (reached === closing.minor) return undefined;
  return `but its closing balance is ${signedAmount(closing.minor)} and the known lines make ${signedAmount(reached)} ${closing.currency}: look which of its lines was taken for a known one`;
}

/** A fault without what it quotes of the file: a cell can be a payer's name, and no erasure finds it here. */
const withoutQuotes = ({ line, text }: StatementFault): StatementFault => ({
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
