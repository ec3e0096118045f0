// One connection to SQLite: its settings, its prepared statements and how rows are made of what they give.
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Queryable, Row, Value } from './database.ts';
import { asDatabaseError } from './sqlite-failures.ts';

/** Timeout for a lock of another process. */
const BUSY_TIMEOUT_MS = 5000;
/** Pages kept in memory by each connection, in KiB. */
const CACHE_KIB = 4 * 1024;

/** A prepared statement whose rows come as objects of one shape. */
interface Prepared {
  statement: StatementSync;
  /** Values in the order of the statement's columns → a row; nothing for statements that give none. */
  row: ((values: unknown) => unknown) | undefined;
}

/**
 * node:sqlite makes each row a dictionary, and everything that touches it slow (× 3 for a page of payments). An object literal
 * gives all rows of a statement one hidden class; its names are the columns of our own SQL.
 */
function rowMaker(columns: readonly { name: string }[]): Prepared['row'] {
  if (columns.length === 0) return undefined;
  const fields = columns.map(({ name }, i) => `${JSON.stringify(name)}: values[${i}]`);
  return new Function('values', `return { ${fields.join(', ')} }`) as Prepared['row'];
}

/** No number of ours lies beyond 2^53: another hand wrote it. It is read rounded, as from PostgreSQL, so that verifying can say where. */
function readRoughly(statement: StatementSync, values: readonly Value[]): unknown[] {
  statement.setReadBigInts(true);
  const rows = statement.all(...values) as unknown as unknown[][];
  statement.setReadBigInts(false);
  return rows.map((row) => row.map((value) => (typeof value === 'bigint' ? Number(value) : value)));
}

/** Names a database in such a way that SQLite does not make its file. */
export function existingDatabase(file: string): URL {
  const url = pathToFileURL(file);
  url.searchParams.set('mode', 'rw');
  return url;
}

/** One connection, with what every connection of ours is set to. */
export class Connection implements Queryable {
  readonly raw: DatabaseSync;
  readonly #readOnly: boolean;
  readonly #statements = new Map<string, Prepared>();

  /** With `makes` a file that is not there is made. Throws the errors of SQLite. */
  constructor(file: string, options: { readOnly: boolean; makes?: boolean }) {
    this.#readOnly = options.readOnly;
    this.raw = new DatabaseSync(options.makes || options.readOnly ? file : existingDatabase(file), {
      readOnly: options.readOnly,
      timeout: BUSY_TIMEOUT_MS,
    });
    try {
      this.raw.exec(`pragma foreign_keys = on; pragma trusted_schema = off; pragma cell_size_check = on;
                     pragma cache_size = -${CACHE_KIB};`);
    } catch (error) {
      this.raw.close();
      throw error;
    }
  }

  prepare(sql: string): Prepared {
    let prepared = this.#statements.get(sql);
    if (!prepared) {
      const statement = this.raw.prepare(sql);
      statement.setReturnArrays(true);
      prepared = { statement, row: rowMaker(statement.columns()) };
      this.#statements.set(sql, prepared);
    }
    return prepared;
  }

  all<R>(sql: string, values: readonly Value[]): R[] {
    const { statement, row } = this.prepare(sql);
    let rows: unknown[];
    try {
      rows = statement.all(...values);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_OUT_OF_RANGE' || !this.#readOnly) throw error;
      rows = readRoughly(statement, values);
    }
    return (row ? rows.map(row) : rows) as R[];
  }

  async query<R = Row>(sql: string, ...values: Value[]): Promise<R[]> {
    try {
      return this.all(sql, values);
    } catch (error) {
      throw asDatabaseError(error);
    }
  }

  async insert(table: string, rows: readonly object[]): Promise<void> {
    if (rows.length === 0) return;
    const columns = Object.keys(rows[0]!);
    try {
      const { statement } = this.prepare(
        `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
      );
      for (const row of rows) statement.run(...columns.map((column) => (row as Row)[column]!));
    } catch (error) {
      throw asDatabaseError(error);
    }
  }
}

/** What `sql` reads in a database of its own, in memory, that `script` has just made. Throws `DatabaseError`. */
export function queryFresh<R>(script: string, sql: string): R[] {
  const fresh = new Connection(':memory:', { readOnly: false, makes: true });
  try {
    fresh.raw.exec(script);
    return fresh.all<R>(sql, []);
  } catch (error) {
    throw asDatabaseError(error);
  } finally {
    fresh.raw.close();
  }
}
