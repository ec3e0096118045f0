// Seals the secrets of authenticator apps with the current key, and clears those whose key is lost.

import type { Journal } from '../journal/journal.ts';
import { changeEachSealed } from '../journal/keys/each-sealed.ts';
import { type KeyRing, sealedWith } from '../journal/keys/key-ring.ts';
import type { Database, Reader } from '../store/database.ts';
import { ADMINISTRATORS, type Administrator, recordAdministrator } from './administrator.ts';
import { changeAdministrator, listAdministrators } from './queries.ts';
import { openTotpSecret, sealTotpSecret } from './totp-secret.ts';

const ROWS = {
  table: ADMINISTRATORS,
  list: listAdministrators,
  holder: ({ email }: Administrator) => email,
};
const ACT = { actor: 'operator', request_id: null };

/** Every secret of an authenticator app: whose it is, and the id of its key. The id is null if it is not sealed, as by another hand. */
export async function totpSecrets(database: Reader): Promise<{ holder: string; key: string | null }[]> {
  const all = await listAdministrators(database);
  return all.flatMap(({ email, totp_secret }) =>
    totp_secret === null ? [] : [{ holder: email, key: sealedWith(totp_secret) ?? null }],
  );
}

/** Seals every secret with the ring's current key. Returns the e-mail addresses of changed and skipped rows (`changeEachSealed`). */
export async function resealTotpSecrets(database: Database, journal: Journal, ring: KeyRing) {
  const isDue = ({ totp_secret }: Administrator) =>
    totp_secret !== null && sealedWith(totp_secret) !== ring.current;
  return changeEachSealed(database, journal, ROWS, isDue, async (transaction, found) => {
    const totp_secret = await sealTotpSecret(transaction, ring, found, openTotpSecret(ring, found)!);
    const changed = await changeAdministrator(transaction, found.id, undefined, { totp_secret });
    const facts = { key: ring.current };
    await recordAdministrator(transaction, ACT, 'administrator.totp_sealed', changed!, facts);
  });
}

/** Clears the secrets that are sealed with lost keys. Returns what `resealTotpSecrets` does. */
export async function clearTotpSecrets(database: Database, journal: Journal, lost: readonly string[]) {
  const isDue = ({ totp_secret }: Administrator) =>
    totp_secret !== null && lost.includes(sealedWith(totp_secret) ?? '');
  return changeEachSealed(database, journal, ROWS, isDue, async (transaction, { id }) => {
    const cleared = { totp_secret: null, totp_step: null };
    const changed = await changeAdministrator(transaction, id, undefined, cleared);
    await recordAdministrator(transaction, ACT, 'administrator.totp_lost', changed!);
  });
}
