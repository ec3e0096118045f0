// Metrics that are read when Prometheus asks, or at most once a minute.

import { setTimeout as pause } from 'node:timers/promises';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Logger } from '../../lib/log.ts';
import { type Clock, MINUTE_MS, monotonicMs, SECOND_MS } from '../../lib/time.ts';

export class ReadMetrics {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** What only grows. */
  total(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** What is now; left out while `read` gives nothing. */
  gauge(name: string, help: string, read: () => number | undefined | Promise<number | undefined>): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      async collect() {
        const value = await read();
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  }

  /** How many seconds ago a moment was, which is read in milliseconds since 1970: 0 if there is none, left out while it cannot be read. */
  age(name: string, help: string, clock: Clock, read: () => Promise<number | null | undefined>): void {
    this.gauge(name, help, async () => {
      const ms = await read();
      return ms === undefined ? undefined : Math.max(0, clock.now() - (ms ?? clock.now())) / SECOND_MS;
    });
  }

  /** A moment, milliseconds since 1970 as it is read; left out while there is none. */
  moment(name: string, help: string, read: () => number | undefined | Promise<number | undefined>): void {
    this.gauge(name, help, async () => {
      const ms = await read();
      return ms === undefined ? undefined : ms / SECOND_MS;
    });
  }
}

/** Returns a read that logs a failure, and gives `failed` then. `what` names the measurement. */
export const measured =
  <T, F = undefined>(log: Logger, what: string, read: () => Promise<T>, failed?: F) =>
  (): Promise<T | F> =>
    read().catch((error) => {
      log.warn({ err: error }, `${what} could not be measured`);
      return failed as F;
    });

/**
 * Returns a function that gives the value read last, and reads again if that was a minute ago. The first time it waits for the read, a
 * second at most.
 */
export function rarely<T>(read: () => Promise<T>): () => Promise<T | undefined> | T {
  let known: { value: T } | undefined;
  let underWay: Promise<T> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (!underWay && monotonicMs() - readAt >= MINUTE_MS) {
      readAt = monotonicMs();
      underWay = read()
        .then((value) => {
          known = { value };
          return value;
        })
        .finally(() => {
          underWay = undefined;
        });
    }
    return known ? known.value : Promise.race([underWay, pause(SECOND_MS, undefined, { ref: false })]);
  };
}
