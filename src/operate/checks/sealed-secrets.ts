// Every secret that the store holds sealed by the key ring: those of authenticator apps, and those of webhook endpoints.
import { clearTotpSecrets, resealTotpSecrets, totpSecrets } from '../../administrators/reseal.ts';
import type { Journal } from '../../journal/journal.ts';
import type { KeyRing } from '../../journal/keys/key-ring.ts';
import type { Database, Reader } from '../../store/database.ts';
import { clearWebhookSecrets, resealWebhookSecrets, webhookSecrets } from '../../webhooks/reseal.ts';

interface SealedSecret {
  /** The administrator's e-mail address, or the webhook endpoint's id. */
  holder: string;
  /** The id of the key it is sealed with; null if it is not sealed. */
  key: string | null;
}

/** Every secret of the store. Throws `DatabaseError`. */
export const sealedSecrets = async (database: Reader): Promise<SealedSecret[]> => [
  ...(await totpSecrets(database)),
  ...(await webhookSecrets(database)),
];

/**
 * Seals every secret with the ring's current key. Returns how many rows it changed, and the holders of rows that it skipped because they
 * were changed in the store itself. Throws `unavailable`, `DatabaseError`.
 */
export async function resealSecrets(
  database: Database,
  journal: Journal,
  ring: KeyRing,
): Promise<{ sealed: number; left: string[] }> {
  const apps = await resealTotpSecrets(database, journal, ring);
  const webhooks = await resealWebhookSecrets(database, journal, ring);
  return { sealed: apps.done.length + webhooks.done.length, left: [...apps.left, ...webhooks.left] };
}

/**
 * Clears the secrets that are sealed with `lost` keys. Returns whose authenticator app and which webhook endpoint lost theirs, and
 * the holders of rows that it left as `resealSecrets` does. Throws `unavailable`, `DatabaseError`.
 */
export async function clearSecrets(
  database: Database,
  journal: Journal,
  lost: readonly string[],
): Promise<{ apps: string[]; endpoints: string[]; left: string[] }> {
  const apps = await clearTotpSecrets(database, journal, lost);
  const webhooks = await clearWebhookSecrets(database, journal, lost);
  return { apps: apps.done, endpoints: webhooks.done, left: [...apps.left, ...webhooks.left] };
}
