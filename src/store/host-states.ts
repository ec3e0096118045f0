// Asks all hosts of a connection string at once what they are, for the message to an operator.
import { Budget } from './budget.ts';
import { hostsOf } from './connection-string.ts';
import type { Connection } from './postgres-connection.ts';
import { Host } from './postgres-host.ts';

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
