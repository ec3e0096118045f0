// Codes of an authenticator app (RFC 6238), each taken once, and its secret, which the key ring seals.
import { createHmac } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { SecretKeysUnfit } from '../journal/keys/key-file.ts';
import type { Cell, KeyRing } from '../journal/keys/key-ring.ts';
import { holdStoredKey } from '../journal/keys/open-ring.ts';
import type { Transaction } from '../journal/transaction.ts';
import { unavailable } from '../lib/errors.ts';
import { asciiDigits } from '../lib/text.ts';
import { SECOND_MS } from '../lib/time.ts';
import type { Administrator } from './administrator.ts';

const ISSUER = 'Counterfoil';
const PERIOD_S = 30;
const DIGITS = 6;
/**
 * Steps whose codes are accepted, counted from the present one. RFC 6238, 5.2 allows one step for the delay between app and server.
 * A code that has not begun yet is refused. So a code is good for 30 seconds after it is first shown, and 30 more.
 */
const STEPS = [0, -1];
const SECRET_BYTES = 20; // as long as the SHA-1 that it keys (RFC 4226, R6)
const SECRET = /^[A-Z2-7]{32,128}$/;

/**
 * A new secret in base 32, and the address that an authenticator app takes it in, from a QR code or a tap. With a `seed`, which must be
 * a secret itself, it is the same each time.
 */
export function newTotp(email: string, seed?: string): { secret: string; uri: string } {
  const digest =
    seed && createHmac('sha256', seed).update('authenticator app').digest().subarray(0, SECRET_BYTES);
  const secret = new Secret(digest ? { buffer: Uint8Array.from(digest).buffer } : { size: SECRET_BYTES })
    .base32;
  return { secret, uri: totpUri(secret, email) };
}

/** The `otpauth://` address of a secret, for showing its QR code again. */
export function totpUri(secret: string, email: string): string {
  return totp(secret, email).toString();
}

/**
 * The time step of `code` if it is right at `nowMs` and later than `lastStep`, the one taken last; else undefined. The caller stores the
 * step in the same statement that acts on it, so that a code works once (RFC 6238, section 5.2).
 */
export function acceptedStep(
  secret: string,
  code: string,
  nowMs: number,
  lastStep: number | null,
): number | undefined {
  const token = asciiDigits(code).replaceAll(/\s/g, '');
  if (!SECRET.test(secret) || !/^\d{6}$/.test(token)) return undefined;
  const app = totp(secret, '');
  const now = Math.floor(nowMs / (PERIOD_S * SECOND_MS));
  const step = STEPS.map((delta) => now + delta).find(
    (one) => app.validate({ token, timestamp: one * PERIOD_S * SECOND_MS, window: 0 }) !== null,
  );
  return step === undefined || (lastStep !== null && step <= lastStep) ? undefined : step;
}

function totp(secret: string, label: string): TOTP {
  return new TOTP({
    issuer: ISSUER,
    label,
    algorithm: 'SHA1',
    digits: DIGITS,
    period: PERIOD_S,
    secret: Secret.fromBase32(secret),
  });
}

const cellOf = (id: string): Cell => ({ table: 'administrators', row: id, column: 'totp_secret' });

/**
 * Seals a secret (base 32, RFC 4648) for an administrator's row, in the transaction that writes it. Throws `unavailable` if the key of
 * this node's ring was removed: the node has not heard of its successor yet.
 */
export async function sealTotpSecret(
  transaction: Transaction,
  ring: KeyRing,
  { id }: Pick<Administrator, 'id'>,
  secret: string,
): Promise<string> {
  if (!(await holdStoredKey(transaction, ring.current))) throw unavailable();
  return ring.seal(cellOf(id), secret);
}

/**
 * The secret in base 32; null if they have none. Throws `unavailable` if this node lacks the key, and `Error` if the text was changed,
 * is not sealed or belongs to another row.
 */
export function openTotpSecret(
  ring: KeyRing,
  { id, totp_secret }: Pick<Administrator, 'id' | 'totp_secret'>,
): string | null {
  if (totp_secret === null) return null;
  try {
    return ring.open(cellOf(id), totp_secret);
  } catch (error) {
    throw error instanceof SecretKeysUnfit ? Object.assign(unavailable(), { cause: error }) : error;
  }
}
