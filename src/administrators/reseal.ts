// Seals the secrets of authenticator apps with the current key: plain ones of the version before, and those sealed with older keys.
import type { Database, Queryable } from '../database/database.ts';
import type { Journal } from '../journal/journal.ts';
import { isAsRecorded } from '../journal/record-row.ts';
import { isSealed, type KeyRing, sealedWith } from '../secrets/key-ring.ts';
import { ADMINISTRATORS } from './administrator.ts';
import { changeAdministrator, findAdministrator, listAdministrators } from './queries.ts';
import { recordAdministrator, TOTP_SEALED } from './record.ts';
import { openTotpSecret, sealTotpSecret } from './totp-secret.ts';

const ACT = { actor: 'operator', request_id: null };

/** A secret of an authenticator app, by whose it is and what it is sealed with. */
interface Secret {
  /** `adm_…`. */
  id: string;
  email: string;
  /** The key's id; null for a plain secret. */
  key: string | null;
}

/** Every secret of an authenticator app. */
export async function totpSecrets(database: Pick<Queryable, 'query'>): Promise<Secret[]> {
  const all = await listAdministrators(database);
  return all.flatMap(({ id, email, totp_secret }) =>
    totp_secret === null ? [] : [{ id, email, key: sealedWith(totp_secret) ?? null }],
  );
}

/**
 * Seals every secret with the ring's current key. Each administrator is one journal transaction with an entry, so a kill leaves whole
 * rows and the next run does the rest. Leaves a row that is not as the history left it: sealing it would hide that somebody changed it.
 * Returns how many it sealed, and the e-mail addresses of the rows that it left. Throws `unavailable`, `DatabaseError`.
 */
export async function resealTotpSecrets(
  database: Database,
  journal: Journal,
  ring: KeyRing,
): Promise<{ sealed: number; left: string[] }> {
  const left: string[] = [];
  let sealed = 0;
  for (const { id, email } of (await totpSecrets(database)).filter(({ key }) => key !== ring.current)) {
    const done = await journal.commit(async (transaction) => {
      const found = await findAdministrator(transaction, id);
      if (!found?.totp_secret || sealedWith(found.totp_secret) === ring.current) return 'gone';
      if (!(await isAsRecorded(transaction, ADMINISTRATORS, found))) return 'changed';
      const plain = isSealed(found.totp_secret) ? openTotpSecret(ring, found, 0)! : found.totp_secret;
      const totp_secret = await sealTotpSecret(transaction, ring, found, plain);
      const changed = await changeAdministrator(transaction, id, found.version, { totp_secret });
      if (!changed) return 'gone'; // changed meanwhile: the next run does it
      recordAdministrator(transaction, ACT, TOTP_SEALED, changed, { key: ring.current });
      return 'sealed';
    }, id);
    if (done === 'sealed') sealed++;
    if (done === 'changed') left.push(email);
  }
  return { sealed, left };
}

/**
 * Clears the secrets that are sealed with keys which nobody has any more, each in a journal transaction with an entry. Leaves a row that
 * is not as the history left it, as `resealTotpSecrets` does. Returns the e-mail addresses of those cleared and of those left. Throws
 * `unavailable`, `DatabaseError`.
 */
export async function clearTotpSecrets(
  database: Database,
  journal: Journal,
  lost: readonly string[],
): Promise<{ cleared: string[]; left: string[] }> {
  const [cleared, left]: string[][] = [[], []];
  const isLost = (key: string | null | undefined) => typeof key === 'string' && lost.includes(key);
  for (const { id, email } of (await totpSecrets(database)).filter(({ key }) => isLost(key))) {
    const list = await journal.commit(async (transaction) => {
      const found = await findAdministrator(transaction, id);
      if (!found?.totp_secret || !isLost(sealedWith(found.totp_secret))) return undefined;
      if (!(await isAsRecorded(transaction, ADMINISTRATORS, found))) return left;
      const changed = await changeAdministrator(transaction, id, undefined, {
        totp_secret: null,
        totp_step: null,
      });
      recordAdministrator(transaction, ACT, 'administrator.totp_lost', changed!);
      return cleared;
    }, id);
    list?.push(email);
  }
  return { cleared: cleared!, left: left! };
}
