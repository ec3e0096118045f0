// Wraps a store and counts its failed calls.
import { type Database, DatabaseError, type DatabaseFailure } from './database.ts';

/** Returns the same store with counting. Calls `count` once for each call that fails. */
export function countFailures(database: Database, count: (failure: DatabaseFailure) => void): Database {
  const watched = <T>(call: Promise<T>): Promise<T> =>
    call.catch((error) => {
      if (error instanceof DatabaseError) count(error.failure);
      throw error;
    });
  return {
    engine: database.engine,
    query: <R>(sql: string, ...values: Parameters<Database['query']>[1][]) =>
      watched(database.query<R>(sql, ...values)),
    insert: (table, rows) => watched(database.insert(table, rows)),
    transaction: (work, withinMs, onWritten) => watched(database.transaction(work, withinMs, onWritten)),
    get flushing() {
      return database.flushing;
    },
    refresh: () => database.refresh(),
    snapshot: (work) => watched(database.snapshot(work)),
    script: (sql) => watched(database.script(sql)),
    durability: () => watched(database.durability()),
    indexFaults: (signal) => watched(database.indexFaults(signal)),
    close: () => database.close(),
  };
}
