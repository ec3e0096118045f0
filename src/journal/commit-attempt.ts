// One attempt to write a batch in a database transaction: runs its works, writes their rows, numbers and seals their entries.
import { type Database, DatabaseError, type Queryable } from '../store/database.ts';
import type { AuditEntry } from './audit-entry.ts';
import { lockHead, previousHash, touchHead } from './queries.ts';
import { NO_SEAL, type Seal, sealEntries } from './seal.ts';
import { Transaction, type Work } from './transaction.ts';

/** Undoes the whole batch, because a work failed after it had written. `cause` is the work's error. */
export class FailedAfterWriting extends Error {}

/** What became of a work: its value, or its error if it had written nothing. */
interface WorkOutcome {
  value?: unknown;
  error?: unknown;
}

/** An entry that has no number yet. */
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
