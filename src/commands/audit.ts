// counterfoil audit verify: recomputes the history and names the first thing that is off.
import { Command } from 'commander';
import { configurationFile, readConfiguration } from '../config.ts';
import { missingMigrations } from '../database/migrate.ts';
import { openDatabase, storeExists } from '../database/open.ts';
import { readCheckpoints } from '../journal/checkpoint.ts';
import { HistoryBroken, type Verification, verifyHistory } from '../journal/verify.ts';
import { verifyKeptAnswers, verifyPayments } from '../payments/verify.ts';
import { Failure, progressBar, shownPath } from './terminal.ts';

export function auditCommand(): Command {
  return new Command('audit')
    .description('the history and its proof')
    .addHelpText('after', '\nExample:\n  counterfoil audit verify')
    .addCommand(
      new Command('verify')
        .description('recompute every seal, row digest and checkpoint; exit 1 at the first that is wrong')
        .option('--config <file>', 'configuration file')
        .option('--json', 'print one JSON document')
        .addHelpText('after', '\nExamples:\n  counterfoil audit verify\n  counterfoil audit verify --json')
        .action(verify),
    );
}

async function verify(options: { config?: string; json?: boolean }): Promise<void> {
  const configuration = readConfiguration(configurationFile(options.config));
  if (!storeExists(configuration))
    throw new Failure(
      `there is no store in ${shownPath(configuration.storage)}: nothing was ever served from here`,
    );
  // Read first, so that no checkpoint speaks of what the database's view does not hold yet.
  const reading = readCheckpoints(configuration.storage);
  const database = await openDatabase(configuration, (error) => {
    throw error;
  });
  const bar = progressBar('verifying');
  try {
    if ((await missingMigrations(database)) > 0)
      throw new Failure('the schema is not up to date: run counterfoil migrate');
    const result = await verifyHistory(database, reading, [verifyPayments, verifyKeptAnswers], bar.update);
    bar.clear();
    console.log(options.json ? JSON.stringify({ verified: true, ...result }) : told(result));
  } catch (error) {
    bar.clear();
    if (!(error instanceof HistoryBroken)) throw error;
    const { message: problem, entry, seal, subject } = error;
    if (options.json)
      console.log(
        JSON.stringify({
          verified: false,
          problem,
          entry: entry ?? null,
          seal: seal ?? null,
          subject: subject ?? null,
        }),
      );
    else console.log(`Broken${entry === undefined ? '' : ` at entry ${entry}`}: ${problem}.`);
    process.exitCode = 1;
  } finally {
    await database.close();
  }
}

function told(result: Verification): string {
  const count = (n: number | undefined, one: string, many = `${one}s`) =>
    `${(n ?? 0).toLocaleString('en')} ${n === 1 ? one : many}`;
  const parts = [
    `${count(result.entries, 'entry', 'entries')} under ${count(result.seals, 'seal')}`,
    count(result.payments, 'payment'),
    count(result.kept_answers, 'kept answer'),
    count(result.checkpoints, 'checkpoint'),
  ];
  return `Verified: ${parts.join(', ')}.`;
}
