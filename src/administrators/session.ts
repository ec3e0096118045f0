// Sessions of administrators. A session is looked up at every request, so that its end holds on all nodes at once.

import { randomBytes } from 'node:crypto';
import { type Act, newSalt } from '../journal/audit-entry.ts';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { changeRow, type Facts, isAsRecorded, readRecorded, recordNewRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { timeOrderedId } from '../lib/ids.ts';
import { sha256 } from '../lib/secrets.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../lib/time.ts';
import type { Reader } from '../store/database.ts';
import {
  ADMINISTRATORS,
  actorOf,
  type Factor,
  type Principal,
  principalOf,
  SESSIONS,
  type Session,
} from './administrator.ts';
import { findAdministrator, findSessionByDigest, openSessionsOf, sessionsToEnd } from './queries.ts';

export type { Factor, Session };

/** An unused session ends after this long, and any session after SESSION_ABSOLUTE_MS. */
export const SESSION_IDLE_MS = 15 * MINUTE_MS;
const SESSION_ABSOLUTE_MS = 8 * HOUR_MS;
/** Sessions that one administrator may have at a time. One more ends the oldest. */
export const SESSIONS_MAXIMUM = 5;
/** How old what a cookie says of its last use may be before it is written anew. */
const REFRESH_MS = MINUTE_MS;
/** How far the clocks of nodes may differ. */
const CLOCK_SKEW_MS = MINUTE_MS;

/**
 * A cookie holds the session's secret and the time of its last use, with a MAC whose key is not in the cookie. So an old cookie cannot be
 * given a newer time.
 */
export function cookieValue(ring: KeyRing, secret: string, nowMs: number): string {
  const seen = Math.floor(nowMs / SECOND_MS);
  return `${secret}.${seen}.${ring.mac('session seen', seenText(secret, seen))}`;
}

const seenText = (secret: string, seen: number) => `seen ${secret} ${seen}`;

/** When a session ends, in milliseconds since 1970. */
export interface SessionEnd {
  /** Unless it is used after this request. */
  at: number;
  /** Unless it is used at all: this request counts as none. */
  unused: number;
  /** Whether use makes it no later. */
  isFinal: boolean;
}

interface SignedInBy {
  principal: Principal;
  secret: string;
  refreshed: string | undefined;
  ends: SessionEnd;
}

/**
 * The owner of a cookie. Undefined if the cookie is damaged, was last used more than SESSION_IDLE_MS ago, or its session has ended.
 * Throws `DatabaseError`.
 */
export async function openCookie(
  { database, ring }: { database: Reader; ring: KeyRing },
  value: string,
  nowMs: number,
): Promise<SignedInBy | undefined> {
  const parts = /^([\w-]{43})\.(\d{1,12})\.([\w-]{43})$/.exec(value);
  if (!parts) return undefined;
  const [, secret, seconds, seal] = parts;
  const seen = Number(seconds);
  const age = nowMs - seen * SECOND_MS;
  if (age > SESSION_IDLE_MS || age < -CLOCK_SKEW_MS) return undefined;
  const found = await findOwned(database, secret!, nowMs);
  if (!found) return undefined;
  if (!ring.isMac('session seen', seenText(secret!, seen), seal!)) return undefined;
  const refreshed = age >= REFRESH_MS ? cookieValue(ring, secret!, nowMs) : undefined;
  const { principal, session } = found;
  const unused = Math.min(seen * SECOND_MS + SESSION_IDLE_MS, session.expires_at);
  const at = refreshed === undefined ? unused : Math.min(nowMs + SESSION_IDLE_MS, session.expires_at);
  return { principal, secret: secret!, refreshed, ends: { at, unused, isFinal: at === session.expires_at } };
}

/** Whose session has this secret, if it has neither ended nor expired and they are not disabled. Throws `DatabaseError`. */
export async function findPrincipal(
  database: Reader,
  secret: string,
  nowMs: number,
): Promise<Principal | undefined> {
  return (await findOwned(database, secret, nowMs))?.principal;
}

/** The session with a secret and its owner, while both are good, and as the history left them. */
async function findOwned(
  database: Reader,
  secret: string,
  nowMs: number,
): Promise<{ principal: Principal; session: Session } | undefined> {
  const digest = sha256(secret);
  const session = await readRecorded(database, SESSIONS, () => findSessionByDigest(database, digest));
  if (!session || session.ended_at !== null || session.expires_at <= nowMs) return undefined;
  const owner = await readRecorded(database, ADMINISTRATORS, () =>
    findAdministrator(database, session.administrator_id),
  );
  if (!owner || owner.disabled_at !== null) return undefined;
  return { principal: principalOf(owner, { session: session.id }), session };
}

/**
 * Starts a session; its secret is returned this once. It is always a new one, so that no secret from before the sign-in stays valid
 * (OWASP ASVS, session fixation).
 */
export async function startSession(
  transaction: Transaction,
  administratorId: string,
  factor: Factor,
  requestId: string | null,
): Promise<{ secret: string; session: Session }> {
  const { now } = transaction;
  const secret = randomBytes(32).toString('base64url');
  const session: Session = {
    id: timeOrderedId('ses_', now),
    digest: sha256(secret),
    administrator_id: administratorId,
    factor,
    salt: newSalt(),
    version: 1,
    created_at: now,
    expires_at: now + SESSION_ABSOLUTE_MS,
    ended_at: null,
  };
  await transaction.insertNow(SESSIONS, session); // ending all sessions in the same commit must find it
  const act = { actor: actorOf(administratorId), request_id: requestId };
  recordNewRow(transaction, act, 'session.started', SESSIONS, session, { factor });
  await endBeyondMaximum(transaction, administratorId, act);
  return { secret, session };
}

/** Ends the oldest sessions of an administrator beyond SESSIONS_MAXIMUM. The caller has changed the administrator's row. */
async function endBeyondMaximum(transaction: Transaction, administratorId: string, act: Act): Promise<void> {
  const open = await openSessionsOf(transaction, administratorId, transaction.now);
  await end(transaction, open.slice(SESSIONS_MAXIMUM), act, { reason: 'too_many_sessions' });
}

/** Ends the session of `principal`; that it has ended already is no failure. */
export async function endSession(transaction: Transaction, principal: Principal): Promise<void> {
  const open = await sessionsToEnd(transaction, principal.id, { only: principal.session ?? '' });
  await end(transaction, open, principal);
}

/** Ends the session whose cookie a browser brings, however long unused: another is about to take its place there. */
export async function endReplaced(
  transaction: Transaction,
  cookie: string | undefined,
  requestId: string | null,
): Promise<void> {
  const secret = /^([\w-]{43})\./.exec(cookie ?? '')?.[1];
  if (secret === undefined) return;
  const found = await findSessionByDigest(transaction, sha256(secret));
  if (!found) return;
  const { id, administrator_id: owner } = found;
  const open = await sessionsToEnd(transaction, owner, { only: id });
  await end(transaction, open, { actor: actorOf(owner), request_id: requestId });
}

/**
 * Ends all sessions of an administrator but the one with the id `except`. Returns how many. The caller has changed the administrator's
 * row before, so that a sign-in on another node was waited for, or is refused.
 */
export async function endAllSessions(
  transaction: Transaction,
  administratorId: string,
  act: Act,
  except: string | null = null,
): Promise<number> {
  return end(transaction, await sessionsToEnd(transaction, administratorId, { except: except ?? '' }), act);
}

/** Ends sessions. Skips those that were changed in the store itself: they give no access, and `audit verify` still finds them. */
async function end(
  transaction: Transaction,
  sessions: readonly Session[],
  act: Act,
  facts: Facts = {},
): Promise<number> {
  let ended = 0;
  const written = { ended_at: transaction.now };
  for (const session of sessions) {
    if (!(await isAsRecorded(transaction, SESSIONS, session))) continue;
    if (await changeRow(transaction, act, 'session.ended', SESSIONS, session, written, facts)) ended += 1;
  }
  return ended;
}
