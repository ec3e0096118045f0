// Carries a store over whole into an empty database: verified before, every row read back, and verified after.
import { CarryRefused, carry, holdStill, sessionsOpen } from '../store/carry.ts';
import type { Database, Reader } from '../store/database.ts';
import type { CheckpointReading } from './checkpoint.ts';
import type { RowCheck } from './rows.ts';
import { HistoryBroken, type Verification, verifyHistory } from './verify.ts';

interface MoveParts {
  /** On PostgreSQL, opened as `asMover` says. */
  source: Database;
  /** Empty, or what an interrupted run has left. */
  target: Database;
  /** The checkpoints of the storage, read before. */
  reading: CheckpointReading;
  rowChecks: readonly RowCheck[];
  /** Told how much of what is done: `verifying the source`, `moving`, `verifying the target`. */
  onProgress?(what: string, done: number, total: number): void;
}

export interface Moved {
  /** The number of rows of each table: the same on both sides. */
  rows: Record<string, number>;
  verification: Verification;
}

/**
 * Moves a store. The source is not changed and must have no writers. The target counts as a store only when all of it was read back and
 * verified. Throws `CarryRefused`, `DatabaseError`.
 */
export function moveStore(parts: MoveParts): Promise<Moved> {
  const { source, target, onProgress = () => {} } = parts;
  return holdStill(source, async (view) => {
    const { checkpoints, acknowledged, ...counts } = await verifySide('source', view, parts);
    const total = 2 * Object.values(counts).reduce((sum, count) => sum + count, 0);
    let done = 0;
    return carry(view, target, {
      onRows(rows) {
        done += rows;
        onProgress('moving', Math.min(done, total), total);
      },
      async judge(carried, rows) {
        const verification = await verifySide('target', carried, parts);
        // A session that connected meanwhile would go on writing to the old store.
        await requireUnused(source);
        return { rows, verification };
      },
    });
  });
}

/** Throws `CarryRefused` if another session could write to a source, and `DatabaseError`. */
export async function requireUnused(source: Database): Promise<void> {
  const sessions = await sessionsOpen(source);
  if (sessions.length === 0) return;
  throw new CarryRefused(
    `the source is in use, from ${sessions.join(', ')}: stop every node and whatever else is connected to it first`,
  );
}

/** Verifies what a side's view shows, as `audit verify` does. Throws `CarryRefused`, `DatabaseError`. */
async function verifySide(
  side: 'source' | 'target',
  view: Reader,
  { source, target, reading, rowChecks, onProgress }: MoveParts,
): Promise<Verification> {
  const { engine } = side === 'source' ? source : target;
  try {
    return await verifyHistory({ engine, snapshot: (look) => look(view) }, reading, rowChecks, {
      onProgress: (done, total) => onProgress?.(`verifying the ${side}`, done, total),
    });
  } catch (error) {
    if (!(error instanceof HistoryBroken)) throw error;
    const place = error.entry === undefined ? '' : ` at entry ${error.entry}`;
    throw new CarryRefused(
      side === 'source'
        ? `the source does not verify, so nothing was copied: broken${place}: ${error.message}`
        : `the target does not verify, so it is no store: broken${place}: ${error.message}`,
    );
  }
}
