// A merchant's history: the entries about its payments in the order of their numbers, found without reading those of others.

import type { AuditEntry } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { newestEntry } from '../journal/queries.ts';
import { unavailable } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { inSequence } from '../lib/rounds.ts';
import type { Database, Reader } from '../store/database.ts';
import { entriesOfTenant, listedStretches, listStretches, STRETCH, stretchesOf } from './history-queries.ts';
import type { Tenant } from './queries.ts';

const LIST_EVERY_MS = 500;
/** Stretches that one commit lists: 4,096 entries, so that it stays short. */
const LISTED_AT_ONCE = 16;
/** Stretches of a tenant that one statement gives. */
const STRETCHES = 32;
/** Maximum number of entries beyond the listed stretches that a read looks through. More are there only if listing failed for long. */
const UNLISTED_MAXIMUM = 20_000;
/** The name that listing is put in order by: every node writes the same rows. */
const ROW = 'payment_stretches';

/**
 * Up to `limit` entries about a tenant's payments behind number `after`, by number. Nothing is missed and nothing comes twice, whichever
 * nodes write: an entry gets its number under a lock that is held until its commit, so no entry appears behind one with a higher number.
 * Throws `unavailable` if listing is far behind, and `DatabaseError`.
 */
export async function historyOf(
  database: Reader,
  tenant: Tenant,
  after: number,
  limit: number,
): Promise<AuditEntry[]> {
  const listed = (await listedStretches(database)) * STRETCH;
  const found: AuditEntry[] = [];
  let reached = after;
  while (reached < listed) {
    const stretches = await stretchesOf(database, tenant, { from: Math.floor(reached / STRETCH) }, STRETCHES);
    for (const { stretch } of stretches) {
      const part = { after: Math.max(reached, stretch * STRETCH), until: (stretch + 1) * STRETCH };
      found.push(...(await entriesOfTenant(database, tenant, part, limit - found.length)));
      if (found.length === limit) return found;
      reached = part.until;
    }
    if (stretches.length < STRETCHES) reached = Math.max(reached, listed);
  }
  if ((await newestEntry(database)) - listed > UNLISTED_MAXIMUM) throw unavailable();
  const rest = { after: reached, until: Number.MAX_SAFE_INTEGER };
  return [...found, ...(await entriesOfTenant(database, tenant, rest, limit - found.length))];
}

/** The newest entry about a tenant's payments with a number up to `until`; undefined if there is none. Throws as `historyOf` does. */
export async function newestOf(
  database: Reader,
  tenant: Tenant,
  until: number,
): Promise<AuditEntry | undefined> {
  const listed = (await listedStretches(database)) * STRETCH;
  if (until - listed > UNLISTED_MAXIMUM) throw unavailable();
  const newestIn = async (part: { after: number; until: number }) =>
    (await entriesOfTenant(database, tenant, part, 1, 'newest'))[0];
  const unlisted = await newestIn({ after: listed, until });
  if (unlisted) return unlisted;
  const last = Math.floor((until - 1) / STRETCH);
  for (const { stretch } of await stretchesOf(database, tenant, { until: last }, 2)) {
    const part = { after: stretch * STRETCH, until: Math.min(until, (stretch + 1) * STRETCH) };
    const found = await newestIn(part);
    if (found) return found; // the newest stretch may hold entries behind `until` alone; the one before it is full
  }
  return undefined;
}

/** Lists which tenants the stretches that are full by now belong to. Returns how many stretches it listed. Throws `OperationalError`. */
export async function listFullStretches(database: Reader, journal: Journal): Promise<number> {
  const first = await listedStretches(database);
  const full = Math.floor((await newestEntry(database)) / STRETCH);
  const last = Math.min(full, first + LISTED_AT_ONCE) - 1;
  if (last < first) return 0;
  await journal.commitAside((transaction) => {
    transaction.glance();
    return listStretches(transaction, first, last);
  }, ROW);
  return last - first + 1;
}

/** Lists stretches as they fill up, until stopped. */
export function startListing(database: Database, journal: Journal, log: Logger): { stop(): Promise<void> } {
  let stopping = false;
  const list = inSequence(
    async () => {
      while (!stopping && (await listFullStretches(database, journal)) > 0) {}
    },
    log,
    "the stretches of merchants' histories are listed later",
  );
  const timer = setInterval(() => void list(), LIST_EVERY_MS);
  return {
    stop() {
      stopping = true;
      clearInterval(timer);
      return list();
    },
  };
}
