// Signing in by one form with password and second factor: the way in for an unknown browser while strangers must wait.

import type { KeyRing } from '../journal/keys/key-ring.ts';
import { MINUTE_MS } from '../lib/time.ts';
import type { Administrator } from './administrator.ts';
import {
  type Parts,
  type PasswordRefusal,
  passwordRefusal,
  plainEmail,
  type SignInClient,
  sourceOfHolder,
} from './failures.ts';
import { type Place, verifiedAuthentication } from './passkey.ts';
import { findAdministrator, findAdministratorByEmail, passkeysOf } from './queries.ts';
import { newRecoveryCodes, spend } from './recovery-codes.ts';
import type { Passkey } from './rows.ts';
import { complete, newTicket, type Proof, type RefusedTo, type SignedIn } from './sign-in.ts';

/** How long a page with a challenge may stay open. */
const CHALLENGE_MS = 5 * MINUTE_MS;

/** A second factor that cannot be guessed. A code of an authenticator app has six digits, so it is none. */
export type StrongFactor =
  | { recoveryCode: string }
  /** `response`: the JSON that the browser sent, parsed. `expires`: as `newChallenge` returned it. */
  | { response: unknown; expires: number; place: Place };

/** What one form holds. */
export interface Whole {
  email: string;
  password: string;
  factor: StrongFactor;
}

/**
 * A challenge (base64url) for a passkey of `administrator`, who has the address `email`, and until when it is accepted (milliseconds
 * since 1970). Looks the same if there is no such administrator.
 */
export function newChallenge(
  ring: KeyRing,
  email: string,
  administrator: Administrator | undefined,
  now: number,
): { challenge: string; expires: number } {
  const expires = now + CHALLENGE_MS;
  return { challenge: challengeOf(ring, administrator ?? nobody(plainEmail(email)), expires), expires };
}

/** What a challenge and a factor are judged by. */
type Holder = Pick<Administrator, 'id' | 'version' | 'recovery_codes'>;

/** Stands for an address without an administrator, so that the same is done for it and the page looks the same. */
function nobody(email: string): Holder {
  return { id: `nobody ${email}`, version: 0, recovery_codes: NO_CODES };
}
const NO_CODES = newRecoveryCodes().digests;

/** Any change of the administrator's row makes the challenge void, and a sign-in is a change. */
function challengeOf(ring: KeyRing, { id, version }: Holder, expires: number): string {
  return ring.mac('passkey challenge', JSON.stringify(['sign-in passkey', id, version, expires]));
}

/**
 * Signs in with password and second factor at once. The factor is checked first, and the password only if the factor is right, so the
 * answer tells nothing about a password. Failures of strangers do not count here. A caller with the right factor has five wrong passwords
 * in 15 minutes. Returns `wrong` whatever is wrong. Throws `unavailable`, `DatabaseError`.
 */
export async function signInAtOnce(
  parts: Parts,
  { email, password, factor }: Whole,
  requestId: string | null,
  caller: SignInClient,
): Promise<SignedIn | RefusedTo<PasswordRefusal>> {
  const plain = plainEmail(email);
  const administrator = await findAdministratorByEmail(parts.database, plain);
  const now = parts.clock.now();
  // An unknown address takes the same steps as a known one with a wrong factor.
  const holder = administrator ?? nobody(plain);
  const passkeys = await passkeysOf(parts.database, holder.id);
  const isProven = proofOf(parts.ring, factor, holder, passkeys, now) !== undefined;
  if (!administrator || !isProven) return { refused: 'wrong', administrator };
  const source = sourceOfHolder(administrator);
  const attempt = { email: plain, administrator, password, source, requestId };
  const refusal = await passwordRefusal(parts, attempt);
  if (refusal) return { ...refusal, administrator };
  const ticket = newTicket(parts.ring, administrator, parts.clock.now());
  const done = await complete(parts, ticket, { requestId, caller, source }, async (opened, at) =>
    proofOf(parts.ring, factor, opened.administrator, opened.passkeys, at),
  );
  if (!('refused' in done) || done.refused === 'throttled') return done;
  // Another request changed the row meanwhile. The next challenge must be for the row as it is now.
  return { refused: 'wrong', administrator: await findAdministrator(parts.database, administrator.id) };
}

function proofOf(
  ring: KeyRing,
  factor: StrongFactor,
  holder: Holder,
  passkeys: readonly Passkey[],
  now: number,
): Proof | undefined {
  if ('recoveryCode' in factor) {
    const { recovery_codes } = holder;
    const left = recovery_codes === null ? undefined : spend(recovery_codes, factor.recoveryCode);
    return left === undefined ? undefined : { factor: 'recovery_code', change: { recovery_codes: left } };
  }
  const { response, expires, place } = factor;
  if (expires <= now || expires > now + CHALLENGE_MS) return undefined;
  const used = verifiedAuthentication(place, passkeys, challengeOf(ring, holder, expires), response);
  return used && { factor: 'passkey', change: {}, used };
}
