// How letters stand, for Prometheus. Where mail is off there is nothing to measure.
import { Counter, type Registry } from 'prom-client';
import type { Logger } from '../../lib/log.ts';
import type { Clock } from '../../lib/time.ts';
import { countLetters } from '../../mail/queries.ts';
import type { MailWorker } from '../../mail/worker.ts';
import type { Reader } from '../../store/database.ts';
import { measured, rarely } from './rarely.ts';
import type { ReadMetrics } from './read-metrics.ts';

/** What the metrics of letters are read from. */
export interface LettersMeasured {
  mail: { counters: MailWorker['counters'] | undefined };
  database: Reader;
  clock: Clock;
  log: Logger;
}

/** Adds the metrics of letters, counted at most once a minute. They are left out while the store cannot be read. */
export function watchLetters(
  registry: Registry,
  reads: ReadMetrics,
  { mail: { counters }, database, clock, log }: LettersMeasured,
): void {
  if (!counters) return;
  new Counter({
    name: 'counterfoil_letter_attempts_total',
    help: 'Attempts of this node to send a letter, by the status of the letter after them: sent, retrying or failed.',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [status, count] of Object.entries(counters)) this.inc({ status }, count);
    },
  });
  const read = rarely(measured(log, 'letters', () => countLetters(database)));
  reads.gauge(
    'counterfoil_letters_waiting',
    'Letters that wait for their first or next attempt.',
    async () => (await read())?.waiting,
  );
  reads.age(
    'counterfoil_letters_oldest_waiting_age_seconds',
    'How long ago the letter was written that waits longest; 0 where none does.',
    clock,
    async () => (await read())?.oldest,
  );
  reads.gauge(
    'counterfoil_letters_failed',
    'Letters of the last 30 days that failed or came back, and were not sent again.',
    async () => (await read())?.failed,
  );
}
