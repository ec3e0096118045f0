// Seals at the start what the store holds in plain, and overwrites what the file still holds of it.
import { newestEntries } from '../administrators/queries.ts';
import type { Journal } from '../journal/journal.ts';
import { SECRETS_SUBJECT } from '../journal/keys/change.ts';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { storedSecretKeys } from '../journal/keys/queries.ts';
import type { Logger } from '../lib/log.ts';
import type { Database } from '../store/database.ts';
import { dropTraces, overwriteDeleted } from '../store/traces.ts';
import { resealSecrets } from './checks/sealed-secrets.ts';

const OVERWRITTEN = 'secrets.traces_overwritten';

/**
 * Seals with the current key what is plain or sealed with an older one, and on SQLite, once for a store that the version before
 * served, writes the file anew. Where that fails, as on a full disk, it is logged and tried at the next start.
 */
export async function sealAtRest(
  { database, journal, ring }: { database: Database; journal: Journal; ring: KeyRing },
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  try {
    const wipes = database.engine === 'sqlite' && (await heldPlain(database));
    if (wipes) await overwriteDeleted(database);
    const { left } = await resealSecrets(database, journal, ring);
    if (left.length > 0)
      log.warn(
        { count: left.length },
        'administrators or webhook endpoints were changed in the store itself: run counterfoil audit verify',
      );
    if (!wipes) return;
    await dropTraces(database);
    const act = { actor: 'operator', request_id: null, subject: SECRETS_SUBJECT, facts: {} };
    await journal.commit((transaction) => transaction.record({ ...act, action: OVERWRITTEN }));
  } catch (error) {
    log.warn({ err: error }, 'secrets in the store are not all sealed yet: the next start tries again');
  }
}

/** Whether the file may hold plain secrets in free space: the version before served the store, and nothing was overwritten since. */
async function heldPlain(database: Database): Promise<boolean> {
  const [first] = await storedSecretKeys(database);
  if (!first || first.beside_until === 0) return false;
  return (await newestEntries(database, SECRETS_SUBJECT, OVERWRITTEN, 1)).length === 0;
}
