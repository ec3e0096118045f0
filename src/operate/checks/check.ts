// What a check is: a question about an installation, answered in a sentence with how to fix what is wrong.

import type { BackgroundVerification } from '../../journal/background-verification.ts';
import type { KeyPlace } from '../../journal/keys/key-file.ts';
import type { Clock } from '../../lib/time.ts';
import { type Database, DatabaseError } from '../../store/database.ts';
import { hasStarted } from '../../store/open.ts';
import type { Environment } from '../environment.ts';
import type { Places } from '../settings/places.ts';
import type { Settings } from '../settings/settings.ts';

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

const verdict =
  (is: CheckOutcome) =>
  (says: string, fix?: string, where?: string): Verdict => ({
    is,
    says,
    ...(fix !== undefined && { fix }),
    ...(where !== undefined && { where }),
  });
type ToFix = (says: string, fix: string, where?: string) => Verdict;

export const ok: (says: string) => Verdict = verdict('ok');
export const skipped: (says: string, fix?: string) => Verdict = verdict('skipped');
export const warning: ToFix = verdict('warning');
export const failed: ToFix = verdict('failed');

/** A failure that time, a name server or a renewal can end. */
export const failedForNow: ToFix = (...told) => ({ ...failed(...told), mayPass: true });

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

/** As much of the configuration as is judged here. Files and folders are absolute, URLs end without a slash. */
export interface InstallationSettings
  extends KeyPlace,
    Pick<Settings, 'environment' | 'time_zone' | 'database_url' | 'base_url' | 'checkout_base_url'>,
    Pick<Settings, 'console' | 'admin' | 'trust_proxy' | 'tls' | 'nodes' | 'backups' | 'allow_root'>,
    Pick<Settings, 'metrics' | 'mail' | 'methods'> {
  file: string;
  statements: Pick<Settings['statements'], 'folder'>;
  mail_password: string | null;
  written: WhereWritten;
}

/** What is known of an installation from its configuration and environment. */
export interface Installation {
  settings: InstallationSettings;
  env: Pick<Environment, 'NODE_OPTIONS' | 'NODE_TLS_REJECT_UNAUTHORIZED'>;
  /** Where the API, checkout, the console and the administrators' API are reached; without a slash at the end. */
  urls: Readonly<Record<'public' | 'checkout' | 'console' | 'admin', string>>;
  /** Where the service listens; the first serves the API. */
  listeners: Places['listeners'];
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
  verification?: (() => BackgroundVerification['newest']) | undefined;
}

/**
 * When the start asks a check that refuses: as the configuration is read, by every command; before the store is opened; or
 * before anything is done with it. `later` are those that never refuse.
 */
type Stage = 'read' | 'start' | 'store' | 'later';

/**
 * What else holds of a check. `always`: its failure counts in development too. `firstStart`: it keeps a first start alone from happening; a
 * store that is there is served on. `atReload`: it is asked again of a configuration that is read while the service runs, since it judges
 * what is taken over then. `isRemote`: it waits for others (addresses, folders on other machines), and what it found is remembered for a
 * minute.
 */
type Flag = 'always' | 'firstStart' | 'atReload' | 'isRemote';

/** One question. Those of the stages before `later` keep a service in production from starting where they fail. */
export interface Check extends Partial<Record<Flag, true>> {
  id: string;
  about: string;
  stage: Stage;
  look(subject: Subject): Verdict | Promise<Verdict>;
}

/** A check that the configuration alone answers, at once. */
interface SettingsCheck extends Check {
  look(subject: Omit<Installation, 'env'>): Verdict;
}

const checkOf =
  <C extends Check>() =>
  (about: string, when: Stage | readonly [Stage, ...Flag[]], look: C['look']): Omit<C, 'id'> => {
    const [stage, ...flags] = typeof when === 'string' ? [when] : when;
    return { about, stage, ...Object.fromEntries(flags.map((flag) => [flag, true])), look } as Omit<C, 'id'>;
  };
export const check = checkOf<Check>();
export const settingsCheck = checkOf<SettingsCheck>();

/** Checks by their ids, in the order in which they are asked. */
export const checkTable = <C extends Omit<Check, 'id'>>(table: Readonly<Record<string, C>>) =>
  Object.entries(table).map(([id, one]) => ({ id, ...one }));

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

type LookIntoStore = (database: Database, subject: Subject) => Verdict | Promise<Verdict>;
type When = Parameters<typeof check>[1];

/** A check of the store; skipped if there is none. */
export const storeCheck = (about: string, when: When, look: LookIntoStore) =>
  check(about, when, (subject) =>
    'database' in subject.store
      ? look(subject.store.database, subject)
      : skipped('There is no store to look into'),
  );

/** The same of tables, which the first start makes. Never for what keeps a service from starting: no table reads as nothing. */
export const tableCheck = (about: string, when: When, look: LookIntoStore) =>
  storeCheck(about, when, async (database, subject) => {
    try {
      return await look(database, subject);
    } catch (error) {
      if (!(error instanceof DatabaseError && error.lacksTable)) throw error;
      return skipped("The store has not this program's tables yet");
    }
  });
