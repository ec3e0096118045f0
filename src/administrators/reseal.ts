// Seals the secrets of authenticator apps with the key of today: those of the version before, which are plain, and those of older keys.
import type { Database } from '../database/database.ts';
import type { Journal } from '../journal/journal.ts';
import { type KeyRing, sealedWith } from '../secrets/key-ring.ts';
import { changeAdministrator, findAdministrator, listAdministrators } from './queries.ts';
import { recordAdministrator } from './record.ts';
import { openTotpSecret, sealTotpSecret } from './totp-secret.ts';

const ACT = { actor: 'operator', request_id: null };

/** The ids of administrators whose secret is plain, or sealed with another key than `key`. */
async function notSealedWith(database: Pick<Database, 'query'>, key: string): Promise<string[]> {
  const all = await listAdministrators(database);
  const others = all.filter(({ totp_secret }) => totp_secret !== null && sealedWith(totp_secret) !== key);
  return others.map(({ id }) => id);
}

/**
 * Seals every secret with the ring's current key. Each administrator is one journal transaction with an entry, so a kill leaves whole
 * rows and the next run does the rest. Returns how many it sealed. Throws `unavailable`, `DatabaseError`.
 */
export async function resealTotpSecrets(
  database: Database,
  journal: Journal,
  ring: KeyRing,
): Promise<number> {
  let sealed = 0;
  for (const id of await notSealedWith(database, ring.current)) {
    const done = await journal.commit(async (transaction) => {
      const found = await findAdministrator(transaction, id);
      if (!found?.totp_secret || sealedWith(found.totp_secret) === ring.current) return false;
      const totp_secret = sealTotpSecret(ring, found, openTotpSecret(ring, found)!);
      const changed = await changeAdministrator(transaction, id, found.version, { totp_secret });
      if (!changed) return false; // changed meanwhile: the next run does it
      recordAdministrator(transaction, ACT, 'administrator.totp_sealed', changed, { key: ring.current });
      return true;
    }, id);
    if (done) sealed++;
  }
  return sealed;
}
