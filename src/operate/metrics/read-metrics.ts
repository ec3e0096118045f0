// Metrics that are read when Prometheus asks.
import { Counter, Gauge, type Registry } from 'prom-client';
import { type Clock, SECOND_MS } from '../../lib/time.ts';

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
