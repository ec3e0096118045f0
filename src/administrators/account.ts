// What administrators change of their own: password, second factors and recovery codes, each with their password once more.

import type { Act } from '../journal/audit-entry.ts';
import type { Facts } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError, validationFailed } from '../lib/errors.ts';
import { phrase } from '../lib/phrases.ts';
import { textFault } from '../lib/text.ts';
import { type Administrator, type Principal, recordAdministrator, recordGone } from './administrator.ts';
import { type Parts, type PasswordRefusal, passwordRefusal, sourceOfSession } from './failures.ts';
import type { NewPasskey, Passkey } from './passkey.ts';
import { hashPassword, passwordFault, weakness } from './password.ts';
import {
  type AdministratorChange,
  changeAdministrator,
  deletePasskeys,
  findAdministrator,
  findSession,
  passkeysOf,
} from './queries.ts';
import { newRecoveryCodes } from './recovery-codes.ts';
import { endAllSessions, startSession } from './session.ts';
import { insertPasskey, requireNew } from './set-up.ts';
import type { SignedIn } from './sign-in.ts';
import { sealTotpSecret } from './totp.ts';

const PASSKEY_NAME_MAXIMUM = 60;

interface Asking {
  principal: Principal;
  password: string;
}

type Change<T> = (transaction: Transaction, administrator: Administrator, act: Act) => Promise<T>;

/**
 * Changes a second factor. The password is hashed again with a new salt: device cookies are bound to its hash and become void.
 * Every function below that takes an `Asking` gives a `PasswordRefusal` where the password is wrong or was wrong too often, and
 * throws `forbidden` for a token, `conflict` where the account was changed meanwhile, `unavailable`, `DatabaseError`.
 */
async function changeFactor<T>(parts: Parts, asking: Asking, work: Change<T>): Promise<T | PasswordRefusal> {
  const proved = await prove(parts, asking);
  if ('refused' in proved) return proved;
  const { turn } = sourceOfSession(asking.principal);
  const password = await hashPassword(asking.password, turn, parts.passwordCost);
  return commit(parts, asking, { ...proved, password }, work);
}

/** Whose account it is, as it was when their password was right. */
async function prove(
  parts: Parts,
  { principal, password }: Asking,
): Promise<Administrator | PasswordRefusal> {
  if (principal.session === null)
    throw new OperationalError(
      'forbidden',
      'An account is changed by its administrator in the console, not by a token.',
    );
  const administrator = await findAdministrator(parts.database, principal.id);
  const source = sourceOfSession(principal);
  const { email, request_id: requestId } = principal;
  const refusal = await passwordRefusal(parts, { email, administrator, password, source, requestId });
  return refusal ?? administrator!;
}

function commit<T>(
  { journal }: Parts,
  { principal }: Asking,
  administrator: Administrator,
  work: Change<T>,
): Promise<T> {
  return journal.commit((transaction) => work(transaction, administrator, principal), principal.id);
}

/** Changes the row as it was when the password was checked, and records it. Also writes the hash of the password. */
async function write(
  transaction: Transaction,
  { id, version, password }: Administrator,
  act: Act,
  action: string,
  written: AdministratorChange,
  facts: Facts = {},
): Promise<Administrator> {
  const changed = await changeAdministrator(transaction, id, version, { password, ...written });
  if (!changed)
    throw new OperationalError(
      'conflict',
      phrase('Your account was changed meanwhile. Look at it again and repeat this.'),
    );
  await recordAdministrator(transaction, act, action, changed, facts);
  return changed.after;
}

/**
 * Changes the password: all sessions end, and a new one begins for the caller. Throws `validation_failed` where the new
 * password may not be one.
 */
export async function changePassword(
  parts: Parts,
  asking: Asking,
  password: string,
): Promise<SignedIn | PasswordRefusal> {
  const fault = passwordFault(password, asking.principal.email);
  if (fault) throw validationFailed({ password: fault });
  // Only after the current password was right, because checking the new one costs processor time.
  const proved = await prove(parts, asking);
  if ('refused' in proved) return proved;
  const { turn } = sourceOfSession(asking.principal);
  const weak = await weakness(password, proved);
  if (weak) throw validationFailed({ password: weak });
  const hashed = await hashPassword(password, turn, parts.passwordCost);
  return commit(parts, asking, proved, async (transaction, administrator, act) => {
    const session = await findSession(transaction, asking.principal.session!);
    if (!session || session.ended_at !== null)
      throw new OperationalError('conflict', phrase('You are signed out.'));
    const changed = await write(transaction, administrator, act, 'administrator.password_changed', {
      password: hashed,
    });
    await endAllSessions(transaction, administrator.id, act);
    return {
      ...(await startSession(transaction, administrator.id, session.factor, asking.principal.request_id)),
      administrator: changed,
    };
  });
}

/** Ends all sessions of the caller but the one they ask with. */
export async function signOutElsewhere(
  parts: Parts,
  asking: Asking,
): Promise<{ ended: number } | PasswordRefusal> {
  const proved = await prove(parts, asking);
  if ('refused' in proved) return proved;
  return { ended: await endOtherSessions(parts, asking.principal) };
}

/** The same without the password. Returns how many it ended. Throws `unavailable`, `DatabaseError`. */
export async function endOtherSessions({ journal }: Parts, principal: Principal): Promise<number> {
  return journal.commit(async (transaction) => {
    // Change the row first: a sign-in that runs at the same moment is waited for, or finds the changed row.
    const changed = await changeAdministrator(transaction, principal.id, undefined, {});
    if (!changed) throw new OperationalError('not_found', 'There is no such administrator.');
    await recordAdministrator(transaction, principal, 'administrator.other_sessions_ended', changed);
    return endAllSessions(transaction, principal.id, principal, principal.session);
  }, principal.id);
}

/** Adds a passkey that `verifiedRegistration` gave. Throws `validation_failed` for its name. */
export async function addPasskey(
  parts: Parts,
  asking: Asking,
  passkey: NewPasskey,
  name: string,
): Promise<{ administrator: Administrator; passkey: Passkey } | PasswordRefusal> {
  const fault = name.trim() === '' ? 'Must not be empty.' : textFault(name, PASSKEY_NAME_MAXIMUM);
  if (fault) throw validationFailed({ name: fault });
  return changeFactor(parts, asking, async (transaction, administrator, act) => {
    await requireNew(transaction, passkey);
    // Changes the row too, so that the challenge it was registered with is used.
    const changed = await write(transaction, administrator, act, 'administrator.passkey_added', {});
    const inserted = insertPasskey(transaction, administrator.id, passkey, name.trim(), act);
    return { administrator: changed, passkey: inserted };
  });
}

/** Removes a passkey and ends the other sessions. Throws `not_found`, and `conflict` for the last second factor. */
export async function removePasskey(
  parts: Parts,
  asking: Asking,
  passkeyId: string,
): Promise<{ administrator: Administrator; removed: Passkey } | PasswordRefusal> {
  return changeFactor(parts, asking, async (transaction, administrator, act) => {
    const passkeys = await passkeysOf(transaction, administrator.id);
    if (!passkeys.some(({ id }) => id === passkeyId))
      throw new OperationalError('not_found', 'There is no such passkey.');
    if (passkeys.length === 1 && administrator.totp_secret === null)
      throw new OperationalError(
        'conflict',
        phrase('This is your only second factor. Add another before you remove it.'),
      );
    const facts = { passkey: passkeyId };
    const changed = await write(transaction, administrator, act, 'administrator.passkey_removed', {}, facts);
    const [removed] = await deletePasskeys(transaction, administrator.id, passkeyId);
    await recordGone(transaction, act, removed!);
    await endAllSessions(transaction, administrator.id, act, asking.principal.session);
    return { administrator: changed, removed: removed! };
  });
}

/** Puts another authenticator app in place of the one before, or adds the first, and ends the other sessions. */
export async function replaceTotp(
  parts: Parts,
  asking: Asking,
  totp: { secret: string; step: number },
): Promise<{ administrator: Administrator } | PasswordRefusal> {
  return changeFactor(parts, asking, async (transaction, administrator, act) => {
    const changed = await write(transaction, administrator, act, 'administrator.totp_replaced', {
      totp_secret: await sealTotpSecret(transaction, parts.ring, administrator, totp.secret),
      totp_step: totp.step,
    });
    await endAllSessions(transaction, administrator.id, act, asking.principal.session);
    return { administrator: changed };
  });
}

/** Makes ten new recovery codes in place of the old ones. They are shown this once. */
export async function renewRecoveryCodes(
  parts: Parts,
  asking: Asking,
): Promise<{ administrator: Administrator; codes: string[] } | PasswordRefusal> {
  const { codes, digests } = newRecoveryCodes();
  return changeFactor(parts, asking, async (transaction, administrator, act) => {
    const changed = await write(transaction, administrator, act, 'administrator.recovery_codes_renewed', {
      recovery_codes: digests,
    });
    return { administrator: changed, codes };
  });
}
