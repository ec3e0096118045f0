// PostgreSQL as a store: one connection for the journal, a few for reads, and no success that is not certain.
import { hostsFault, overridingParameter } from './connection-string.ts';
import {
  type Database,
  DatabaseError,
  type Queryable,
  type Reader,
  type Row,
  type Value,
} from './database.ts';
import { schemaTables } from './migrate.ts';
import { ANSWER_MS, Budget, type Connection, PostgresSession, wasCut } from './postgres-connection.ts';
import { type HostGuard, Hosts } from './postgres-hosts.ts';

/** What a rollback may take, whose transaction has failed already. */
const ROLLBACK_MS = 1000;
/** The longest that a timer takes: 24 days. */
const NO_DEADLINE_MS = 2 ** 31 - 1;

/**
 * The server ends a transaction of which it hears nothing for this share of the time for an answer, 3 s: what it has locked, other nodes
 * wait for.
 */
const SILENT_SHARE = 3 / 8;

/**
 * What the journal's connection relies on: an answered commit is on the server's disk, its warnings reach us, and the budget alone
 * ends a wait.
 */
const SESSION = `select set_config('synchronous_commit', 'on', false), set_config('client_min_messages', 'warning', false),
  set_config('idle_in_transaction_session_timeout', ?, false), set_config('lock_timeout', '0', false)`;

/**
 * Opens a connection string (`postgres://…`, one host or several). Throws `DatabaseError`: `unavailable`, or `fault` where the
 * string would overrule what is promised or its hosts cannot be made out. `answerMs`: how long it waits for an answer.
 */
export async function openPostgres(url: string, guard?: HostGuard, answerMs = ANSWER_MS): Promise<Database> {
  const forbidden = overridingParameter(url);
  if (forbidden) throw new DatabaseError('fault', `the connection string may not set ${forbidden}`);
  const fault = hostsFault(url);
  if (fault) throw new DatabaseError('fault', `the connection string ${fault}`);
  const hosts = new Hosts(url, guard, answerMs);
  const database = new Postgres(hosts, answerMs);
  await database.query('select 1');
  hosts.watch();
  return database;
}

class Postgres implements Database {
  readonly engine = 'postgres';
  readonly #hosts: Hosts;
  readonly #readers: Readers;
  readonly #answerMs: number;
  #writer: Connection | undefined;
  #isWriting = false;
  /** The connection whose transaction is under way: what belongs in that must not happen on another. */
  #working: Connection | undefined;

  constructor(hosts: Hosts, answerMs: number) {
    this.#hosts = hosts;
    this.#readers = new Readers(hosts);
    this.#answerMs = answerMs;
  }

  async query<R = Row>(sql: string, ...values: Value[]): Promise<R[]> {
    const budget = new Budget(this.#answerMs);
    const read = () => this.#readers.lend(budget, (connection) => connection.run(sql, values, budget.left()));
    // A connection may have been cut while it lay idle: a read is then asked once more, on another.
    const { rows } = await read().catch((error) => (wasCut(error) ? read() : Promise.reject(error)));
    return rows as R[];
  }

  async transaction<T>(work: (transaction: Queryable) => Promise<T>, withinMs?: number): Promise<T> {
    if (this.#isWriting) throw new Error('one transaction at a time');
    this.#isWriting = true;
    const budget = new Budget(Math.min(this.#answerMs, withinMs ?? this.#answerMs));
    const leftMs = () => (withinMs === undefined ? this.#answerMs : budget.left());
    try {
      this.#working = await this.#connectWriter(budget);
      // A transaction that takes its time takes it between its statements, too.
      const patient = `set local idle_in_transaction_session_timeout = ${2 * this.#answerMs}`;
      const begin = withinMs === undefined ? `begin; ${patient}` : 'begin';
      const result = await commitWork(work, this.#working, begin, leftMs);
      if (this.#hosts.isSuperseded(this.#working))
        throw new DatabaseError('unknown', 'another host became the database during COMMIT');
      return result;
    } finally {
      this.#working = undefined;
      this.#isWriting = false;
    }
  }

  refresh(): void {} // each read sees what stands as it comes

  snapshot<T>(work: (view: Reader) => Promise<T>): Promise<T> {
    return this.#readers.lend(new Budget(this.#answerMs), async (connection) => {
      const view = new PostgresSession(connection, () => this.#answerMs);
      await view.query('begin isolation level repeatable read read only');
      const result = await work(view);
      await view.query('commit');
      return result;
    });
  }

  async script(sql: string): Promise<void> {
    const connection = this.#working ?? (await this.#connectWriter(new Budget(this.#answerMs)));
    // No deadline: migrating a large store takes minutes, and its callers wait as long.
    await connection.script(`set statement_timeout = 0; ${sql}\n; reset statement_timeout`, NO_DEADLINE_MS);
  }

  async indexFaults(signal?: AbortSignal): Promise<string[]> {
    const connection = await this.#hosts.connect(new Budget(this.#answerMs), 'read');
    try {
      return await postgresIndexFaults(connection, signal);
    } finally {
      await connection.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#hosts.close(), this.#readers.close()]);
    await this.#writer?.close();
  }

  async #connectWriter(budget: Budget): Promise<Connection> {
    if (this.#writer && this.#hosts.isCurrent(this.#writer)) return this.#writer;
    this.#writer?.discard();
    this.#writer = undefined;
    const connection = await this.#hosts.connect(budget, 'write');
    try {
      await connection.run(SESSION, [String(SILENT_SHARE * this.#answerMs)], budget.left());
    } catch (error) {
      connection.discard();
      throw error;
    }
    this.#writer = connection;
    return connection;
  }
}

/** Runs a transaction on a connection. Discards the connection if the outcome is unknown. */
async function commitWork<T>(
  work: (transaction: Queryable) => Promise<T>,
  connection: Connection,
  begin: string,
  leftMs: () => number,
): Promise<T> {
  try {
    // Waited for alone: behind a BEGIN that failed, each statement would commit by itself.
    await connection.script(begin, leftMs());
    const session = new PostgresSession(connection, leftMs);
    const result = await work(session);
    await session.commit();
    return result;
  } catch (error) {
    // Only a confirmed rollback leaves a connection that can be trusted; closing one rolls back as well.
    if (error instanceof DatabaseError && ['unavailable', 'unknown'].includes(error.failure))
      connection.discard();
    else await connection.script('rollback', ROLLBACK_MS).catch(() => connection.discard());
    throw error;
  }
}

const READERS = 4;
/** Reads waiting for a connection; beyond it the answer is at once rather than late. */
const LONGEST_QUEUE = 4096;
/** Timeout for connections in use when the pool closes. */
const CLOSE_MS = 8000;

export class Readers {
  readonly #hosts: Hosts;
  readonly #waiting = new Set<() => void>();
  #idle: Connection[] = [];
  #free = READERS;
  #isClosed = false;

  constructor(hosts: Hosts) {
    this.#hosts = hosts;
  }

  /** Lends a connection to `use`; one on which that failed is not used again. Throws `DatabaseError`, and what `use` throws. */
  async lend<T>(budget: Budget, use: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new DatabaseError('unavailable', 'the store is closed');
    await this.#turn(budget);
    try {
      const connection = this.#takeIdle() ?? (await this.#hosts.connect(budget, 'read'));
      try {
        const result = await use(connection);
        this.#idle.push(connection);
        return result;
      } catch (error) {
        connection.discard();
        if (error instanceof DatabaseError && error.failure === 'unavailable') this.#discardIdle();
        throw error;
      }
    } finally {
      this.#next();
    }
  }

  /** Lends no more, and closes all connections when they are given back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const budget = new Budget(CLOSE_MS);
    await Promise.allSettled(Array.from({ length: READERS }, () => this.#turn(budget)));
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()));
  }

  #takeIdle(): Connection | undefined {
    for (;;) {
      const connection = this.#idle.pop();
      if (!connection || this.#hosts.isCurrent(connection)) return connection;
      connection.discard();
    }
  }

  /** Where one connection gave no answer, the idle ones may lead to the same silence. */
  #discardIdle(): void {
    for (const connection of this.#idle.splice(0)) connection.discard();
  }

  /** Waits until fewer than `READERS` are lent. */
  async #turn(budget: Budget): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    if (this.#waiting.size >= LONGEST_QUEUE) throw new DatabaseError('unavailable', 'too many reads wait');
    const leftMs = budget.left(); // throws if no time is left; then the turn must go to another read
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    const timer = setTimeout(() => {
      this.#waiting.delete(resolve);
      reject(new DatabaseError('unavailable', 'no connection became free in time'));
    }, leftMs);
    await promise.finally(() => clearTimeout(timer));
  }

  /** Gives the turn to the read that has waited longest. */
  #next(): void {
    const [first] = this.#waiting;
    if (first) {
      this.#waiting.delete(first);
      first();
    } else this.#free += 1;
  }
}

const FAULTS_MAXIMUM = 10;

/** Each second the server checks whether the client is still connected. */
const WALKING_SESSION = `set statement_timeout = 0; set idle_in_transaction_session_timeout = 0;
  set client_connection_check_interval = '1s'`;

const INDEXES = `
select x.indexrelid::pg_catalog.regclass::text as name, x.indrelid::pg_catalog.regclass::text as "table",
  (select pg_catalog.string_agg(pg_catalog.pg_get_indexdef(x.indexrelid, n, false), ', ' order by n)
   from pg_catalog.generate_series(1, x.indnkeyatts::int) as n) as keys,
  coalesce(pg_catalog.pg_get_expr(x.indpred, x.indrelid), 'true') as condition
from pg_catalog.unnest(pg_catalog.string_to_array(?::text, ',')) as told (name)
join pg_catalog.pg_index x on x.indrelid = pg_catalog.to_regclass(told.name)
order by 1`;

/** The function of amcheck that this role may call, with its schema. */
const AMCHECK = `
select p.oid::pg_catalog.regproc::text as name from pg_catalog.pg_extension e
join pg_catalog.pg_proc p on p.pronamespace = e.extnamespace and p.proname = 'bt_index_check' and p.pronargs = 2
where e.extname = 'amcheck' and pg_catalog.has_function_privilege(p.oid, 'execute')`;

interface Index {
  name: string;
  table: string;
  /** Key columns and expressions, with commas between. */
  keys: string;
  /** Of a partial index; `true` for any other. */
  condition: string;
}

/**
 * Returns what is wrong with the indexes, a clause each, ten at most. Takes a connection of its own, which it leaves in another
 * state than it was. `signal` closes that. Throws `DatabaseError`, and the signal's reason.
 */
async function postgresIndexFaults(connection: Connection, signal?: AbortSignal): Promise<string[]> {
  const end = () => connection.discard();
  signal?.addEventListener('abort', end);
  try {
    signal?.throwIfAborted();
    await connection.script(WALKING_SESSION, NO_DEADLINE_MS);
    const { rows: indexes } = await connection.run(INDEXES, [schemaTables().join(',')], NO_DEADLINE_MS);
    const { rows: callable } = await connection.run(AMCHECK, [], NO_DEADLINE_MS);
    const amcheck = (callable[0] as { name: string } | undefined)?.name;
    const faults: string[] = [];
    for (const index of indexes as Index[]) {
      const fault = amcheck
        ? await faultByAmcheck(connection, amcheck, index)
        : await faultByScan(connection, index);
      if (fault) faults.push(fault);
      if (faults.length === FAULTS_MAXIMUM) break;
    }
    return faults;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', end);
  }
}

async function faultByAmcheck(
  connection: Connection,
  amcheck: string,
  { name }: Index,
): Promise<string | undefined> {
  try {
    await connection.run(`select ${amcheck}(?::text::pg_catalog.regclass, true)`, [name], NO_DEADLINE_MS);
    return undefined;
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return `index ${name}: ${error.message}`;
  }
}

/** PostgreSQL's class XX: internal errors, of which XX001 is damaged data and XX002 a damaged index. */
function isCorruption(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && /^XX/.test((error.cause as { code?: string }).code ?? '');
}

const WALK_TABLE = `set local enable_seqscan = on; set local enable_indexscan = off; set local enable_indexonlyscan = off;
  set local enable_bitmapscan = off; set local max_parallel_workers_per_gather = 0; set local jit = off`;
const WALK_INDEX = `set local enable_seqscan = off; set local enable_indexscan = on;
  set local enable_sort = off; set local enable_incremental_sort = off`;

/**
 * Walks the table and then the index in one state, and compares: as many rows, none twice, and in the order of what the rows
 * themselves hold. A key that leads to another row stands out of order.
 */
async function faultByScan(
  connection: Connection,
  { name, table, keys, condition }: Index,
): Promise<string | undefined> {
  const run = async <R>(sql: string) => (await connection.script(sql, NO_DEADLINE_MS)).rows as R[];
  const part = `from only ${table} where ${condition}`;
  const walk = `select count(*) as found, count(distinct place) as places, count(*) filter (where held < before) as misplaced
    from (select ctid as place, row(${keys}) as held, lag(row(${keys})) over (order by ${keys}) as before ${part}) as walked`;
  try {
    await run(`begin isolation level repeatable read read only; ${WALK_TABLE}`);
    const [there] = await run<{ rows: number }>(`select count(*) as rows ${part}`);
    await run(WALK_INDEX);
    const plan = (await run<Record<string, string>>(`explain (costs off) ${walk}`)).map(
      (row) => row['QUERY PLAN'],
    );
    if (!plan.some((line) => line?.includes(` using ${name.split('.').at(-1)} `)))
      return `index ${name} is not used by PostgreSQL`;
    const [led] = await run<{ found: number; places: number; misplaced: number }>(walk);
    if (led!.found !== there!.rows || led!.places !== there!.rows)
      return `index ${name} leads to ${led!.places} rows of ${table}, which has ${there!.rows} for it`;
    return led!.misplaced > 0 ? `index ${name} leads to rows of ${table} that hold other keys` : undefined;
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return `index ${name}: ${error.message}`;
  } finally {
    await connection.script('rollback', NO_DEADLINE_MS).catch(() => connection.discard());
  }
}
