// Lends a command the store, finds rows by the names that operators use, and makes the commands of routine acts.

import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import type { Administrator } from '../../administrators/administrator.ts';
import { plainEmail } from '../../administrators/failures.ts';
import { findAdministratorByEmail, listAdministrators } from '../../administrators/queries.ts';
import { Journal } from '../../journal/journal.ts';
import { Fence, vouchedIn } from '../../journal/known-seal.ts';
import { verifyHistory } from '../../journal/verify.ts';
import { OperationalError, validationFailed } from '../../lib/errors.ts';
import { momentsIn } from '../../lib/moments.ts';
import { asClause } from '../../lib/text.ts';
import { systemClock } from '../../lib/time.ts';
import { databaseName } from '../../store/connection-string.ts';
import { type Database, DatabaseError } from '../../store/database.ts';
import { knownMigrations, missingMigrations } from '../../store/migrate.ts';
import { openDatabase, SQLITE_FILE, type StoreSettings, storeExists } from '../../store/open.ts';
import { type Acts, type RoutineAct, readTyped, type Taken, takenBy } from '../../web/act.ts';
import { lineOf } from '../checks/check.ts';
import { ROW_CHECKS } from '../checks/row-checks.ts';
import { lostDatabaseFile, misplacedFiles } from '../checks/store-checks.ts';
import { type Configuration, configurationFile, readConfiguration } from '../config.ts';
import { atEnd, columns, Failure, type Printed, print, shownPath, withProgressBar } from './terminal.ts';
import { parsePast } from './usage.ts';

export interface StoreOptions {
  config?: string;
  json?: boolean;
}

/** What a printed link assumes, where the configuration names no address: a development server may have moved to another port. */
export const assumed = ({ base_url }: Pick<Configuration, 'base_url'>): string =>
  base_url === null
    ? '\nThe address is that of the configuration file. If the service says that it listens at another one, put that in its place.'
    : '';

/** Who acts by a command. */
export const OPERATOR = { actor: 'operator', request_id: null };

export interface Store {
  configuration: Configuration;
  database: Database;
  journal: Journal;
}

/** The same as `lendStore`, of the store that the configuration in the options names. Throws `ConfigurationError` as well. */
export async function withStore<T>({ config }: StoreOptions, use: (store: Store) => Promise<T>): Promise<T> {
  return lendStore(readConfiguration(configurationFile(config)), use);
}

/** The action of a command that is lent the store and prints what it comes to. */
export const onStore =
  <A extends unknown[]>(work: (store: Store, ...args: A) => Promise<Printed>) =>
  async (...args: [...A, command: unknown]): Promise<void> => {
    const options = args.at(-2) as StoreOptions;
    print(options, await withStore(options, (store) => work(store, ...(args.slice(0, -1) as A))));
  };

/** Rows as a document whose `member` they are, and as the columns that `cells` gives; `none` is printed if there are none. */
export const listed = <R>(
  member: string,
  rows: readonly R[],
  none: string,
  cells: (row: R) => string[],
): Printed => ({ json: { [member]: rows }, text: rows.length === 0 ? none : columns(rows.map(cells)) });

/**
 * Lends the store to `use` and closes it. The store is not locked. A commit of the journal is one transaction of the database, which
 * takes its numbers from the head of the history, so commits of a server and of a command are in one order, on SQLite as on PostgreSQL.
 * The server sees the rows within a tenth of a second. Throws `Failure` if there is no store, if its schema is not this program's, or if
 * `use` throws an `OperationalError`.
 */
export async function lendStore<T>(
  configuration: Configuration,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  requireStore(configuration);
  const database = await openFenced(configuration);
  const journal = new Journal(database, systemClock, { timeZone: configuration.time_zone });
  try {
    await requireSchema(database, configuration);
    return await use({ configuration, database, journal });
  } catch (error) {
    throw told(error, configuration.time_zone);
  } finally {
    await journal.close();
    await database.close();
  }
}

/** The same, if there is a store; else `use` gets none. Throws what `storeIsThere` does as well. */
export const lendAnyStore = <T>(
  configuration: Configuration,
  use: (store: Store | undefined) => Promise<T>,
): Promise<T> => (storeIsThere(configuration) ? lendStore(configuration, use) : use(undefined));

/** The configuration of a command that reads a store. Throws `Failure` if there is none. */
export function configured(file: string | undefined): Configuration {
  const configuration = readConfiguration(configurationFile(file));
  requireStore(configuration);
  return configuration;
}

/** Lends the store to `use` and closes it. Throws `Failure` where its schema is not this program's. */
export async function withDatabase<T>(configuration: Configuration, use: (database: Database) => Promise<T>) {
  const database = await openDatabase(configuration, (error) => {
    throw error;
  });
  await using _opened = atEnd(() => database.close());
  await requireSchema(database, configuration);
  return await use(database);
}

/**
 * Opens the store for changes, on no host of the database whose history ends before the newest checkpoint: a server takes none
 * either. Throws what `openDatabase` does.
 */
export async function openFenced(configuration: Configuration): Promise<Database> {
  const [newest] = await vouchedIn(configuration.storage);
  const quiet = { error() {}, info() {} }; // where no host is left, the error says why
  const onBroken = (error: Error) => {
    throw error;
  };
  return openDatabase(configuration, onBroken, new Fence(newest, quiet));
}

/**
 * Throws `Failure` where the schema of a store is not this program's, and says so of one that has none at all, as a database has
 * that is not the right one. Throws what `missingMigrations` does as well.
 */
export async function requireSchema(
  database: Database,
  { storage, database_url }: StoreSettings,
  outdated = 'the schema is not up to date: run counterfoil migrate',
): Promise<void> {
  const missing = await missingMigrations(database);
  if (missing === 0) return;
  if (missing < knownMigrations().length) throw new Failure(outdated);
  throw new Failure(
    `${databaseShown({ storage, database_url })} holds no store: see whether it is the right one; counterfoil migrate makes a store in it`,
  );
}

/** The database of a store as an operator knows it: its file, or its name on PostgreSQL. Never the password of the address. */
export function databaseShown({ storage, database_url }: StoreSettings): string {
  return database_url === null
    ? shownPath(join(storage, SQLITE_FILE))
    : `the database of database_url (${databaseName(database_url)})`;
}

/** Throws `Failure` if there is no store, and says whether it is lost. Makes nothing. Also throws what `storeIsThere` does. */
export function requireStore(configuration: Configuration): void {
  const isThere = storeIsThere(configuration);
  const lost = misplacedFiles(configuration) ?? lostDatabaseFile(configuration);
  if (lost) throw new Failure(lineOf(lost));
  if (!isThere)
    throw new Failure(
      `there is no store in ${shownPath(configuration.storage)}: name the right configuration with --config, or make a store with counterfoil migrate`,
    );
}

/** Whether there is a store. Throws `Failure` where this account may not look. Throws `RestoreUnfinished` as well. */
function storeIsThere(configuration: Configuration): boolean {
  const { storage } = configuration;
  try {
    accessSync(storage, constants.R_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT')
      throw new Failure(
        `${shownPath(storage)} may not be read by this account (${code}): run the command as the account that serves`,
      );
  }
  return storeExists(configuration);
}

/** The administrator with an e-mail address. Throws `Failure`. */
export async function named(database: Database, email: string): Promise<Administrator> {
  const found = await findAdministratorByEmail(database, plainEmail(email));
  if (found) return found;
  const others = (await listAdministrators(database)).map((one) => one.email);
  throw new Failure(
    `there is no administrator ${JSON.stringify(email)}; there ${others.length > 0 ? `are: ${others.join(', ')}` : 'is none yet: counterfoil administrators create'}`,
  );
}

/** Returns what throws a `Failure` with `sentence` for a refusal that says `not_found`, and any other error unchanged. */
export const ifMissing = (sentence: string) => (error: unknown) => {
  throw error instanceof OperationalError && error.code === 'not_found' ? new Failure(sentence) : error;
};

/** What a command says of a refusal; any other error unchanged. */
function told(error: unknown, timeZone: string): unknown {
  if (!(error instanceof OperationalError)) return error;
  if (error.cause instanceof DatabaseError) return error.cause;
  const details = Object.entries(error.details ?? {}).map(([name, fault]) => `--${name}: ${asClause(fault)}`);
  const message = momentsIn(timeZone).within(asClause(error.message));
  return new Failure(details.length > 0 ? details.join('; ') : message);
}

/** Verifies a history against checkpoints, behind a progress bar. Throws `HistoryBroken`. */
export const verifying = (
  database: Parameters<typeof verifyHistory>[0],
  reading: Parameters<typeof verifyHistory>[1],
  options: Parameters<typeof verifyHistory>[3] = {},
): ReturnType<typeof verifyHistory> =>
  withProgressBar('verifying', (onProgress) =>
    verifyHistory(database, reading, ROW_CHECKS, { onProgress, ...options }),
  );

/** What the commands of acts need to know of the things that are changed. */
export interface ThingsOfCommand<T> {
  argument: readonly [name: string, description: string, parse?: (text: string) => string];
  /** What stands for the argument in examples. */
  example: string;
  /** The thing that the argument names. Throws `Failure`. */
  find(store: Store, text: string): Promise<T>;
}

export const actCommands = <T extends { id: string }>(
  { command, acts }: Acts<T>,
  things: ThingsOfCommand<T>,
): Command[] => acts.map((act) => actCommand(command, things, act));

function actCommand<T extends { id: string }>(
  command: string,
  things: ThingsOfCommand<T>,
  act: RoutineAct<T>,
): Command {
  const { example, find } = things;
  const [name, description, parse] = things.argument;
  const argument = new Argument(name, description);
  if (parse) argument.argParser(parse);
  const taken = takenBy(act, () => systemClock.now());
  const made = new Command(act.name).description(act.command.description).addArgument(argument);
  for (const [, { option }] of taken) made.addOption(optionOf(option));
  const rest = act.command.example ?? '';
  made.addHelpText('after', `\nExample:\n  ${command} ${act.name} ${example}${rest}`);
  return made.action(
    onStore(async (store, text: string, options: Record<string, unknown>) => {
      const one = await find(store, text);
      const values: Record<string, unknown> = {};
      for (const [name, one] of taken) {
        const given = options[name];
        const isRead = one.option.choices !== undefined || one.option.past !== undefined;
        const got = isRead ? { value: given } : readTyped(one, given as string, systemClock.now());
        if ('fault' in got) throw validationFailed({ [name]: got.fault });
        values[name] = got.value;
      }
      const by = { ...OPERATOR, kind: 'operator', by: 'operator' } as const;
      return act.command.says(await act.does(store.journal, one, values, by), one, values);
    }),
  );
}

function optionOf({ flags, description, choices, default: usual, past }: Taken<unknown>['option']): Option {
  const option = new Option(flags, description);
  if (choices) option.choices(choices);
  if (past !== undefined) option.argParser(parsePast(past));
  return usual === undefined ? option.makeOptionMandatory() : option.default(usual);
}
