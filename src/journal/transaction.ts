// What a work sees of its transaction: reads at once, inserts gathered, and an entry for whatever it changes.
import { type Database, DatabaseError, type Queryable, type Row, type Value } from '../store/database.ts';
import { insertion, type Table } from '../store/table.ts';
import { type AuditEntry, type Entry, NO_SEAL, type Seal, sealEntries } from './audit-entry.ts';
import { lockHead, previousHash, touchHead } from './queries.ts';

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
  async insertNow<R extends object>(table: Table<R>, row: R): Promise<void> {
    await this.#database.query(...insertion(table, [row]));
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

/** Undoes the whole batch, because a work failed after it had written. `cause` is the work's error. */
export class FailedAfterWriting extends Error {}

/** What became of a work: its value, or its error if it had written nothing. */
interface WorkOutcome {
  value?: unknown;
  error?: unknown;
}

type Unnumbered = Omit<AuditEntry, 'number'>;

export class CommitAttempt {
  readonly #queryable: Queryable;
  readonly #engine: Database['engine'];
  readonly #timeZone: string;
  readonly #entries: Unnumbered[] = [];
  #isTouching = false;

  constructor(queryable: Queryable, engine: Database['engine'], timeZone: string) {
    this.#queryable = queryable;
    this.#timeZone = timeZone;
    this.#engine = engine;
  }

  /**
   * Runs works one after the other, all at the moment `now`, then inserts their rows. Returns their outcomes in the same order. Throws
   * `DatabaseError`, and `FailedAfterWriting`.
   */
  async run(works: readonly { work: Work<unknown> }[], now: number): Promise<WorkOutcome[]> {
    const tables = new Map<string, object[]>();
    const outcomes: WorkOutcome[] = [];
    for (const { work } of works) {
      const transaction = new Transaction(this.#queryable, now, this.#entries, this.#timeZone);
      try {
        const pending = work(transaction);
        outcomes.push({ value: pending instanceof Promise ? await pending : pending });
      } catch (error) {
        if (error instanceof DatabaseError) throw error;
        if (transaction.changed) throw new FailedAfterWriting('', { cause: error });
        outcomes.push({ error }); // it had written nothing: its neighbours go on
        continue;
      } finally {
        this.#isTouching ||= transaction.probing || (this.#engine === 'postgres' && !transaction.glancing);
      }
      if (transaction.wrote && transaction.entries.length === 0)
        throw new Error('a work changed rows and recorded no entry');
      for (const { table, row } of transaction.inserts) {
        const rows = tables.get(table);
        if (rows) rows.push(row);
        else tables.set(table, [row]);
      }
      for (const { actor, action, subject, request_id, facts } of transaction.entries)
        this.#entries.push({ at: now, actor, action, subject, request_id, facts: JSON.stringify(facts) });
    }
    for (const [table, rows] of tables) await this.#queryable.insert(table, rows);
    return outcomes;
  }

  /** Numbers and seals all entries at the moment `now`, and returns the seal; undefined if there are none. Throws `DatabaseError`. */
  async seal(now: number): Promise<Seal | undefined> {
    if (this.#entries.length > 0) return this.#seal(now);
    // What a work has found and answers with may be there for now alone: see docs/decisions/0013-what-is-seen-may-not-stand.md.
    if (this.#isTouching) await touchHead(this.#queryable);
    return undefined;
  }

  /** The head's row is locked last, so that nodes wait for one another as briefly as can be. */
  async #seal(now: number): Promise<Seal> {
    const locked = lockHead(this.#queryable, this.#entries.length);
    // Asked at once: on PostgreSQL both are one wait, and the second begins when the first has the lock.
    const [head, before] = await Promise.all([locked, previousHash(this.#queryable)]);
    if (head.seals > 1 && before === undefined)
      throw new Error(`seal ${head.seals - 1} is missing from the history`);
    const first = head.entries - this.#entries.length + 1;
    const entries = this.#entries.map((entry, i) => ({ number: first + i, ...entry }));
    const seal = sealEntries(head.seals, before ?? NO_SEAL, now, entries);
    await this.#queryable.insert('audit_entries', entries);
    await this.#queryable.insert('seals', [seal]);
    return seal;
  }
}
