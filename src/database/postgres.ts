// PostgreSQL through pg: one connection for the journal, a pool for reads, and no success that is not certain.
import pg from 'pg';
import { overridingParameter } from './connection-string.ts';
import {
  type Database,
  DatabaseError,
  type DatabaseFailure,
  type Queryable,
  type Row,
  type Value,
} from './database.ts';

/** Every statement ends by then: `statement_timeout` alone does not interrupt the wait for a synchronous standby. */
const STATEMENT_DEADLINE_MS = 8000;
/** The longest that a timer takes: 24 days. */
const NO_DEADLINE_MS = 2 ** 31 - 1;
const CONNECT_DEADLINE_MS = 5000;
const READERS = 4;

/** `bigint` comes as a number: ours (milliseconds, minor units, counts) stay below 2^53. */
const INT8_OID = 20;
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8_OID ? Number : pg.types.getTypeParser(oid, format as 'text'),
};

/** SQLSTATE classes and codes (PostgreSQL manual, appendix A). */
function failureOf(error: unknown): DatabaseFailure {
  const code = (error as { code?: string }).code;
  if (code === undefined || !/^[0-9A-Z]{5}$/.test(code)) return 'unavailable'; // the socket's own errors, and deadlines
  if (code === '23505') return 'conflict';
  if (code === '40P01' || code === '40001') return 'contended';
  if (/^(08|53|57|25006)/.test(code)) return 'unavailable';
  if (/^(58|XX)/.test(code)) return 'unavailable'; // the server's disk is the server's to stop for
  return 'fault';
}

const numbered = new Map<string, { name: string; text: string }>();

/** `?` → `$1`, once for each text; the name lets the server keep its plan. */
function prepared(sql: string): { name: string; text: string } {
  let statement = numbered.get(sql);
  if (!statement) {
    let position = 0;
    statement = { name: `s${numbered.size}`, text: sql.replaceAll('?', () => `$${++position}`) };
    numbered.set(sql, statement);
  }
  return statement;
}

async function run(client: pg.ClientBase, sql: string, values: readonly Value[]): Promise<pg.QueryResult> {
  try {
    return await client.query({ ...prepared(sql), values: values as Value[] });
  } catch (error) {
    throw new DatabaseError(failureOf(error), error);
  }
}

function session(client: pg.ClientBase): Queryable {
  return {
    query: async <R = Row>(sql: string, ...values: Value[]) => (await run(client, sql, values)).rows as R[],
    async insert(table, rows) {
      if (rows.length === 0) return;
      const columns = Object.keys(rows[0]!).join(', ');
      const sql = `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, ?)`;
      await run(client, sql, [JSON.stringify(rows)]);
    },
  };
}

/** Whether a connection was found closed by the server or the network, rather than slow or refused. */
function wasCut(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  return (
    ['57P01', 'ECONNRESET', 'EPIPE'].includes(code ?? '') ||
    /^Connection terminated unexpectedly/.test(message ?? '')
  );
}

/** What the journal's connection relies on: an answered commit is on the server's disk, and its warnings reach us. */
const SESSION = `select set_config('synchronous_commit', 'on', false), set_config('client_min_messages', 'warning', false)`;

/**
 * Opens a connection string (`postgres://…`). Raises `DatabaseError`: `unavailable`, or `fault` where the string would overrule
 * what is promised.
 */
export async function openPostgres(url: string): Promise<Database> {
  const settings = {
    connectionString: url,
    types: types as pg.CustomTypesConfig,
    connectionTimeoutMillis: CONNECT_DEADLINE_MS,
    query_timeout: STATEMENT_DEADLINE_MS,
    statement_timeout: STATEMENT_DEADLINE_MS,
    idle_in_transaction_session_timeout: 2 * STATEMENT_DEADLINE_MS,
    application_name: 'counterfoil',
  };
  const forbidden = overridingParameter(url);
  if (forbidden) throw new DatabaseError('fault', `the connection string may not set ${forbidden}`);
  const readers = new pg.Pool({ ...settings, max: READERS });
  readers.on('error', () => {}); // an idle connection was cut; the pool opens another
  let writer: pg.Client | undefined;
  let writing: Queryable | undefined;

  async function connectWriter(): Promise<pg.Client> {
    if (writer) return writer;
    const client = new pg.Client(settings);
    client.on('error', () => discard(client));
    client.on('end', () => discard(client));
    try {
      await client.connect();
      await client.query(SESSION);
    } catch (error) {
      discard(client);
      throw new DatabaseError('unavailable', error);
    }
    writer = client;
    return client;
  }

  /** A connection whose state is not known is never used again. */
  function discard(client: pg.Client): void {
    if (writer === client) writer = undefined;
    client.end().catch(() => {});
  }

  /** COMMIT, and the one answer that means it: any warning says that a wait for a standby was cut short. */
  async function commit(client: pg.Client): Promise<void> {
    let warning: string | undefined;
    const listen = (notice: { message?: string | undefined }) =>
      (warning = notice.message ?? 'warning at COMMIT');
    client.on('notice', listen);
    try {
      const { command } = await client.query('commit');
      if (command !== 'COMMIT') throw new DatabaseError('unavailable', `COMMIT answered ${command}`);
    } catch (error) {
      throw error instanceof DatabaseError ? error : new DatabaseError('unknown', error);
    } finally {
      client.removeListener('notice', listen);
    }
    if (warning) throw new DatabaseError('unknown', warning);
  }

  const database: Database = {
    engine: 'postgres',
    async query<R = Row>(sql: string, ...values: Value[]): Promise<R[]> {
      const read = async () => (await readers.query({ ...prepared(sql), values })).rows as R[];
      try {
        // A connection of the pool may have been cut while it lay idle: a read is then asked once more, on another.
        return await read().catch((error) => (wasCut(error) ? read() : Promise.reject(error)));
      } catch (error) {
        throw new DatabaseError(failureOf(error), error);
      }
    },
    insert() {
      throw new Error('insert belongs in a transaction');
    },
    async transaction(work) {
      if (writing) throw new Error('one transaction at a time');
      const client = await connectWriter();
      writing = session(client);
      try {
        await writing.query('begin');
        const result = await work(writing);
        await commit(client);
        return result;
      } catch (error) {
        // Only a confirmed rollback leaves a connection that can be trusted; closing one rolls back as well.
        const lost =
          error instanceof DatabaseError && (error.failure === 'unavailable' || error.failure === 'unknown');
        if (lost) discard(client);
        else await client.query('rollback').catch(() => discard(client));
        throw error;
      } finally {
        writing = undefined;
      }
    },
    async snapshot(work) {
      const client = await readers.connect().catch((error) => {
        throw new DatabaseError('unavailable', error);
      });
      let failed: Error | undefined;
      try {
        await client.query('begin isolation level repeatable read read only');
        const result = await work(session(client));
        await client.query('commit');
        return result;
      } catch (error) {
        failed = error as Error;
        throw error;
      } finally {
        client.release(failed);
      }
    },
    async script(sql) {
      const client = await connectWriter();
      try {
        // As long as it takes: a large store migrates for minutes, and whoever waits for it waits as long.
        const text = `set statement_timeout = 0; ${sql}\n; reset statement_timeout`;
        await client.query({ text, query_timeout: NO_DEADLINE_MS } as pg.QueryConfig);
      } catch (error) {
        throw new DatabaseError(failureOf(error), error);
      }
    },
    async durability() {
      // Asked where the session's own word is not: this is what the server, the database and the role have.
      const rows = await database.query<{ name: string; setting: string }>(
        `select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit')`,
      );
      return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
    },
    async close() {
      await readers.end();
      await writer?.end();
    },
  };
  await database.query('select 1').catch(async (error) => {
    await readers.end().catch(() => {});
    throw error;
  });
  return database;
}
