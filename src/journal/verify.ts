// Recomputes the whole history: numbers, seals, checkpoints, and the rows it speaks of; names the first thing that is off.
import { setImmediate as turn } from 'node:timers/promises';
import { sha256 } from '../lib/secrets.ts';
import type { Database, Reader } from '../store/database.ts';
import { knownMigrations } from '../store/migrate.ts';
import { type SchemaFault, schemaFaults } from '../store/schema.ts';
import { type AuditEntry, NO_SEAL, type Seal, sealEntries } from './audit-entry.ts';
import type { Checkpoint, CheckpointReading } from './checkpoint.ts';
import { appliedMigrations, countEntriesBefore, entriesBehind, readHeads, sealsAfter } from './queries.ts';
import {
  type Acknowledgement,
  HistoryBroken,
  type RowCheck,
  type RowFault,
  type RowReport,
  type Voucher,
} from './rows.ts';

export { HistoryBroken };

interface VerifyOptions {
  /** Called with the number of entries and rows that are done, and with their total. */
  onProgress?(done: number, total: number): void;
  /** Called for each row that is not as the history says. */
  onFault?(fault: RowFault): void;
  /** Called for each entry that acknowledges such a row. */
  onAcknowledged?(acknowledgement: Acknowledgement): void;
  /** The first entry whose seal is recomputed; 1 unless given. Rows are held to their entries all the same. */
  since?: number | undefined;
  /** Checkpoints that were kept elsewhere. Read before those of the server. */
  copy?: CheckpointReading | undefined;
}

export interface Verification {
  entries: number;
  seals: number;
  checkpoints: number;
  /** Faults that an operator acknowledged: they count as known. */
  acknowledged: number;
  [counted: string]: number;
}

/** What is verified. Without `indexFaults`, its indexes are not. */
type Verifiable = Pick<Database, 'engine' | 'snapshot'> & Partial<Pick<Database, 'indexFaults'>>;

/**
 * Verifies one unmoving state of the database against itself, against `reading` (read before, so never ahead) and against a
 * copy of the checkpoints where one is given; then its indexes. Throws `HistoryBroken`, `DatabaseError`, and what `indexFaults` does.
 */
export async function verifyHistory(
  database: Verifiable,
  reading: CheckpointReading,
  rowChecks: readonly RowCheck[],
  options: VerifyOptions = {},
): Promise<Verification> {
  const result = await verifyState(database, reading, rowChecks, options);
  // Rows are read by their keys and in full. What else the service finds rows by, only this proves.
  const [fault] = (await database.indexFaults?.()) ?? [];
  if (fault) throw new HistoryBroken(`the rows are as they were, but not all of them are found: ${fault}`);
  return result;
}

function verifyState(
  database: Verifiable,
  reading: CheckpointReading,
  rowChecks: readonly RowCheck[],
  options: VerifyOptions,
): Promise<Verification> {
  const { onProgress = () => {}, since = 1, copy } = options;
  return database.snapshot(async (unmoving) => {
    // SQLite answers without waiting for anything: between two pages others get a turn, such as a signal that ends it.
    const view: Reader = { query: (...asked) => turn().then(() => unmoving.query(...asked)) };
    const faults = await schemaFaults(view, database.engine);
    requireSchema(faults);
    const [head, ...forged] = await readHeads(view);
    if (head?.id !== 1 || forged.length > 0)
      throw new HistoryBroken('the head of the history is missing, or is not the only one');
    // Each entry once for its seal, once for its row.
    const total = head.entries * 2;
    let done = 0;
    const tick = (rows: number) => {
      done += rows;
      onProgress(Math.min(done, total), total);
    };

    await verifyMigrations(view);
    const vouchers: Vouchers[] = [{ noun: 'checkpoint', checkpoints: reading.checkpoints }];
    if (copy) vouchers.push({ noun: 'copied checkpoint', checkpoints: copy.checkpoints });
    const { last, trusted } = await walkSeals(view, { since, vouchers, tick });
    requireReadable(reading, 'checkpoint');
    if (copy) requireCopyHeld(reading, copy);
    if (head.entries !== (last?.last_entry ?? 0) || head.seals !== (last?.number ?? 0)) {
      throw new HistoryBroken(
        `the head says ${head.entries} entries and ${head.seals} seals, the history ends at entry ${last?.last_entry ?? 0}, seal ${last?.number ?? 0}`,
      );
    }
    const result: Verification = {
      entries: head.entries,
      seals: head.seals,
      checkpoints: reading.checkpoints.length,
      acknowledged: 0,
    };
    if (copy) result.copied_checkpoints = copy.checkpoints.length;
    if (since > 1)
      Object.assign(result, {
        since,
        trusted_entries: trusted?.last_entry ?? 0,
        trusted_seals: trusted?.number ?? 0,
      });
    Object.assign(result, await checkRows(view, rowChecks, tick, options));
    // Last, so that a change made after a trigger was dropped is reported itself.
    requireGuards(faults);
    onProgress(total, total);
    return result;
  });
}

/** Returns how many rows of each table there are and how many acknowledged faults. Throws `HistoryBroken` for the first row at fault. */
async function checkRows(
  view: Reader,
  rowChecks: readonly RowCheck[],
  tick: RowReport['tick'],
  { onFault, onAcknowledged }: VerifyOptions,
): Promise<Record<string, number>> {
  let first: RowFault | undefined;
  let rows = 0;
  let acknowledged = 0;
  const report: RowReport = {
    tick,
    fault(fault) {
      first ??= fault;
      rows++;
      onFault?.(fault);
    },
    acknowledged(acknowledgement) {
      acknowledged++;
      onAcknowledged?.(acknowledgement);
    },
  };
  const counts: Record<string, number> = {};
  for (const check of rowChecks) Object.assign(counts, await check(view, report));
  if (first) throw new HistoryBroken(first.problem, { entry: first.entry, subject: first.subject, rows });
  return { ...counts, acknowledged };
}

function requireReadable({ fault }: CheckpointReading, noun: Voucher): void {
  const place = noun === 'copied checkpoint' ? { voucher: noun } : {};
  if (fault) throw new HistoryBroken(`${noun} in line ${fault.line}: ${fault.problem}`, place);
}

/** The server's file only ever grows: it reaches at least as far as a copy of it, unless it was begun anew with another key. */
function requireCopyHeld(reading: CheckpointReading, copy: CheckpointReading): void {
  requireReadable(copy, 'copied checkpoint');
  if (reading.key !== undefined && reading.key !== copy.key) return;
  const newest = reading.checkpoints.at(-1)?.seal ?? 0;
  const copied = copy.checkpoints.at(-1)?.seal ?? 0;
  if (newest < copied) {
    throw new HistoryBroken(
      `the checkpoints end at seal ${newest}, but their copy vouches for seal ${copied}: their end was cut off`,
      { seal: newest + 1 },
    );
  }
}

/** First: a view, or a table that was altered, may show other rows than are stored. */
function requireSchema(faults: readonly SchemaFault[]): void {
  const fault = faults.find(({ isGuard }) => !isGuard);
  if (fault)
    throw new HistoryBroken(`the schema is not this program's: ${fault.problem}`, { subject: fault.name });
}

/**
 * The history proves itself without its triggers. But a missing trigger is suspect, and without it a slip of an operator's hand breaks
 * the history.
 */
function requireGuards([guard]: readonly SchemaFault[]): void {
  if (guard)
    throw new HistoryBroken(`${guard.problem}, so that entries or seals can be changed`, {
      subject: guard.name,
    });
}

async function verifyMigrations(view: Reader): Promise<void> {
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

const PAGE = 2000;

/** Checkpoints in order, each with its signature checked, and what they are called where one of them finds something. */
interface Vouchers {
  noun: Voucher;
  checkpoints: readonly Checkpoint[];
}

interface Walk {
  /** Entry from whose seal on hashes are recomputed; what lies before is only counted and held to its checkpoints. */
  since: number;
  vouchers: readonly Vouchers[];
  tick(entries: number): void;
}

interface Walked {
  last: Seal | undefined;
  /** The newest seal that was taken on trust. */
  trusted: Seal | undefined;
}

/** Walks from the first seal to the last. Throws `HistoryBroken`. */
async function walkSeals(view: Reader, { since, vouchers, tick }: Walk): Promise<Walked> {
  const vouched = vouchers.map(({ noun, checkpoints }) => ({
    noun,
    checkpointOf: inStep(checkpoints),
  }));
  let entries: EntryReader | undefined;
  let last: Seal | undefined;
  let trusted: Seal | undefined;
  for (;;) {
    const seals = await sealsAfter(view, last?.number, PAGE);
    for (const seal of seals) {
      requireNext(seal, last);
      if (!entries && seal.last_entry < since) {
        trusted = seal;
      } else {
        entries ??= await readerFrom(view, seal.first_entry);
        const sealed = await entries.take(seal);
        requireSealed(seal, last?.hash ?? NO_SEAL, sealed);
      }
      for (const { noun, checkpointOf } of vouched) requireVouched(seal, checkpointOf(seal.number), noun);
      last = seal;
      tick(seal.last_entry - seal.first_entry + 1);
    }
    if (seals.length < PAGE) break;
  }
  const end = last?.last_entry ?? 0;
  entries ??= await readerFrom(view, end + 1);
  const surplus = entries.peek();
  if (surplus)
    throw new HistoryBroken(`entry ${surplus.number} stands behind the last seal`, { entry: surplus.number });
  for (const { noun, checkpoints } of vouchers) requireReached(last, checkpoints.at(-1), noun);
  if (since > Math.max(1, end))
    throw new HistoryBroken(`the history ends at entry ${end}, before entry ${since}`, { entry: end + 1 });
  return { last, trusted };
}

function requireNext(seal: Seal, before: Seal | undefined): void {
  const number = (before?.number ?? 0) + 1;
  const first_entry = (before?.last_entry ?? 0) + 1;
  if (seal.number !== number)
    throw new HistoryBroken(`seal ${number} is missing`, { seal: number, entry: first_entry });
  if (seal.first_entry !== first_entry || seal.last_entry < first_entry) {
    throw new HistoryBroken(`seal ${number} covers other entries than those after the seal before`, {
      seal: number,
      entry: first_entry,
    });
  }
}

function requireSealed(seal: Seal, previousHash: string, sealed: readonly AuditEntry[]): void {
  const { number, first_entry, last_entry, at, hash } = seal;
  if (sealEntries(number, previousHash, at, sealed).hash === hash) return;
  const entry = sealed.find((one) => one.at !== at)?.number ?? first_entry;
  throw new HistoryBroken(`seal ${number} does not match entries ${first_entry} to ${last_entry}`, {
    seal: number,
    entry,
  });
}

/** Tells the checkpoint of a seal, for seals asked for in rising order. A map of half a million would take a tenth of a second. */
function inStep(checkpoints: readonly Checkpoint[]): (seal: number) => Checkpoint | undefined {
  let position = 0;
  return (seal) => {
    while (position < checkpoints.length && checkpoints[position]!.seal < seal) position++;
    const next = checkpoints[position];
    return next?.seal === seal ? next : undefined;
  };
}

function requireVouched(seal: Seal, checkpoint: Checkpoint | undefined, noun: Voucher): void {
  if (!checkpoint || (checkpoint.hash === seal.hash && checkpoint.last_entry === seal.last_entry)) return;
  throw new HistoryBroken(
    `seal ${seal.number} is not the one a ${noun} of ${checkpoint.signed_at} vouches for`,
    { seal: seal.number, entry: seal.first_entry, voucher: noun },
  );
}

function requireReached(last: Seal | undefined, newest: Checkpoint | undefined, noun: Voucher): void {
  if (!newest || newest.seal <= (last?.number ?? 0)) return;
  throw new HistoryBroken(
    `the history ends at seal ${last?.number ?? 0}, but a ${noun} of ${newest.signed_at} vouches for seal ${newest.seal}: an older copy was put in its place, or its end cut off`,
    { seal: (last?.number ?? 0) + 1, entry: (last?.last_entry ?? 0) + 1, voucher: noun },
  );
}

/** Hands out entries in order, a page in memory at a time. */
interface EntryReader {
  /** The next; undefined behind the last. */
  peek(): AuditEntry | undefined;
  /** The entries that a seal covers. Throws `HistoryBroken`. */
  take(seal: Seal): Promise<AuditEntry[]>;
}

/** A reader of the entries from number `first` on. Earlier entries are counted only. */
async function readerFrom(view: Reader, first: number): Promise<EntryReader> {
  const before = first === 1 ? undefined : await countEntriesBefore(view, first);
  if (before && (before.count !== first - 1 || before.first !== 1))
    throw new HistoryBroken(`there are ${before.count} entries before entry ${first}`, { entry: first - 1 });
  const entries = entriesBehind(view, before && first - 1, PAGE);
  let next = await entries.next();
  return {
    peek: () => next.value,
    async take({ number: seal, first_entry, last_entry }) {
      const taken: AuditEntry[] = [];
      for (let number = first_entry; number <= last_entry; number++) {
        if (next.value?.number !== number)
          throw new HistoryBroken(`entry ${number} is missing`, { entry: number, seal });
        taken.push(next.value);
        next = await entries.next();
      }
      return taken;
    },
  };
}
