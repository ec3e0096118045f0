// Signing in: the password earns a ticket, the ticket and a second factor earn a session.
import { randomBytes } from 'node:crypto';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { newestEntriesAbout } from '../journal/queries.ts';
import { changeRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { MINUTE_MS } from '../lib/time.ts';
import type { Administrator } from './administrator.ts';
import {
  type Parts,
  type PasswordRefusal,
  passwordRefusal,
  plainEmail,
  recordFailure,
  type SignInClient,
  type Source,
  STRANGER,
  sourceOf,
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
import { actorOf, recordAdministrator, TOTP_SEALED } from './record.ts';
import { spend } from './recovery-codes.ts';
import { type Factor, PASSKEYS, type Passkey, type Session } from './rows.ts';
import { endReplaced, startSession } from './session.ts';
import { acceptedStep } from './totp.ts';
import { openTotpSecret } from './totp-secret.ts';

export type { Parts, PasswordRefusal, SignInClient };

/** The longest time between the password and the second factor. */
const TICKET_MS = 5 * MINUTE_MS;
/** How many rotations of the key for secrets a ticket outlives. */
const SEALINGS_MAXIMUM = 3;

/** A refusal, with the administrator whose account was tried. The visitor must not learn whether there is one. */
export type RefusedTo<Refusal> = Refusal & { administrator: Administrator | undefined };

/**
 * Checks an e-mail address and a password. Right: a ticket for the second step, and whose it is. `wrong` is the same whether there is
 * no such administrator, they are disabled or the password is wrong; `throttled` tells until when (milliseconds since 1970) and
 * has not looked at the password. Records failures. Throws `unavailable`, `DatabaseError`.
 */
export async function checkPassword(
  parts: Parts,
  email: string,
  password: string,
  requestId: string | null,
  caller: SignInClient = STRANGER,
): Promise<
  { ticket: string; administrator: Administrator; passkeys: Passkey[] } | RefusedTo<PasswordRefusal>
> {
  const plain = plainEmail(email);
  const administrator = await findAdministratorByEmail(parts.database, plain);
  const source = sourceOf(parts.ring, plain, administrator, caller, parts.clock.now());
  const attempt = { email: plain, administrator, password, source, requestId };
  const refusal = await passwordRefusal(parts, attempt);
  if (refusal) return { ...refusal, administrator };
  const ticket = newTicket(parts.ring, administrator!, parts.clock.now());
  return {
    ticket,
    administrator: administrator!,
    passkeys: await passkeysOf(parts.database, administrator!.id),
  };
}

/**
 * What a ticket stands for: its administrator, their passkeys, and the challenge for one of these. Undefined if it is forged, older than
 * five minutes, used, or its administrator was changed meanwhile. Throws `DatabaseError`.
 */
export async function openTicket(
  { database, ring }: Pick<Parts, 'database' | 'ring'>,
  ticket: string,
  now: number,
): Promise<{ administrator: Administrator; passkeys: Passkey[]; challenge: string } | undefined> {
  const parts = /^(adm_[0-9a-z]{20,60})\.(\d{1,10})\.(\d{1,15})\.([\w-]{43})\.([\w-]{43})$/.exec(ticket);
  if (!parts) return undefined;
  const [, id, version, expires, challenge, seal] = parts;
  const administrator = await findAdministrator(database, id!);
  if (!administrator || administrator.disabled_at !== null) return undefined;
  if (!ring.isMac('sign-in ticket', [id, version, expires, challenge].join('.'), seal!)) return undefined;
  if (Number(expires) <= now || !(await isUnchanged(database, administrator, Number(version))))
    return undefined;
  return { administrator, passkeys: await passkeysOf(database, administrator.id), challenge: challenge! };
}

/** Whether nothing changed an administrator since they had `version`, but for sealings of their secret with another key. */
async function isUnchanged(
  database: Parts['database'],
  { id, version }: Administrator,
  before: number,
): Promise<boolean> {
  if (version < before || version - before > SEALINGS_MAXIMUM) return false;
  const since = await newestEntriesAbout(database, id, version - before);
  return since.every(({ action }) => action === TOTP_SEALED);
}

/** A ticket for `administrator` as they are now: any change of their row, and a sign-in is one, makes it void. */
export function newTicket(ring: KeyRing, { id, version }: Administrator, now: number): string {
  const body = [id, version, now + TICKET_MS, randomBytes(32).toString('base64url')].join('.');
  return `${body}.${ring.mac('sign-in ticket', body)}`;
}

export interface SignedIn {
  /** For the cookie, through `cookieValue`. */
  secret: string;
  session: Session;
  administrator: Administrator;
}

/**
 * `expired`: begin again with the password. `wrong`: try again with the new ticket, the old one is used. `throttled`: until
 * that moment, milliseconds since 1970. `administrator`: as they are after the try.
 */
export type FactorRefusal =
  | { refused: 'expired' }
  | { refused: 'wrong'; ticket: string; administrator: Administrator }
  | { refused: 'throttled'; until: number; administrator: Administrator };

/** Signs in with a code: six digits of the authenticator app, or a recovery code, which is spent. Throws `unavailable`, `DatabaseError`. */
export async function completeWithCode(
  parts: Parts,
  ticket: string,
  code: string,
  requestId: string | null,
  caller: SignInClient = STRANGER,
): Promise<SignedIn | FactorRefusal> {
  return complete(parts, ticket, { requestId, caller }, async ({ administrator }, now) => {
    const { totp_step, recovery_codes } = administrator;
    if (/^[\p{Nd}\s]{6,12}$/u.test(code.trim())) {
      const secret = openTotpSecret(parts.ring, administrator);
      const step = secret === null ? undefined : acceptedStep(secret, code, now, totp_step);
      return step === undefined ? undefined : { factor: 'totp', change: { totp_step: step } };
    }
    const left = recovery_codes === null ? undefined : spend(recovery_codes, code);
    return left === undefined ? undefined : { factor: 'recovery_code', change: { recovery_codes: left } };
  });
}

/** Signs in with a passkey: `response` is the JSON that the browser sent, parsed. Throws `unavailable`, `DatabaseError`. */
export async function completeWithPasskey(
  parts: Parts,
  ticket: string,
  response: unknown,
  place: Place,
  requestId: string | null,
  caller: SignInClient = STRANGER,
): Promise<SignedIn | FactorRefusal> {
  return complete(parts, ticket, { requestId, caller }, async ({ passkeys, challenge }) => {
    const used = verifiedAuthentication(place, passkeys, challenge, response);
    return used && { factor: 'passkey', change: {}, used };
  });
}

/** A second factor that was right, and what it changes in its administrator's row. */
export interface Proof {
  factor: Factor;
  change: AdministratorChange;
  used?: { passkey: Passkey; counter: number };
}

type Opened = NonNullable<Awaited<ReturnType<typeof openTicket>>>;

/**
 * One work: the ticket is used, right or wrong, by a change of the row it was made for. Of two requests with one ticket, one
 * code or one signature, on whatever nodes, one finds the row as it was; guesses cannot be made side by side. `source`: by what
 * failures are counted, if not by what the caller brings.
 */
export async function complete(
  parts: Parts,
  ticket: string,
  { requestId, caller, source: given }: { requestId: string | null; caller: SignInClient; source?: Source },
  prove: (opened: Opened, now: number) => Promise<Proof | undefined>,
): Promise<SignedIn | FactorRefusal> {
  const { journal, clock, ring, tally } = parts;
  const opened = await openTicket(parts, ticket, clock.now());
  if (!opened) return { refused: 'expired' };
  const { id, version, email } = opened.administrator;
  const done = await journal.commit(async (transaction): Promise<SignedIn | FactorRefusal | undefined> => {
    const source = given ?? sourceOf(ring, email, opened.administrator, caller, transaction.now);
    const until = await throttledUntil({ database: transaction, tally }, email, source, transaction.now);
    if (until !== undefined) return { refused: 'throttled', until, administrator: opened.administrator };
    const proof = await prove(opened, transaction.now);
    const changed = await changeAdministrator(transaction, id, version, proof?.change ?? {});
    if (!changed) return undefined;
    if (!proof) {
      recordFailure(transaction, email, 'second_factor', requestId, source);
      const anonymous = { actor: 'anonymous', request_id: requestId };
      await recordAdministrator(transaction, anonymous, 'administrator.second_factor_refused', changed);
      const ticket = newTicket(ring, changed.after, transaction.now);
      return { refused: 'wrong', ticket, administrator: changed.after };
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
  // The row changed since it was read. The ticket tells whether that was more than a sealing.
  return done ?? complete(parts, ticket, { requestId, caller, ...(given && { source: given }) }, prove);
}

async function recordUse(
  transaction: Transaction,
  { passkey, counter }: { passkey: Passkey; counter: number },
  requestId: string | null,
): Promise<void> {
  const act = { actor: actorOf(passkey.administrator_id), request_id: requestId };
  const written = { counter, used_at: transaction.now };
  const used = await changeRow(transaction, act, 'passkey.used', PASSKEYS, passkey, written);
  if (!used) throw new Error('a passkey changed though its administrator did not');
}
