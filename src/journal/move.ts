// Carries a store over whole into an empty database: verified before, in pages that may be cut anywhere, compared and verified after.
import { isDeepStrictEqual } from 'node:util';
import type { Database, Reader, Row } from '../store/database.ts';
import {
  beginMove,
  endMove,
  holdStill,
  lastRow,
  lookAtTarget,
  MoveRefused,
  movedSchema,
  movedTables,
  PAGE,
  pageAfter,
  type StoreState,
  sessionsOpen,
  type Table,
  undoMove,
} from '../store/move.ts';
import type { CheckpointReading } from './checkpoint.ts';
import { newestSeal, readHeads } from './queries.ts';
import type { RowCheck } from './rows.ts';
import { HistoryBroken, type Verification, verifyHistory } from './verify.ts';

const TAKEN = 'the target holds a store already: a move goes into an empty one, and overwrites nothing';

interface MoveParts {
  /** On PostgreSQL, opened as `asMover` says. */
  source: Database;
  /** Empty, or what an earlier run of the same move has left. */
  target: Database;
  /** The checkpoints of the storage, read before. */
  reading: CheckpointReading;
  rowChecks: readonly RowCheck[];
  /** Whether what an unfinished move has put into the target is removed first. */
  restart: boolean;
  /** Told how much of what is done: `verifying the source`, `moving`, `comparing`, `verifying the target`. */
  onProgress?(what: string, done: number, total: number): void;
}

export interface Moved {
  /** The number of rows of each table: the same on both sides. */
  rows: Record<string, number>;
  /** What both sides were verified to hold. */
  verification: Verification;
  /** Whether it went on where another run had ended. */
  resumed: boolean;
  /** Whether all of it was there before: then nothing was moved, and all of it compared again. */
  moved_before: boolean;
}

type Told = (done: number, total: number) => void;

/**
 * Moves a store. The source is not changed and must have no writers. The target counts as a store only when all of it was compared and
 * verified. An interrupted move goes on when it is run again. Throws `MoveRefused`, `DatabaseError`.
 */
export function moveStore(parts: MoveParts): Promise<Moved> {
  const { source, target, onProgress = () => {} } = parts;
  const told = (what: string) => (done: number, total: number) => onProgress(what, done, total);
  return holdStill(source, async (view) => {
    const state = await stateOf(view);
    const found = await startingPoint(parts, state);
    // From here on, wherever it is cut, nothing takes the target for a store.
    if (found === 'nothing') await beginMove(target, state);
    const verified = await verifySide('source', view, parts, told('verifying the source')).catch(
      async (error) => {
        if (found === 'nothing' && error instanceof MoveRefused) await undoMove(target);
        throw error;
      },
    );
    const { checkpoints, acknowledged, ...counts } = verified;
    const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const end = async (moved: Reader): Promise<Moved> => ({
      rows: await compareAll(view, moved, progress(told('comparing'), rows)),
      verification: await verifySide('target', moved, parts, told('verifying the target')),
      resumed: found !== 'nothing',
      moved_before: found === 'store',
    });
    // The move was complete, but its end was not reported: it was interrupted right then, or is run again.
    if (found === 'store')
      return target.snapshot(end).catch((error) => {
        throw error instanceof MoveRefused ? new MoveRefused(TAKEN) : error;
      });
    const tables = movedTables();
    const last = tables.pop()!;
    const carried = progress(told('moving'), rows);
    for (const table of tables) await carry(view, target, table, carried);
    return target.transaction(async (transaction) => {
      await transaction.insert(last.name, await pageAfter(view, last, undefined));
      await endMove(target);
      const moved = await end(transaction);
      // A session that connected meanwhile would go on writing to the old store.
      await requireUnused(source);
      return moved;
    });
  });
}

/** Throws `MoveRefused` if another session could write to a source, and `DatabaseError`. */
export async function requireUnused(source: Database): Promise<void> {
  const sessions = await sessionsOpen(source);
  if (sessions.length === 0) return;
  throw new MoveRefused(
    `the source is in use, from ${sessions.join(', ')}: stop every node and whatever else is connected to it first`,
  );
}

/** What is found at the target that this move may go on from. Throws `MoveRefused`, `DatabaseError`. */
async function startingPoint(
  { target, restart }: MoveParts,
  state: StoreState,
): ReturnType<typeof lookAtTarget> {
  const found = await lookAtTarget(target, target.engine);
  if (found === 'nothing') return found;
  if (found === 'store') {
    const theirs = await stateOf(target).catch(() => undefined); // some of a store has no such tables
    if (isDeepStrictEqual(theirs, state)) return found;
    throw new MoveRefused(TAKEN);
  }
  if (found.schema > state.schema)
    throw new MoveRefused(
      'the unfinished move was begun by a newer version of Counterfoil: go on with that one, or move into a fresh database',
    );
  if (restart) {
    await undoMove(target);
    return 'nothing';
  }
  if (isDeepStrictEqual(found, state)) return found;
  if (found.schema < state.schema)
    throw new MoveRefused(
      'the unfinished move was begun by an older version of Counterfoil: begin anew with --restart, or move into a fresh database',
    );
  throw new MoveRefused(
    `the source has changed since the unfinished move began: its history ended at entry ${found.entries} then and ends at entry ${state.entries} now; begin anew with --restart, or move into a fresh database`,
  );
}

async function stateOf(view: Reader): Promise<StoreState> {
  const [head] = await readHeads(view);
  return {
    schema: movedSchema(),
    entries: head?.entries ?? 0,
    seals: head?.seals ?? 0,
    hash: (await newestSeal(view))?.hash ?? null,
  };
}

/** Verifies what a side's view shows, as `audit verify` does. Throws `MoveRefused`, `DatabaseError`. */
async function verifySide(
  side: 'source' | 'target',
  view: Reader,
  { source, target, reading, rowChecks }: MoveParts,
  onProgress: Told,
): Promise<Verification> {
  const { engine } = side === 'source' ? source : target;
  try {
    return await verifyHistory({ engine, snapshot: (look) => look(view) }, reading, rowChecks, {
      onProgress,
    });
  } catch (error) {
    if (!(error instanceof HistoryBroken)) throw error;
    const place = error.entry === undefined ? '' : ` at entry ${error.entry}`;
    throw new MoveRefused(
      side === 'source'
        ? `the source does not verify, so nothing was copied: broken${place}: ${error.message}`
        : `the target does not verify, so it is no store: broken${place}: ${error.message}; begin anew with --restart`,
    );
  }
}

/** Rows done so far, of so many. */
function progress(onProgress: Told, total: number): (rows: number) => void {
  let done = 0;
  return (rows) => {
    done += rows;
    onProgress(Math.min(done, total), total);
  };
}

/** Copies the rows of a table that the target has not yet: what is there is what an earlier run has committed, in order. */
async function carry(
  view: Reader,
  target: Database,
  table: Table,
  carried: (rows: number) => void,
): Promise<void> {
  for (let after = await lastRow(target, table); ; ) {
    const rows = await pageAfter(view, table, after);
    if (rows.length > 0) await target.transaction((transaction) => transaction.insert(table.name, rows));
    carried(rows.length);
    if (rows.length < PAGE) return;
    after = rows.at(-1);
  }
}

/** Holds every row of every table against the other side's. Returns how many each has. Throws `MoveRefused`, `DatabaseError`. */
async function compareAll(
  view: Reader,
  moved: Reader,
  compared: (rows: number) => void,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of movedTables()) counts[table.name] = await compare(view, moved, table, compared);
  return counts;
}

/** Holds every row of a table against the other side's. Returns how many there are. Throws `MoveRefused`, `DatabaseError`. */
async function compare(
  view: Reader,
  moved: Reader,
  table: Table,
  compared: (rows: number) => void,
): Promise<number> {
  let after: Row | undefined;
  for (let count = 0; ; ) {
    const [rows, theirs] = await Promise.all([pageAfter(view, table, after), pageAfter(moved, table, after)]);
    if (JSON.stringify(rows) !== JSON.stringify(theirs)) {
      const row = rows.findIndex((one, i) => JSON.stringify(one) !== JSON.stringify(theirs[i]));
      throw new MoveRefused(
        `the table ${table.name} is not the same on both sides, from row ${count + (row === -1 ? rows.length : row) + 1} on, so the target is no store: begin anew with --restart`,
      );
    }
    count += rows.length;
    compared(rows.length);
    if (rows.length < PAGE) return count;
    after = rows.at(-1);
  }
}
