// The one place where a change of a row gets its entry: who, what, when, and the digest of the row as it stands now.
import { OperationalError } from '../lib/errors.ts';
import type { Reader } from '../store/database.ts';
import type { Table } from '../store/table.ts';
import { type Act, rowDigest } from './audit-entry.ts';
import { newestEntriesAbout, newestEntryOfEach } from './queries.ts';
import { entryFacts } from './rows.ts';
import type { Transaction } from './transaction.ts';

/** What an entry tells besides; no personal data. */
export type Facts = Record<string, string | number | null>;

/** A table whose rows the history tells of. `subjectOf` is the subject of entries about a row: its `id` if undefined. */
export interface Recorded<R extends object>
  extends Pick<Table<R>, 'name' | 'columns' | 'columnList' | 'nulls' | 'row'> {
  subjectOf?(row: R): string;
}

/** A row as it was found, undefined if it is new, and as it is now, undefined if it is gone. */
export interface RowChange<R> {
  before: R | undefined;
  after: R | undefined;
}

/** Records a row that this transaction inserts under an id that was made for it. */
export function recordNewRow<R extends object>(
  transaction: Transaction,
  act: Act,
  action: string,
  table: Recorded<R>,
  row: R,
  facts: Facts = {},
): void {
  write(transaction, act, action, table, row, rowDigest(table.columns, row), facts);
}

/**
 * Records a change of a row that this transaction has made, so that no other transaction changes the row before its end. Throws
 * `conflict` if the row was changed in the store itself and the change is not acknowledged, and `DatabaseError`. Because: the entry
 * would make the change right, and no verification could find it any more.
 */
export async function recordRow<R extends object>(
  transaction: Transaction,
  act: Act,
  action: string,
  table: Recorded<R>,
  { before, after }: RowChange<R>,
  facts: Facts = {},
): Promise<void> {
  const row = (after ?? before)!;
  const isRight = before
    ? await isAsRecorded(transaction, table, before)
    : (await recordedDigest(transaction, subjectOf(table, row))) === undefined;
  if (!isRight) throw changedOutside(subjectOf(table, row));
  write(transaction, act, action, table, row, after ? rowDigest(table.columns, after) : null, facts);
}

function write<R extends object>(
  transaction: Transaction,
  { actor, request_id }: Act,
  action: string,
  table: Recorded<R>,
  row: R,
  digest: string | null,
  facts: Facts,
): void {
  transaction.record({
    actor,
    action,
    subject: subjectOf(table, row),
    request_id,
    facts: { ...facts, row: digest },
  });
}

function subjectOf<R extends object>({ subjectOf }: Recorded<R>, row: R): string {
  return subjectOf ? subjectOf(row) : (row as { id: string }).id;
}

/** `what` begins the sentence. */
export function changedOutside(what: string): OperationalError {
  return new OperationalError(
    'conflict',
    `${what} was changed outside the service, so no act on it is possible. Ask the operator to run counterfoil audit verify.`,
  );
}

/** Reads rows and entries: a transaction, or a database outside of one. */
export type RecordReader = Pick<Transaction, 'query'> & Partial<Pick<Transaction, 'entryBefore' | 'vouched'>>;

/** Whether a row is as its newest entry left it. If not, it was changed in the store itself. Throws `HistoryBroken` and `DatabaseError`. */
export async function isAsRecorded<R extends object>(
  database: RecordReader,
  table: Recorded<R>,
  row: R,
): Promise<boolean> {
  if (database.vouched?.has(row)) return true;
  const digest = await recordedDigest(database, subjectOf(table, row));
  if (digest !== rowDigest(table.columns, row)) return false;
  database.vouched?.add(row);
  return true;
}

/**
 * The row that `read` gives, if it is as its newest entry left it; undefined if there is none or it was changed in the store itself.
 * Throws as `isAsRecorded` does.
 */
export async function readRecorded<R extends { version: number }>(
  database: RecordReader,
  table: Recorded<R>,
  read: () => Promise<R | undefined>,
): Promise<R | undefined> {
  for (let version: number | undefined; ; ) {
    const row = await read();
    if (!row || (await isAsRecorded(database, table, row))) return row;
    // It may have been changed between the two reads.
    if (row.version === version) return undefined;
    version = row.version;
  }
}

/** Those of `rows` that are as their newest entries left them. Throws as `isAsRecorded` does. */
export async function thoseAsRecorded<R extends object>(
  database: Reader,
  table: Recorded<R>,
  rows: readonly R[],
): Promise<R[]> {
  if (rows.length === 0) return [];
  const newest = await newestEntryOfEach(
    database,
    rows.map((row) => subjectOf(table, row)),
  );
  const digests = new Map(newest.map((entry) => [entry.subject, entryFacts(entry).row]));
  return rows.filter((row) => digests.get(subjectOf(table, row)) === rowDigest(table.columns, row));
}

/** The digest that the newest entry about a subject gives its row; null if the row is gone, undefined if there is no entry. */
async function recordedDigest(database: RecordReader, subject: string): Promise<unknown> {
  const before = database.entryBefore?.(subject);
  const newest = before ? { ...before, number: 0 } : (await newestEntriesAbout(database, subject, 1))[0];
  return newest && entryFacts(newest).row;
}

/** A row that no other transaction changes until this one ends. Throws `DatabaseError`. */
export async function lockRow<R extends object>(
  transaction: Transaction,
  { name, columnList }: Recorded<R>,
  id: string,
): Promise<R | undefined> {
  const sql = `update ${name} set version = version where id = ? returning ${columnList}`;
  return (await transaction.query<R>(sql, id))[0];
}

/**
 * Writes columns of a row over `before` and counts its version. Returns undefined if the row has another version by now. Throws
 * `DatabaseError`.
 */
export async function updateRow<R extends { id: string; version: number }>(
  transaction: Transaction,
  { name, columnList }: Recorded<R>,
  before: R,
  written: Partial<Omit<R, 'id' | 'version'>>,
): Promise<{ before: R; after: R } | undefined> {
  const set = Object.entries(written);
  const [after] = await transaction.change<R>(
    `update ${name} set version = version + 1${set.map(([column]) => `, ${column} = ?`).join('')}
     where id = ? and version = ? returning ${columnList}`,
    ...set.map(([, value]) => (value ?? null) as string | number | null),
    before.id,
    before.version,
  );
  return after && { before, after };
}

/** Writes columns of a row as `updateRow` does, and records it as `recordRow` does. Returns the row as it is now. */
export async function changeRow<R extends { id: string; version: number }>(
  transaction: Transaction,
  act: Act,
  action: string,
  table: Recorded<R>,
  before: R,
  written: Partial<Omit<R, 'id' | 'version'>>,
  facts: Facts = {},
): Promise<R | undefined> {
  const change = await updateRow(transaction, table, before, written);
  if (change) await recordRow(transaction, act, action, table, change, facts);
  return change?.after;
}
