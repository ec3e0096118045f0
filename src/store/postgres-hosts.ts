// The hosts of a connection string, and which of them is the database: it takes writes, on the newest timeline.
import { hostsOf, type PostgresHost } from './connection-string.ts';
import { DatabaseError, type Reader } from './database.ts';
import { ANSWER_MS, Budget, Connection, PostgresSession } from './postgres-connection.ts';

/** A host's part of the time for an answer: 5 s of 8. It is shorter among several hosts, 2 s, so that the others are found in time. */
const SHARE = { alone: 5 / 8, amongOthers: 1 / 4 };
/** Interval at which several hosts are asked again. A primary from before a failover may be read for this long. */
const ASK_EVERY_MS = 1000;
const STALE = 'is on an older timeline than the database in use: a primary from before a failover';
const SILENT = 'does not answer';

/** Called before a connection is used; reports hosts that were rejected. */
export interface HostGuard {
  /**
   * What keeps the store behind a connection from being used, in words; undefined where it may be. `isOpening`: nothing was used
   * before, all hosts have answered, and none of them is fit otherwise, so that whatever is there is what the operator put there.
   */
  admit(view: Reader, isOpening: boolean): Promise<string | undefined>;
  /** Told once of each reason for which a host (`db1.internal:5432`) is not used, until it is fit again. */
  onRefused(host: string, reason: string): void;
  /** Told of SQLite's files as `FileWatch` is. */
  onFiles?(fault: string | undefined): void;
}

/** The hosts of one connection string, and what this process has seen of them. */
export class Hosts {
  readonly #hosts: Host[];
  readonly #guard: HostGuard | undefined;
  /** Timeout of a host's answer. */
  readonly #answerMs: number;
  /** The host that connections lead to, and what it said of itself. */
  readonly #answers = new WeakMap<Connection, HostAnswer>();
  /** For what each host was reported last, without the details behind a colon. */
  readonly #told = new Map<Host, string>();
  /** Of the hosts that were used: what another says of itself counts once its history was found to be ours. */
  #newestTimeline = 0;
  /** The host that was used last. */
  #last: Host | undefined;
  /** The connections on which hosts are asked anew. */
  readonly #asking = new Map<Host, Connection>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;

  /** Without a guard, as commands have none, what is only read may be read from a host that takes no writes. */
  constructor(url: string, guard: HostGuard | undefined, answerMs = ANSWER_MS) {
    this.#hosts = hostsOf(url).map((host) => new Host(host, answerMs));
    this.#guard = guard;
    this.#answerMs = answerMs * (this.#hosts.length === 1 ? SHARE.alone : SHARE.amongOthers);
  }

  /** Whether a connection can be used still. */
  isCurrent(connection: Connection): boolean {
    return connection.isOpen && !this.isSuperseded(connection);
  }

  /** Whether another host has replaced the host of a connection. */
  isSuperseded(connection: Connection): boolean {
    const answer = this.#answers.get(connection);
    return !answer || answer.host !== this.#last || this.#isStale(answer);
  }

  /**
   * Asks all hosts at once and returns a connection to the best: on the newest timeline, and among equals the one used last. Throws
   * `DatabaseError` `unavailable` if no host is fit.
   */
  async connect(budget: Budget, use: 'write' | 'read'): Promise<Connection> {
    const within = new Budget(budget.left(this.#answerMs));
    const all = await Promise.all(this.#hosts.map((host) => host.ask(within)));
    let chosen: Connection | undefined;
    try {
      chosen = await this.#choose(all, use, budget);
      return chosen;
    } finally {
      for (const one of all) if ('connection' in one && one.connection !== chosen) one.connection.discard();
    }
  }

  /**
   * With several hosts and a guard, asks all of them each second which is the database, until closed: what is open to another is not
   * used again.
   */
  watch(): void {
    if (this.#hosts.length === 1 || !this.#guard) return;
    this.#timer = setInterval(() => {
      this.#round ??= this.#askAnew().finally(() => (this.#round = undefined));
    }, ASK_EVERY_MS).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
    await Promise.all([...this.#asking.values()].map((connection) => connection.close()));
  }

  async #askAnew(): Promise<void> {
    const within = new Budget(this.#answerMs);
    const all = await Promise.all(this.#hosts.map((host) => host.ask(within, this.#asking.get(host))));
    for (const one of all) {
      if ('connection' in one) this.#asking.set(one.host, one.connection);
      else this.#asking.delete(one.host);
    }
    // If no host is fit, the next request for a connection throws.
    await this.#choose(all, 'write', new Budget(this.#hosts.length * this.#answerMs)).catch(() => {});
  }

  /** Throws `DatabaseError` if no host is fit. */
  async #choose(
    all: readonly (HostAnswer | Silence)[],
    use: 'write' | 'read',
    budget: Budget,
  ): Promise<Connection> {
    const answers = all.filter((one) => 'connection' in one).sort((one, other) => this.#order(one, other));
    const refusals = new Map<Host, string>();
    const firstFit = async (isOpening: boolean) => {
      for (const answer of answers) {
        const reason = await this.#reasonAgainst(answer, use, budget, isOpening);
        refusals.delete(answer.host);
        if (reason === undefined) return answer;
        refusals.set(answer.host, reason);
      }
      return undefined;
    };
    let chosen = await firstFit(false);
    // Nothing is relaxed while a host is fit as it is, or one may be that does not answer.
    if (!chosen && this.#last === undefined && answers.length === all.length) chosen = await firstFit(true);
    if (chosen) {
      this.#last = chosen.host;
      this.#newestTimeline = Math.max(this.#newestTimeline, chosen.timeline ?? 0);
      this.#answers.set(chosen.connection, chosen);
    }
    for (const answer of answers) if (this.#isStale(answer)) refusals.set(answer.host, STALE);
    for (const one of all) if ('error' in one) refusals.set(one.host, `${SILENT}: ${one.error.message}`);
    // At opening, the error reports why no host can be used.
    if (this.#last) this.#tell(refusals);
    if (chosen) return chosen.connection;
    const [only] = all;
    if (all.length === 1 && only && 'error' in only) throw only.error;
    const reasons = [...refusals].map(([host, reason]) => `${host.name} ${reason}`);
    throw new DatabaseError('unavailable', `no host of the database can be used: ${reasons.join('; ')}`);
  }

  /** The reason why a host is not used, or undefined. A failure on the way is such a reason, for that host alone. */
  async #reasonAgainst(
    answer: HostAnswer,
    use: 'write' | 'read',
    budget: Budget,
    isOpening: boolean,
  ): Promise<string | undefined> {
    if (answer.readOnly !== undefined && (use === 'write' || this.#guard)) return answer.readOnly;
    if (this.#isStale(answer)) return STALE;
    try {
      const view = new PostgresSession(answer.connection, () => budget.left(this.#answerMs));
      const reason = await this.#guard?.admit(view, isOpening);
      // Meanwhile another may have been found.
      return reason ?? (this.#isStale(answer) ? STALE : undefined);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      return `cannot be asked for its history: ${error.message}`;
    }
  }

  /** Whether it takes writes on a timeline that was left behind. */
  #isStale({ readOnly, timeline }: HostAnswer): boolean {
    return readOnly === undefined && timeline !== undefined && timeline < this.#newestTimeline;
  }

  /** Writable before read-only, then newer before older, then the one used last. */
  #order(one: HostAnswer, other: HostAnswer): number {
    return (
      Number(one.readOnly !== undefined) - Number(other.readOnly !== undefined) ||
      (other.timeline ?? this.#newestTimeline) - (one.timeline ?? this.#newestTimeline) ||
      Number(other.host === this.#last) - Number(one.host === this.#last)
    );
  }

  #tell(refusals: ReadonlyMap<Host, string>): void {
    for (const host of this.#hosts) if (!refusals.has(host)) this.#told.delete(host);
    for (const [host, reason] of refusals) {
      const kind = reason.split(':', 1)[0]!;
      if (this.#told.get(host) === kind) continue;
      this.#told.set(host, kind);
      this.#guard?.onRefused(host.name, reason);
    }
  }
}

/** Only the first eight digits of a segment's name are its timeline (PostgreSQL manual, 30.6). */
const TIMELINE =
  "case when pg_is_in_recovery() then '' else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end";
const state = (timeline: string) =>
  `select pg_is_in_recovery() as recovering, current_setting('transaction_read_only') = 'on' as read_only, ${timeline} as timeline`;
const STATE = state(TIMELINE);
const STATE_WITHOUT_TIMELINE = state('null');
/** The function may not be called, is not there, or is not for this server: some who run PostgreSQL for others have it so. */
const NOT_TOLD = new Set(['42501', '42883', '0A000']);

/** What a host said of itself. */
interface HostAnswer {
  host: Host;
  connection: Connection;
  /** Undefined if the server does not say, 0 if it writes none because it is in recovery. */
  timeline: number | undefined;
  /** Why it takes no writes; undefined where it does. */
  readOnly: string | undefined;
}

/** A host that could not be asked. */
interface Silence {
  host: Host;
  error: DatabaseError;
}

export class Host {
  /** `db1.internal:5432`, as messages name it. */
  readonly name: string;
  readonly #url: string;
  readonly #statementMs: number;
  /** What it is asked: without the timeline once it has refused to tell that. */
  #question = STATE;

  constructor({ name, url }: PostgresHost, statementMs = ANSWER_MS) {
    this.name = name;
    this.#url = url;
    this.#statementMs = statementMs;
  }

  /** Asks what it is, on a connection that is open to it or on a new one. */
  async ask(within: Budget, open?: Connection): Promise<HostAnswer | Silence> {
    let connection = open?.isOpen ? open : undefined;
    try {
      connection ??= await Connection.open(this.#url, within.left(), this.#statementMs);
      const { recovering, read_only, timeline } = await this.#state(connection, within);
      const readOnly = recovering
        ? 'is in recovery: a standby, or a primary that starts'
        : read_only
          ? 'takes no writes: its transactions are read-only'
          : undefined;
      const own = timeline === null ? undefined : Number.parseInt(timeline, 16);
      return { host: this, connection, timeline: recovering ? 0 : own, readOnly };
    } catch (error) {
      connection?.discard();
      return { host: this, error: error as DatabaseError };
    }
  }

  async #state(connection: Connection, within: Budget): Promise<State> {
    try {
      return (await connection.run(this.#question, [], within.left())).rows[0];
    } catch (error) {
      const code = error instanceof DatabaseError && (error.cause as { code?: string }).code;
      if (this.#question !== STATE || !code || !NOT_TOLD.has(code)) throw error;
      this.#question = STATE_WITHOUT_TIMELINE;
      return this.#state(connection, within);
    }
  }
}

interface State {
  recovering: boolean;
  read_only: boolean;
  /** In hexadecimal; empty where it writes none. */
  timeline: string | null;
}
