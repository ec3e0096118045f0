// Idempotency keys: the answer is stored in the transaction of its work, so a retry never does the work twice.

import { newSalt } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { recordNewRow, thoseAsRecorded } from '../journal/record-row.ts';
import type { Transaction, Work } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { sha256 } from '../lib/secrets.ts';
import { type Clock, DAY_MS, monotonicMs } from '../lib/time.ts';
import { type Database, DatabaseError } from '../store/database.ts';
import { findAnswer, forgetAnswers, KEPT_ANSWERS, type KeptAnswer, oldAnswers } from './queries.ts';

/** Lifetime of a stored response. draft-ietf-httpapi-idempotency-key-header leaves it to the server. */
const KEPT_MS = 7 * DAY_MS;
const WAIT_MS = 2000;
/** A conflict that outlives this many attempts is about something else than the key. */
const ATTEMPTS = 3;
const FORGET_MAXIMUM = 500;

/** How the history names stored responses, and the forgetting of them. */
export const ANSWER_SUBJECT_PREFIX = 'answer_';
export const FORGOTTEN_SUBJECT = 'answers';
export const RECORDED_ANSWERS = {
  ...KEPT_ANSWERS,
  subjectOf: ({ scope }: KeptAnswer) => ANSWER_SUBJECT_PREFIX + scope,
};

/** An answer as it is first given: HTTP status and body. */
export interface Answer {
  status: number;
  body: string;
}

interface IdempotencyClaim {
  /** The key as sent, and whose it is: the same key of another merchant, mode or route is another key. */
  key: string;
  merchant_id: string;
  mode: string;
  route: string;
  /** What must be the same for the same key: the raw body, or what stands for it. */
  request: string | Uint8Array;
  /** The row the work changes, where others may change it too. */
  row?: string;
}

export class Idempotency {
  readonly #database: Database;
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #inFlight = new Map<string, Promise<unknown>>();

  constructor(database: Database, journal: Journal, clock: Clock) {
    this.#database = database;
    this.#journal = journal;
    this.#clock = clock;
  }

  /**
   * Runs `work` once for a claim and stores its response. A repeated request gets the stored response, byte for byte. Throws
   * `idempotency_key_reused`, `idempotency_in_progress`, and what the work or the journal throws: errors are not stored.
   */
  async once(claim: IdempotencyClaim, work: Work<Answer>): Promise<Answer & { replayed: boolean }> {
    const scope = sha256(JSON.stringify([claim.merchant_id, claim.mode, claim.route, claim.key]));
    const request = sha256(claim.request);
    const deadline = monotonicMs() + WAIT_MS;
    for (let attempts = 1; monotonicMs() < deadline; ) {
      const other = this.#inFlight.get(scope);
      if (other) {
        await settled(other, deadline - monotonicMs());
        continue;
      }
      const row = claim.row ?? scope;
      const isLast = attempts++ === ATTEMPTS;
      const attempt = this.#attempt(scope, request, row, work, isLast).finally(() =>
        this.#inFlight.delete(scope),
      );
      this.#inFlight.set(scope, attempt);
      const answer = await attempt;
      if (answer) return answer;
    }
    const message = 'A request with this idempotency key is still being worked on.';
    throw new OperationalError('idempotency_in_progress', message, { retryAfterS: 1 });
  }

  /** Nothing back: another answer for this key stood in the way of our commit, so look again. */
  async #attempt(
    scope: string,
    request: string,
    row: string,
    work: Work<Answer>,
    isLast: boolean,
  ): Promise<(Answer & { replayed: boolean }) | undefined> {
    const kept = await this.#findKept(scope);
    if (kept) return replayOf(kept, request);
    try {
      return await this.#journal.commit(async (transaction) => {
        const answer = await work(transaction);
        keepAnswer(transaction, scope, request, answer);
        return { ...answer, replayed: false };
      }, row);
    } catch (error) {
      // What our work is refused for may be what another node has done for this key since our look.
      const isRefused = error instanceof OperationalError && error.code !== 'unavailable';
      const since = isRefused ? await this.#findKept(scope) : undefined;
      if (since) return replayOf(since, request);
      if (isLast || !(error instanceof DatabaseError && error.failure === 'conflict')) throw error;
      // Another node stored it since our look, or it is an expired one that was not swept yet.
      await forgetOldAnswers(this.#journal, scope);
      return undefined;
    }
  }

  /**
   * The stored response. PostgreSQL shows what no standby has yet: a failover would take it back. So there it is looked for again in a
   * commit of ours, which does not succeed before what it saw is as safe as what it writes.
   */
  async #findKept(scope: string): Promise<KeptAnswer | undefined> {
    const notBefore = this.#clock.now() - KEPT_MS;
    const seen = await findAnswer(this.#database, scope, notBefore);
    if (!seen || this.#database.engine === 'sqlite') return seen;
    return this.#journal.commit((transaction) => findAnswer(transaction, scope, notBefore));
  }
}

/** The stored response again. Throws `idempotency_key_reused` where another request has it. */
function replayOf({ request_digest, status, body }: KeptAnswer, request: string) {
  if (isDigestOf(request_digest, request)) return { status, body, replayed: true };
  throw new OperationalError(
    'idempotency_key_reused',
    'This idempotency key was used for a different request.',
  );
}

/** Keeps the answer to a request under `scope`. `scope` and `request` are digests. */
export function keepAnswer(
  transaction: Transaction,
  scope: string,
  request: string,
  { status, body }: Answer,
): void {
  const request_digest = saltedDigest(newSalt(), request);
  const kept: KeptAnswer = { scope, request_digest, status, body, created_at: transaction.now };
  transaction.insert(KEPT_ANSWERS, kept);
  const act = { actor: 'idempotency', request_id: null };
  recordNewRow(transaction, act, 'answer.kept', RECORDED_ANSWERS, kept);
}

/**
 * The digest of a request's digest, behind a random salt: `<salt>.<digest>`. The row's own digest in the history covers the
 * salt, so that neither tells anything about an answer whose row is gone.
 */
function saltedDigest(salt: string, request: string): string {
  return `${salt}.${sha256(salt + request)}`;
}

function isDigestOf(kept: string, request: string): boolean {
  return kept === saltedDigest(kept.slice(0, kept.indexOf('.')), request);
}

/** Waits until a promise is settled either way, `ms` milliseconds at most. */
async function settled(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([Promise.allSettled([promise]), late]);
  clearTimeout(timer);
}

/**
 * Deletes some hundreds of expired responses, or only the one under `scope` if that is given, but for those that were changed in the
 * store itself. Returns how many. The entry says up to which time responses were deleted, so that `audit verify` knows why they are
 * absent.
 */
export function forgetOldAnswers(journal: Journal, scope?: string): Promise<number> {
  return journal.commit(async (transaction) => {
    const until = transaction.now - KEPT_MS;
    const old = await oldAnswers(transaction, until, FORGET_MAXIMUM, scope);
    const right = await thoseAsRecorded(transaction, RECORDED_ANSWERS, old);
    if (right.length === 0) return 0;
    const scopes = right.map((answer) => answer.scope);
    const rows = await forgetAnswers(transaction, until, scopes);
    if (rows.length > 0) {
      transaction.record({
        actor: 'clock',
        action: 'answers.forgotten',
        subject: FORGOTTEN_SUBJECT,
        request_id: null,
        facts: { until, count: rows.length },
      });
    }
    return rows.length;
  });
}
