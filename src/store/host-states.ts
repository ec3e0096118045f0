// What the servers of PostgreSQL say of themselves: which host is the primary, the standbys of a commit, and the clock.

import { hostsOf } from './connection-string.ts';
import { type Database, DatabaseError } from './database.ts';
import { Budget, type Connection } from './postgres-connection.ts';
import { Host } from './postgres-hosts.ts';

/**
 * Two names of one server have it in common, to the microsecond; neither a copy nor a twice-promoted standby has. Any account may
 * ask for it, unlike what `pg_control_system()` tells.
 */
const SERVER =
  "select extract(epoch from pg_postmaster_start_time())::text || ' ' || current_setting('port') as server";

/** What a host says it is. */
export interface HostState {
  /** `silent`: it does not answer; `behind`: on an older timeline than a primary; `read_only`: a standby, as a rule. */
  is: 'primary' | 'read_only' | 'behind' | 'silent';
  /** The same with its name, as a sentence without an end: `db1.internal:5432 is a primary`. */
  says: string;
  /** Of a primary, the same for all names of one server; undefined where it does not tell. */
  server?: string | undefined;
}

/** Asks the hosts of a connection string that `hostsFault` finds nothing wrong with, for `withinMs` at most. Throws nothing. */
export async function hostStates(url: string, withinMs: number): Promise<HostState[]> {
  const within = new Budget(withinMs);
  const all = await Promise.all(
    hostsOf(url).map(async (host) => {
      const one = await new Host(host).ask(within);
      if ('error' in one) return one;
      const server = one.readOnly === undefined ? await serverOf(one.connection, within) : undefined;
      one.connection.discard();
      return { ...one, server };
    }),
  );
  const primaries = all.filter((one) => 'connection' in one).filter(({ readOnly }) => readOnly === undefined);
  const newest = Math.max(...primaries.map(({ timeline }) => timeline ?? 0));
  return all.map((one) => {
    const { name } = one.host;
    if ('error' in one) return { is: 'silent', says: `${name} does not answer: ${one.error.message}` };
    // A host in recovery writes no timeline of its own.
    if (one.timeline && one.timeline < newest)
      return {
        is: 'behind',
        says: `${name} is on an older timeline: a primary from before another was promoted`,
      };
    if (one.readOnly !== undefined) return { is: 'read_only', says: `${name} ${one.readOnly}` };
    return { is: 'primary', says: `${name} is a primary`, server: one.server };
  });
}

async function serverOf(connection: Connection, within: Budget): Promise<string | undefined> {
  try {
    return (await connection.run(SERVER, [], within.left())).rows[0].server;
  } catch {
    return undefined;
  }
}

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

/** Milliseconds since 1970 by PostgreSQL's clock; nothing on SQLite, which is of this machine. Throws `DatabaseError`. */
export async function serverClock(database: Database): Promise<number | undefined> {
  if (database.engine === 'sqlite') return undefined;
  const rows = await database.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now',
  );
  return rows[0]!.now;
}
