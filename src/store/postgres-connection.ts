// A connection to PostgreSQL: its statements, the time limit that several of them share, and the failures of the server.

import { Socket } from 'node:net';
import pg from 'pg';
import { monotonicMs } from '../lib/time.ts';
import { DatabaseError, type DatabaseFailure, type Queryable, type Row, type Value } from './database.ts';

/**
 * For a whole transaction with a waiting caller, connecting and COMMIT included; for a read, with the wait for a connection, connecting,
 * and its second try; and for each statement of a snapshot, or of a transaction that as a whole takes as long as it takes.
 */
export const ANSWER_MS = 8000;
/** Timeout of a connection's end. */
const FAREWELL_MS = 1000;
/** An idle connection is asked for a sign of life after this long, and ten times a second apart, before it counts as cut. */
const IDLE_BEFORE_PROBE_MS = 10_000;

/** `bigint` comes as a number: ours (milliseconds, minor units, counts) stay below 2^53. */
const INT8_OID = 20;
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8_OID ? Number : pg.types.getTypeParser(oid, format as 'text'),
};

/** SQLSTATE classes and codes (PostgreSQL manual, appendix A). */
function failureOf(error: unknown): DatabaseFailure {
  const state = sqlState(error);
  if (state === undefined) return 'unavailable'; // the socket's own errors, and deadlines
  if (state === '23505') return 'conflict';
  if (state === '40P01' || state === '40001') return 'contended';
  // 25P03 and 25P04: a limit of the session has ended it; 55P03: one has ended the wait for a lock.
  if (/^(08|53|57|25006|25P03|25P04|55P03)/.test(state)) return 'unavailable';
  if (/^(58|XX)/.test(state)) return 'unavailable'; // the server's disk is the server's to stop for
  return 'fault';
}

/** What the server said; undefined where it said nothing. Each SQLSTATE has a digit, unlike the system's `EPIPE`. */
function sqlState(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/**
 * Whether an error at COMMIT says for certain that nothing stands: the server has answered COMMIT with something else, or has refused
 * a statement before it. A statement that was not answered says nothing, because COMMIT was sent behind it.
 */
function wasRolledBack(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false;
  return !(error.cause instanceof Error) || sqlState(error.cause) !== undefined;
}

/** Whether a connection was found closed by the server or the network, rather than slow or refused. */
export function wasCut(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false;
  const { code } = error.cause as { code?: string };
  return (
    ['57P01', 'ECONNRESET', 'EPIPE'].includes(code ?? '') ||
    /^Connection terminated unexpectedly/.test(error.message)
  );
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

export class Connection {
  readonly #client: pg.Client;
  readonly #socket: Socket;
  #isOpen = true;

  private constructor(url: string, deadlineMs: number, statementMs: number) {
    const socket = new Socket();
    this.#socket = socket;
    this.#client = new pg.Client({
      connectionString: url,
      stream: () => socket,
      types: types as pg.CustomTypesConfig,
      connectionTimeoutMillis: deadlineMs,
      pipeline: true, // a statement is sent though those before it are not answered
      statement_timeout: statementMs, // does not interrupt the wait for a synchronous standby, which ours does
      idle_in_transaction_session_timeout: 2 * statementMs,
      application_name: 'counterfoil',
    });
    this.#client.on('error', () => this.discard());
    this.#client.on('end', () => this.discard());
  }

  /**
   * Connects to the one host of a connection string, which itself ends a statement after `statementMs`. Throws `DatabaseError`
   * (`unavailable`), whatever keeps it from that.
   */
  static async open(url: string, deadlineMs: number, statementMs: number): Promise<Connection> {
    let connection: Connection | undefined;
    try {
      connection = new Connection(url, deadlineMs, statementMs);
      await connection.#client.connect();
    } catch (error) {
      connection?.discard();
      // A name with several addresses: each has an error of its own, and all of them together have no words.
      const one = error instanceof AggregateError ? error.errors.at(-1) : error;
      throw new DatabaseError('unavailable', one);
    }
    connection.#socket.setKeepAlive(true, IDLE_BEFORE_PROBE_MS);
    return connection;
  }

  /** Whether it can still be used, as far as is known. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Runs one statement, `?` for each value. Without an answer by the deadline the connection is gone. Throws `DatabaseError`. */
  run(sql: string, values: readonly Value[], deadlineMs: number): Promise<pg.QueryResult> {
    return this.#answer({ ...prepared(sql), values: values as Value[] }, deadlineMs);
  }

  /** Runs a text of statements as it is. Throws `DatabaseError`. */
  script(text: string, deadlineMs: number): Promise<pg.QueryResult> {
    return this.#answer({ text }, deadlineMs);
  }

  async #answer(statement: pg.QueryConfig, deadlineMs: number): Promise<pg.QueryResult> {
    try {
      return await this.#client.query({ ...statement, query_timeout: deadlineMs } as pg.QueryConfig);
    } catch (error) {
      if (sqlState(error) === undefined) this.discard();
      throw new DatabaseError(failureOf(error), error);
    }
  }

  /**
   * COMMIT, and the one answer that means it: any warning says that a wait for a standby was cut short. `before`: the answers to the
   * transaction's statements, which may still be on their way. Throws `DatabaseError`.
   */
  async commit(deadlineMs: number, before: Promise<unknown>): Promise<void> {
    let warning: string | undefined;
    const listen = (notice: { message?: string | undefined }) =>
      (warning = notice.message ?? 'warning at COMMIT');
    this.#client.on('notice', listen);
    try {
      const answer = this.#client.query({ text: 'commit', query_timeout: deadlineMs } as pg.QueryConfig);
      answer.catch(() => {}); // reported by the statement that failed before
      await before;
      const { command } = await answer;
      if (command !== 'COMMIT') throw new DatabaseError('unavailable', `COMMIT answered ${command}`);
    } catch (error) {
      throw wasRolledBack(error) ? error : new DatabaseError('unknown', error);
    } finally {
      this.#client.removeListener('notice', listen);
    }
    if (warning) throw new DatabaseError('unknown', warning);
  }

  /** Closes the connection at once. Used if its state is unknown or the server does not answer. */
  discard(): void {
    this.#isOpen = false;
    this.#socket.destroy();
  }

  /** Takes leave of the server, which need not answer. */
  async close(): Promise<void> {
    this.#isOpen = false;
    const timer = setTimeout(() => this.#socket.destroy(), FAREWELL_MS);
    await this.#client.end().catch(() => {});
    clearTimeout(timer);
  }
}

export class Budget {
  readonly #endsAt: number;

  /** Begins now and lasts `ms`. */
  constructor(ms: number) {
    this.#endsAt = monotonicMs() + ms;
  }

  /** The remaining milliseconds, at most `ms`. Throws `DatabaseError` (`unavailable`) if none remain. */
  left(ms = Number.POSITIVE_INFINITY): number {
    const left = Math.ceil(this.#endsAt - monotonicMs());
    if (left <= 0) throw new DatabaseError('unavailable', 'the time for it was used up');
    return Math.min(left, ms);
  }
}

/** Every so many inserts one is waited for, so that the rows of a long transaction do not pile up in memory. */
const UNANSWERED_INSERTS = 8;

export class PostgresSession implements Queryable {
  readonly #connection: Connection;
  readonly #deadlineMs: () => number;
  /** Settles when all statements so far are answered, and rejects with the error of the first that failed. */
  #answered: Promise<unknown> = Promise.resolve();
  #inserts = 0;

  /** `deadlineMs` is asked before each statement, how many milliseconds it may take. */
  constructor(connection: Connection, deadlineMs: () => number) {
    this.#connection = connection;
    this.#deadlineMs = deadlineMs;
  }

  /** Rejects with the error of the first statement that failed, because the server refuses those behind it. Throws `DatabaseError`. */
  async query<R = Row>(sql: string, ...values: Value[]): Promise<R[]> {
    return (await this.#inOrder(this.#connection.run(sql, values, this.#deadlineMs()))).rows as R[];
  }

  /** Sends rows. If they are refused, the next query rejects, or the commit. Throws `DatabaseError`. */
  async insert(table: string, rows: readonly object[]): Promise<void> {
    if (rows.length === 0) return;
    const columns = Object.keys(rows[0]!).join(', ');
    const sql = `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, ?)`;
    const answer = this.#inOrder(this.#connection.run(sql, [JSON.stringify(rows)], this.#deadlineMs()));
    this.#inserts += 1;
    if (this.#inserts % UNANSWERED_INSERTS === 0) await answer;
  }

  /** Sends COMMIT, and waits for all answers. Throws `DatabaseError`. */
  commit(): Promise<void> {
    return this.#connection.commit(this.#deadlineMs(), this.#answered);
  }

  #inOrder<T>(answer: Promise<T>): Promise<T> {
    const inOrder = this.#answered.then(() => answer);
    answer.catch(() => {}); // reported by `inOrder`
    inOrder.catch(() => {}); // reported by the next query or the commit
    this.#answered = inOrder;
    return inOrder;
  }
}
