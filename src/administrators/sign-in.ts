// Signing in: an e-mail address, a password and a second factor together earn a session.
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { changeRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { MINUTE_MS } from '../lib/time.ts';
import {
  type Administrator,
  actorOf,
  type Factor,
  PASSKEYS,
  type Passkey,
  readsIn,
  recordAdministrator,
  type Session,
} from './administrator.ts';
import {
  type Parts,
  passwordRefusal,
  plainEmail,
  recordFailure,
  type SignInClient,
  type Source,
  STRANGER,
  sourceOf,
  sourceOfHolder,
  throttledUntil,
} from './failures.ts';
import { type Place, verifiedAuthentication } from './passkey.ts';
import {
  type AdministratorChange,
  changeAdministrator,
  findAdministrator,
  findAdministratorByEmail,
  passkeysOf,
} from './queries.ts';
import { newRecoveryCodes, spend } from './recovery-codes.ts';
import { endReplaced, startSession } from './session.ts';
import { acceptedStep, openTotpSecret } from './totp.ts';

export type { Parts, SignInClient };

/** Lifetime of a challenge. */
const CHALLENGE_MS = 5 * MINUTE_MS;

/** A second factor that cannot be guessed. A code of an authenticator app has six digits, so it is none. */
type StrongFactor =
  | { recoveryCode: string }
  /** `response`: the JSON that the browser sent, parsed. `expires`: as `newChallenge` returned it. */
  | { response: unknown; expires: number; place: Place };

/** A second factor as it was given; `code` is the authenticator app's. */
export type GivenFactor = { code: string } | StrongFactor;

export const isStrong = (factor: GivenFactor): factor is StrongFactor => !('code' in factor);

interface Credentials {
  email: string;
  password: string;
  factor: GivenFactor;
}

export interface SignedIn {
  /** For the cookie, through `cookieValue`. */
  secret: string;
  session: Session;
  administrator: Administrator;
}

/**
 * `wrong`: `proof` is for the log alone, the visitor must not learn what is wrong. `throttled`: until that moment, milliseconds since 1970.
 * `administrator`: whose account was tried, if there is one.
 */
export type SignInRefusal = (
  | { refused: 'wrong'; proof: 'password' | 'second_factor' }
  | { refused: 'throttled'; until: number }
) & { administrator: Administrator | undefined };

/** A challenge (base64url) for a passkey of any administrator, and until when it is accepted (milliseconds since 1970). */
export function newChallenge(ring: KeyRing, now: number): { challenge: string; expires: number } {
  const expires = now + CHALLENGE_MS;
  return { challenge: challengeOf(ring, expires), expires };
}

function challengeOf(ring: KeyRing, expires: number): string {
  return ring.mac('passkey challenge', JSON.stringify(['sign-in', expires]));
}

/** Stands for an address without an administrator, so that the same is done for it. */
const NOBODY = { id: 'nobody', recovery_codes: newRecoveryCodes().digests };

/**
 * Signs in. Refuses in the same way whether there is no such administrator, they are disabled, or whatever else is wrong. Records failures
 * and makes callers wait after too many. A strong factor is checked first and the password only if the factor is right: so strangers can
 * make its owner wait for nothing, and its answer tells nothing about a password. Throws `unavailable`, `DatabaseError`.
 */
export async function signIn(
  parts: Parts,
  { email, password, factor }: Credentials,
  requestId: string | null,
  caller: SignInClient = STRANGER,
): Promise<SignedIn | SignInRefusal> {
  const plain = plainEmail(email);
  const administrator = await findAdministratorByEmail(parts.database, plain);
  const now = parts.clock.now();
  if (isStrong(factor)) {
    const holder = administrator ?? NOBODY;
    const proof = strongProof(parts.ring, factor, holder, await passkeysOf(parts.database, holder.id), now);
    if (!administrator || !proof) return { refused: 'wrong', proof: 'second_factor', administrator };
  }
  const source = isStrong(factor)
    ? sourceOfHolder(administrator!)
    : sourceOf(parts.ring, plain, administrator, caller, now);
  const attempt = { email: plain, administrator, password, source, requestId };
  const refusal = await passwordRefusal(parts, attempt);
  if (refusal?.refused === 'wrong') return { ...refusal, proof: 'password', administrator };
  if (refusal) return { ...refusal, administrator };
  const prove: Prove = (found, passkeys, at) => proofOf(parts.ring, factor, found, passkeys, at);
  return complete(parts, administrator!, prove, { requestId, caller, source });
}

/** A second factor that was right, and what it changes in its administrator's row. */
export interface Proof {
  factor: Factor;
  change: AdministratorChange;
  used?: { passkey: Passkey; counter: number; used_at: number };
}

type Prove = (administrator: Administrator, passkeys: readonly Passkey[], now: number) => Proof | undefined;

function strongProof(
  ring: KeyRing,
  factor: StrongFactor,
  { recovery_codes }: Pick<Administrator, 'recovery_codes'>,
  passkeys: readonly Passkey[],
  now: number,
): Proof | undefined {
  if ('recoveryCode' in factor) {
    const left = recovery_codes === null ? undefined : spend(recovery_codes, factor.recoveryCode);
    return left === undefined ? undefined : { factor: 'recovery_code', change: { recovery_codes: left } };
  }
  const { response, expires, place } = factor;
  if (expires <= now || expires > now + CHALLENGE_MS) return undefined;
  const used = verifiedAuthentication(place, passkeys, challengeOf(ring, expires), response);
  // A use ends all challenges from before it, its own too: a form that was seen cannot be sent again.
  const issued = expires - CHALLENGE_MS;
  if (!used || issued < (used.passkey.used_at ?? 0)) return undefined;
  return { factor: 'passkey', change: {}, used: { ...used, used_at: Math.max(now, issued + 1) } };
}

/** The factor judged by the rows as they are. */
function proofOf(
  ring: KeyRing,
  factor: GivenFactor,
  administrator: Administrator,
  passkeys: readonly Passkey[],
  now: number,
): Proof | undefined {
  if (isStrong(factor)) return strongProof(ring, factor, administrator, passkeys, now);
  const secret = openTotpSecret(ring, administrator);
  const step = secret === null ? undefined : acceptedStep(secret, factor.code, now, administrator.totp_step);
  return step === undefined ? undefined : { factor: 'totp', change: { totp_step: step } };
}

/**
 * One work for an administrator whose password was right: the factor is used, right or wrong, by a change of their row. Of two requests
 * with one code or one signature, on whatever nodes, one finds the row as it was. The other is judged again by the row and the failures
 * that it finds then, so guesses cannot be made side by side.
 */
export async function complete(
  parts: Parts,
  checked: Administrator,
  prove: Prove,
  { requestId, caller, source }: { requestId: string | null; caller: SignInClient; source: Source },
): Promise<SignedIn | SignInRefusal> {
  const { database, journal, tally } = parts;
  const { id, email } = checked;
  const administrator = await findAdministrator(database, id);
  // The password was compared with this hash. Another one, and who is disabled, must be judged from the beginning.
  if (!administrator || administrator.disabled_at !== null || administrator.password !== checked.password)
    return { refused: 'wrong', proof: 'password', administrator };
  const passkeys = await passkeysOf(database, id);
  const done = await journal.commit(async (transaction): Promise<SignedIn | SignInRefusal | undefined> => {
    const until = await throttledUntil({ database: transaction, tally }, email, source, transaction.now);
    if (until !== undefined) return { refused: 'throttled', until, administrator };
    const proof = prove(administrator, passkeys, transaction.now);
    const changed = await changeAdministrator(transaction, id, administrator.version, {
      ...proof?.change,
      ...(proof && readsIn(administrator, caller.language)),
    });
    if (!changed) return undefined;
    if (!proof) {
      recordFailure(transaction, email, 'second_factor', requestId, source);
      const anonymous = { actor: 'anonymous', request_id: requestId };
      await recordAdministrator(transaction, anonymous, 'administrator.second_factor_refused', changed);
      return { refused: 'wrong', proof: 'second_factor', administrator: changed.after };
    }
    if (proof.used) await recordUse(transaction, proof.used, requestId);
    await endReplaced(transaction, caller.session, requestId);
    const { secret, session } = await startSession(transaction, id, proof.factor, requestId);
    const act = { actor: actorOf(id), request_id: requestId };
    await recordAdministrator(transaction, act, 'administrator.signed_in', changed, {
      factor: proof.factor,
      session: session.id,
    });
    return { secret, session, administrator: changed.after };
  }, id);
  if (done) return done;
  database.refresh(); // or the row would be read as it was for a while
  return complete(parts, checked, prove, { requestId, caller, source });
}

async function recordUse(
  transaction: Transaction,
  { passkey, counter, used_at }: NonNullable<Proof['used']>,
  requestId: string | null,
): Promise<void> {
  const act = { actor: actorOf(passkey.administrator_id), request_id: requestId };
  const used = await changeRow(transaction, act, 'passkey.used', PASSKEYS, passkey, { counter, used_at });
  if (!used) throw new Error('a passkey changed though its administrator did not');
}
