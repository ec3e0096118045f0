// The secrets that the key ring seals: those of authenticator apps and of webhook endpoints, and the check of their keys.

import { statSync } from 'node:fs';
import {
  ADMINISTRATORS,
  type Administrator,
  recordAdministrator,
} from '../../administrators/administrator.ts';
import { changeAdministrator, listAdministrators } from '../../administrators/queries.ts';
import { openTotpSecret, sealTotpSecret } from '../../administrators/totp.ts';
import type { Journal } from '../../journal/journal.ts';
import { keyPlaceName, SecretKeysUnfit } from '../../journal/keys/key-file.ts';
import { type KeyRing, sealedWith } from '../../journal/keys/key-ring.ts';
import { lackOf, MISSING_KEY_FIX, missingKeys, storedSecretKeys } from '../../journal/keys/open-ring.ts';
import { isAsRecorded, lockRow, type Recorded } from '../../journal/record-row.ts';
import type { Transaction } from '../../journal/transaction.ts';
import { counted } from '../../lib/text.ts';
import type { Database, Reader } from '../../store/database.ts';
import { change } from '../../webhooks/change.ts';
import { ENDPOINTS, type Endpoint } from '../../webhooks/endpoint.ts';
import { listEndpoints } from '../../webhooks/queries.ts';
import { openSecret, sealSecret } from '../../webhooks/signing.ts';
import { checkTable, failed, ok, skipped, tableCheck, type Verdict, warning } from './check.ts';

const ACT = { actor: 'operator', request_id: null };

interface SealedTable<R extends object> {
  table: Recorded<R>;
  list(database: Reader): Promise<readonly R[]>;
  /** Whose secrets a row holds: the administrator's e-mail address, or the webhook endpoint's id. */
  holder(row: R): string;
  secrets(row: R): (string | null)[];
  reseal(transaction: Transaction, row: R, ring: KeyRing): Promise<unknown>;
  clear(transaction: Transaction, row: R, isLost: (sealed: string | null) => boolean): Promise<unknown>;
}

const APPS: SealedTable<Administrator> = {
  table: ADMINISTRATORS,
  list: listAdministrators,
  holder: ({ email }) => email,
  secrets: ({ totp_secret }) => [totp_secret],
  async reseal(transaction, found, ring) {
    const totp_secret = await sealTotpSecret(transaction, ring, found, openTotpSecret(ring, found)!);
    const changed = await changeAdministrator(transaction, found.id, undefined, { totp_secret });
    const facts = { key: ring.current };
    await recordAdministrator(transaction, ACT, 'administrator.totp_sealed', changed!, facts);
  },
  async clear(transaction, { id }) {
    const cleared = { totp_secret: null, totp_step: null };
    const changed = await changeAdministrator(transaction, id, undefined, cleared);
    await recordAdministrator(transaction, ACT, 'administrator.totp_lost', changed!);
  },
};

const WEBHOOKS: SealedTable<Endpoint> = {
  table: ENDPOINTS,
  list: (database) => listEndpoints(database),
  holder: ({ id }) => id,
  secrets: ({ secret, old_secret }) => [secret, old_secret],
  async reseal(transaction, { id }, ring) {
    const reseal = async (before: Endpoint) => {
      const sealed: Partial<Endpoint> = {};
      for (const column of ['secret', 'old_secret'] as const) {
        const secret = openSecret(ring, before, column);
        if (secret !== undefined) sealed[column] = await sealSecret(transaction, ring, id, column, secret);
      }
      return sealed;
    };
    await change(transaction, id, ACT, 'webhook.secret_sealed', reseal, { key: ring.current });
  },
  /** Disables an endpoint that is left without a secret. */
  async clear(transaction, { id, secret, old_secret, disabled_at, disabled_reason }, isLost) {
    const withoutOld = isLost(old_secret) ? { old_secret: null, old_secret_until: null } : {};
    if (!isLost(secret))
      return void (await change(transaction, id, ACT, 'webhook.old_secret_lost', () => withoutOld));
    const disabled = {
      disabled_at: disabled_at ?? transaction.now,
      disabled_reason: disabled_reason ?? ('secret_lost' as const),
    };
    const cleared = { secret: null, ...withoutOld, ...disabled };
    await change(transaction, id, ACT, 'webhook.secret_lost', () => cleared);
  },
};

const keyOf = (sealed: string | null) => (sealed === null ? undefined : sealedWith(sealed));

/** Every secret of the store: whose it is, and the id of its key. The id is null if it is not sealed. Throws `DatabaseError`. */
export async function sealedSecrets(database: Reader): Promise<{ holder: string; key: string | null }[]> {
  const secretsOf = async <R extends object>({ list, holder, secrets }: SealedTable<R>) =>
    (await list(database)).flatMap((row) =>
      secrets(row).flatMap((one) => (one === null ? [] : [{ holder: holder(row), key: keyOf(one) ?? null }])),
    );
  return [...(await secretsOf(APPS)), ...(await secretsOf(WEBHOOKS))];
}

/**
 * Seals every secret with the ring's current key. Returns how many rows it changed, and the holders of rows that it skipped because they
 * were changed in the store itself. Throws `unavailable`, `DatabaseError`.
 */
export async function resealSecrets(
  database: Database,
  journal: Journal,
  ring: KeyRing,
): Promise<{ sealed: number; left: string[] }> {
  const isDue = (sealed: string | null) => sealed !== null && keyOf(sealed) !== ring.current;
  const resealEach = <R extends { id: string }>(rows: SealedTable<R>) =>
    changeEach(database, journal, rows, isDue, (transaction, row) => rows.reseal(transaction, row, ring));
  const [apps, webhooks] = [await resealEach(APPS), await resealEach(WEBHOOKS)];
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
  const isLost = (sealed: string | null) => lost.includes(keyOf(sealed) ?? '');
  const clearEach = <R extends { id: string }>(rows: SealedTable<R>) =>
    changeEach(database, journal, rows, isLost, (transaction, row) => rows.clear(transaction, row, isLost));
  const [apps, webhooks] = [await clearEach(APPS), await clearEach(WEBHOOKS)];
  return { apps: apps.done, endpoints: webhooks.done, left: [...apps.left, ...webhooks.left] };
}

/**
 * Runs `work` for each row with a secret that `isDue`, with the row as it is then, in a transaction of its own. A kill leaves whole rows,
 * and the next run does the rest. Skips a row that is not as the history left it, because a change would hide that. Returns the holders
 * of changed and skipped rows.
 */
async function changeEach<R extends { id: string }>(
  database: Reader,
  journal: Journal,
  { table, list, holder, secrets }: SealedTable<R>,
  isDue: (sealed: string | null) => boolean,
  work: (transaction: Transaction, row: R) => Promise<unknown>,
): Promise<{ done: string[]; left: string[] }> {
  const done: string[] = [];
  const left: string[] = [];
  for (const { id } of (await list(database)).filter((row) => secrets(row).some(isDue))) {
    const outcome = await journal.commit(async (transaction) => {
      const row = await lockRow(transaction, table, id);
      if (!row || !secrets(row).some(isDue)) return undefined;
      const into = (await isAsRecorded(transaction, table, row)) ? done : left;
      if (into === done) await work(transaction, row);
      return { into, row };
    }, id);
    outcome?.into.push(holder(outcome.row)); // not in the work, which may be run again
  }
  return { done, left };
}

export const SECRETS_CHECKS = checkTable({
  secrets_keys: tableCheck('Keys for secrets', 'later', async (database, { settings }): Promise<Verdict> => {
    const stored = await storedSecretKeys(database);
    if (stored.length === 0) return skipped('The first start makes the key for secrets');
    const place = keyPlaceName(settings);
    try {
      const [missing] = missingKeys(stored, settings);
      if (missing) return failed(lackOf(missing, settings), MISSING_KEY_FIX);
    } catch (error) {
      if (!(error instanceof SecretKeysUnfit)) throw error;
      const [, what, fix] = /^(.*?: [^:]*): (.*)$/s.exec(error.message) ?? [];
      return failed(what ?? error.message, fix ?? MISSING_KEY_FIX);
    }
    if (settings.secrets_keys === null && (statSync(place).mode & 0o077) !== 0)
      return failed(
        `Others may read ${place}`,
        `chmod 600 ${place}, and replace the keys: counterfoil secrets rotate`,
      );
    const plain = (await sealedSecrets(database)).filter(({ key }) => key === null).length;
    if (plain > 0)
      return warning(
        `${counted(plain, 'secret')} in the store not sealed`,
        'restart a server, which seals them',
      );
    return ok('This node has every key for secrets that the store counts');
  }),
});
