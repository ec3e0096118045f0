// What a work sees of its transaction: reads at once, inserts gathered, and an entry for whatever it changes.
import type { Queryable, Row, Value } from '../store/database.ts';
import type { Table } from '../store/table.ts';
import type { AuditEntry, Entry } from './audit-entry.ts';

/**
 * A work's side of one journal transaction. A work has no effect outside it, since it may be run again after a rollback,
 * and does not read back what it or a neighbour inserted: inserts are written together when the works beside it have run.
 */
export class Transaction {
  /** The moment of this work, milliseconds since 1970; the same for all that run with it. */
  readonly now: number;
  /** The time zone of the installation, for messages that name a moment. */
  readonly timeZone: string;
  readonly inserts: { table: string; row: object }[] = [];
  readonly entries: Entry[] = [];
  /** Rows that were found to be as the history says. */
  readonly vouched = new WeakSet<object>();
  changed = false;
  probing = false;
  glancing = false;
  readonly #database: Queryable;
  readonly #before: readonly Pick<AuditEntry, 'subject' | 'facts'>[];

  /** `before`: the entries of the works that ran before in the same commit. */
  constructor(
    database: Queryable,
    now: number,
    before: readonly Pick<AuditEntry, 'subject' | 'facts'>[] = [],
    timeZone = 'UTC',
  ) {
    this.#database = database;
    this.now = now;
    this.timeZone = timeZone;
    this.#before = before;
  }

  /** The newest entry about a subject by this work or one that ran before in the same commit: it stands in no table yet. */
  entryBefore(subject: string): Pick<AuditEntry, 'subject' | 'facts'> | undefined {
    const own = this.entries.findLast((entry) => entry.subject === subject);
    return own
      ? { subject, facts: JSON.stringify(own.facts) }
      : this.#before.findLast((entry) => entry.subject === subject);
  }

  /** Reads rows. Throws `DatabaseError`. */
  query<R = Row>(sql: string, ...values: Value[]): Promise<R[]> {
    return this.#database.query<R>(sql, ...values);
  }

  /** Runs an `update` or `delete … returning` and gives the rows it touched. Throws `DatabaseError`. */
  async change<R = Row>(sql: string, ...values: Value[]): Promise<R[]> {
    const rows = await this.#database.query<R>(sql, ...values);
    if (rows.length > 0) this.changed = true;
    return rows;
  }

  /**
   * Writes what the history does not tell: a measurement that nothing is decided by. Throws `DatabaseError`.
   */
  async measure(sql: string, ...values: Value[]): Promise<void> {
    await this.#database.query(sql, ...values);
  }

  /** Adds a row, written with all others of its table when the works beside this one have run. */
  insert<R extends object>(table: Table<R>, row: R): void {
    this.inserts.push({ table: table.name, row });
  }

  /** Adds a row now, for works that come behind this one in the same commit and must find it. Throws `DatabaseError`. */
  async insertNow<R extends object>({ name, columns, columnList }: Table<R>, row: R): Promise<void> {
    await this.#database.query(
      `insert into ${name} (${columnList}) values (${columns.map(() => '?').join(', ')})`,
      ...columns.map((column) => (row as Row)[column]!),
    );
    this.changed = true;
  }

  /** Adds an entry to the history. */
  record(entry: Entry): void {
    this.entries.push(entry);
  }

  /** Has the commit write even when no work of it does, so that its success says the store takes writes. */
  probe(): void {
    this.probing = true;
  }

  /** Declares that no answer rests on what this work reads, so its commit need not confirm that it stands. */
  glance(): void {
    this.glancing = true;
  }

  get wrote(): boolean {
    return this.changed || this.inserts.length > 0;
  }
}

export type Work<T> = (transaction: Transaction) => T | Promise<T>;
