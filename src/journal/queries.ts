// The SQL of the history.

import { DatabaseError, type Reader, type Row, type Value } from '../store/database.ts';
import { marks, where } from '../store/table.ts';
import type { AuditEntry, Seal } from './audit-entry.ts';

const SELECT_SEALS = 'select number, first_entry, last_entry, at, hash from seals';
/** For statements about entries of the history, whichever room they are of. */
export const SELECT_ENTRIES =
  'select number, at, actor, action, subject, request_id, facts from audit_entries';

/** Returns what a query finds, or undefined if its table does not exist yet. Throws `DatabaseError`. */
export function unlessEmpty<T>(query: Promise<T>): Promise<T | undefined> {
  return query.catch((error) => {
    if (error instanceof DatabaseError && error.lacksTable) return undefined;
    throw error;
  });
}

/** Takes the chain's one row until the commit: numbers for `entries` entries and one seal. */
export async function lockHead(
  database: Reader,
  entries: number,
): Promise<{ entries: number; seals: number }> {
  const [head] = await database.query<{ entries: number; seals: number }>(
    'update journal_head set entries = entries + ?, seals = seals + 1 where id = 1 returning entries, seals',
    entries,
  );
  return head!;
}

/** The hash of the seal before the one that `lockHead` has numbered. A statement that begins behind the lock sees other nodes' commits. */
export async function previousHash(database: Reader): Promise<string | undefined> {
  const [seal] = await database.query<Pick<Seal, 'hash'>>(
    'select hash from seals where number = (select seals - 1 from journal_head where id = 1)',
  );
  return seal?.hash;
}

/** A write that changes nothing, to learn whether the store takes writes. */
export async function touchHead(database: Reader): Promise<void> {
  await database.query('update journal_head set entries = entries where id = 1 returning id');
}

/** The head: one row with id 1, unless the table was changed by hand. */
export function readHeads(database: Reader): Promise<{ id: number; entries: number; seals: number }[]> {
  return database.query('select id, entries, seals from journal_head order by id');
}

export async function findSeal(database: Reader, number: number): Promise<Seal | undefined> {
  const sql = `${SELECT_SEALS} where number = ?`;
  return (await database.query<Seal>(sql, number))[0];
}

/** The seal over entry `number`, or the first one behind it. */
export async function sealHolding(database: Reader, number: number): Promise<Seal | undefined> {
  const sql = `${SELECT_SEALS} where last_entry >= ? order by last_entry limit 1`;
  return (await database.query<Seal>(sql, number))[0];
}

export async function newestSeal(database: Reader): Promise<Seal | undefined> {
  const sql = `${SELECT_SEALS} order by number desc limit 1`;
  return (await database.query<Seal>(sql))[0];
}

/** From the very first, whatever its number, when there is none to come after. */
export function sealsAfter(database: Reader, number: number | undefined, limit: number): Promise<Seal[]> {
  return database.query<Seal>(...behind(SELECT_SEALS, 'number', number, limit));
}

/** Rows behind a value of a column, in its order; the first of all where that is undefined. */
function behind(
  select: string,
  column: string,
  value: Value | undefined,
  limit: number,
): [string, ...Value[]] {
  const { sql, values } = where({ [`${column} > ?`]: value });
  return [`${select} ${sql && `where ${sql}`} order by ${column} limit ? + 0`, ...values, limit];
}

export function entriesAfter(
  database: Reader,
  number: number | undefined,
  limit: number,
): Promise<AuditEntry[]> {
  return database.query<AuditEntry>(...behind(SELECT_ENTRIES, 'number', number, limit));
}

/** The entries behind number `after`, in order, read `page` at a time. */
export async function* entriesBehind(
  view: Reader,
  after: number | undefined,
  page: number,
): AsyncGenerator<AuditEntry, undefined> {
  for (let last = after; ; ) {
    const entries = await entriesAfter(view, last, page);
    yield* entries;
    if (entries.length < page) return;
    last = entries.at(-1)!.number;
  }
}

/** How many entries have a lower number, and the lowest of all. */
export async function countEntriesBefore(
  database: Reader,
  number: number,
): Promise<{ count: number; first: number | null }> {
  const [before] = await database.query<{ count: number; first: number | null }>(
    'select count(*) as count, min(number) as first from audit_entries where number < ?',
    number,
  );
  return before!;
}

/** Entries in the order of their subjects, then numbers, after (`subject`, `number`), up to the subject prefix's end. */
export function entriesBySubject(
  database: Reader,
  after: { subject: string; number: number },
  end: string,
  limit: number,
): Promise<AuditEntry[]> {
  return database.query<AuditEntry>(
    `${SELECT_ENTRIES} where (subject, number) > (?, ?) and subject < ? order by subject, number limit ? + 0`,
    after.subject,
    after.number,
    end,
    limit,
  );
}

/** The number of the newest entry, or 0. */
export async function newestEntry(database: Reader): Promise<number> {
  return (await readHeads(database))[0]?.entries ?? 0;
}

/** Entries after number `after` up to `until`, about subjects that begin with `prefix`, by number. */
export function entriesAbout(
  database: Reader,
  prefix: string,
  after: number,
  until: number,
  limit: number,
): Promise<AuditEntry[]> {
  return database.query<AuditEntry>(
    `${SELECT_ENTRIES} where subject >= ? and subject < ? and number > ? and number <= ? order by number limit ? + 0`,
    prefix,
    `${prefix}~`,
    after,
    until,
    limit,
  );
}

/** Entries after number `after` up to `until` with one of some actions, by number. */
export function entriesWithAction(
  database: Reader,
  actions: readonly string[],
  after: number,
  until: number,
  limit: number,
): Promise<AuditEntry[]> {
  return database.query<AuditEntry>(
    `${SELECT_ENTRIES} where number > ? and number <= ? and action in (${marks(actions)}) order by number limit ? + 0`,
    after,
    until,
    ...actions,
    limit,
  );
}

/** What entries are looked for by. `actor` and `action`: what those begin with; `from` and `to` in milliseconds since 1970. */
export interface EntryFilter {
  actor?: string | undefined;
  action?: string | undefined;
  /** Exact. */
  subject?: string | undefined;
  /** Exact. */
  request_id?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

/** Entries whose numbers lie between two others, neither of them included. */
export function searchEntries(
  database: Reader,
  { actor, action, subject, request_id, from, to }: EntryFilter,
  { above, below }: { above: number; below: number },
  newestFirst: boolean,
  limit: number,
): Promise<AuditEntry[]> {
  const { sql, values } = where({
    'number > ?': above,
    'number < ?': below,
    ...beginsWith('actor', actor),
    ...beginsWith('action', action),
    'subject = ?': subject,
    'request_id = ?': request_id,
    'at >= ?': from,
    'at < ?': to,
  });
  return database.query<AuditEntry>(
    `${SELECT_ENTRIES} where ${sql} order by number ${newestFirst ? 'desc' : 'asc'} limit ? + 0`,
    ...values,
    limit,
  );
}

/** A condition on the first characters of a column. The only text in it that is not ours is a value. */
const beginsWith = (column: string, text: string | undefined) => ({
  [`substr(${column}, 1, ${text?.length ?? 0}) = ?`]: text,
});

/** The time of entry `number` in milliseconds since 1970, or undefined. */
export async function momentOfEntry(database: Reader, number: number): Promise<number | undefined> {
  return (await database.query<{ at: number }>('select at from audit_entries where number = ?', number))[0]
    ?.at;
}

export function entriesOf(database: Reader, subject: string): Promise<AuditEntry[]> {
  return database.query<AuditEntry>(`${SELECT_ENTRIES} where subject = ? order by number`, subject);
}

/** The newest entry of each of some subjects, but for those that have none. */
export function newestEntryOfEach(
  database: Reader,
  subjects: readonly string[],
): Promise<Pick<AuditEntry, 'number' | 'subject' | 'facts'>[]> {
  return database.query(
    `select number, subject, facts from audit_entries
     where number in (select max(number) from audit_entries where subject in (${marks(subjects)}) group by subject)`,
    ...subjects,
  );
}

/** The newest entries with a subject, newest first. */
export function newestEntriesAbout(database: Reader, subject: string, limit: number): Promise<AuditEntry[]> {
  return database.query<AuditEntry>(
    `${SELECT_ENTRIES} where subject = ? order by number desc limit ? + 0`,
    subject,
    limit,
  );
}

export function appliedMigrations(
  database: Reader,
): Promise<{ version: number; name: string; digest: string }[]> {
  return database.query('select version, name, digest from schema_migrations order by version');
}

/** The row of any table whose text column `key` has a value. */
export async function findRow(
  database: Reader,
  table: string,
  columns: readonly string[],
  key: string,
  value: string,
): Promise<Row | undefined> {
  return (await database.query(`select ${columns.join(', ')} from ${table} where ${key} = ?`, value))[0];
}

/** How many rows a table has. */
export async function countRows(database: Reader, table: string): Promise<number> {
  return (await database.query<{ count: number }>(`select count(*) as count from ${table}`))[0]!.count;
}
