// Holds the rows of a table against the history: each as its last entry says it is, none missing, none extra.
import type { Table } from '../database/table.ts';
import { type AuditEntry, rowDigest } from './audit-entry.ts';
import { HistoryBroken } from './history-broken.ts';
import { countRows, entriesBySubject, rowsAfter } from './queries.ts';
import type { View } from './seal-walk.ts';

/** A check of rows: throws `HistoryBroken`, returns how many it looked at. `tick` is told of entries as they are read. */
export type RowCheck = (view: View, tick: (entries: number) => void) => Promise<Record<string, number>>;

const PAGE = 2000;
/** Sorts behind every character of an id. */
const END = '~';

/** What the history says of one subject. */
export interface Told {
  subject: string;
  /** How many entries speak of it. */
  count: number;
  /** The state that the actions lead to, where `stateAfter` knows one. */
  state: string | undefined;
  last: { number: number; at: number; row: unknown };
}

export interface RowTable<R extends object> {
  table: Table<R>;
  /** The column whose values, behind `prefix`, are the subjects of entries; rows are walked in its order. */
  key: string & keyof R;
  /** What a row is, in words. */
  noun: string;
  /** What the subjects of entries about such rows begin with. */
  prefix: string;
  /** What stands before `key` in a subject, where the key itself has not the prefix. */
  keyPrefix?: string;
  /** The state that an action leaves a row in; others leave it as it is. */
  stateAfter?: ReadonlyMap<string, string>;
  /** What the row says of its own history that the history says otherwise. */
  fault?(row: R, told: Told): string | undefined;
  /** Whether the history accounts for the row's being gone. */
  mayBeGone?(told: Told): boolean;
}

/** What a row that counts its entries says otherwise than they. */
export function versionFault({ version }: { version: number }, { count }: Told): string | undefined {
  return version === count ? undefined : `counts ${version} entries, the history has ${count}`;
}

/** The facts of an entry, read. Throws `HistoryBroken` where they are none: somebody else wrote them. */
export function entryFacts({ number, subject, facts }: Pick<AuditEntry, 'number' | 'subject' | 'facts'>) {
  try {
    const read: unknown = JSON.parse(facts);
    if (typeof read === 'object' && read !== null) return read as Record<string, unknown>;
  } catch {} // told below
  throw new HistoryBroken(`the facts of entry ${number} are not the JSON of an object`, {
    entry: number,
    subject,
  });
}

/** The check of one table whose rows have an `id` and count their entries, unless `fault` says otherwise. */
export function rowCheck<R extends { id: string; version: number }>(
  table: Omit<RowTable<R>, 'key'>,
): RowCheck {
  return async (view, tick) => ({
    [table.table.name]: await compareRows<R>(view, { key: 'id', fault: versionFault, ...table }, tick),
  });
}

/** Walks rows and entries in the same order, side by side. Returns how many rows there were. Throws `HistoryBroken`. */
export async function compareRows<R extends object>(
  view: View,
  table: RowTable<R>,
  tick: (entries: number) => void,
): Promise<number> {
  const { noun, key, keyPrefix = '' } = table;
  const told = tellings(view, table, tick);
  const place = (one: Told) => ({ entry: one.last.number, subject: one.subject });
  let rows = 0;
  let next = await told.next();
  const passGone = async (until: string | undefined) => {
    while (!next.done && (until === undefined || next.value.subject < until)) {
      if (!table.mayBeGone?.(next.value)) {
        throw new HistoryBroken(
          `${noun} ${next.value.subject} is missing, though the history speaks of it`,
          place(next.value),
        );
      }
      next = await told.next();
    }
  };
  for await (const row of walk(view, table)) {
    const subject = keyPrefix + String(row[key]);
    await passGone(subject);
    if (next.done || next.value.subject !== subject) {
      throw new HistoryBroken(`${noun} ${subject} stands in no entry of the history`, { subject });
    }
    const one = next.value;
    if (one.last.row !== rowDigest(table.table.columns, row)) {
      throw new HistoryBroken(`${noun} ${subject} is not as entry ${one.last.number} left it`, place(one));
    }
    const fault = table.fault?.(row, one);
    if (fault) throw new HistoryBroken(`${noun} ${subject} ${fault}`, place(one));
    rows++;
    next = await told.next();
  }
  await passGone(undefined);
  // Counted another way than by walking them.
  const count = await countRows(view, table.table.name);
  if (rows !== count)
    throw new HistoryBroken(`of ${count} rows that are each a ${noun}, ${rows} are found`, { subject: noun });
  return rows;
}

async function* tellings<R extends object>(
  view: View,
  { prefix, stateAfter }: RowTable<R>,
  tick: (entries: number) => void,
): AsyncGenerator<Told> {
  let told: Told | undefined;
  let after = { subject: prefix, number: 0 };
  for (;;) {
    const entries = await entriesBySubject(view, after, prefix + END, PAGE);
    for (const { subject, number, at, action, facts } of entries) {
      const last = { number, at, row: entryFacts({ number, subject, facts }).row };
      if (told?.subject === subject) {
        told.count++;
        told.state = stateAfter?.get(action) ?? told.state;
        told.last = last;
      } else {
        if (told) yield told;
        told = { subject, count: 1, state: stateAfter?.get(action), last };
      }
      after = { subject, number };
    }
    tick(entries.length);
    if (entries.length < PAGE) break;
  }
  if (told) yield told;
}

async function* walk<R extends object>(view: View, { table, key }: RowTable<R>): AsyncGenerator<R> {
  let last: R | undefined;
  do {
    const rows: R[] = await rowsAfter<R>(
      view,
      table.name,
      key,
      table.columns,
      last && String(last[key]),
      PAGE,
    );
    yield* rows;
    last = rows.length === PAGE ? rows.at(-1) : undefined;
  } while (last);
}
