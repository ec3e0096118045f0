// The clients of the crash campaign: they create and cancel, remember every answer to the byte, and look for it afterwards.
import { setTimeout as delay } from 'node:timers/promises';
import { gaveUp, type LoadAnswer, type LoadClient } from '../support/load-client.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

const WITH_IDEMPOTENCY_KEY = 0.4;
const CANCEL = 0.3;
const PAGE = 100;
const CREATE_PATH = '/v1/payments';
/** How often, and after how long, a request with a key is sent again that had no answer, or was told to come again. */
const REPEATS = 400;
const REPEAT_AFTER_MS = 50;

interface Attempt {
  path: string;
  body?: { amount: number; merchant_reference: string };
  idempotencyKey?: string;
  /** The payment a cancel is about. */
  target?: string;
}

/** `payment` is the JSON text of `data`, as every later read must give it. */
interface Known {
  payment: string;
}

export class CrashLoad {
  readonly #random: SeededRandom;
  readonly #known = new Map<string, Known>();
  readonly #answers = new Map<string, { attempt: Attempt; text: string }>();
  #cancellable: string[] = [];
  #unanswered: Attempt[] = [];
  #wrong: string[] = [];
  #sequence = 0;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  /**
   * Keeps `clients` requests under way until the connections break or `stop` says so. `repeating`: clients go on when theirs
   * breaks or they are told to come again, and repeat until it settles what they sent with an idempotency key. What a server that
   * stood still gave up is counted apart from what had no answer.
   */
  run(client: LoadClient, clients: number, stop: AbortSignal, { repeating = false } = {}) {
    const counts = { acknowledged: 0, unanswered: 0, givenUp: 0 };
    const { promise: firstAcknowledgement, resolve: acknowledged } = Promise.withResolvers<void>();
    this.#unanswered = [];
    const work = async () => {
      while (!stop.aborted) {
        const attempt = this.#nextAttempt();
        const send = () => client.post(attempt.path, attempt.body, attempt.idempotencyKey);
        const answer = await (repeating ? this.#settle(attempt, send) : send());
        if (!answer || gaveUp(answer)) {
          counts[answer ? 'givenUp' : 'unanswered']++;
          this.#unanswered.push(attempt);
          if (answer || repeating) continue;
          return;
        }
        counts.acknowledged++;
        acknowledged();
        if (answer.status === 201 || answer.status === 200) this.#remember(attempt, answer.text);
        else this.#wrong.push(`${attempt.path} answered ${answer.status}: ${answer.text}`);
      }
    };
    const finished = Promise.all(Array.from({ length: clients }, work)).then(() => counts);
    return { firstAcknowledgement, finished };
  }

  /** A payment that was acknowledged, as it was then or by an answer since: JSON text, or nothing while there is none. */
  anyAcknowledged(): string | undefined {
    const index = this.#random.between(0, Math.max(0, this.#known.size - 1));
    return this.#known.values().drop(index).next().value?.payment;
  }

  /** The answer that stands: nothing where there is none, and no key to repeat the request with. */
  async #settle(
    attempt: Attempt,
    send: () => Promise<LoadAnswer | undefined>,
  ): Promise<LoadAnswer | undefined> {
    const answer = await settled(send, attempt.idempotencyKey ? REPEATS : 1);
    if (!answer && attempt.idempotencyKey)
      this.#wrong.push(`${attempt.path} with ${attempt.idempotencyKey} never settled`);
    return answer;
  }

  #nextAttempt(): Attempt {
    const random = this.#random;
    const number = ++this.#sequence;
    const idempotency = random.chance(WITH_IDEMPOTENCY_KEY) ? { idempotencyKey: `key-${number}` } : {};
    if (this.#cancellable.length > 0 && random.chance(CANCEL)) {
      // Each is cancelled by one client alone, so that its answer can only be 200.
      const index = random.between(0, this.#cancellable.length - 1);
      const [target] = this.#cancellable.splice(index, 1);
      return { path: `${CREATE_PATH}/${target}/cancel`, target: target!, ...idempotency };
    }
    const body = { amount: random.between(1, 1_000_000) / 100, merchant_reference: `crash-${number}` };
    return { path: CREATE_PATH, body, ...idempotency };
  }

  #remember(attempt: Attempt, text: string): void {
    const { data } = JSON.parse(text) as { data: { id: string } };
    this.#known.set(data.id, { payment: JSON.stringify(data) });
    if (!attempt.target) this.#cancellable.push(data.id);
    if (attempt.idempotencyKey) this.#answers.set(attempt.idempotencyKey, { attempt, text });
  }

  /** Compares what the restarted service holds with every answer there was, then repeats what had no answer. */
  async findLosses(client: LoadClient): Promise<{ losses: string[]; unansweredButDone: number }> {
    const losses = this.#wrong.splice(0);
    const stored = await listAll(client);
    for (const { target } of this.#unanswered) {
      // An unanswered cancel may have come through: either state is right, and the next read decides.
      if (target && stored.has(target)) this.#expectCancelledOrAsBefore(target, stored.get(target)!, losses);
    }
    for (const [id, { payment }] of this.#known) {
      const now = stored.get(id);
      if (now === payment) continue;
      losses.push(`payment ${id} ${now === undefined ? 'is gone' : firstDifference(payment, now)}`);
      this.#known.delete(id); // told once
    }
    const unansweredButDone = await this.#repeatUnanswered(client, stored, losses);
    await this.#repeatSomeAnswered(client, losses);
    return { losses, unansweredButDone };
  }

  #expectCancelledOrAsBefore(id: string, now: string, losses: string[]): void {
    const before = JSON.parse(this.#known.get(id)!.payment);
    const after = JSON.parse(now);
    if (after.status === 'cancelled') {
      const { status, status_reason, updated_at, amount_due } = after;
      if (JSON.stringify({ ...before, status, status_reason, updated_at, amount_due }) !== now)
        losses.push(`payment ${id} changed in more than its status: ${now}`);
      this.#known.set(id, { payment: now });
    }
  }

  /** Every reference stands for at most one payment, and its retry with the same idempotency key for the same one. */
  async #repeatUnanswered(
    client: LoadClient,
    stored: Map<string, string>,
    losses: string[],
  ): Promise<number> {
    const byReference = new Map<string, string[]>();
    for (const text of stored.values()) {
      const { merchant_reference, id } = JSON.parse(text);
      byReference.set(merchant_reference, [...(byReference.get(merchant_reference) ?? []), id]);
    }
    for (const [reference, ids] of byReference)
      if (ids.length > 1) losses.push(`${reference} stands ${ids.length} times`);

    let done = 0;
    for (const attempt of this.#unanswered) {
      const before = attempt.target
        ? JSON.parse(stored.get(attempt.target) ?? '{}').status === 'cancelled' && attempt.target
        : byReference.get(attempt.body!.merchant_reference)?.[0];
      if (before) done++;
      if (before && !attempt.target) this.#known.set(before, { payment: stored.get(before)! });
      if (!attempt.idempotencyKey) continue;
      const answer = await settled(() => client.post(attempt.path, attempt.body, attempt.idempotencyKey));
      if (!answer || answer.status >= 300 || answer.replayed !== Boolean(before)) {
        losses.push(
          `a retry of ${JSON.stringify(attempt)}, ${before ? 'done' : 'not done'} before, answered ${JSON.stringify(answer)}`,
        );
        continue;
      }
      const { id } = JSON.parse(answer.text).data;
      if (before && id !== before) losses.push(`a retry of ${before} made ${id}`);
      this.#remember(attempt, answer.text);
    }
    this.#unanswered = [];
    return done;
  }

  /** Kept answers are the ones that were given, byte for byte. */
  async #repeatSomeAnswered(client: LoadClient, losses: string[]): Promise<void> {
    const keys = this.#random.shuffled([...this.#answers.keys()]).slice(0, 20);
    for (const key of keys) {
      const { attempt, text } = this.#answers.get(key)!;
      const answer = await settled(() => client.post(attempt.path, attempt.body, key));
      if (answer?.text !== text || !answer.replayed)
        losses.push(`${key} ${firstDifference(text, answer?.text ?? 'no answer')}`);
    }
  }
}

/** Sends until there is an answer that stands, up to so many times. */
async function settled(
  send: () => Promise<LoadAnswer | undefined>,
  times = REPEATS,
): Promise<LoadAnswer | undefined> {
  for (let left = times; left > 0; left--) {
    const answer = await send();
    if (answer && answer.status !== 503 && !/idempotency_in_progress/.test(answer.text)) return answer;
    if (left > 1) await delay(REPEAT_AFTER_MS);
  }
  return undefined;
}

function firstDifference(answered: string, found: string): string {
  let at = 0;
  while (answered[at] === found[at] && at < answered.length) at++;
  const from = Math.max(0, at - 20);
  return `was answered …${answered.slice(from, at + 40)}…, is …${found.slice(from, at + 40)}…`;
}

/** Every payment of the merchant by its id, as JSON text. */
async function listAll(client: LoadClient): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  let cursor = '';
  do {
    const answer = await settled(() =>
      client.get(`${CREATE_PATH}?limit=${PAGE}${cursor && `&cursor=${cursor}`}`),
    );
    if (answer?.status !== 200) throw new Error(`the list answered ${JSON.stringify(answer)}`);
    const page = JSON.parse(answer.text) as { data: { id: string }[]; next_cursor: string | null };
    for (const payment of page.data) all.set(payment.id, JSON.stringify(payment));
    cursor = page.next_cursor ?? '';
  } while (cursor !== '');
  return all;
}
