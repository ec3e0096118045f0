// counterfoil store rescue: saves a SQLite database whose file was removed or replaced, out of the server that still has it open.

import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { counted } from '../../lib/counted.ts';
import { sync } from '../../lib/durable-files.ts';
import { SQLITE_FILE, sqliteHolder } from '../../store/open.ts';
import { openFilesOf, rescue } from '../../store/rescue.ts';
import { configurationFile, readConfiguration } from '../config.ts';
import { freshFolder } from './backup-folder.ts';
import type { StoreOptions } from './store.ts';
import { Failure, print, shownPath } from './terminal.ts';
import { CONFIG_OPTION, JSON_OPTION, newCommand } from './usage.ts';

interface RescueOptions extends StoreOptions {
  output?: string;
}

export function command(): Command {
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
    .option(...CONFIG_OPTION)
    .option(...JSON_OPTION)
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
