// counterfoil migrate: brings the store's schema up to this program's.
import type { Command } from 'commander';
import { migrate } from '../../store/migrate.ts';
import { StartRefused } from '../checks/check.ts';
import { lostDatabaseFile } from '../checks/lost-store.ts';
import { configurationFile, readConfiguration } from '../config.ts';
import { openFenced, type StoreOptions } from './store.ts';
import { print } from './terminal.ts';
import { CONFIG_OPTION, JSON_OPTION, newCommand } from './usage.ts';

export function command(): Command {
  return newCommand('migrate', "bring the store's schema up to this program's (serve does so too)", [
    'migrate --config /etc/counterfoil.yaml',
  ])
    .option(...CONFIG_OPTION)
    .option(...JSON_OPTION)
    .action(async (options: StoreOptions) => {
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
