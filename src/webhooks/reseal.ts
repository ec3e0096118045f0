// Seals the secrets of webhook endpoints with the current key, and clears those whose key is lost.

import type { Journal } from '../journal/journal.ts';
import { changeEachSealed } from '../journal/keys/each-sealed.ts';
import { type KeyRing, sealedWith } from '../journal/keys/key-ring.ts';
import type { Database, Reader } from '../store/database.ts';
import { change } from './change.ts';
import { ENDPOINTS, type Endpoint } from './endpoint.ts';
import { listEndpoints } from './queries.ts';
import { openSecret, sealSecret } from './secret.ts';

const ROWS = {
  table: ENDPOINTS,
  list: (database: Reader) => listEndpoints(database),
  holder: ({ id }: Endpoint) => id,
};
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

/** Seals every secret with the ring's current key. Returns the ids of the changed and the skipped endpoints (`changeEachSealed`). */
export async function resealWebhookSecrets(database: Database, journal: Journal, ring: KeyRing) {
  const isDue = (endpoint: Endpoint) =>
    COLUMNS.some((column) => endpoint[column] !== null && keyOf(endpoint[column]) !== ring.current);
  return changeEachSealed(database, journal, ROWS, isDue, async (transaction, { id }) => {
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
}

/**
 * Clears the secrets that are sealed with lost keys, and disables endpoints that are left without one. Returns what
 * `resealWebhookSecrets` does.
 */
export async function clearWebhookSecrets(database: Database, journal: Journal, lost: readonly string[]) {
  const isLost = (sealed: string | null) => lost.includes(keyOf(sealed) ?? '');
  const isDue = ({ secret, old_secret }: Endpoint) => isLost(secret) || isLost(old_secret);
  return changeEachSealed(database, journal, ROWS, isDue, async (transaction, endpoint) => {
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
}
