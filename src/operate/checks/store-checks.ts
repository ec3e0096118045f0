// Checks of the store: its schema, durability and clock, who may sign in, who vouches for it, and whether webhooks are sent.

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { countPasskeys, listAdministrators } from '../../administrators/queries.ts';
import { lastVerification } from '../../journal/background-verification.ts';
import { CheckpointLookup, checkpointFiles } from '../../journal/checkpoint.ts';
import { signingKeyFault } from '../../journal/checkpoint-signer.ts';
import { KNOWN_SEAL_FILE, knownSeal, type OtherHistory, otherHistory } from '../../journal/known-seal.ts';
import { newestSeal, unlessEmpty } from '../../journal/queries.ts';
import { withKnown } from '../../journal/rows.ts';
import { momentsIn } from '../../lib/moments.ts';
import { counted } from '../../lib/text.ts';
import { MINUTE_MS } from '../../lib/time.ts';
import { VERSION } from '../../lib/version.ts';
import { findMerchants } from '../../merchants/queries.ts';
import { type Database, durability } from '../../store/database.ts';
import {
  creationOf,
  knownMigrations,
  missingMigrations,
  otherMigration,
  SchemaTooNew,
} from '../../store/migrate.ts';
import { damagedLock, isRestoreUnfinished, SQLITE_FILE, sqliteHolder } from '../../store/open.ts';
import { missingRight } from '../../store/rights.ts';
import { type SchemaFault, schemaFaults } from '../../store/schema.ts';
import { leftAlone } from '../../webhooks/queries.ts';
import {
  check,
  checkTable,
  failed,
  failedForNow,
  type InstallationSettings,
  ok,
  skipped,
  storeCheck,
  tableCheck,
  type Verdict,
  warning,
} from './check.ts';

/** How far this machine's clock may lie behind the newest entry. */
const CLOCK_MAXIMUM_MS = MINUTE_MS;
/** A checkpoint is signed every minute. A history without one for longer than this is a warning. */
const UNSIGNED_MAXIMUM_MS = 5 * MINUTE_MS;

export const LATER_STORE_CHECKS = checkTable({
  store: check('Store', 'later', async ({ store, settings }) => {
    if (!('database' in store)) return store.none;
    const lock = store.database.engine === 'sqlite' ? damagedLock(settings.storage) : undefined;
    if (lock) return failed(`${lock} is damaged`, 'remove it: it holds nothing but the lock');
    const right = await missingRight(store.database);
    if (right) {
      const judge = right.isLater ? warning : failed;
      return judge(`The account that database_url names ${right.lack}`, right.fix);
    }
    return ok(store.database.engine === 'sqlite' ? 'The store is SQLite' : 'PostgreSQL answers');
  }),
  tables: storeCheck('Tables', 'later', async (database) => {
    if (!(await isOurVersion(database)))
      return skipped("The schema is another version's, which is not compared");
    const faults = await schemaFaults(database, database.engine);
    // SQLite stores a table as its create statement, so what changed in it is found by its columns.
    const told = faults.filter(
      ({ kind, is, name }) =>
        !(kind === 'table' && is === 'changed' && faults.some((one) => one.name.startsWith(`${name}.`))),
    );
    if (told.length === 0) return ok('Tables, columns, indexes and triggers are as the program made them');
    const named = told.slice(0, NAMED).map(({ problem }) => problem);
    if (told.length > NAMED) named.push(`${told.length - NAMED} more`);
    const isHarmless = told.every(({ is, kind }) => is === 'added' && HARMLESS.includes(kind));
    const says = `${named[0]![0]!.toUpperCase()}${named.join(', ').slice(1)}`;
    if (isHarmless) return warning(says, 'drop what you do not need: audit verify fails while it is there');
    return failed(says, fixOf(told, database.engine));
  }),
  administrators: tableCheck('Administrators', 'later', async (database) => {
    const active = (await listAdministrators(database)).filter((one) => one.disabled_at === null);
    if (active.some((one) => one.password !== null && one.role === 'administrator'))
      return ok(`${counted(active.length, 'person', 'people')} may sign in to the console`);
    return warning(
      active.length === 0
        ? 'Payments cannot be reviewed: there are no administrators'
        : 'No administrator has set up a password yet',
      active.length === 0
        ? 'run counterfoil administrators create --email you@example.org --name "Your Name" --role administrator'
        : 'open the link that counterfoil administrators create or reset printed',
    );
  }),
  second_factors: tableCheck('Second factors', 'later', async (database) => {
    const passkeys = new Set((await countPasskeys(database)).map(({ administrator_id }) => administrator_id));
    const without = (await listAdministrators(database)).filter(
      (one) =>
        one.disabled_at === null &&
        one.password !== null &&
        one.totp_secret === null &&
        !passkeys.has(one.id),
    );
    if (without.length === 0) return ok('Every administrator with a password has a second factor');
    const lack = without.length === 1 ? 'has no second factor' : 'have no second factor';
    return {
      ...failed(
        `${without.map(({ email }) => email).join(', ')} ${lack}`,
        'run counterfoil administrators reset for each, and send them the link',
      ),
      saysToOthers: `${counted(without.length, 'person', 'people')} ${lack}`,
    };
  }),
  checkpoint: tableCheck('Checkpoints', 'later', async (database, { settings, clock }) => {
    const fault = signingKeyFault(settings.storage);
    if (fault) return failed('A start ends with 78', `${fault} (docs/operating/runbook.md, "A key is lost")`);
    // The checkpoint before the seal: never ahead of it, unless the history is another.
    const last = await new CheckpointLookup(settings.storage).newest();
    const seal = await newestSealIn(database);
    if (!seal) return skipped('The history is empty');
    if (await otherHistory(database, settings.storage))
      return skipped('No checkpoint is signed, because the newest one is of another history');
    if (last?.hash === seal.hash) return ok('A checkpoint vouches for the newest entry');
    const age = clock.now() - seal.at;
    if (age <= UNSIGNED_MAXIMUM_MS)
      return ok('A checkpoint for the newest entries is signed within a minute');
    return warning(
      `The newest entries are ${Math.floor(age / MINUTE_MS)} min old and no checkpoint vouches for them`,
      'a running service signs one every minute: start it, or see in its log why it does not',
    );
  }),
  verification: check('History', 'later', ({ verification: newest, settings }) => {
    const words = momentsIn(settings.time_zone);
    const kept = newest ? undefined : lastVerification(settings.storage);
    if (kept && !kept.intact)
      return failed(
        `The verification of ${words.moment(kept.at)} found that the history is not what it was`,
        'keep the files as they are and run counterfoil audit verify',
      );
    if (!newest) return skipped('The history is not verified here', 'run counterfoil audit verify');
    const outcome = newest();
    if (!outcome)
      return skipped(
        'The history was not verified since this server started',
        'press Verify now in the audit log',
      );
    const at = words.moment(outcome.at);
    if (outcome.is === 'verified') {
      const { acknowledged } = outcome.found;
      return ok(`The history was verified on ${at}${withKnown(acknowledged)}`);
    }
    if (outcome.is === 'failed')
      return warning(`The verification of ${at} failed before it came to an end`, 'see why in the log');
    return failed(
      `The history is not what it was: ${words.within(outcome.problem)}`,
      'keep the files as they are and run counterfoil audit verify',
    );
  }),
});

/** In the order in which a start asks them. */
export const STORE_CHECKS = checkTable({
  schema: storeCheck('Schema', ['store', 'always'], async (database) => {
    try {
      const steps = await missingMigrations(database);
      const other = await otherMigration(database);
      if (other !== undefined)
        return warning(
          `The store was made with another ${other} than that of this program, ${VERSION}`,
          'install the program anew, or run the version that made the store; what differs stands under Tables',
        );
      if (steps === 0) return ok(`The schema is this program's, version ${knownMigrations().length}`);
      return warning(
        `The schema lacks ${counted(steps, 'step')}`,
        'run counterfoil migrate; a start does so too',
      );
    } catch (error) {
      if (!(error instanceof SchemaTooNew)) throw error;
      const [what, fix] = error.message.split(': ');
      return failed(`${what![0]!.toUpperCase()}${what!.slice(1)}`, fix!);
    }
  }),
  durability: storeCheck('Power cuts', 'store', async (database) =>
    durabilityVerdict(await durability(database)),
  ),
  history_clock: storeCheck('Clock and history', 'store', async (database, { clock, settings }) => {
    const seal = await newestSealIn(database);
    if (!seal) return ok('The history is empty');
    const now = clock.now();
    if (seal.at - now <= CLOCK_MAXIMUM_MS) return ok('The clock is not behind the history');
    const words = momentsIn(settings.time_zone);
    return failedForNow(
      `The clock says ${words.moment(now)}, and the newest entry of the history was written on ${words.moment(seal.at)}`,
      'set the clock right; if it is right and was not then, run counterfoil accept-clock',
    );
  }),
  vouched_history: storeCheck('Vouched history', ['store', 'always'], async (database, { settings }) => {
    if (!isVouched(settings.storage)) return skipped('No checkpoint was signed yet');
    if (!(await newestSealIn(database))) {
      const what =
        database.engine === 'sqlite' ? join(settings.storage, SQLITE_FILE) : 'The database of database_url';
      return lost(`${what} holds no entries`, settings);
    }
    const other = await otherHistory(database, settings.storage);
    return other
      ? contradicted(other, settings.time_zone)
      : ok('The store holds what the newest checkpoint and the newest seal of this node vouch for');
  }),
  indexes: storeCheck('Indexes', ['store', 'always'], async (database, { deep }) => {
    if (!deep)
      return skipped(
        'The indexes are not proven without --deep',
        'run counterfoil doctor --deep or audit verify',
      );
    const [fault] = await database.indexFaults();
    if (fault === undefined) return ok('Every index leads to the rows that it should');
    const fix =
      database.engine === 'sqlite'
        ? 'keep a copy of the file, find out who wrote to it, and restore a backup that verifies'
        : 'find out why, then run reindex index for it';
    return failed(`The store finds other rows than it holds: ${fault}`, fix);
  }),
});

/** What each setting must be, and the command that makes it so. */
const DURABLE: Readonly<Record<string, { values: readonly string[]; fix: string }>> = {
  fsync: { values: ['on'], fix: 'run alter system reset fsync, then select pg_reload_conf()' },
  full_page_writes: {
    values: ['on'],
    fix: 'run alter system reset full_page_writes, then select pg_reload_conf()',
  },
  synchronous_commit: {
    values: ['on', 'remote_apply'],
    fix: 'reset it wherever it is set: alter role, alter database, alter system, or PGOPTIONS',
  },
  journal_mode: {
    values: ['wal'],
    fix: 'this build of SQLite does not do as told: reinstall with npm ci',
  },
};

/** What is to be said of an engine's settings: the first that lets an answered commit be lost. */
export function durabilityVerdict(settings: Readonly<Record<string, string>>): Verdict {
  for (const [name, value] of Object.entries(settings)) {
    const { values, fix } = DURABLE[name]!;
    if (!values.includes(value))
      return failed(`The database has ${name} = ${value}, with which a power cut loses payments`, fix);
  }
  return ok('What was answered outlives a power cut');
}

/** The newest seal. Undefined if there is none, or if the table does not exist yet. */
const newestSealIn = (database: Database) => unlessEmpty(newestSeal(database));

/** Maximum number of faults in the message. */
const NAMED = 3;
/** What another hand may add without changing what the service does. */
const HARMLESS = ['table', 'view', 'column', 'index'];

async function isOurVersion(database: Database): Promise<boolean> {
  try {
    return (await missingMigrations(database)) === 0;
  } catch (error) {
    if (error instanceof SchemaTooNew) return false;
    throw error;
  }
}

function fixOf(faults: readonly SchemaFault[], engine: Database['engine']): string {
  const first = faults.find(({ is }) => is !== 'added') ?? faults[0]!;
  const { is, kind, name } = first;
  const [table, column] = name.split('.') as [string, string | undefined];
  if (is === 'added') return `drop the ${kind} ${name}, then run counterfoil audit verify`;
  if (kind === 'column' && is === 'missing') {
    const added = faults.filter((one) => one.kind === 'column' && one.is === 'added');
    const [renamed, ...others] = added.filter((one) => one.name.startsWith(`${table}.`));
    if (renamed && others.length === 0)
      return `rename it back: alter table ${table} rename column ${renamed.name.split('.')[1]} to ${column}`;
  }
  const creation = is === 'missing' ? creationOf(engine, name) : undefined;
  if (creation === undefined)
    return 'undo what was changed; where that is not known, restore the newest backup (counterfoil restore BACKUP --replace)';
  const then =
    kind === 'trigger' ? ', then counterfoil audit verify: rows may have been changed meanwhile' : '';
  return `run ${creation}${then}`;
}

/** A node that died is replaced within seconds, and one that has much to send holds the queue meanwhile. */
const LEFT_MS = 5 * MINUTE_MS;

type Settings = Pick<InstallationSettings, 'storage' | 'database_url'>;

/** Whether a history was signed from this storage directory, or a node with it has served. */
const isVouched = (storage: string) => isSigned(storage) || knownSeal(storage) !== undefined;

const isSigned = (storage: string) =>
  (statSync(checkpointFiles(storage).file, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** The verdict on a store that is lost in the way that `says` tells, and how it is put back. */
export function lost(says: string, { storage, database_url }: Settings): Verdict {
  const file = isSigned(storage) ? checkpointFiles(storage).file : join(storage, KNOWN_SEAL_FILE);
  const isUnmoved = database_url !== null && existsSync(join(storage, SQLITE_FILE));
  return failed(
    `${says}, but ${file} vouches for its history`,
    `put it back (counterfoil restore BACKUP --replace${isUnmoved ? ', or counterfoil move --to postgres' : ''}), or move checkpoints.jsonl and newest-seal.json away and keep them, to begin a new store`,
  );
}

/** The verdict on a SQLite store that a server has open, and that is not in its place any more; undefined where that is not so. */
export function misplacedFiles(settings: Settings): Verdict | undefined {
  const { storage, database_url } = settings;
  const holder = database_url === null ? sqliteHolder({ storage }) : undefined;
  if (!holder || holder.isInPlace) return undefined;
  return failed(
    `${join(storage, SQLITE_FILE)} is not the database that the server has open (process ${holder.pid}): it was removed, moved or replaced`,
    'do not stop the server; run counterfoil store rescue, which saves what it has open, and follow what it says',
  );
}

/** The verdict on a SQLite file that is missing though checkpoints vouch for it. Undefined if it is there. */
export function lostDatabaseFile(settings: Settings): Verdict | undefined {
  const { storage, database_url } = settings;
  const file = join(storage, SQLITE_FILE);
  if (database_url !== null || existsSync(file) || !isVouched(storage)) return undefined;
  if (isRestoreUnfinished(settings)) return undefined; // which says so itself
  return lost(`${file} is missing`, settings);
}

/** Before the store is opened, which makes the file; and after. */
export const DATABASE_FILE_CHECKS = checkTable({
  database_file: check('Database file', ['start', 'always'], ({ settings }) => {
    if (settings.database_url !== null) return skipped('PostgreSQL holds the store');
    if (isRestoreUnfinished(settings)) return skipped('A restore is unfinished');
    return misplacedFiles(settings) ?? lostDatabaseFile(settings) ?? ok('No database file is missing');
  }),
});

/** The verdict on a store that does not hold the history which is vouched for, with the end of both. */
function contradicted({ vouched, end }: OtherHistory, timeZone: string): Verdict {
  const held = counted(end?.last_entry, 'entry', 'entries');
  const known = counted(vouched.last_entry, 'entry', 'entries');
  const at = momentsIn(timeZone).within(vouched.at);
  const by = vouched.isSigned
    ? `the checkpoint of ${at} vouches for`
    : `this node had acknowledged, on ${at},`;
  return failed(
    `The store holds ${held}, and ${by} ${known} of another history: an older copy was put in its place, or storage and database_url are not of one store`,
    'put the right database back; if this one is all there is, run counterfoil audit restored, which records it in the history',
  );
}

export const WEBHOOK_CHECKS = checkTable({
  webhooks: tableCheck('Webhooks', 'later', async (database, { clock, settings }) => {
    const left = await leftAlone(database, clock.now() - LEFT_MS);
    const merchants = await findMerchants(
      database,
      left.map(({ merchant_id }) => merchant_id),
    );
    const suspended = new Set(merchants.filter((one) => one.suspended_at !== null).map(({ id }) => id));
    const served = left.filter(({ merchant_id }) => !suspended.has(merchant_id));
    if (served.length === 0) return ok('No webhook that is due is left alone');
    const endpoints = served.reduce((sum, one) => sum + Number(one.endpoints), 0);
    const due_at = Math.min(...served.map((one) => Number(one.due_at)));
    return warning(
      `Webhooks of ${counted(endpoints, 'endpoint')} are due since ${momentsIn(settings.time_zone).moment(due_at)}, and no node sends them`,
      'see that a server runs; its log says "webhooks cannot be delivered for now" and why (docs/operating/runbook.md#counterfoil-webhooks-held-up)',
    );
  }),
});
