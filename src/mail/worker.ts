// The worker that writes letters down and sends them: of all nodes the one that has the lease, one letter after another.

import type { Journal } from '../journal/journal.ts';
import { newestEntry } from '../journal/queries.ts';
import { endLeases, Lease, type ReadingPlace } from '../journal/reading-place.ts';
import { HistoryBroken } from '../journal/rows.ts';
import { randomId } from '../lib/ids.ts';
import { type Logger, Outage } from '../lib/log.ts';
import { phrase } from '../lib/phrases.ts';
import { Rounds } from '../lib/rounds.ts';
import { type Clock, MINUTE_MS, monotonicMs, SECOND_MS } from '../lib/time.ts';
import type { Directory } from '../merchants/directory.ts';
import { type Database, DatabaseError } from '../store/database.ts';
import { isCustomerLetter, LETTERS_KEPT_MS, type Letter, TRIED_MS, waitAfter } from './letter.ts';
import { letterLimit } from './link-limit.ts';
import type { AttemptAnswer, MailTransport, Message } from './message.ts';
import { type News, readNews } from './news.ts';
import {
  addLetters,
  addPlace,
  findPlace,
  nextDue,
  noteLetter,
  PLACE,
  PLACES,
  removeLettersAbout,
  removeLettersBefore,
} from './queries.ts';
import type { Timed } from './timed.ts';

/** How often the history is looked at, and how often letters that are due. */
const LOOK_EVERY_MS = 200;
const DUE_EVERY_MS = SECOND_MS;
/** The longest time that letters are sent before the history and the clock are read again. */
const LOOKS_UP_MS = 10 * SECOND_MS;
/** A node that died is replaced after this. The lease is renewed in its second half; on PostgreSQL also while a letter is on its way. */
const LEASE_MS = 16 * SECOND_MS;
/** An attempt is given up where this long before the end of the lease two looks in a row, a second apart, have not renewed it. */
const GIVEN_UP_MS = 4 * SECOND_MS;
const RENEWED_MS = SECOND_MS / 2;
/** Entries without news behind which the place is moved on. */
const PASSED_OVER = 1000;
/** After a server that is away, the next attempt waits a second, then twice as long each time, at most five minutes. */
const AWAY_MAXIMUM_MS = 5 * MINUTE_MS;

/** A letter's words, or why it is not to leave. */
export type Composed = Message | { withdrawn: string };

interface MailParts {
  database: Database;
  journal: Journal;
  clock: Clock;
  directory: Directory;
  log: Logger;
  /** The newest entry at the start of this node: where a store has had no mail, nothing up to there is told. */
  begins: number;
  transport: MailTransport;
  compose(letter: Letter): Promise<Composed>;
  timed: Timed;
}

export class MailWorker {
  readonly #parts: MailParts;
  readonly #rounds: Rounds;
  readonly #limit: ReturnType<typeof letterLimit>;
  readonly #lease: Lease<ReadingPlace>;
  #hasBegun = false;
  #hasEnded = false;
  #seen = Number.NEGATIVE_INFINITY;
  /** Up to here this node found no news behind the place, so that it reads no entry twice. */
  #passed = 0;
  #dueLookedAt = Number.NEGATIVE_INFINITY;
  #clockLookedAt = Number.NEGATIVE_INFINITY;
  /** The time of the last round. */
  #leaptAt = 0;
  /** Attempts in a row that found the server away, and until when none is made, in milliseconds since 1970. */
  #away = { count: 0, until: Number.NEGATIVE_INFINITY };
  readonly counters = { sent: 0, retrying: 0, failed: 0 };

  constructor(parts: MailParts) {
    this.#parts = parts;
    this.#limit = letterLimit(parts.clock);
    const lease = { table: PLACES, id: PLACE, node: randomId('node_'), leaseMs: LEASE_MS };
    this.#lease = new Lease({ ...lease, commit: this.#commit });
    const outage = new Outage({
      log: parts.log,
      fails: 'letters cannot be sent for now; it is tried again',
      works: 'letters are sent again',
    });
    this.#rounds = new Rounds(() => outage.tried(() => this.#round()), LOOK_EVERY_MS);
  }

  start(): void {
    this.#rounds.start();
  }

  /** Looks soon: something was committed. */
  wake(): void {
    this.#rounds.wake();
  }

  /** Begins no more attempts, and waits for the one that runs. */
  async stop(): Promise<void> {
    this.#hasEnded = true;
    await this.#rounds.stop();
    await this.#lease.release().catch(() => {});
  }

  async #round(): Promise<void> {
    const { clock } = this.#parts;
    if (!this.#hasBegun) await this.#begin();
    // A history that does not verify stops what is read out of it, and not the letter that says so.
    let fault: unknown;
    let hasNews = await this.#writeNews().catch((error) => {
      if (!(error instanceof HistoryBroken)) throw error;
      fault = error;
      return false;
    });
    const [now, lookedAt] = [clock.now(), monotonicMs()];
    // Also when the clock was moved on since the last round, as after a sleep of the machine.
    const hasLeapt = now - this.#leaptAt > MINUTE_MS;
    this.#leaptAt = now;
    if (hasLeapt || lookedAt - this.#clockLookedAt > MINUTE_MS) {
      const isWritten = await this.#writeTimed().catch((error) => {
        fault = error;
        return undefined;
      });
      // What could not be written keeps up no letter, and is tried again when the next are due.
      this.#clockLookedAt = isWritten === undefined ? lookedAt - MINUTE_MS + DUE_EVERY_MS : lookedAt;
      hasNews ||= isWritten === true;
    }
    if (hasNews || hasLeapt || monotonicMs() - this.#dueLookedAt >= DUE_EVERY_MS) {
      this.#dueLookedAt = monotonicMs();
      // However many are due, it stops to look at what is new: an alert may be among it.
      const isTime = () => !this.#hasEnded && clock.now() >= this.#away.until;
      const ends = monotonicMs() + LOOKS_UP_MS;
      while (isTime() && monotonicMs() < ends && (await this.#sendNext())) {}
    }
    if (fault) throw fault;
  }

  async #begin(): Promise<void> {
    const { database, begins } = this.#parts;
    if (!(await findPlace(database))) await this.#commit((transaction) => addPlace(transaction, begins));
    // On SQLite one node serves a store, so the lease that a start finds is that of a node that was killed.
    if (database.engine === 'sqlite') await this.#commit((transaction) => endLeases(transaction, PLACES));
    this.#hasBegun = true;
  }

  /** Writes the letters that new entries of the history call for. Returns whether there were any. */
  async #writeNews(): Promise<boolean> {
    const { database, directory, clock } = this.#parts;
    const newest = await newestEntry(database);
    if (newest === this.#seen) return false;
    if (newest < this.#passed) this.#passed = 0;
    let found = false;
    for (;;) {
      const place = await findPlace(database);
      if (!place || place.number >= newest) break;
      // It is looked at again, since a lease may end while nothing is committed.
      if (this.#lease.isOthers(place, clock.now())) return found;
      const after = Math.max(place.number, this.#passed);
      const reach = { after, until: newest, now: clock.now() };
      const news = await readNews(database, directory, reach);
      const isWorthIt =
        news.letters.length > 0 || news.erased.length > 0 || news.end - place.number > PASSED_OVER;
      if (!isWorthIt && !news.hasMore) {
        this.#passed = news.end;
        break;
      }
      if (!(await this.#hold()) || !(await this.#write(place.number, news))) return found;
      found ||= news.letters.length > 0;
      if (!news.hasMore) break;
    }
    this.#seen = newest;
    return found;
  }

  #write(from: number, { letters, erased, end }: News): Promise<boolean> {
    return this.#commit(async (transaction) => {
      if (!(await this.#lease.advance(transaction, { from, to: end }))) return false;
      await addLetters(transaction, letters);
      if (erased.length > 0) await removeLettersAbout(transaction, erased);
      return true;
    });
  }

  /** Writes down what the clock has to tell, and removes old letters. */
  async #writeTimed(): Promise<boolean> {
    const { database, clock, timed } = this.#parts;
    const place = await findPlace(database);
    if (!place || this.#lease.isOthers(place, clock.now())) return false;
    const { letters, written } = await timed.letters(clock.now());
    if (letters.length > 0) {
      if (!(await this.#hold())) return false;
      await this.#commit((transaction) => addLetters(transaction, letters));
    }
    written();
    const old = clock.now() - LETTERS_KEPT_MS;
    while (
      !this.#hasEnded &&
      (await this.#commit((transaction) => removeLettersBefore(transaction, old))) > 0
    ) {}
    return letters.length > 0;
  }

  /** Sends the letter that is due longest. Returns whether there may be another. */
  async #sendNext(): Promise<boolean> {
    const { database, clock, compose } = this.#parts;
    const letter = await nextDue(database, clock.now());
    if (!letter || !(await this.#hold())) return false;
    const message = await compose(letter).catch((error) => this.#unwritten(letter, error));
    if (!message) return true;
    if ('withdrawn' in message) {
      await this.#note({ ...letter, status: 'withdrawn', due_at: null, answer: message.withdrawn });
      return true;
    }
    const counted = { ...letter, to: message.to };
    const waitMs = this.#limit.waitMs(counted);
    if (waitMs > 0) {
      await this.#putOff(letter, clock.now() + waitMs);
      return true;
    }
    const answer = await this.#sendHeld(message);
    if (answer.is === 'sent') this.#limit.count(counted);
    await this.#noteAnswer(letter, answer);
    return true;
  }

  /** Puts off a letter of which too many leave, for as long as letters are tried. */
  #putOff(letter: Letter, until: number): Promise<void> {
    const isLast = this.#parts.clock.now() - letter.created_at >= TRIED_MS;
    const after = isLast ? ({ status: 'failed', due_at: null } as const) : { due_at: until };
    return this.#note({ ...letter, ...after, answer: phrase('Too many letters for now') });
  }

  /** Sends a letter. On PostgreSQL it keeps the lease meanwhile, and an attempt that the lease may not outlast loses its connection. */
  async #sendHeld(message: Message): Promise<AttemptAnswer> {
    const { database, transport } = this.#parts;
    if (database.engine === 'sqlite') return transport.send(message); // no other node could take the lease
    const lost = new AbortController();
    let endsSince = Number.POSITIVE_INFINITY;
    const looks = setInterval(() => {
      // A process that stood still has not asked for the lease meanwhile, and may have it yet.
      if (this.#lease.leftMs >= GIVEN_UP_MS) endsSince = Number.POSITIVE_INFINITY;
      else endsSince = Math.min(endsSince, monotonicMs());
      if (monotonicMs() - endsSince > RENEWED_MS) lost.abort();
      const lose = (isHeld: boolean) => isHeld || lost.abort();
      this.#hold().then(lose, () => {});
    }, SECOND_MS);
    try {
      return await transport.send(message, { signal: lost.signal });
    } finally {
      clearInterval(looks);
    }
  }

  /** Puts off a letter that cannot be composed, so that it keeps up no other. Throws the failures of the store. */
  async #unwritten(letter: Letter, error: unknown): Promise<undefined> {
    if (error instanceof DatabaseError) throw error;
    this.#parts.log.error({ err: error, letter: letter.id }, 'a letter could not be written');
    await this.#noteAnswer(letter, {
      is: 'later',
      words: phrase('It could not be written: the log says why'),
    });
  }

  async #noteAnswer(letter: Letter, { is, words }: AttemptAnswer): Promise<void> {
    const { log, clock } = this.#parts;
    const now = clock.now();
    const attempts = letter.attempts + 1;
    const isLast = is === 'failed' || now - letter.created_at >= TRIED_MS;
    const after =
      is === 'sent'
        ? ({ status: 'sent', due_at: null, sent_at: now } as const)
        : isLast
          ? ({ status: 'failed', due_at: null } as const)
          : ({ status: 'retrying', due_at: now + waitAfter(attempts) } as const);
    await this.#note({ ...letter, ...after, attempts, answer: words });
    this.counters[after.status] += 1;
    const count = is === 'away' ? this.#away.count + 1 : 0;
    const until =
      count === 0 ? Number.NEGATIVE_INFINITY : now + Math.min(AWAY_MAXIMUM_MS, SECOND_MS * 2 ** (count - 1));
    this.#away = { count, until };
    if (is === 'sent') return;
    // The server's words may hold the address of the reader, so the log has them of letters to administrators alone.
    const said = isCustomerLetter(letter.kind) ? {} : { words };
    log.warn({ letter: letter.id, kind: letter.kind, attempts, ...said }, `a letter was not sent: ${is}`);
  }

  #note(letter: Letter): Promise<void> {
    return this.#commit((transaction) => noteLetter(transaction, letter));
  }

  /** Takes the lease, or renews it in its second half. Returns false if another node has it. */
  async #hold(): Promise<boolean> {
    return this.#lease.leftMs > LEASE_MS / 2 || (await this.#lease.take()) !== undefined;
  }

  #commit: Journal['commitAside'] = (work) =>
    this.#parts.journal.commitAside((transaction) => {
      transaction.glance();
      return work(transaction);
    }, PLACE);
}
