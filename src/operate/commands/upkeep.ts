// counterfoil migrate, accept-clock, store rescue and audit restored: what an operator does to a store by hand.

import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Command } from 'commander';
import { checkpointFiles } from '../../journal/checkpoint.ts';
import { KNOWN_SEAL_FILE, type OtherHistory, otherHistory } from '../../journal/known-seal.ts';
import { newestSeal } from '../../journal/queries.ts';
import { sync } from '../../lib/durable-files.ts';
import { momentsIn } from '../../lib/moments.ts';
import { counted } from '../../lib/text.ts';
import { formatTimestamp, MINUTE_MS, systemClock } from '../../lib/time.ts';
import { migrate } from '../../store/migrate.ts';
import { holdStorage, SQLITE_FILE, sqliteHolder } from '../../store/open.ts';
import { openFilesOf, rescue } from '../../store/rescue.ts';
import { StartRefused } from '../checks/check.ts';
import { lostDatabaseFile } from '../checks/store-checks.ts';
import { type Configuration, configurationFile, readConfiguration } from '../config.ts';
import { freshFolder } from './backup-folder.ts';
import {
  lendStore,
  OPERATOR,
  onStore,
  openFenced,
  requireStore,
  type Store,
  type StoreOptions,
} from './store.ts';
import { atEnd, Failure, print, shownPath } from './terminal.ts';
import { newCommand } from './usage.ts';

const COMMANDS: Readonly<Record<string, () => Command>> = {
  migrate: migrateCommand,
  'accept-clock': acceptClockCommand,
  store: storeCommand,
};
export const command = (name: string): Command => COMMANDS[name]!();

function migrateCommand(): Command {
  return newCommand('migrate', "bring the store's schema up to this program's (serve does so too)", [
    'migrate --config /etc/counterfoil.yaml',
  ]).action(async (options: StoreOptions) => {
    const configuration = readConfiguration(configurationFile(options.config));
    const lost = lostDatabaseFile(configuration);
    if (lost) throw new StartRefused(lost); // an empty one in its place would be taken for the store
    // The store is not locked: a server of the previous version goes on, and waits for each step as for any commit.
    const database = await openFenced(configuration);
    await using _opened = atEnd(() => database.close());
    const applied = await migrate(database);
    const text = applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`;
    print(options, { json: { applied }, text });
  });
}

/** As much as a start takes: `history_clock` of `counterfoil doctor`. */
const BEHIND_MS = MINUTE_MS;

function acceptClockCommand(): Command {
  return newCommand(
    'accept-clock',
    "record that this machine's clock is right, although the newest entry of the history is later",
    ['accept-clock --config /etc/counterfoil.yaml'],
  ).action(onStore(acceptClock));
}

/** A start holds its clock to the newest entry: one with the right time is what lets it go on. */
async function acceptClock({ configuration, database, journal }: Store) {
  const [now, seal] = [systemClock.now(), await newestSeal(database)];
  if (!seal || seal.at - now <= BEHIND_MS)
    throw new Failure('the clock is not behind the history: there is nothing to accept');
  const facts = { newest_entry_at: formatTimestamp(seal.at), clock: formatTimestamp(now) };
  await journal.commit((transaction) =>
    transaction.record({ ...OPERATOR, action: 'clock.accepted', subject: 'clock', facts }),
  );
  const { clock, newest_entry_at } = facts;
  const words = momentsIn(configuration.time_zone);
  return {
    json: { clock, newest_entry_at },
    text: `It is ${words.moment(now)}, and so the history says from now on; its newest entry was of ${words.moment(seal.at)}.\nNext: start the server. What was to end by that time lives on until it comes.`,
  };
}

interface RescueOptions extends StoreOptions {
  output?: string;
}

function storeCommand(): Command {
  const rescuing = newCommand(
    'rescue',
    'save a SQLite database that was removed or replaced, while the server still has it open',
    ['store rescue', 'store rescue --output /mnt/other-disk --config /etc/counterfoil/counterfoil.yaml'],
    `Run it before the server is stopped, as the account that serves or as root: what has no name any more ends with the process.
It changes nothing of what is there. Linux alone.`,
  )
    .option(
      '--output <folder>',
      'a folder for rescued-TIME/counterfoil.sqlite (default: the storage directory)',
    )
    .action(rescued);
  return new Command('store')
    .description('the file of a SQLite store')
    .addHelpText('after', '\nExamples:\n  counterfoil store rescue')
    .addCommand(rescuing);
}

async function rescued(options: RescueOptions): Promise<void> {
  const { output, config } = options;
  const { storage, database_url } = readConfiguration(configurationFile(config));
  if (database_url !== null) throw new Failure('PostgreSQL holds the store: there is no file to rescue');
  const holder = sqliteHolder({ storage });
  const files = holder && !holder.isInPlace && openFilesOf(holder.pid, join(storage, SQLITE_FILE));
  if (!holder)
    throw new Failure(
      `no server that this account may look into has a database of ${shownPath(storage)} open: run the command as the account that serves, or as root; if the server was stopped, restore a backup`,
    );
  if (!files)
    throw new Failure('the server has the files open that are in place: there is nothing to rescue');
  const parent = output === undefined ? storage : resolve(output);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const folder = await freshFolder(parent, 'rescued-');
  const file = join(folder, SQLITE_FILE);
  const { payments } = await rescue(files, file);
  await sync(folder);
  await sync(parent);
  const place = join(storage, SQLITE_FILE);
  print(options, {
    json: { rescued: file, payments, pid: holder.pid },
    text: [
      `Saved ${counted(payments, 'payment')} in ${shownPath(file)}.`,
      'Next: stop the server; move what lies at its path away, and keep it; put the saved file there, as the account that serves; start.',
      `  mv ${place} ${place}-wal ${place}-shm ${folder}/   (those of them that are there)`,
      `  mv ${file} ${place}`,
      '  counterfoil audit verify',
    ].join('\n'),
  });
}

/** `counterfoil audit restored`. */
export function auditRestoredCommand(): Command {
  return newCommand(
    'restored',
    'record that an older copy of the store is used on purpose, with the server stopped; its contradicted checkpoints are moved aside',
    ['audit restored', 'audit restored --config /etc/counterfoil.yaml'],
    `
A start refuses a store that does not hold what its newest checkpoint vouches for. Look for the right database first. With several nodes,
run it on each node whose start is refused.`,
  ).action(restored);
}

async function restored(options: StoreOptions): Promise<void> {
  const configuration = readConfiguration(configurationFile(options.config));
  requireStore(configuration);
  await using _held = atEnd(holdStorage(configuration));
  const other = await recordRestored(configuration);
  tellRestored(other, await moveCheckpointsAside(configuration.storage), configuration, options.json);
}

/** Records what was found in an entry. Throws `Failure` if the store and its newest checkpoint agree, or if the store is empty. */
function recordRestored(configuration: Configuration): Promise<Required<OtherHistory>> {
  return lendStore(configuration, async ({ database, journal }) => {
    const other = await otherHistory(database, configuration.storage);
    if (!other)
      throw new Failure('the store holds what its newest checkpoint vouches for: there is nothing to record');
    const { vouched, end } = other;
    if (!end)
      throw new Failure(
        'the store holds no entries: restore a backup (counterfoil restore BACKUP --replace), or move checkpoints.jsonl and newest-seal.json away and keep them, to begin a new store',
      );
    const facts = {
      seal: end.number,
      entry: end.last_entry,
      checkpoint_seal: vouched.number,
      checkpoint_entry: vouched.last_entry,
      checkpoint_hash: vouched.hash,
      [vouched.isSigned ? 'signed_at' : 'known_at']: vouched.at,
    };
    await journal.commit((transaction) =>
      transaction.record({ ...OPERATOR, action: 'history.restored', subject: 'history', facts }),
    );
    return { vouched, end };
  });
}

/**
 * Moves the checkpoints into a folder of their own in the storage directory, and returns the folder. The entry is committed before:
 * if this is cut short, the start is still refused and the command can be run again. Throws the system's errors.
 */
async function moveCheckpointsAside(storage: string): Promise<string> {
  const aside = await freshFolder(storage, 'replaced-');
  for (const file of [checkpointFiles(storage).file, join(storage, KNOWN_SEAL_FILE)])
    if (existsSync(file)) await rename(file, join(aside, basename(file)));
  await sync(aside);
  await sync(storage);
  return aside;
}

function tellRestored(
  { vouched, end }: Required<OtherHistory>,
  aside: string,
  { time_zone }: Configuration,
  json: boolean | undefined,
): void {
  const lost = Math.max(0, vouched.last_entry - end!.last_entry);
  const { last_entry: checkpoint_entry, at: signed_at } = vouched;
  const told = { entries: end!.last_entry, checkpoint_entry, signed_at, lost_at_least: lost };
  const at = momentsIn(time_zone).within(vouched.at);
  const lines = [
    `Recorded: the store held ${counted(end!.last_entry, 'entry', 'entries')}, and ${vouched.isSigned ? `a checkpoint of ${at} vouched for` : `this node had acknowledged, on ${at},`} ${counted(vouched.last_entry, 'entry', 'entries')} of another history.`,
    ...(lost > 0 ? [`At least ${counted(lost, 'entry', 'entries')} are lost.`] : []),
    `The checkpoints are in ${shownPath(aside)}. Keep them: they show what was lost.`,
    'Next: start the server, then run counterfoil audit verify. Run this command on each other node whose start is refused.',
  ];
  print({ json }, { json: { restored: true, ...told, checkpoints: aside }, text: lines.join('\n') });
}
