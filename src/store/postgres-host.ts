// One host of a connection string, and what it says of itself: whether it takes writes, and on which timeline.
import type { Budget } from './budget.ts';
import type { PostgresHost } from './connection-string.ts';
import { DatabaseError } from './database.ts';
import { Connection } from './postgres-connection.ts';

/** The timeline of a host that writes none: it is in recovery. */
const NO_TIMELINE = 0;

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
export interface HostAnswer {
  host: Host;
  connection: Connection;
  /** Undefined if the server does not say. */
  timeline: number | undefined;
  /** Why it takes no writes; undefined where it does. */
  readOnly: string | undefined;
}

/** A host that could not be asked. */
export interface Silence {
  host: Host;
  error: DatabaseError;
}

export class Host {
  /** `db1.internal:5432`, as messages name it. */
  readonly name: string;
  readonly #url: string;
  /** What it is asked: without the timeline once it has refused to tell that. */
  #question = STATE;

  constructor({ name, url }: PostgresHost) {
    this.name = name;
    this.#url = url;
  }

  /** Asks what it is, on a connection that is open to it or on a new one. */
  async ask(within: Budget, open?: Connection): Promise<HostAnswer | Silence> {
    let connection = open?.isOpen ? open : undefined;
    try {
      connection ??= await Connection.open(this.#url, within.left());
      const { recovering, read_only, timeline } = await this.#state(connection, within);
      const readOnly = recovering
        ? 'is in recovery: a standby, or a primary that starts'
        : read_only
          ? 'takes no writes: its transactions are read-only'
          : undefined;
      const own = timeline === null ? undefined : Number.parseInt(timeline, 16);
      return { host: this, connection, timeline: recovering ? NO_TIMELINE : own, readOnly };
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
