// Failed attempts to sign in, counted on all nodes, in memory beyond a rate; known browsers of their owner count apart.

import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Journal } from '../journal/journal.ts';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import type { Transaction } from '../journal/transaction.ts';
import type { Logger } from '../lib/log.ts';
import { inSequence } from '../lib/rounds.ts';
import { sha256Hex } from '../lib/secrets.ts';
import { type Clock, DAY_MS, MINUTE_MS } from '../lib/time.ts';
import type { Database, Reader } from '../store/database.ts';
import type { Administrator, Principal } from './administrator.ts';
import { type Cost, isRightPassword, type Turn } from './password.ts';
import { newestEntries } from './queries.ts';

/** The parts that signing in works with. */
export interface Parts {
  database: Database;
  journal: Journal;
  clock: Clock;
  /** The failures of this node that have no entry of their own. */
  tally: FailureTally;
  ring: KeyRing;
  /** Of hashing a password, where it is not the usual. */
  passwordCost?: Cost | undefined;
}

/** Of one browser that is known, or of one network of strangers for one address. */
const FAILURES_MAXIMUM = 5;
const FAILURES_WITHIN_MS = 15 * MINUTE_MS;
/** Of all strangers for one address, in a day: from here on each makes them wait for twice as long, up to LONGEST_DELAY_MS. */
const STRANGERS_MAXIMUM = 10;
const FIRST_DELAY_MS = MINUTE_MS;
const LONGEST_DELAY_MS = 15 * MINUTE_MS;
/** Maximum number of failures that are read, newest first. Strangers cannot make so many in a day. */
const LOOKED_AT = 128;
const FAILED = 'sign_in.failed';
/**
 * Hexadecimal digits of a digest that the history holds. It is no address, but a reader of the history who has a list of addresses, such
 * as the staff's, can tell which of these it was.
 */
const BUCKET_DIGITS = 4;
/** The same for a known browser, whose number cannot be guessed. */
const DEVICE_DIGITS = 8;

/** What the browser sends with a sign-in. */
export interface SignInClient {
  /** Where it comes from, as `site` gives it. */
  network: string;
  /** Its device cookie, unchecked. */
  device: string | undefined;
  /** The cookie of the session it had, unchecked: it ends when another begins. */
  session: string | undefined;
  /** The console's language for them. */
  language?: string;
}

/** Who brings nothing: the caller that may do least. */
export const STRANGER: SignInClient = { network: '', device: undefined, session: undefined };

/** By what the failures of a caller are counted, and whose turn of hashing it is. */
export interface Source {
  /** Whether this administrator has signed in with this browser before. */
  isKnown: boolean;
  mark: string;
  turn: Turn;
}

/** An e-mail address as it is kept and compared. */
export function plainEmail(typed: string): string {
  return typed.trim().toLowerCase();
}

function subjectOf(email: string): string {
  return `sign_in:${sha256Hex(email).slice(0, BUCKET_DIGITS)}`;
}

/** The source of an attempt with `email`. `administrator`: the owner of that address, or undefined. */
export function sourceOf(
  ring: KeyRing,
  email: string,
  administrator: Administrator | undefined,
  caller: SignInClient,
  now: number,
): Source {
  const known = administrator && knownDevice(ring, administrator, caller.device, now);
  return known === undefined ? strangerSource(email, caller) : knownSource(known);
}

function strangerSource(email: string, { network }: SignInClient): Source {
  // Hashed together with the address, so that one network has different digests for different addresses.
  const mark = sha256Hex(`${email}\n${network}`).slice(0, BUCKET_DIGITS);
  return { isKnown: false, mark, turn: { known: false, key: network } };
}

/** The source of a signed-in administrator. Their failures are counted by session, apart from those of others. */
export function sourceOfSession({ id, session }: Principal): Source {
  return knownSource(session ?? id);
}

/** The source of a caller who holds a second factor of `administrator` that cannot be guessed. */
export function sourceOfHolder({ id }: Administrator): Source {
  return knownSource(`holder ${id}`);
}

function knownSource(key: string): Source {
  const mark = sha256Hex(`device ${key}`).slice(0, DEVICE_DIGITS);
  return { isKnown: true, mark, turn: { known: true, key } };
}

type Failures = Pick<Parts, 'tally'> & { database: Reader };

/** Newest first. */
async function failuresOf({ database, tally }: Failures, email: string): Promise<FailedSignIn[]> {
  const subject = subjectOf(email);
  const entries = await newestEntries(database, subject, FAILED, LOOKED_AT);
  const recorded = entries.map(({ at, facts }): FailedSignIn => ({ ...(JSON.parse(facts) as object), at }));
  return [...tally.of(subject), ...recorded].sort((one, other) => other.at - one.at);
}

/** Until when `source` may not try to sign in with `email` any more, in milliseconds since 1970; undefined where it may. */
export async function throttledUntil(
  where: Failures,
  email: string,
  { isKnown, mark }: Source,
  now: number,
): Promise<number | undefined> {
  const failures = await failuresOf(where, email);
  const own = failures.filter(({ network, device }) => (isKnown ? device : network) === mark);
  const fifth = own[FAILURES_MAXIMUM - 1];
  const untils = [(fifth?.at ?? 0) + FAILURES_WITHIN_MS];
  if (!isKnown) {
    const [last, ...before] = failures.filter(({ at, device }) => device === undefined && at > now - DAY_MS);
    if (last) untils.push(last.at + delayAfter(before.length + 1));
  }
  const until = Math.max(...untils);
  return until > now ? until : undefined;
}

/** Delay for unknown browsers after a number of their failures. */
function delayAfter(failures: number): number {
  if (failures < STRANGERS_MAXIMUM) return 0;
  return Math.min(FIRST_DELAY_MS * 2 ** (failures - STRANGERS_MAXIMUM), LONGEST_DELAY_MS);
}

/** What failed with `email` after `since`: how often, how often with the right password, and when last. */
export async function failuresSince(
  where: Failures,
  email: string,
  since: number,
): Promise<{ count: number; withPassword: number; last: number | undefined }> {
  const failures = (await failuresOf(where, email)).filter(({ at }) => at > since);
  const withPassword = failures.filter(({ proof }) => proof === 'second_factor').length;
  return { count: failures.length, withPassword, last: failures[0]?.at };
}

/** Records a failed attempt to sign in as `email`, whether or not such an administrator exists. */
export function recordFailure(
  transaction: Transaction,
  email: string,
  proof: 'password' | 'second_factor',
  requestId: string | null,
  { isKnown, mark }: Source = strangerSource(email, STRANGER),
): void {
  transaction.record({
    actor: 'anonymous',
    action: FAILED,
    subject: subjectOf(email),
    request_id: requestId,
    facts: { proof, [isKnown ? 'device' : 'network']: mark },
  });
}

export type PasswordRefusal = { refused: 'wrong' } | { refused: 'throttled'; until: number };

/** A password given for the address `email`. `administrator`: the owner of that address, or undefined. */
interface Attempt {
  email: string;
  administrator: Administrator | undefined;
  password: string;
  source: Source;
  requestId: string | null;
}

/**
 * Why a password is not taken; undefined where it is right, after the same time whether its administrator exists or not. A
 * failure is on disk when this answers, or in the tally if strangers fail too often. Throws `unavailable`, `DatabaseError`.
 */
export async function passwordRefusal(
  parts: Parts,
  { email, administrator, password, source, requestId }: Attempt,
): Promise<PasswordRefusal | undefined> {
  const { journal, clock, tally } = parts;
  const refusal = async (): Promise<PasswordRefusal | undefined> => {
    const until = await throttledUntil(parts, email, source, clock.now());
    return until === undefined ? undefined : { refused: 'throttled', until };
  };
  const before = await refusal();
  if (before) return before;
  const isRight = await isRightPassword(
    administrator?.password ?? null,
    password,
    source.turn,
    parts.passwordCost,
  );
  // Check again, right or wrong: a caller who sends many at once must not learn which of those behind the fifth was right.
  const meanwhile = await refusal();
  if (meanwhile) return meanwhile;
  if (isRight && administrator?.disabled_at === null) return undefined;
  if (source.isKnown || tally.mayRecord())
    await journal.commit((transaction) => recordFailure(transaction, email, 'password', requestId, source));
  else tally.count(subjectOf(email), { at: clock.now(), proof: 'password', network: source.mark });
  return { refused: 'wrong' };
}

/** Wrong passwords of strangers, whatever the addresses, that this node records one by one within a minute. */
const RECORDED_A_MINUTE = 30;
/** Addresses whose failures are kept, those seen longest ago forgotten first; and failures of each, more than the longest wait needs. */
const SUBJECTS_MAXIMUM = 20_000;
const KEPT_OF_EACH = 20;
const COUNTED = 'sign_in.failures_counted';
const SUBJECT = 'sign_in';

/** A failed try. `network` or `device` is the mark of where it came from. */
interface FailedSignIn {
  at: number;
  proof?: 'password' | 'second_factor';
  network?: string;
  device?: string;
}

/** One node's failures that have no entry of their own. They count for the waits as those with an entry do. */
export class FailureTally {
  readonly #journal: Journal;
  readonly #clock: Clock;
  /** Made with the first, because an LRU cache allocates all its room at once. */
  #kept: LRUCache<string, FailedSignIn[]> | undefined;
  #minute = { begun: Number.NEGATIVE_INFINITY, recorded: 0 };
  #counted = 0;

  constructor(journal: Journal, clock: Clock) {
    this.#journal = journal;
    this.#clock = clock;
  }

  /** Whether a failure now may have an entry of its own. If so, it is counted as one. */
  mayRecord(): boolean {
    const now = this.#clock.now();
    if (now - this.#minute.begun >= MINUTE_MS) this.#minute = { begun: now, recorded: 0 };
    if (this.#minute.recorded >= RECORDED_A_MINUTE) return false;
    this.#minute.recorded++;
    return true;
  }

  /** Counts a failure that gets no entry. `subject` is the one that its entry would have. */
  count(subject: string, failure: FailedSignIn): void {
    this.#counted++;
    this.#kept ??= new LRUCache({ max: SUBJECTS_MAXIMUM });
    this.#kept.set(subject, [failure, ...(this.#kept.get(subject) ?? [])].slice(0, KEPT_OF_EACH));
  }

  /** The failures of a subject within a day that have no entry, newest first. */
  of(subject: string): FailedSignIn[] {
    const since = this.#clock.now() - DAY_MS;
    return (this.#kept?.get(subject) ?? []).filter(({ at }) => at > since);
  }

  /** Records how many were counted since the last time, if any. Throws `unavailable`, `DatabaseError`, and then counts them next time. */
  async write(): Promise<void> {
    const count = this.#counted;
    if (count === 0) return;
    await this.#journal.commitAside((transaction) =>
      transaction.record({
        actor: 'anonymous',
        action: COUNTED,
        subject: SUBJECT,
        request_id: null,
        facts: { count },
      }),
    );
    this.#counted -= count;
  }
}

/** Writes what was counted once a minute and at the stop. */
export function startFailureTally(tally: FailureTally, log: Logger): { stop(): Promise<void> } {
  const write = inSequence(() => tally.write(), log, 'failed sign-ins are counted in the history later');
  const timer = setInterval(write, MINUTE_MS);
  return {
    stop() {
      clearInterval(timer);
      return write();
    },
  };
}

/** Lifetime of a device cookie. */
export const DEVICE_MS = 180 * DAY_MS;

/**
 * The cookie of a browser with which `administrator` has just signed in (OWASP, Slow Down Online Guessing Attacks with Device
 * Cookies). It is stored nowhere: every node checks its MAC, which covers the hash of their password. Because a change of the
 * password or of a second factor writes a new hash, it ends the cookie.
 */
export function newDevice(ring: KeyRing, administrator: Administrator, now: number): string {
  const body = [administrator.id, now + DEVICE_MS, randomBytes(16).toString('base64url')].join('.');
  return `${body}.${ring.mac('device', sealed(administrator, body))}`;
}

/** Whose browser a cookie says that it is, unchecked. */
export function claimedOwner(cookie: string | undefined): string | undefined {
  return /^(adm_[0-9a-z]{20,60})\./.exec(cookie ?? '')?.[1];
}

/** What tells this browser of `administrator` from their others; undefined where the cookie is not one of theirs, or too old. */
export function knownDevice(
  ring: KeyRing,
  administrator: Administrator,
  cookie: string | undefined,
  now: number,
): string | undefined {
  const parts = /^((adm_[0-9a-z]{20,60})\.(\d{1,15})\.([\w-]{22}))\.([\w-]{43})$/.exec(cookie ?? '');
  if (!parts || administrator.password === null) return undefined;
  const [, body, id, expires, nonce, given] = parts;
  if (id !== administrator.id || Number(expires) <= now) return undefined;
  return ring.isMac('device', sealed(administrator, body!), given!) ? nonce : undefined;
}

function sealed({ password }: Administrator, body: string): string {
  return `${body} ${password}`;
}
