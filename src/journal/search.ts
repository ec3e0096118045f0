// Looks for entries a page at a time: however long the history and however rare what is looked for, a page costs little.

import { MINUTE_MS } from '../lib/time.ts';
import type { Reader } from '../store/database.ts';
import type { AuditEntry } from './audit-entry.ts';
import { type EntryFilter, momentOfEntry, newestEntry, searchEntries } from './queries.ts';

/** Entries read in one statement, and in how many of them, before a page is what was found so far. */
const WINDOW = 10_000;
const WINDOWS = 20;
/** Entries of one request that are looked for: a request leaves a handful. */
const OF_ONE_REQUEST = 100;
/** How far the clocks of nodes may be apart: the order of entries is that of their numbers. */
const CLOCKS_APART_MS = MINUTE_MS;

/** Where a page lies: the newest entries below a number, or the oldest above one. Neither: the newest of all. */
interface EntryPlace {
  before?: number | undefined;
  after?: number | undefined;
}

export interface EntryPage {
  /** Newest first. */
  entries: AuditEntry[];
  /** The `after` of the page with newer entries, and the `before` of the one with older, where there may be some. */
  newer: number | undefined;
  older: number | undefined;
  /** The entries that were looked through, where the search gave up before a page was full. */
  searched: { first: number; last: number } | undefined;
}

/** Throws `DatabaseError`. */
export async function findEntries(
  database: Reader,
  filter: EntryFilter,
  { before, after }: EntryPlace,
  limit: number,
): Promise<EntryPage> {
  const newest = await newestEntry(database);
  const { from, to } = filter;
  const bottom = from === undefined ? 0 : await lastBefore(database, from, newest);
  const top = to === undefined ? newest + 1 : await firstSince(database, to + CLOCKS_APART_MS, newest);
  const upwards = after !== undefined;
  // An index serves a subject alone: there the whole range is one window.
  const step = filter.subject === undefined ? WINDOW : newest + 1;
  const entries: AuditEntry[] = [];
  let above = upwards ? Math.max(bottom, after) : bottom;
  let below = upwards ? top : Math.min(top, before ?? top);
  const begun = upwards ? above : below;
  for (let window = 0; window < WINDOWS && entries.length <= limit && above + 1 < below; window++) {
    const part = upwards
      ? { above, below: Math.min(below, above + 1 + step) }
      : { above: Math.max(above, below - 1 - step), below };
    entries.push(...(await searchEntries(database, filter, part, !upwards, limit + 1 - entries.length)));
    if (upwards) above = part.below - 1;
    else below = part.above + 1;
    await new Promise((resolve) => setImmediate(resolve)); // others get their turn between two windows
  }
  const isFull = entries.length > limit;
  const rest = above + 1 < below;
  if (isFull) entries.length = limit;
  const reached = isFull ? entries.at(-1)!.number : upwards ? above : below;
  const onward = isFull || rest ? reached : undefined;
  if (upwards) entries.reverse();
  return {
    entries,
    newer: upwards ? onward : begun < top ? begun - 1 : undefined,
    older: upwards ? (begun > bottom ? begun + 1 : undefined) : onward,
    searched:
      rest && !isFull ? { first: Math.min(begun, reached), last: Math.max(begun, reached) - 1 } : undefined,
  };
}

/** A number up to which all entries are from before a moment (milliseconds since 1970), by whichever node's clock. */
export async function lastBefore(database: Reader, ms: number, newest: number): Promise<number> {
  return (await firstSince(database, ms - CLOCKS_APART_MS, newest)) - 1;
}

/** The number of the first entry at or after a moment, by halving: numbers and moments grow together. */
async function firstSince(database: Reader, ms: number, newest: number): Promise<number> {
  let low = 1;
  let high = newest + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (((await momentOfEntry(database, middle)) ?? 0) >= ms) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The entries that a request left, oldest first, a hundred at most. No index serves this: the history is read newest first, until the
 * entries are found and a stretch without any follows. Throws `DatabaseError`.
 */
export async function entriesOfRequest(database: Reader, requestId: string): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  let before: number | undefined;
  do {
    const page = await findEntries(database, { request_id: requestId }, { before }, OF_ONE_REQUEST);
    found.push(...page.entries);
    if (found.length > 0 && page.entries.length === 0) break;
    before = page.older;
  } while (before !== undefined && found.length < OF_ONE_REQUEST);
  return found.reverse();
}
