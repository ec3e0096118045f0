// Seals the secrets of authenticator apps with the current key, and clears those whose key is lost.

import type { Journal } from '../journal/journal.ts';
import { type KeyRing, sealedWith } from '../journal/keys/key-ring.ts';
import { isAsRecorded } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import type { Database, Reader } from '../store/database.ts';
import { ADMINISTRATORS, type Administrator, recordAdministrator } from './administrator.ts';
import { changeAdministrator, findAdministrator, listAdministrators } from './queries.ts';
import { openTotpSecret, sealTotpSecret } from './totp-secret.ts';

const ACT = { actor: 'operator', request_id: null };

/** A secret of an authenticator app, by whose it is and what it is sealed with. */
interface Secret {
  /** `adm_…`. */
  id: string;
  email: string;
  /** The key's id; null if it is not sealed, which only another hand can have done. */
  key: string | null;
}

/** Every secret of an authenticator app. */
export async function totpSecrets(database: Reader): Promise<Secret[]> {
  const all = await listAdministrators(database);
  return all.flatMap(({ id, email, totp_secret }) =>
    totp_secret === null ? [] : [{ id, email, key: sealedWith(totp_secret) ?? null }],
  );
}

/**
 * Seals every secret with the ring's current key. Skips a row that is not as the history left it, because sealing it would hide that it
 * was changed. Returns how many it sealed, and the e-mail addresses of the skipped rows. Throws `unavailable`, `DatabaseError`.
 */
export async function resealTotpSecrets(
  database: Database,
  journal: Journal,
  ring: KeyRing,
): Promise<{ sealed: number; left: string[] }> {
  const isDue = (key: string | null) => key !== ring.current;
  const { done, left } = await changeEach(database, journal, isDue, async (transaction, found) => {
    const totp_secret = await sealTotpSecret(transaction, ring, found, openTotpSecret(ring, found)!);
    const changed = await changeAdministrator(transaction, found.id, found.version, { totp_secret });
    if (changed)
      await recordAdministrator(transaction, ACT, 'administrator.totp_sealed', changed, {
        key: ring.current,
      });
    return changed !== undefined; // if not, it was changed meanwhile: the next run does it
  });
  return { sealed: done.length, left };
}

/**
 * Clears the secrets that are sealed with lost keys. Skips rows as `resealTotpSecrets` does. Returns the e-mail addresses of the cleared
 * and of the skipped rows. Throws `unavailable`, `DatabaseError`.
 */
export async function clearTotpSecrets(
  database: Database,
  journal: Journal,
  lost: readonly string[],
): Promise<{ cleared: string[]; left: string[] }> {
  const isDue = (key: string | null) => key !== null && lost.includes(key);
  const { done, left } = await changeEach(database, journal, isDue, async (transaction, { id }) => {
    const cleared = { totp_secret: null, totp_step: null };
    const changed = await changeAdministrator(transaction, id, undefined, cleared);
    await recordAdministrator(transaction, ACT, 'administrator.totp_lost', changed!);
    return true;
  });
  return { cleared: done, left };
}

/**
 * Runs `change` for each administrator whose secret `isDue` by its key, with the row as it is then. Each is one journal
 * transaction with an entry, so a kill leaves whole rows and the next run does the rest. Returns the e-mail addresses of those that
 * `change` says it changed, and of rows that are not as the history left them.
 */
async function changeEach(
  database: Database,
  journal: Journal,
  isDue: (key: string | null) => boolean,
  change: (transaction: Transaction, found: Administrator) => Promise<boolean>,
): Promise<{ done: string[]; left: string[] }> {
  const done: string[] = [];
  const left: string[] = [];
  for (const { id, email } of (await totpSecrets(database)).filter(({ key }) => isDue(key))) {
    const list = await journal.commit(async (transaction) => {
      const found = await findAdministrator(transaction, id);
      if (!found?.totp_secret || !isDue(sealedWith(found.totp_secret) ?? null)) return undefined;
      if (!(await isAsRecorded(transaction, ADMINISTRATORS, found))) return left;
      return (await change(transaction, found)) ? done : undefined;
    }, id);
    list?.push(email);
  }
  return { done, left };
}
