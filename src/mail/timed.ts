// Which letters the clock asks for: reminders before the day to pay by, digests of the queue, endpoints that fail, and alerts.
import { listAdministrators } from '../administrators/queries.ts';
import { DAY_MS, dateIn, dayBounds, HOUR_MS, MINUTE_MS } from '../lib/time.ts';
import type { Directory } from '../merchants/directory.ts';
import { pendingToPayBy } from '../payments/queries.ts';
import type { Database } from '../store/database.ts';
import { searchEndpoints } from '../webhooks/queries.ts';
import { choicesOf, wants } from './choices.ts';
import type { AdministratorLetter, NewLetter } from './letter.ts';

/** Reminders leave from this hour of the day on. */
const REMINDED_FROM_MS = 9 * HOUR_MS;
const READ_AT_ONCE = 500;
const ENDPOINTS_MAXIMUM = 1000;
/** An endpoint that has failed for this long is worth a letter: three attempts. */
const FAILING_MS = 30 * MINUTE_MS;

/** What can be wrong with an installation that its administrators are written to about. */
export type Alert = Exclude<AdministratorLetter, 'queue_digest'>;

interface TimedParts {
  database: Database;
  directory: Directory;
  timeZone: string;
  /** How many payments wait for a decision. */
  waiting(): Promise<number>;
  /** What is wrong now. */
  alerts(): Promise<readonly Alert[]>;
}

export class Timed {
  readonly #parts: TimedParts;
  /** The hour whose reminders are stored. */
  #remindedIn = '';

  constructor(parts: TimedParts) {
    this.#parts = parts;
  }

  /**
   * What is to be told at `now`, in milliseconds since 1970. What was told before may be among it. `written` is called once that is in the
   * store: until then the same reminders are found again. Throws `DatabaseError`.
   */
  async letters(now: number): Promise<{ letters: NewLetter[]; written(): void }> {
    const { timeZone } = this.#parts;
    const date = dateIn(timeZone, now);
    const sinceMidnightMs = now - dayBounds(date, timeZone)!.from;
    const letters = [...(await this.#toAdministrators(date, sinceMidnightMs)), ...(await this.#failing(now))];
    const hour = `${date} ${Math.floor(sinceMidnightMs / HOUR_MS)}`;
    const reminds = sinceMidnightMs >= REMINDED_FROM_MS && this.#remindedIn !== hour;
    if (reminds) letters.push(...(await this.#reminders(date, now)));
    const written = () => {
      if (reminds) this.#remindedIn = hour;
    };
    return { letters, written };
  }

  /** Reminders of payments that are a day old and are to be paid within the days that their merchants say. */
  async #reminders(today: string, now: number): Promise<NewLetter[]> {
    const { database, directory, timeZone } = this.#parts;
    const found: NewLetter[] = [];
    const noon = dayBounds(today, timeZone)!.from + DAY_MS / 2;
    for (const { id: merchant_id } of directory.merchants) {
      const days = directory.profile(merchant_id).particulars?.remind_days;
      if (days === undefined) continue;
      const to = dateIn(timeZone, noon + days * DAY_MS);
      for (const mode of ['live', 'test'] as const)
        for (let after = ''; ; ) {
          const asked = { from: today, to, madeBefore: now - DAY_MS + 1, after };
          const some = await pendingToPayBy(database, { merchant_id, mode }, asked, READ_AT_ONCE);
          for (const { id } of some)
            found.push({
              kind: 'reminder',
              about: id,
              merchant_id,
              recipient: 'customer',
              once: `reminder ${id}`,
            });
          if (some.length < READ_AT_ONCE) break;
          after = some.at(-1)!.id;
        }
    }
    return found;
  }

  /** Digests, at most one in each hour or day, and alerts, at most one a day for as long as they last. */
  async #toAdministrators(date: string, sinceMidnightMs: number): Promise<NewLetter[]> {
    const { database, waiting, alerts } = this.#parts;
    const wrong = await alerts();
    const hour = Math.floor(sinceMidnightMs / HOUR_MS);
    const count = await waiting();
    const administrators = (await listAdministrators(database)).filter(
      ({ disabled_at }) => disabled_at === null,
    );
    return administrators.flatMap((administrator) => {
      const { id, role } = administrator;
      const wanted = choicesOf(administrator);
      const about = (kind: AdministratorLetter, period: string): NewLetter => ({
        ...{ kind, about: kind, merchant_id: null, recipient: id, once: `${kind} ${id} ${period}` },
      });
      const isDue =
        wanted.digest === 'hour' || (wanted.digest === 'day' && sinceMidnightMs >= wanted.hour * HOUR_MS);
      const period = wanted.digest === 'hour' ? `${date} ${hour}` : date;
      const hasDigest = isDue && role !== 'auditor' && count >= wanted.least;
      const hasAlerts = wanted.alerts && role === 'administrator';
      return [
        ...(hasDigest ? [about('queue_digest', period)] : []),
        ...(hasAlerts ? wrong.map((alert) => about(alert, date)) : []),
      ];
    });
  }

  /** Endpoints that have failed for a while: told once in each time of failing. */
  async #failing(now: number): Promise<NewLetter[]> {
    const { database, directory } = this.#parts;
    const endpoints = await searchEndpoints(database, { state: 'failing' }, ENDPOINTS_MAXIMUM);
    return endpoints
      .filter(({ failing_since }) => failing_since !== null && now - failing_since >= FAILING_MS)
      .filter(({ merchant_id }) => wants(directory.profile(merchant_id), 'webhook_failing'))
      .map(({ id, merchant_id, failing_since }) => ({
        ...{ kind: 'webhook_failing', about: id, merchant_id, recipient: 'merchant' },
        once: `webhook_failing ${id} ${failing_since}`,
      }));
  }
}
