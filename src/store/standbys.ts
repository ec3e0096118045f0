// The standbys that PostgreSQL's commits wait for: how many are wanted, and how many are there.
import { type Database, DatabaseError } from './database.ts';

/** `FIRST 2 (a, b)`, `ANY 2 (a, b)`, `2 (a, b)`; a list alone wants one (PostgreSQL manual, 19.6.2). */
const NUMBER_WANTED = /^\s*(?:(?:first|any)\s+)?(\d+)\s*\(/i;

interface Standbys {
  wanted: number;
  /** Undefined if the account may not see it, or the server does not say. */
  connected: number | undefined;
}

/** The standbys that each commit waits for; undefined where it waits for none, and on SQLite. Throws `DatabaseError`. */
export async function synchronousStandbys(database: Database): Promise<Standbys | undefined> {
  if (database.engine === 'sqlite') return undefined;
  const [server] = await database.query<{ names: string; recovering: boolean | null }>(
    "select current_setting('synchronous_standby_names') as names, pg_is_in_recovery() as recovering",
  );
  const { names, recovering } = server!;
  if (names.trim() === '' || recovering) return undefined;
  return { wanted: Number(NUMBER_WANTED.exec(names)?.[1] ?? 1), connected: await connected(database) };
}

async function connected(database: Database): Promise<number | undefined> {
  try {
    const [seen] = await database.query<{ synchronous: number; hidden: number }>(
      `select count(*) filter (where sync_state in ('sync', 'quorum')) as synchronous,
              count(*) filter (where sync_state is null) as hidden from pg_stat_replication`,
    );
    return seen!.hidden > 0 ? undefined : seen!.synchronous;
  } catch (error) {
    if (error instanceof DatabaseError && error.failure === 'fault') return undefined;
    throw error;
  }
}
