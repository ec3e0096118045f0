// A SQLite file seen from beside its server: what an auditor opens, unable to write.
import { DatabaseSync } from 'node:sqlite';
import { readCheckpoints } from '../../src/journal/checkpoint.ts';
import { type Verification, verifyHistory } from '../../src/journal/verify.ts';
import { ROW_CHECKS } from '../../src/operate/checks/row-checks.ts';
import type { Queryable, Row, Value } from '../../src/store/database.ts';

export { ROW_CHECKS };

/** One unmoving state of `file`, for as long as `look` takes. */
export async function viewSqlite<T>(
  file: string,
  look: (view: Pick<Queryable, 'query'>) => Promise<T>,
): Promise<T> {
  const raw = new DatabaseSync(file, { readOnly: true });
  try {
    raw.exec('begin');
    return await look({
      query: async <R = Row>(sql: string, ...values: Value[]) => raw.prepare(sql).all(...values) as R[],
    });
  } finally {
    raw.close();
  }
}

/** Verifies the history in `file` against itself and the checkpoints in `storage`. Throws `HistoryBroken`. */
export function verifySqlite(file: string, storage: string): Promise<Verification> {
  const reading = readCheckpoints(storage);
  return verifyHistory({ engine: 'sqlite', snapshot: (look) => viewSqlite(file, look) }, reading, ROW_CHECKS);
}
