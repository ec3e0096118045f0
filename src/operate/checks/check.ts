// What a check is: a question about an installation, answered in a sentence with how to fix what is wrong.

import type { KeyPlace } from '../../journal/keys/key-file.ts';
import type { Clock } from '../../lib/time.ts';
import type { MethodSettings } from '../../payments/methods/method.ts';
import { type Database, DatabaseError } from '../../store/database.ts';
import { hasStarted } from '../../store/open.ts';
import type { mailServer } from '../settings/operation.ts';

/** What a check comes to; `skipped` where there was nothing to look at. */
export type CheckOutcome = 'ok' | 'warning' | 'failed' | 'skipped';

/**
 * The answer of a check. `says` and `fix` are clauses without an end, since they stand in one line at the start (`where: says:
 * fix`) and as sentences elsewhere.
 */
export interface Verdict {
  is: CheckOutcome;
  /** A file and its line, a folder, a variable. */
  where?: string;
  says: string;
  /** The same for those who may not administer, where `says` names people. */
  saysToOthers?: string;
  fix?: string;
  /** Whether a failure can end without a person: a start that it refuses exits with 1, so that a supervisor tries again. */
  mayPass?: true;
}

export const ok = (says: string): Verdict => ({ is: 'ok', says });
export const skipped = (says: string, fix?: string): Verdict => ({
  is: 'skipped',
  says,
  ...(fix !== undefined && { fix }),
});
export const warning = (says: string, fix: string, where?: string): Verdict => ({
  is: 'warning',
  says,
  fix,
  ...(where !== undefined && { where }),
});
export const failed = (says: string, fix: string, where?: string): Verdict => ({
  ...warning(says, fix, where),
  is: 'failed',
});

/** A failure that time, a name server or a renewal can end. */
export const failedForNow = (...told: Parameters<typeof failed>): Verdict => ({
  ...failed(...told),
  mayPass: true,
});

/** What is said where something fails that only a service that was started once can do. `fault` is a clause. */
export const notYet = (fault: string): Verdict =>
  skipped(`Not yet, because the service was never started here: ${fault}`, 'start the service');

/** A verdict in one line: `counterfoil.yaml:3: nodes is 2, and SQLite takes one: set nodes to 1`. */
export function lineOf({ where, says, fix }: Verdict): string {
  return [where, asPart(says), fix].filter((part) => part !== undefined).join(': ');
}

/** A sentence's beginning as the middle of a line has it; names with capitals within (`SQLite`) keep theirs. */
function asPart(clause: string): string {
  return clause.replace(/^[A-Z][a-z]*(?= )/, (word) => word.toLowerCase());
}

interface WrittenKey {
  /** `merchants[0].keys[0].key` */
  name: string;
  /** `counterfoil.yaml:9` */
  where: string;
  isPlain: boolean;
  isDevelopmentKey: boolean;
}

/** The configuration file as it is written, for saying where in it something is. */
export interface WhereWritten {
  keys: readonly WrittenKey[];
  /** Where a setting stands: `counterfoil.yaml:3`. Of what is missing, where it would. */
  place(path: readonly PropertyKey[]): string;
}

/** As much of the settings as is judged here. Files and folders are absolute, URLs end without a slash. */
export interface InstallationSettings extends KeyPlace {
  environment: 'development' | 'production';
  file: string;
  /** Of the days and moments in what a check says. */
  time_zone: string;
  database_url: string | null;
  base_url: string | null;
  checkout_base_url: string | null;
  console: { base_url?: string | undefined };
  admin: { base_url?: string | undefined };
  trust_proxy: readonly string[];
  tls: { certificate: string; key: string } | null;
  nodes: number;
  backups: string | null;
  statements: { folder: string | null };
  allow_root: boolean;
  metrics: { host: string; port: number } | null;
  mail: Parameters<typeof mailServer>[0] | null;
  mail_password: string | null;
  methods: readonly MethodSettings[];
  written: WhereWritten;
}

/** A listening address, and the sites that requests choose there by host name. */
interface InstallationListener {
  host: string;
  port: number;
  sites: readonly {
    hostNames: readonly string[];
    surfaces: readonly ('public' | 'console' | 'admin')[];
  }[];
}

/** Where the API, checkout, the console and the administrators' API are reached; without a slash at the end. */
type InstallationUrls = Readonly<Record<'public' | 'checkout' | 'console' | 'admin', string>>;

interface NodeEnvironment {
  NODE_OPTIONS?: string | undefined;
  NODE_TLS_REJECT_UNAUTHORIZED?: string | undefined;
}

/** What is known of an installation from its configuration and environment. */
export interface Installation {
  settings: InstallationSettings;
  env: NodeEnvironment;
  urls: InstallationUrls;
  /** Where the service listens; the first serves the API. */
  listeners: readonly InstallationListener[];
}

/** The installation that checks look at. */
export interface Subject extends Installation {
  clock: Clock;
  /** How long anything that is called may take. */
  deadlineMs: number;
  /** The store, or why there is none to look into. */
  store: { database: Database } | { none: Verdict };
  /** Whether to run the checks that read the whole store. */
  deep?: boolean | undefined;
  /** What the newest verification of the history came to, where a server runs that verifies; nothing before the first. */
  verification?: (() => VerificationOutcome | undefined) | undefined;
}

type VerificationOutcome =
  | { is: 'verified'; at: number; found: { acknowledged: number } }
  | { is: 'failed'; at: number }
  | { is: 'broken'; at: number; problem: string };

/**
 * When the start asks a check that refuses: as the configuration is read, by every command; before the store is opened; or
 * before anything is done with it. `later` are those that never refuse.
 */
export type Stage = 'read' | 'start' | 'store' | 'later';

/** One question. Those of the stages before `later` keep a service in production from starting where they fail. */
export interface Check {
  id: string;
  about: string;
  stage: Stage;
  /** Whether a failure counts in development too. */
  always?: true;
  /** Whether it keeps a first start alone from happening: a store that is there is served on. */
  firstStart?: true;
  /** Whether it is asked again of a configuration that is read while the service runs: it judges what is taken over then. */
  atReload?: true;
  /** Whether it waits for others (addresses, folders on other machines): what it found is remembered for a minute. */
  isRemote?: true;
  look(subject: Subject): Verdict | Promise<Verdict>;
}

/** Whether a check's failure keeps this installation from starting. */
export function isDecisive({ always, firstStart }: Check, { settings }: Installation): boolean {
  if (firstStart && hasStarted(settings)) return false;
  return always === true || settings.environment !== 'development';
}

/** Production does not start like this. The message is one line: where, what is wrong, how to fix it. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
  /** Whether the same start may work later without a change by a person. */
  readonly mayPass: boolean;

  constructor(verdict: Verdict) {
    super(lineOf(verdict));
    this.mayPass = verdict.mayPass === true;
  }
}

/** A check that the configuration alone answers, at once. */
export interface SettingsCheck extends Check {
  look(subject: Omit<Installation, 'env'>): Verdict;
}

/** Checks by their ids, in the order in which they are asked. */
export const checkTable = <C extends Check = Check>(
  table: Readonly<Record<string, Omit<C, 'id'>>>,
): readonly C[] => Object.entries(table).map(([id, check]) => ({ id, ...check }) as C);

/** Reads of the store, or the finding to report if there is none. */
export const intoStore =
  (look: (database: Database, subject: Subject) => Verdict | Promise<Verdict>): Check['look'] =>
  (subject) =>
    'database' in subject.store
      ? look(subject.store.database, subject)
      : skipped('There is no store to look into');

/** The same into tables, which the first start makes. Never for what keeps a service from starting: no table reads as nothing. */
export const intoTables = (look: Parameters<typeof intoStore>[0]): Check['look'] =>
  intoStore(async (database, subject) => {
    try {
      return await look(database, subject);
    } catch (error) {
      if (!(error instanceof DatabaseError && error.lacksTable)) throw error;
      return skipped("The store has not this program's tables yet");
    }
  });
