// Codes of an authenticator app (RFC 6238): six digits that change every 30 seconds, each taken once.
import { Secret, TOTP } from 'otpauth';
import { SECOND_MS } from '../lib/time.ts';

const ISSUER = 'Counterfoil';
const PERIOD_S = 30;
const DIGITS = 6;
/** Steps before and after the present one whose codes are taken: for clocks that differ. */
const WINDOW = 1;
const SECRET_BYTES = 20; // as long as the SHA-1 that it keys (RFC 4226, R6)
const SECRET = /^[A-Z2-7]{32,128}$/;

/** A new secret in base 32, and the address that an authenticator app takes it in, from a QR code or a tap. */
export function newTotp(email: string): { secret: string; uri: string } {
  const secret = new Secret({ size: SECRET_BYTES }).base32;
  return { secret, uri: totpUri(secret, email) };
}

/** The `otpauth://` address of a secret, for showing its QR code again. */
export function totpUri(secret: string, email: string): string {
  return totp(secret, email).toString();
}

/**
 * The time step that `code` stands for, if it is right at `nowMs` and later than `lastStep`, the one taken last; else nothing.
 * Whoever takes it keeps the step in the same statement that acts on it: that is what makes a code work once.
 */
export function acceptedStep(
  secret: string,
  code: string,
  nowMs: number,
  lastStep: number | null,
): number | undefined {
  const token = code.replaceAll(/\s/g, '');
  if (!SECRET.test(secret) || !/^\d{6}$/.test(token)) return undefined;
  const delta = totp(secret, '').validate({ token, timestamp: nowMs, window: WINDOW });
  if (delta === null) return undefined;
  const step = Math.floor(nowMs / (PERIOD_S * SECOND_MS)) + delta;
  return lastStep !== null && step <= lastStep ? undefined : step;
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
