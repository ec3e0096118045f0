// counterfoil migrate, accept-clock and store rescue: what an operator does to a store by hand.

import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { newestSeal } from '../../journal/queries.ts';
import { counted } from '../../lib/counted.ts';
import { sync } from '../../lib/durable-files.ts';
import { momentsIn } from '../../lib/moments.ts';
import { formatTimestamp, MINUTE_MS, systemClock } from '../../lib/time.ts';
import { migrate } from '../../store/migrate.ts';
import { SQLITE_FILE, sqliteHolder } from '../../store/open.ts';
import { openFilesOf, rescue } from '../../store/rescue.ts';
import { StartRefused } from '../checks/check.ts';
import { lostDatabaseFile } from '../checks/store-checks.ts';
import { configurationFile, readConfiguration } from '../config.ts';
import { freshFolder } from './backup-folder.ts';
import { OPERATOR, onStore, openFenced, type Store, type StoreOptions } from './store.ts';
import { Failure, print, shownPath } from './terminal.ts';
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
    try {
      const applied = await migrate(database);
      const text = applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`;
      print(options, { json: { applied }, text });
    } finally {
      await database.close();
    }
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
      `no server that this account may look into has a database of ${shownPath(storage)} open: run the storeCommand as the account that serves, or as root; if the server was stopped, restore a backup`,
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
