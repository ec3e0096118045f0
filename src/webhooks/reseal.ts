// Seals the secrets of webhook endpoints with the current key, and clears those whose key is lost.

import type { Journal } from '../journal/journal.ts';
import { type KeyRing, sealedWith } from '../journal/keys/key-ring.ts';
import { isAsRecorded, lockRow } from '../journal/record-row.ts';

import type { Transaction } from '../journal/transaction.ts';
import type { Database, Reader } from '../store/database.ts';
import { change } from './change.ts';
import { ENDPOINTS, type Endpoint } from './endpoint.ts';
import { listEndpoints } from './queries.ts';
import { openSecret, sealSecret } from './secret.ts';

const ACT = { actor: 'operator', request_id: null };
const COLUMNS = ['secret', 'old_secret'] as const;

const keyOf = (sealed: string | null) => (sealed === null ? undefined : sealedWith(sealed));

/** Every secret of a webhook endpoint: whose it is, and the id of the key it is sealed with. */
export async function webhookSecrets(database: Reader): Promise<{ holder: string; key: string | null }[]> {
  const all = await listEndpoints(database);
  return all.flatMap((endpoint) =>
    COLUMNS.filter((column) => endpoint[column] !== null).map((column) => ({
      holder: endpoint.id,
      key: keyOf(endpoint[column]) ?? null,
    })),
  );
}

/**
 * Seals every secret with the ring's current key. Leaves a row that is not as the history left it. Returns how many endpoints it
 * changed, and the ids of those that it left. Throws `unavailable`, `DatabaseError`.
 */
export async function resealWebhookSecrets(
  database: Database,
  journal: Journal,
  ring: KeyRing,
): Promise<{ sealed: number; left: string[] }> {
  const isDue = (endpoint: Endpoint) =>
    COLUMNS.some((column) => endpoint[column] !== null && keyOf(endpoint[column]) !== ring.current);
  const { done, left } = await changeEach(database, journal, isDue, async (transaction, { id }) => {
    const reseal = async (before: Endpoint) => {
      const sealed: Partial<Endpoint> = {};
      for (const column of COLUMNS) {
        const secret = openSecret(ring, before, column);
        if (secret !== undefined) sealed[column] = await sealSecret(transaction, ring, id, column, secret);
      }
      return sealed;
    };
    await change(transaction, id, ACT, 'webhook.secret_sealed', reseal, { key: ring.current });
  });
  return { sealed: done.length, left };
}

/**
 * Clears the secrets that are sealed with lost keys, and disables endpoints that are left without one. Returns the ids of those it
 * cleared and of those it skipped, as `resealWebhookSecrets` does. Throws `unavailable`, `DatabaseError`.
 */
export async function clearWebhookSecrets(
  database: Database,
  journal: Journal,
  lost: readonly string[],
): Promise<{ cleared: string[]; left: string[] }> {
  const isLost = (sealed: string | null) => lost.includes(keyOf(sealed) ?? '');
  const isDue = ({ secret, old_secret }: Endpoint) => isLost(secret) || isLost(old_secret);
  const { done, left } = await changeEach(database, journal, isDue, async (transaction, endpoint) => {
    const { id, disabled_at } = endpoint;
    const withoutOld = isLost(endpoint.old_secret) ? { old_secret: null, old_secret_until: null } : {};
    if (!isLost(endpoint.secret))
      return void (await change(transaction, id, ACT, 'webhook.old_secret_lost', () => withoutOld));
    const disabled = {
      disabled_at: disabled_at ?? transaction.now,
      disabled_reason: endpoint.disabled_reason ?? ('secret_lost' as const),
    };
    const cleared = { secret: null, ...withoutOld, ...disabled };
    await change(transaction, id, ACT, 'webhook.secret_lost', () => cleared);
  });
  return { cleared: done, left };
}

/**
 * Runs `work` for each endpoint that `isDue`, as it is then. Each is one journal transaction with an entry, so a kill leaves whole
 * rows and the next run does the rest. Returns the ids of those that it changed, and of rows that are not as the history left them.
 */
async function changeEach(
  database: Database,
  journal: Journal,
  isDue: (endpoint: Endpoint) => boolean,
  work: (transaction: Transaction, endpoint: Endpoint) => Promise<void>,
): Promise<{ done: string[]; left: string[] }> {
  const done: string[] = [];
  const left: string[] = [];
  for (const { id } of (await listEndpoints(database)).filter(isDue)) {
    const list = await journal.commit(async (transaction) => {
      const endpoint = await lockRow(transaction, ENDPOINTS, id);
      if (!endpoint || !isDue(endpoint)) return undefined;
      if (!(await isAsRecorded(transaction, ENDPOINTS, endpoint))) return left;
      await work(transaction, endpoint);
      return done;
    }, id);
    list?.push(id);
  }
  return { done, left };
}
