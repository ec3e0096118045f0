// counterfoil migrate: brings the store's schema up to this program's.
import { Command } from 'commander';
import { migrate } from '../../store/migrate.ts';
import { StartRefused } from '../checks/check.ts';
import { lostDatabaseFile } from '../checks/lost-store.ts';
import { configurationFile, readConfiguration } from '../config.ts';
import { openFenced } from './store.ts';
import { CONFIG_OPTION, JSON_OPTION } from './usage.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description("bring the store's schema up to this program's (serve does so too)")
    .option(...CONFIG_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExample:\n  counterfoil migrate --config /etc/counterfoil.yaml')
    .action(async (options: { config?: string; json?: boolean }) => {
      const configuration = readConfiguration(configurationFile(options.config));
      const lost = lostDatabaseFile(configuration);
      if (lost) throw new StartRefused(lost); // an empty one in its place would be taken for the store
      // It is not held: a server of the version before serves on, waiting for each step as for any commit.
      const database = await openFenced(configuration);
      try {
        const applied = await migrate(database);
        if (options.json) console.log(JSON.stringify({ applied }));
        else
          console.log(applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`);
      } finally {
        await database.close();
      }
    });
}
