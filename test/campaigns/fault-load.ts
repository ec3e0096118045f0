// The clients of one node whose store fails them: they create, cancel, read and open pages, and hold every answer to what they know.
import { setTimeout as delay } from 'node:timers/promises';
import { type LoadClient, loadClient } from '../support/load-client.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { CrashLoad } from './crash-load.ts';
import { Watch } from './watched-client.ts';

const WRITERS = 6;
/** More than a node has connections to read with, so that they wait for one another. */
const READERS = 8;
/** Before each request of a client: what fails is to be met by many requests, not to be drowned in them. */
const PAUSE_MS = 80;

export class FaultLoad {
  /** The most that clients of all loads hold open to one node, and a few for what else a process has open. */
  static readonly CONNECTIONS = 2 * (WRITERS + READERS) + 6;
  readonly #random: SeededRandom;
  readonly #watch = new Watch();
  readonly #load: CrashLoad;
  readonly #clients: LoadClient[];
  /** How often each idempotency key was sent: its repetitions go to the nodes in turn. */
  readonly #sent = new Map<string, number>();
  readonly #wrong: string[] = [];
  #read = 0;

  /** `home`: the node that everything is sent to first, by its place among `origins`. `key`: a merchant's that no other load uses. */
  constructor(origins: readonly string[], home: number, key: string, random: SeededRandom) {
    this.#random = random;
    this.#load = new CrashLoad(random);
    const order = [...origins.slice(home), ...origins.slice(0, home)];
    this.#clients = order.map((origin) =>
      this.#watch.over(loadClient(origin, key, WRITERS + READERS, { keepAlive: false }), PAUSE_MS),
    );
  }

  /** Begins. `begun` when something was acknowledged; `end` lets all settle, and gives what was seen. */
  run() {
    const [home] = this.#clients as [LoadClient];
    const enough = new AbortController();
    const client: LoadClient = {
      post: (path, body, key) => this.#turn(key).post(path, body, key),
      get: (path) => home.get(path),
      close() {},
    };
    const writing = this.#load.run(client, WRITERS, enough.signal, { repeating: true });
    const reading = Promise.all(
      Array.from({ length: READERS }, () => this.#keepReading(home, enough.signal)),
    );
    return {
      begun: writing.firstAcknowledgement,
      end: async () => {
        enough.abort();
        const { acknowledged, unanswered } = await writing.finished;
        await reading;
        const { losses } = await this.#load.findLosses(client);
        for (const one of this.#clients) one.close();
        const { statuses, slowestMs, faults } = this.#watch;
        if (statuses.none) faults.push(`${statuses.none} requests had no answer at all`);
        const problems = [...losses, ...faults, ...this.#wrong];
        const ms = Math.round(slowestMs);
        return { acknowledged, open: unanswered, read: this.#read, slowestMs: ms, statuses, problems };
      },
    };
  }

  #turn(key: string | undefined): LoadClient {
    const times = (key === undefined ? 0 : this.#sent.get(key)) ?? 0;
    if (key !== undefined) this.#sent.set(key, times + 1);
    return this.#clients[times % this.#clients.length]!;
  }

  async #keepReading(client: LoadClient, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const known = this.#load.anyAcknowledged();
      if (known === undefined) await delay(PAUSE_MS);
      else if (this.#random.chance(0.3)) await this.#open(client, known);
      else await this.#look(client, known);
    }
  }

  /** Reads a payment: nothing of it may have changed since it was acknowledged but that it is cancelled by now. */
  async #look(client: LoadClient, known: string): Promise<void> {
    const before = JSON.parse(known);
    const answer = await client.get(`/v1/payments/${before.id}`);
    if (answer?.status !== 200) return this.#expectLater('a read', answer?.status);
    this.#read += 1;
    const { data } = JSON.parse(answer.text);
    const { status, status_reason, updated_at, amount_due } = data;
    const cancelled = before.status === 'pending' && status === 'cancelled';
    const expected = cancelled ? { ...before, status, status_reason, updated_at, amount_due } : before;
    if (JSON.stringify(data) !== JSON.stringify(expected)) this.#wrong.push(`${known} reads ${answer.text}`);
  }

  async #open(client: LoadClient, known: string): Promise<void> {
    const { id, merchant_name } = JSON.parse(known);
    const answer = await client.get(`/payment.php?payment_id=${id}`);
    if (answer?.status !== 200) return this.#expectLater('a page', answer?.status);
    this.#read += 1;
    if (!answer.text.includes(merchant_name)) this.#wrong.push(`the page of ${id}: ${answer.text}`);
  }

  #expectLater(what: string, status: number | undefined): void {
    if (status !== 503 && status !== 429) this.#wrong.push(`${what} answered ${status}`);
  }
}
