// Recomputes the whole history: numbers, seals, checkpoints, and the rows it speaks of; names the first thing that is off.
import type { Database, Queryable } from '../database/database.ts';
import { knownMigrations } from '../database/migrate.ts';
import { sha256 } from '../lib/secrets.ts';
import type { AuditEntry } from './audit-entry.ts';
import type { Checkpoint, CheckpointReading } from './checkpoint.ts';
import { appliedMigrations, entriesAfter, readHeads, sealsAfter } from './queries.ts';
import { NO_SEAL, type Seal, sealEntries } from './seal.ts';

const PAGE = 2000;

/** The first thing found wrong. `entry`, `seal` and `subject` say where, as far as that is known. */
export class HistoryBroken extends Error {
  override readonly name = 'HistoryBroken';
  readonly entry: number | undefined;
  readonly seal: number | undefined;
  readonly subject: string | undefined;
  constructor(problem: string, place: { entry?: number; seal?: number; subject?: string } = {}) {
    super(problem);
    this.entry = place.entry;
    this.seal = place.seal;
    this.subject = place.subject;
  }
}

export type View = Pick<Queryable, 'query'>;
/** A further check by who owns the rows: raises `HistoryBroken`, returns how many rows it looked at. */
export type RowCheck = (view: View, tick: (rows: number) => void) => Promise<Record<string, number>>;

export interface Verification {
  entries: number;
  seals: number;
  checkpoints: number;
  [rows: string]: number;
}

/**
 * Verifies one unmoving state of the database against itself and against `checkpoints` (read before, so never ahead).
 * `onProgress` is told how many of how many entries and rows are done. Raises `HistoryBroken`, `DatabaseError`.
 */
export function verifyHistory(
  database: Pick<Database, 'snapshot'>,
  reading: CheckpointReading,
  rowChecks: readonly RowCheck[],
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Verification> {
  return database.snapshot(async (view) => {
    const [head, ...forged] = await readHeads(view);
    if (head?.id !== 1 || forged.length > 0)
      throw new HistoryBroken('the head of the history is missing, or is not the only one');
    const total = head.entries * (1 + rowChecks.length);
    let done = 0;
    const tick = (rows: number) => {
      done += rows;
      onProgress(Math.min(done, total), total);
    };

    await verifyMigrations(view);
    const last = await verifySeals(view, reading.checkpoints, tick);
    if (reading.fault)
      throw new HistoryBroken(`checkpoint in line ${reading.fault.line}: ${reading.fault.problem}`);
    if (head.entries !== (last?.last_entry ?? 0) || head.seals !== (last?.number ?? 0)) {
      throw new HistoryBroken(
        `the head says ${head.entries} entries and ${head.seals} seals, the history ends at entry ${last?.last_entry ?? 0}, seal ${last?.number ?? 0}`,
      );
    }
    const result: Verification = {
      entries: head.entries,
      seals: head.seals,
      checkpoints: reading.checkpoints.length,
    };
    for (const check of rowChecks) Object.assign(result, await check(view, tick));
    return result;
  });
}

async function verifyMigrations(view: View): Promise<void> {
  const known = knownMigrations();
  const applied = await appliedMigrations(view);
  for (const [index, migration] of applied.entries()) {
    const expected = known[index];
    if (
      !expected ||
      migration.version !== expected.version ||
      migration.name !== expected.name ||
      migration.digest !== sha256(expected.sql)
    ) {
      throw new HistoryBroken(
        `schema migration ${migration.version} (${migration.name}) is not the one this program knows`,
      );
    }
  }
  if (applied.length < known.length)
    throw new HistoryBroken(`schema migration ${known[applied.length]!.name} is not recorded`);
}

/** Walks seals and entries side by side. Returns the last seal. */
async function verifySeals(
  view: View,
  checkpoints: readonly Checkpoint[],
  tick: (n: number) => void,
): Promise<Seal | undefined> {
  const entries = new EntryReader(view);
  const expected = new Map(checkpoints.map((checkpoint) => [checkpoint.seal, checkpoint]));
  let last: Seal | undefined;
  for (;;) {
    const seals = await sealsAfter(view, last?.number, PAGE);
    for (const seal of seals) {
      const number = (last?.number ?? 0) + 1;
      const first_entry = (last?.last_entry ?? 0) + 1;
      if (seal.number !== number)
        throw new HistoryBroken(`seal ${number} is missing`, { seal: number, entry: first_entry });
      if (seal.first_entry !== first_entry || seal.last_entry < first_entry) {
        throw new HistoryBroken(`seal ${number} covers other entries than those after the seal before`, {
          seal: number,
          entry: first_entry,
        });
      }
      const sealed = await entries.take(first_entry, seal.last_entry, number);
      const recomputed = sealEntries(number, last?.hash ?? NO_SEAL, seal.at, sealed);
      if (recomputed.hash !== seal.hash) {
        const entry = sealed.find((one) => one.at !== seal.at)?.number ?? first_entry;
        throw new HistoryBroken(
          `seal ${number} does not match entries ${first_entry} to ${seal.last_entry}`,
          { seal: number, entry },
        );
      }
      const checkpoint = expected.get(number);
      if (checkpoint && (checkpoint.hash !== seal.hash || checkpoint.last_entry !== seal.last_entry)) {
        throw new HistoryBroken(
          `seal ${number} is not the one a checkpoint of ${checkpoint.signed_at} vouches for`,
          { seal: number, entry: first_entry },
        );
      }
      last = seal;
      tick(sealed.length);
    }
    if (seals.length < PAGE) break;
  }
  const surplus = await entries.peek();
  if (surplus)
    throw new HistoryBroken(`entry ${surplus.number} stands behind the last seal`, { entry: surplus.number });
  const newest = checkpoints.at(-1);
  if (newest && newest.seal > (last?.number ?? 0)) {
    throw new HistoryBroken(
      `the history ends at seal ${last?.number ?? 0}, but a checkpoint of ${newest.signed_at} vouches for seal ${newest.seal}: an older copy was put in its place, or its end cut off`,
      { seal: (last?.number ?? 0) + 1, entry: (last?.last_entry ?? 0) + 1 },
    );
  }
  return last;
}

/** Hands out entries in order, a page in memory at a time. */
class EntryReader {
  readonly #view: View;
  #page: AuditEntry[] = [];
  #position = 0;
  #after: number | undefined;

  constructor(view: View) {
    this.#view = view;
  }

  async peek(): Promise<AuditEntry | undefined> {
    if (this.#position === this.#page.length) {
      this.#page = await entriesAfter(this.#view, this.#after, PAGE);
      this.#position = 0;
    }
    return this.#page[this.#position];
  }

  async take(first: number, last: number, seal: number): Promise<AuditEntry[]> {
    const taken: AuditEntry[] = [];
    for (let number = first; number <= last; number++) {
      const entry = await this.peek();
      if (entry?.number !== number)
        throw new HistoryBroken(`entry ${number} is missing`, { entry: number, seal });
      taken.push(entry);
      this.#position++;
      this.#after = number;
    }
    return taken;
  }
}
