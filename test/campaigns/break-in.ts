// Ways into a database past its triggers and keys, for an intruder's edits: a copy of a SQLite file, and transactions taken back.
import { copyFileSync, rmSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite';
import pg from 'pg';
import type { Row, Value } from '../../src/store/database.ts';
import type { Access } from './intruder.ts';

/** Makes many edits of one database, each in a transaction of its own that the next one takes back. */
export interface BreakIn {
  /** Nothing back where the edit found nothing to do, or the engine stood against it. */
  edit<T>(edit: (access: Access) => Promise<T>): Promise<T | undefined>;
  /** Sees what the last edit made of it. */
  access: Access;
  end(): Promise<void>;
}

/** Numbers beyond 2^53, which only an intruder writes, are read rounded, as the program reads them. */
function readSqlite(raw: DatabaseSync, sql: string, values: readonly Value[]): Row[] {
  const statement = raw.prepare(sql);
  try {
    return statement.all(...(values as SQLInputValue[])) as Row[];
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_OUT_OF_RANGE') throw error;
    statement.setReadBigInts(true);
    const plain = (value: SQLOutputValue) => (typeof value === 'bigint' ? Number(value) : value);
    return statement
      .all(...(values as SQLInputValue[]))
      .map((row) =>
        Object.fromEntries(Object.entries(row).map(([key, value]) => [key, plain(value)])),
      ) as Row[];
  }
}

/** Lets `edit` at a database without its triggers, which stand again when it is done: they shall not give it away. */
async function withoutTriggers<T>(raw: DatabaseSync, edit: (access: Access) => Promise<T>): Promise<T> {
  const triggers = raw.prepare("select name, sql from sqlite_schema where type = 'trigger'").all();
  for (const { name } of triggers) raw.exec(`drop trigger ${name}`);
  try {
    return await edit(sqliteAccess(raw));
  } finally {
    for (const { sql } of triggers) raw.exec(String(sql));
  }
}

const sqliteAccess = (raw: DatabaseSync): Access => ({
  engine: 'sqlite',
  rows: async <R = Row>(sql: string, ...values: Value[]) => readSqlite(raw, sql, values) as R[],
});

/** Makes `edit` on a fresh copy of `honest`, a file as an intruder would leave it. Nothing back as for a `BreakIn`. */
export async function editCopy<T>(
  honest: string,
  copy: string,
  edit: (access: Access) => Promise<T>,
): Promise<T | undefined> {
  for (const end of ['', '-wal', '-shm']) rmSync(copy + end, { force: true });
  copyFileSync(honest, copy);
  const raw = new DatabaseSync(copy);
  try {
    raw.exec('pragma ignore_check_constraints = on; pragma synchronous = off');
    return await withoutTriggers(raw, edit);
  } catch {
    return undefined; // a unique key or a type stood against it
  } finally {
    raw.close();
  }
}

export function breakIntoSqlite(file: string): BreakIn {
  const raw = new DatabaseSync(file);
  raw.exec('pragma ignore_check_constraints = on; pragma synchronous = off');
  return {
    access: sqliteAccess(raw),
    async edit(edit) {
      raw.exec(raw.isTransaction ? 'rollback; begin' : 'begin');
      return withoutTriggers(raw, edit).catch(() => undefined);
    },
    end: async () => raw.close(),
  };
}

export async function breakIntoPostgres(connectionString: string): Promise<BreakIn> {
  const client = new pg.Client({
    connectionString,
    types: { getTypeParser: (oid, format) => (oid === 20 ? Number : pg.types.getTypeParser(oid, format)) },
  });
  await client.connect();
  // Planned once, not for each of thousands of verifications.
  const names = new Map<string, string>();
  const nameOf = (sql: string) => {
    if (!names.has(sql)) names.set(sql, `s${names.size}`);
    return names.get(sql)!;
  };
  const access: Access = {
    engine: 'postgres',
    async rows<R = Row>(sql: string, ...values: Value[]) {
      let position = 0;
      const sent = values.map((value) => (typeof value === 'number' ? BigInt(value).toString() : value));
      const text = sql.replaceAll('?', () => `$${++position}`);
      return (await client.query({ name: nameOf(sql), text, values: sent })).rows as R[];
    },
  };
  return {
    access,
    async edit(edit) {
      await client.query('rollback; begin; set local session_replication_role = replica'); // no trigger fires
      return edit(access).catch(() => undefined);
    },
    end: () => client.end(),
  };
}
