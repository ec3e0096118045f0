// The statements of one transaction on a PostgreSQL connection, sent without waiting for the answers to those before.
import type { Queryable, Row, Value } from './database.ts';
import type { Connection } from './postgres-connection.ts';

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
