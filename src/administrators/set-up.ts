// Setting up: a link that works once, in half an hour, lets an administrator choose their password and second factor.

import { type Act, newSalt } from '../journal/audit-entry.ts';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { recordNewRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { randomId, timeOrderedId } from '../lib/ids.ts';
import { phrase } from '../lib/phrases.ts';
import { sha256 } from '../lib/secrets.ts';
import { MINUTE_MS } from '../lib/time.ts';
import { findNow, type Seen } from '../store/table.ts';
import {
  type Administrator,
  actorOf,
  PASSKEYS,
  type Passkey,
  readsIn,
  recordAdministrator,
} from './administrator.ts';
import type { NewPasskey } from './passkey.ts';
import { changeAdministrator, findAdministratorBySetUp, isKnownCredential } from './queries.ts';
import { endAllSessions, endReplaced, startSession } from './session.ts';
import type { SignedIn } from './sign-in.ts';
import { sealTotpSecret } from './totp.ts';

const SET_UP_MS = 30 * MINUTE_MS;

/** Where a set-up link leads. `baseUrl` without a slash at its end. */
export function setUpUrl(baseUrl: string, secret: string): string {
  return `${baseUrl}/console/set-up?link=${secret}`;
}

/** The secret of a new link, 130 random bits that may be typed, and what is kept of it. `now` in milliseconds since 1970. */
export function newSetUp(now: number): {
  secret: string;
  kept: { setup_digest: string; setup_expires_at: number };
} {
  const secret = randomId('');
  return { secret, kept: { setup_digest: sha256(secret), setup_expires_at: now + SET_UP_MS } };
}

/** Makes a new link for `administrator`, in place of the one before. Returns its secret. */
export async function newSetUpLink(
  transaction: Transaction,
  { id }: Pick<Administrator, 'id'>,
  act: Act,
): Promise<string> {
  const { secret, kept } = newSetUp(transaction.now);
  const changed = await changeAdministrator(transaction, id, undefined, kept);
  if (!changed) throw new OperationalError('not_found', 'There is no such administrator.');
  await recordAdministrator(transaction, act, 'administrator.set_up_link_made', changed);
  return secret;
}

/** Whose link it is; undefined where it is wrong, used, too old, or they are disabled. Throws `DatabaseError`. */
export async function findBySetUpLink(
  database: Seen,
  secret: string,
  now: number,
): Promise<Administrator | undefined> {
  return findNow(database, (state) => findAdministratorBySetUp(state, sha256(secret), now));
}

/** What an administrator chose, checked: of the password its hash, and a code or a signature that proved the factor. */
export interface SetUp {
  /** From `hashPassword`. */
  password: string;
  /** `secret` from `newTotp`, `step` from `acceptedStep`; or what `verifiedRegistration` gave, and what they call it. */
  factor: { totp: { secret: string; step: number } } | { passkey: NewPasskey; name: string };
  /** `digests` of `newRecoveryCodes`. */
  recoveryDigests: string;
  /** The console's language for them. */
  language?: string;
}

/**
 * Sets an administrator up: uses the link, stores password, second factor and recovery codes, and signs them in. Returns undefined if the
 * link is not valid any more; then nothing was changed. `replaced`: the cookie of the browser's session before. Throws `conflict` if the
 * passkey is taken.
 */
export async function completeSetUp(
  transaction: Transaction,
  ring: KeyRing,
  secret: string,
  { password, factor, recoveryDigests, language }: SetUp,
  requestId: string | null,
  replaced?: string,
): Promise<SignedIn | undefined> {
  const found = await findBySetUpLink(transaction, secret, transaction.now);
  if (!found) return undefined;
  if ('passkey' in factor) await requireNew(transaction, factor.passkey);
  const totp = 'totp' in factor ? factor.totp : undefined;
  const changed = await changeAdministrator(transaction, found.id, found.version, {
    password,
    totp_secret: totp ? await sealTotpSecret(transaction, ring, found, totp.secret) : null,
    totp_step: totp?.step ?? null,
    recovery_codes: recoveryDigests,
    setup_digest: null,
    setup_expires_at: null,
    ...readsIn(found, language),
  });
  if (!changed) return undefined;
  const act = { actor: actorOf(found.id), request_id: requestId };
  if ('passkey' in factor) insertPasskey(transaction, found.id, factor.passkey, factor.name, act);
  await endAllSessions(transaction, found.id, act);
  const kind = totp ? 'totp' : 'passkey';
  await endReplaced(transaction, replaced, requestId);
  const started = await startSession(transaction, found.id, kind, requestId);
  await recordAdministrator(transaction, act, 'administrator.set_up', changed, {
    factor: kind,
    session: started.session.id,
  });
  return { ...started, administrator: changed.after };
}

/** Adds a passkey's row and its entry. */
export function insertPasskey(
  transaction: Transaction,
  administratorId: string,
  passkey: NewPasskey,
  name: string,
  act: Act,
): Passkey {
  const row: Passkey = {
    id: timeOrderedId('psk_', transaction.now),
    administrator_id: administratorId,
    ...passkey,
    name,
    salt: newSalt(),
    version: 1,
    created_at: transaction.now,
    used_at: null,
  };
  transaction.insert(PASSKEYS, row);
  recordNewRow(transaction, act, 'passkey.added', PASSKEYS, row);
  return row;
}

/** Throws `conflict` if a passkey is taken. */
export async function requireNew(transaction: Transaction, { credential_id }: NewPasskey): Promise<void> {
  if (await isKnownCredential(transaction, credential_id))
    throw new OperationalError('conflict', phrase('This passkey is in use already.'));
}
