// Manages administrators: adds them, changes their role, disables and enables them, and resets their access.

import { type Act, newSalt } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { recordNewRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError, validationFailed } from '../lib/errors.ts';
import { timeOrderedId } from '../lib/ids.ts';
import { isEmailAddress, textFault } from '../lib/text.ts';
import { type Database, DatabaseError } from '../store/database.ts';
import {
  ADMINISTRATORS,
  type Administrator,
  type Role,
  recordAdministrator,
  recordGone,
} from './administrator.ts';
import { plainEmail } from './failures.ts';
import {
  type AdministratorChange,
  changeAdministrator,
  deletePasskeys,
  findAdministrator,
  findAdministratorByEmail,
  listAdministrators,
  lockFullAdministrators,
} from './queries.ts';
import { endAllSessions } from './session.ts';
import { newSetUp, newSetUpLink } from './set-up.ts';

const NAME_MAXIMUM = 80;
const EMAIL_MAXIMUM = 254;

/** The first administrator of a development server. */
const DEVELOPMENT_EMAIL = 'admin@localhost';

/**
 * Adds an administrator who has only a set-up link so far; `link` is its secret. Throws `validation_failed`, and `conflict` if the e-mail
 * address is taken.
 */
export async function createAdministrator(
  transaction: Transaction,
  { email: typed, name, role }: { email: string; name: string; role: Role },
  act: Act,
): Promise<{ administrator: Administrator; link: string }> {
  const email = plainEmail(typed);
  const nameFault = name.trim() === '' ? 'Must not be empty.' : textFault(name, NAME_MAXIMUM);
  const faults = {
    ...(!isEmailAddress(email) || email.length > EMAIL_MAXIMUM
      ? { email: 'Must be an e-mail address.' }
      : {}),
    ...(nameFault && { name: nameFault }),
  };
  if (Object.keys(faults).length > 0) throw validationFailed(faults);
  if (await findAdministratorByEmail(transaction, email))
    throw new OperationalError(
      'conflict',
      `There is an administrator with the e-mail address ${email} already.`,
    );
  const { secret, kept } = newSetUp(transaction.now);
  const administrator: Administrator = {
    ...ADMINISTRATORS.nulls,
    id: timeOrderedId('adm_', transaction.now),
    email,
    name: name.trim(),
    role,
    ...kept,
    salt: newSalt(),
    version: 1,
    created_at: transaction.now,
    updated_at: transaction.now,
  };
  transaction.insert(ADMINISTRATORS, administrator);
  recordNewRow(transaction, act, 'administrator.created', ADMINISTRATORS, administrator, { role });
  return { administrator, link: secret };
}

/**
 * Disables an administrator: sessions end, tokens stop, links do not open. Throws `not_found`, and `conflict` where they are
 * disabled already, or the last who can do everything.
 */
export async function disable(transaction: Transaction, id: string, act: Act): Promise<Administrator> {
  const found = await existing(transaction, id);
  if (found.disabled_at !== null)
    throw new OperationalError('conflict', 'This administrator is disabled already.');
  await requireAnother(transaction, found, 'disabled');
  const changed = await written(transaction, id, { disabled_at: transaction.now });
  await endAllSessions(transaction, id, act);
  await recordAdministrator(transaction, act, 'administrator.disabled', changed);
  return changed.after;
}

/** Lets a disabled administrator in again, as they were. Throws `not_found`, and `conflict` where they are not disabled. */
export async function enable(transaction: Transaction, id: string, act: Act): Promise<Administrator> {
  const found = await existing(transaction, id);
  if (found.disabled_at === null)
    throw new OperationalError('conflict', 'This administrator is not disabled.');
  const changed = await written(transaction, id, { disabled_at: null });
  await recordAdministrator(transaction, act, 'administrator.enabled', changed);
  return changed.after;
}

/**
 * Gives an administrator another role; their sessions end, and what their tokens may falls with it. Throws `not_found`, and
 * `conflict` where they have that role already, or the last who can do everything would not be one any more.
 */
export async function changeRole(
  transaction: Transaction,
  id: string,
  role: Role,
  act: Act,
): Promise<Administrator> {
  const found = await existing(transaction, id);
  if (found.role === role) throw new OperationalError('conflict', `This administrator is ${role} already.`);
  if (found.role === 'administrator') await requireAnother(transaction, found, 'given a lesser role');
  const changed = await written(transaction, id, { role });
  await endAllSessions(transaction, id, act);
  await recordAdministrator(transaction, act, 'administrator.role_changed', changed, {
    from: found.role,
    to: role,
  });
  return changed.after;
}

/**
 * Starts an administrator anew: takes away password, second factors and recovery codes, ends their sessions, and gives the
 * secret of a new set-up link. Tokens go on. Throws `not_found`, and `conflict` where they are disabled.
 */
export async function reset(
  transaction: Transaction,
  id: string,
  act: Act,
): Promise<{ administrator: Administrator; link: string }> {
  const found = await existing(transaction, id);
  if (found.disabled_at !== null)
    throw new OperationalError('conflict', 'This administrator is disabled. Enable them first.');
  const { secret, kept } = newSetUp(transaction.now);
  const changed = await written(transaction, id, {
    password: null,
    totp_secret: null,
    totp_step: null,
    recovery_codes: null,
    ...kept,
  });
  for (const passkey of await deletePasskeys(transaction, id)) await recordGone(transaction, act, passkey);
  await endAllSessions(transaction, id, act);
  await recordAdministrator(transaction, act, 'administrator.reset', changed);
  return { administrator: changed.after, link: secret };
}

async function existing(transaction: Transaction, id: string): Promise<Administrator> {
  const found = await findAdministrator(transaction, id);
  if (!found) throw new OperationalError('not_found', 'There is no such administrator.');
  return found;
}

/** Changes the row of an administrator who was found: no administrator is ever deleted. */
const written = async (transaction: Transaction, id: string, change: AdministratorChange) =>
  (await changeAdministrator(transaction, id, undefined, change))!;

/** Throws `conflict` if `one` is the last administrator with full rights who is enabled and set up. */
async function requireAnother(transaction: Transaction, one: Administrator, what: string): Promise<void> {
  if (one.role !== 'administrator' || one.password === null) return;
  const others = (await lockFullAdministrators(transaction)).filter(
    ({ id, role, disabled_at, password }) =>
      id !== one.id && role === 'administrator' && disabled_at === null && password !== null,
  );
  if (others.length === 0)
    throw new OperationalError(
      'conflict',
      `The last administrator who is set up and can do everything cannot be ${what}. Add another first.`,
    );
}

/**
 * Creates the first administrator of a development server and returns the secret of a set-up link. Returns undefined if an administrator
 * is set up already, or if another node that starts at the same moment has created one. Throws `unavailable`, `DatabaseError`.
 */
export async function developmentSetUp(database: Database, journal: Journal): Promise<string | undefined> {
  const act = { actor: 'operator', request_id: null };
  const everybody = await listAdministrators(database);
  if (everybody.length === 0) {
    const wanted = { email: DEVELOPMENT_EMAIL, name: 'Administrator', role: 'administrator' } as const;
    const made = await journal
      .commit((transaction) => createAdministrator(transaction, wanted, act))
      .catch((error) => (isTaken(error) ? undefined : Promise.reject(error)));
    return made?.link;
  }
  const ours = everybody.find(
    ({ email, disabled_at }) => email === DEVELOPMENT_EMAIL && disabled_at === null,
  );
  if (!ours || everybody.some(({ password }) => password !== null)) return undefined;
  return journal.commit((transaction) => newSetUpLink(transaction, ours, act), ours.id);
}

/** Whether the e-mail address is taken: found by the check before, or by the unique index. */
function isTaken(error: unknown): boolean {
  return error instanceof DatabaseError
    ? error.failure === 'conflict'
    : error instanceof OperationalError && error.code === 'conflict';
}
