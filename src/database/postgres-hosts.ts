// Which of the hosts of a connection string is the database: the one that takes writes, on the newest timeline, with our history.
import { Budget } from './budget.ts';
import { hostsOf, type PostgresHost } from './connection-string.ts';
import { DatabaseError, type Queryable } from './database.ts';
import { Connection } from './postgres-connection.ts';

/** How long a host may take to say what it is: with others beside it, not so long that these are found too late. */
const ANSWER_MS = { alone: 5000, amongOthers: 2000 };
/** The timeline of a host that writes none: it is in recovery. */
const NO_TIMELINE = 0;
const STALE = 'is on an older timeline than one seen before: a primary from before a failover';

/** Who is asked before a connection is used, and told of what is not. */
export interface Guard {
  /**
   * What keeps the store behind a connection from being used, in words; nothing where it may be. `isOpening`: nothing was used
   * before, and all hosts have answered, so that whatever is there is what the operator put there.
   */
  admit(view: Pick<Queryable, 'query'>, isOpening: boolean): Promise<string | undefined>;
  /** Told once of each reason for which a host (`db1.internal:5432`) is not used, until it is used again. */
  onRefused(host: string, reason: string): void;
}

/** What a host said of itself. Only the first eight digits of a segment's name are its timeline (PostgreSQL manual, 30.6). */
const STATE = `select pg_is_in_recovery() as recovering, current_setting('transaction_read_only') = 'on' as read_only,
  case when pg_is_in_recovery() then '' else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as timeline`;

interface Answer {
  host: PostgresHost;
  connection: Connection;
  timeline: number;
  /** Why it takes no writes; nothing where it does. */
  readOnly: string | undefined;
}

/** A host that could not be asked. */
interface Silence {
  host: PostgresHost;
  error: DatabaseError;
}

/** The hosts of one connection string, and what this process has seen of them. */
export class Hosts {
  readonly #hosts: PostgresHost[];
  readonly #guard: Guard | undefined;
  readonly #timelines = new WeakMap<Connection, number>();
  readonly #told = new Map<PostgresHost, string>();
  #newestTimeline = NO_TIMELINE;
  /** The host that was used last. */
  #last: PostgresHost | undefined;

  /** Without a guard, as commands have none, what is only read may be read from a host that takes no writes. */
  constructor(url: string, guard: Guard | undefined) {
    this.#hosts = hostsOf(url);
    this.#guard = guard;
  }

  /** Whether a connection can be used still: no newer timeline than its own was seen. */
  isCurrent(connection: Connection): boolean {
    return connection.isOpen && (this.#timelines.get(connection) ?? NO_TIMELINE) >= this.#newestTimeline;
  }

  /**
   * Asks all hosts at once, and gives a connection to the one to be used: on the newest timeline, and among equals the one
   * used last. Raises `DatabaseError`, `unavailable` where none is fit.
   */
  async connect(budget: Budget, use: 'write' | 'read'): Promise<Connection> {
    const within = new Budget(
      budget.left(this.#hosts.length === 1 ? ANSWER_MS.alone : ANSWER_MS.amongOthers),
    );
    const all = await Promise.all(this.#hosts.map((host) => ask(host, within)));
    const answers = all.filter((one) => 'connection' in one);
    const silences = all.filter((one) => 'error' in one);
    let chosen: Answer | undefined;
    try {
      chosen = await this.#choose(answers, silences, use, budget);
      this.#last = chosen.host;
      this.#timelines.set(chosen.connection, chosen.timeline);
      return chosen.connection;
    } finally {
      for (const { connection } of answers) if (connection !== chosen?.connection) connection.discard();
    }
  }

  async #choose(
    answers: Answer[],
    silences: readonly Silence[],
    use: 'write' | 'read',
    budget: Budget,
  ): Promise<Answer> {
    this.#newestTimeline = Math.max(this.#newestTimeline, ...answers.map(({ timeline }) => timeline));
    const isOpening = this.#last === undefined && silences.length === 0;
    let chosen: Answer | undefined;
    const refused: string[] = [];
    for (const answer of answers.sort((one, other) => this.#order(one, other))) {
      const isStale = answer.timeline < this.#newestTimeline && answer.readOnly === undefined;
      const unfit = isStale ? STALE : use === 'write' || this.#guard ? answer.readOnly : undefined;
      if (chosen && !isStale) continue;
      const { connection, host } = answer;
      const view = connection.session(() => budget.left());
      const reason = unfit ?? (await this.#guard?.admit(view, isOpening));
      if (reason === undefined) {
        chosen = answer;
        this.#told.delete(host);
        continue;
      }
      this.#tell(host, reason);
      refused.push(`${host.name} ${reason}`);
    }
    if (chosen) return chosen;
    if (this.#hosts.length === 1 && silences[0]) throw silences[0].error;
    for (const { host, error } of silences) refused.push(`${host.name} does not answer: ${error.message}`);
    throw new DatabaseError('unavailable', `no host of the database can be used: ${refused.join('; ')}`);
  }

  /** Writable before read-only, then the one used last. */
  #order(one: Answer, other: Answer): number {
    return (
      Number(one.readOnly !== undefined) - Number(other.readOnly !== undefined) ||
      Number(other.host === this.#last) - Number(one.host === this.#last)
    );
  }

  #tell(host: PostgresHost, reason: string): void {
    if (this.#told.get(host) === reason) return;
    this.#told.set(host, reason);
    this.#guard?.onRefused(host.name, reason);
  }
}

/** Connects to a host and asks what it is. */
async function ask(host: PostgresHost, within: Budget): Promise<Answer | Silence> {
  let connection: Connection | undefined;
  try {
    connection = await Connection.open(host.url, within.left());
    const { rows } = await connection.run(STATE, [], within.left());
    const [state] = rows as [{ recovering: boolean; read_only: boolean; timeline: string }];
    const timeline = state.recovering ? NO_TIMELINE : Number.parseInt(state.timeline, 16);
    const readOnly = state.recovering
      ? 'is in recovery: a standby, or a primary that starts'
      : state.read_only
        ? 'takes no writes: its transactions are read-only'
        : undefined;
    return { host, connection, timeline, readOnly };
  } catch (error) {
    connection?.discard();
    return { host, error: error as DatabaseError };
  }
}
