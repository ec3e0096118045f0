// Ways into a database past its triggers and keys, for an intruder's edits: a copy of a SQLite file, a transaction of PostgreSQL's.
import { copyFileSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { Row, Value } from '../../src/database/database.ts';
import type { Access } from './intruder.ts';

/** Makes `edit` on a fresh copy of `honest`. Nothing back where the edit found nothing to do, or the engine stood against it. */
export async function editCopy<T>(
  honest: string,
  copy: string,
  edit: (access: Access) => Promise<T>,
): Promise<T | undefined> {
  for (const end of ['', '-wal', '-shm']) rmSync(copy + end, { force: true });
  copyFileSync(honest, copy);
  const raw = new DatabaseSync(copy);
  const access: Access = {
    engine: 'sqlite',
    rows: async <R = Row>(sql: string, ...values: Value[]) => raw.prepare(sql).all(...values) as R[],
  };
  try {
    raw.exec('pragma ignore_check_constraints = on; pragma synchronous = off');
    const triggers = await access.rows<{ name: string }>(
      "select name from sqlite_master where type = 'trigger'",
    );
    for (const { name } of triggers) raw.exec(`drop trigger ${name}`);
    return await edit(access);
  } catch {
    return undefined; // a unique key or a type stood against it
  } finally {
    raw.close();
  }
}

export interface PostgresBreakIn {
  /** Makes `edit` in a transaction that the next one takes back. */
  edit<T>(edit: (access: Access) => Promise<T>): Promise<T | undefined>;
  access: Access;
  end(): Promise<void>;
}

export async function breakIntoPostgres(connectionString: string): Promise<PostgresBreakIn> {
  const client = new pg.Client({
    connectionString,
    types: { getTypeParser: (oid, format) => (oid === 20 ? Number : pg.types.getTypeParser(oid, format)) },
  });
  await client.connect();
  const access: Access = {
    engine: 'postgres',
    async rows<R = Row>(sql: string, ...values: Value[]) {
      let position = 0;
      const sent = values.map((value) => (typeof value === 'number' ? BigInt(value).toString() : value));
      const text = sql.replaceAll('?', () => `$${++position}`);
      return (await client.query(text, sent)).rows as R[];
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
