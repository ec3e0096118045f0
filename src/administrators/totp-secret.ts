// The secret of an administrator's authenticator app as the store holds it: sealed by the key ring, for their row alone.
import { unavailable } from '../lib/errors.ts';
import { SecretKeysUnfit } from '../secrets/key-file.ts';
import { type Cell, isSealed, type KeyRing } from '../secrets/key-ring.ts';
import type { Administrator } from './administrator.ts';

const cellOf = (id: string): Cell => ({ table: 'administrators', row: id, column: 'totp_secret' });

/** Seals a secret (base 32, RFC 4648) for an administrator's row. */
export function sealTotpSecret(ring: KeyRing, { id }: Pick<Administrator, 'id'>, secret: string): string {
  return ring.seal(cellOf(id), secret);
}

/**
 * The secret in base 32; null if they have none. One that the version before wrote is not sealed, and is taken as it is. Throws
 * `unavailable` if this node lacks the key, and `Error` if the text was changed or belongs to another row.
 */
export function openTotpSecret(
  ring: KeyRing,
  { id, totp_secret }: Pick<Administrator, 'id' | 'totp_secret'>,
): string | null {
  if (totp_secret === null || !isSealed(totp_secret)) return totp_secret;
  try {
    return ring.open(cellOf(id), totp_secret);
  } catch (error) {
    throw error instanceof SecretKeysUnfit ? Object.assign(unavailable(), { cause: error }) : error;
  }
}
