// Holds the rows of a table against the history: each as its last entry says it is, none missing, none extra.

import { OperationalError } from '../lib/errors.ts';
import { counted } from '../lib/text.ts';
import type { Reader } from '../store/database.ts';
import { pagesOf, type Table } from '../store/table.ts';
import { type Act, type AuditEntry, type Entry, rowDigest } from './audit-entry.ts';
import { countRows, entriesBySubject, findRow, newestEntriesAbout } from './queries.ts';
import type { Transaction } from './transaction.ts';

/** Called while rows are checked. */
export interface RowReport {
  /** Entries that were read. */
  tick(entries: number): void;
  /** A row that is not as the history says. */
  fault(fault: RowFault): void;
  /** An entry that acknowledges a fault, whatever has become of the row since. */
  acknowledged(acknowledgement: Acknowledgement): void;
}

/** A check of rows: reports their faults, returns how many rows it looked at. Throws `HistoryBroken`. */
export type RowCheck = (view: Reader, report: RowReport) => Promise<Record<string, number>>;

const PAGE = 2000;
/** Sorts behind every character of an id. */
const END = '~';

interface Told {
  subject: string;
  /** The version that its entries make it. */
  version: number;
  /** The state that the actions lead to, where the table has states. */
  state: string | undefined;
  /** Whether its first entry is of an action that makes a row. So is one whose row an operator acknowledged. */
  isCreated: boolean;
  last: {
    number: number;
    /** When it was last changed, milliseconds since 1970. An acknowledgement of a change counts if it is the first entry. */
    at: number;
    row: unknown;
    isAcknowledgement: boolean;
  };
}

interface RowTable<R extends object> {
  table: Table<R>;
  /** The column whose values, behind `prefix`, are the subjects of entries; rows are walked in its order. */
  key: string & keyof R;
  /** What a row is, in words. */
  noun: string;
  /** What the subjects of entries about such rows begin with. */
  prefix: string;
  /** What stands before `key` in a subject, where the key itself has not the prefix. */
  keyPrefix?: string;
  states?: {
    /** The state before any action. */
    first: string;
    /** The state that an action leaves a row in; others leave it as it is. */
    after: Readonly<Record<string, string>>;
    /** The state that a row is in. */
    of(row: R): string;
  };
  /** The actions that a row can begin with. */
  creates: readonly string[];
  /** Whether the history accounts for the row's being gone. */
  mayBeGone?(told: Told): boolean;
}

/** The facts of an entry, parsed. Throws `HistoryBroken` if they are no JSON object: the program did not write them. */
export function entryFacts({ number, subject, facts }: Pick<AuditEntry, 'number' | 'subject' | 'facts'>) {
  try {
    const read: unknown = JSON.parse(facts);
    if (typeof read === 'object' && read !== null) return read as Record<string, unknown>;
  } catch {} // throws below
  throw new HistoryBroken(`the facts of entry ${number} are not the JSON of an object`, {
    entry: number,
    subject,
  });
}

/**
 * The check of one table whose rows have an `id` and count their entries. `noun`: what a row is, in words. `prefix`: what ids begin with.
 * `creates`: the actions that a row can begin with.
 */
export const rowCheck =
  <R extends { id: string; version: number }>(
    table: Table<R>,
    noun: string,
    prefix: string,
    creates: readonly string[],
    more: Pick<RowTable<R>, 'states' | 'mayBeGone'> = {},
  ): RowCheck =>
  async (view, report) => ({
    [table.name]: await compareRows<R>(view, { table, key: 'id', noun, prefix, creates, ...more }, report),
  });

/**
 * Walks rows and entries in the same order, side by side, and reports each row that differs. Returns how many rows there were. Throws
 * `HistoryBroken`.
 */
export async function compareRows<R extends object>(
  view: Reader,
  table: RowTable<R>,
  report: RowReport,
): Promise<number> {
  const { noun, key, keyPrefix = '' } = table;
  const told = tellings(view, table, report);
  let faults = 0;
  const found = (fault: RowFault) => {
    faults++;
    report.fault(fault);
  };
  let rows = 0;
  let next = await told.next();
  const passGone = async (until: string | undefined) => {
    while (!next.done && (until === undefined || next.value.subject < until)) {
      const one = next.value;
      const isKnown = one.last.isAcknowledgement && one.last.row === null;
      if (!isKnown && !table.mayBeGone?.(one)) found(faultOf(table, undefined, one)!);
      next = await told.next();
    }
  };
  for await (const row of walk(view, table)) {
    rows++;
    const subject = keyPrefix + String(row[key]);
    await passGone(subject);
    const one = !next.done && next.value.subject === subject ? next.value : undefined;
    const fault = faultOf(table, row, one);
    if (fault) found(fault);
    if (one) next = await told.next();
  }
  await passGone(undefined);
  // Counted another way than by walking them.
  const count = await countRows(view, table.table.name);
  if (rows !== count && faults === 0)
    throw new HistoryBroken(`of ${count} rows that are each a ${noun}, ${rows} are found`, { subject: noun });
  return rows;
}

/** What is wrong with a row, or with its absence if `row` is undefined. `told` is what its newest entry says, or undefined. */
function faultOf<R extends object>(
  table: RowTable<R>,
  row: R | undefined,
  told: Told | undefined,
): RowFault | undefined {
  const { noun, key, keyPrefix = '', prefix } = table;
  const subject = told?.subject ?? keyPrefix + String(row![key]);
  const digest = row ? rowDigest(table.table.columns, row) : null;
  const { version } = (row ?? {}) as { version?: number };
  const state = row && table.states?.of(row);
  const fault = (kind: RowFault['kind'], problem: string): RowFault => ({
    kind,
    problem: `${noun} ${subject} ${problem}`,
    subject,
    entry: told?.last.number,
    row: digest,
    version,
    state,
    isNameable: subject.startsWith(prefix) && subject < prefix + END,
    place: { table: table.table, key, value: subject.slice(keyPrefix.length) },
  });
  if (!row) return fault('missing', 'is missing, though the history speaks of it');
  if (!told) return fault('added', 'stands in no entry of the history');
  if (!told.isCreated) return fault('added', 'begins in the history with an entry that makes no row');
  const { last } = told;
  if (last.row !== digest) return fault('changed', `is not as entry ${last.number} left it`);
  if (state !== told.state) return fault('contradictory', `is ${state}, its entries make it ${told.state}`);
  if (version !== undefined && version !== told.version)
    return fault('contradictory', `counts ${version} entries, the history has ${told.version}`);
  return undefined;
}

async function* tellings<R extends object>(
  view: Reader,
  { prefix, states, creates }: RowTable<R>,
  report: RowReport,
): AsyncGenerator<Told> {
  let told: Told | undefined;
  let after = { subject: prefix, number: 0 };
  for (;;) {
    const entries = await entriesBySubject(view, after, prefix + END, PAGE);
    for (const entry of entries) {
      const { subject, number, at, action } = entry;
      if (told && told.subject !== subject) yield told;
      const before = told?.subject === subject ? told : undefined;
      const facts = entryFacts(entry);
      const isAcknowledgement = action === ACKNOWLEDGED;
      const last = { number, at, row: facts.row, isAcknowledgement };
      const state = before?.state ?? states?.first;
      if (isAcknowledgement) {
        report.acknowledged(acknowledgementIn(entry, facts));
        // What follows is held to the row as it was acknowledged.
        told = {
          subject,
          version: typeof facts.version === 'number' ? facts.version : (before?.version ?? 0),
          state: typeof facts.state === 'string' ? facts.state : state,
          isCreated: true,
          last: { ...last, at: before?.last.at ?? at },
        };
      } else {
        const version = (before?.version ?? 0) + 1;
        const isCreated = before?.isCreated ?? creates.includes(action);
        told = { subject, version, state: states?.after[action] ?? state, isCreated, last };
      }
      after = { subject, number };
    }
    report.tick(entries.length);
    if (entries.length < PAGE) break;
  }
  if (told) yield told;
}

async function* walk<R extends object>(view: Reader, { table, key }: RowTable<R>): AsyncGenerator<R> {
  for await (const rows of pagesOf<R>(view, { ...table, key: [key] }, PAGE)) yield* rows;
}

/** The file of checkpoints that contradicts the history: the server's own, or the copy that was given. */
export type Voucher = 'checkpoint' | 'copied checkpoint';

/**
 * The first thing found wrong. `entry`, `seal` and `subject` say where, as far as that is known. `voucher` is set where the history
 * proves itself, but not the checkpoints. `rows` is how many rows are not as the history says, if the history itself is right.
 */
export class HistoryBroken extends Error {
  override readonly name = 'HistoryBroken';
  readonly entry: number | undefined;
  readonly seal: number | undefined;
  readonly subject: string | undefined;
  readonly voucher: Voucher | undefined;
  readonly rows: number = 0;

  constructor(
    problem: string,
    place: Partial<Pick<HistoryBroken, 'entry' | 'seal' | 'subject' | 'voucher' | 'rows'>> = {},
  ) {
    super(problem);
    Object.assign(this, place);
  }
}

/** The action of an entry that acknowledges a fault. Its subject is the row's. */
export const ACKNOWLEDGED = 'history.acknowledged';

/** A row that is not as the history says. */
export interface RowFault {
  /** `contradictory`: the row is as its last entry says, but its version or state is not what its entries lead to. */
  kind: 'changed' | 'missing' | 'added' | 'contradictory';
  /** In words, without a full stop. */
  problem: string;
  /** The subject of entries about the row. */
  subject: string;
  /** The last entry about it; undefined if there is none. */
  entry: number | undefined;
  /** The digest of the row as it was found; null if it is missing. */
  row: string | null;
  /** The version and the state of the row as it was found, in tables that have them. */
  version: number | undefined;
  state: string | undefined;
  /** Whether an entry can speak of it: its id is one that the program could have made. */
  isNameable: boolean;
  /** Where to find the row. */
  place: { table: { name: string; columns: readonly string[] }; key: string; value: string };
}

/** An entry that acknowledges a fault, as it is reported. */
export interface Acknowledgement {
  entry: number;
  /** Milliseconds since 1970. */
  at: number;
  subject: string;
  fault: string;
  reason: string;
}

/** The facts of the entry that acknowledges `fault`. Later entries about the row are held to them. */
function acknowledgementFacts(
  { kind, entry, row, version, state }: RowFault,
  reason: string,
): Entry['facts'] {
  return {
    fault: kind,
    reason,
    entry: entry ?? null,
    ...(version !== undefined && { version }),
    ...(state !== undefined && { state }),
    row,
  };
}

/** Reads what `acknowledgementFacts` wrote into an entry, as far as it is reported. */
function acknowledgementIn(
  { number, at, subject }: Pick<AuditEntry, 'number' | 'at' | 'subject'>,
  { fault, reason }: Record<string, unknown>,
): Acknowledgement {
  return { entry: number, at, subject, fault: String(fault), reason: String(reason) };
}

/** What is said behind `verified` of a store with faults that an operator acknowledged. Empty if there are none. */
export function withKnown(acknowledged = 0): string {
  return acknowledged > 0 ? `, with ${counted(acknowledged, 'acknowledged fault')}` : '';
}

/**
 * Records that `faults`, as verifying found them, are known. From then on each row is held to what it was found as, so verifying names
 * it again as soon as it changes. Throws `conflict` if a row or its history has changed since it was found, `DatabaseError`.
 */
export async function acknowledgeFaults(
  transaction: Transaction,
  act: Act,
  faults: readonly RowFault[],
  reason: string,
): Promise<void> {
  for (const fault of faults) {
    const { subject, entry, row, place } = fault;
    const { table, key, value } = place;
    const [last] = await newestEntriesAbout(transaction, subject, 1);
    const found = await findRow(transaction, table.name, table.columns, key, value);
    const digest = found ? rowDigest(table.columns, found) : null;
    if (last?.number !== entry || digest !== row)
      throw new OperationalError('conflict', `${subject} has changed since it was verified. Verify again.`);
    transaction.record({ ...act, action: ACKNOWLEDGED, subject, facts: acknowledgementFacts(fault, reason) });
  }
}
