// The service as a process of its own, on a system clock that the campaign of the clock sets; and what its time must be.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { SECOND_MS } from '../../src/lib/time.ts';
import { SettableClock } from '../support/faketime.ts';
import { freePort } from '../support/free-ports.ts';
import { ask, type Harness, type RequestOptions } from '../support/harness.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import type { Store } from '../support/stores.ts';
import { holdsWithin } from './promised-time.ts';

const TOLD_WITHIN_MS = 15 * SECOND_MS;

/** What the service logs of its clock. */
interface Line {
  msg: string;
  set_by_s?: number;
  ahead_s: number;
  followed_s?: number;
}

export class ClockedServer {
  readonly #process: ServerProcess;
  readonly #clock: SettableClock;
  /** As the tests' own ways in take one. */
  readonly asHarness: Harness;
  #leadSince: number | undefined;

  private constructor(server: ServerProcess, clock: SettableClock) {
    this.#process = server;
    this.#clock = clock;
    const request = (path: string, options?: RequestOptions) => ask(server.origin, path, options);
    const create = async (fields: object, options: RequestOptions) => {
      const body = { amount: 49.9, ...fields };
      return (await request('/v1/payments', { method: 'POST', body, ...options })).json.data;
    };
    const parts = { origin: server.origin, clock: { now: () => this.now() }, request, create };
    this.asHarness = parts as unknown as Harness;
  }

  /** Starts it on a store whose configuration lies beside it. */
  static async start({ storage }: Store): Promise<ClockedServer> {
    const clock = new SettableClock(storage);
    const server = await startServerProcess({
      config: join(storage, 'counterfoil.yaml'),
      port: await freePort(),
      storage,
      env: { ...clock.env, TZ: 'Europe/Berlin' },
    });
    return new ClockedServer(server, clock);
  }

  /** What its time must be, whatever the system clock says: milliseconds since 1970. */
  now(): number {
    return Date.now() + this.followedMs;
  }

  /** By how much it has followed steps forward. */
  get followedMs(): number {
    return this.#lines.reduce((sum, { followed_s = 0 }) => sum + followed_s * SECOND_MS, 0);
  }

  /** For how long the system clock has been ahead without being followed. */
  get leadStoodMs(): number {
    return this.#leadSince === undefined ? 0 : Date.now() - this.#leadSince;
  }

  /** Sets the system clock so far ahead of this machine's, and waits until the service has said so. */
  async set(aheadMs: number): Promise<void> {
    const byMs = aheadMs - this.#clock.ahead;
    if (Math.abs(byMs) < SECOND_MS) return;
    const lines = this.#lines.length;
    this.#clock.set(aheadMs);
    const leadMs = aheadMs - this.followedMs;
    this.#leadSince = leadMs > 0 ? (this.#leadSince ?? Date.now()) : undefined;
    await holdsWithin(
      TOLD_WITHIN_MS,
      () => this.#lines.length > lines,
      () => 'a step is not told',
    );
    const line = this.#lines[lines]!;
    const isNear = (told: number | undefined, ms: number) => Math.abs(told! * SECOND_MS - ms) < SECOND_MS;
    assert.ok(isNear(line.set_by_s, byMs) && isNear(line.ahead_s, leadMs), JSON.stringify(line));
    const words = Math.abs(leadMs) < SECOND_MS ? /is right again/ : leadMs > 0 ? /forward/ : /back/;
    assert.match(line.msg, words);
  }

  async stop(): Promise<void> {
    assert.equal(await this.#process.end('SIGTERM'), 0, this.#process.output.join('\n'));
  }

  get #lines(): Line[] {
    return this.#process.output
      .map((line): Line => JSON.parse(line))
      .filter(({ set_by_s, followed_s }) => set_by_s !== undefined || followed_s !== undefined);
  }
}
