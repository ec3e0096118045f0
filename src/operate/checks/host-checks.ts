// Checks of the hosts of PostgreSQL: which of those named is the primary, and whether commits wait for a standby that is not there.

import { counted } from '../../lib/counted.ts';
import { SECOND_MS } from '../../lib/time.ts';
import { hostsOf } from '../../store/connection-string.ts';
import { type HostState, hostStates, synchronousStandbys } from '../../store/host-states.ts';
import { type Check, failed, intoStore, ok, skipped, type Verdict, warning } from './check.ts';

/** Timeout for the answers of all hosts together. */
const ANSWER_MS = 3 * SECOND_MS;

const database_hosts: Check = {
  id: 'database_hosts',
  about: 'Database hosts',
  stage: 'later',
  isRemote: true,
  async look({ settings: { database_url }, deadlineMs }) {
    if (database_url === null) return skipped('SQLite has no hosts');
    if (hostsOf(database_url).length === 1) return skipped('database_url names one host');
    return hostsVerdict(await hostStates(database_url, Math.min(deadlineMs, ANSWER_MS)));
  },
};

function hostsVerdict(states: readonly HostState[]): Verdict {
  const all = states.map(({ says }) => says).join('; ');
  const has = (what: HostState['is']) => states.some(({ is }) => is === what);
  if (!has('primary'))
    return failed(
      `No host that database_url names takes writes: ${all}`,
      'start the primary, or promote the standby that has all it had',
    );
  const writable = countServers(states);
  const fixes = [
    ...(writable > 1 ? ['unless these are names of one server, stop all but the one that holds all'] : []),
    ...(has('silent') ? ['start the one that does not answer, or take it out of database_url'] : []),
    ...(has('behind')
      ? ['stop the one on the older timeline and rebuild it as a standby, unless the promotion was a mistake']
      : []),
  ];
  const told = writable > 1 ? `${writable} hosts take writes: ${all}` : all;
  return fixes.length > 0 ? warning(told, fixes.join('; ')) : ok(told);
}

/** How many servers the primaries are: one that does not tell which it is counts as another. */
function countServers(states: readonly HostState[]): number {
  const servers = states.filter(({ is }) => is === 'primary').map(({ server }) => server);
  return new Set(servers.map((server) => server ?? Symbol())).size;
}

const standbys: Check = {
  id: 'standbys',
  about: 'Standbys',
  stage: 'later',
  look: intoStore(async (database) => {
    const seen = await synchronousStandbys(database);
    if (!seen) return skipped('No commit waits for a standby');
    const { wanted, connected } = seen;
    if (connected === undefined)
      return skipped(
        'Commits wait for a standby, and the server does not tell this account which are connected',
        'grant it pg_read_all_stats',
      );
    const told = `Commits wait for ${counted(wanted, 'standby', 'standbys')}, and ${connected || 'none'} ${connected > 1 ? 'are' : 'is'} connected`;
    if (connected >= wanted) return ok(told);
    return warning(
      `${told}: each write waits until enough are, and is answered 503`,
      "make sure that no standby was promoted in this one's place: if one was, stop this one. Only then start the standby. " +
        "To go on without is the last resort, and only where none was promoted: alter system set synchronous_standby_names = '', then select pg_reload_conf()",
    );
  }),
};

export const HOST_CHECKS: readonly Check[] = [database_hosts, standbys];
