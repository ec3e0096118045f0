// counterfoil audit: recomputes the history and names the first thing that is off, or hands it to whoever checks it elsewhere.

import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { type Configuration, configurationFile, readConfiguration } from '../config.ts';
import type { Database } from '../database/database.ts';
import { openDatabase } from '../database/open.ts';
import {
  type CheckpointReading,
  checkpointFiles,
  readCheckpointFile,
  readCheckpoints,
} from '../journal/checkpoint.ts';
import { exportHistory, markCheckpoints, NoSuchEntry } from '../journal/export.ts';
import { keepVerification } from '../journal/last-verification.ts';
import { HistoryBroken, type Verification, verifyHistory } from '../journal/verify.ts';
import { counted } from '../lib/counted.ts';
import { systemClock } from '../lib/time.ts';
import { ROW_CHECKS } from '../payments/row-checks.ts';
import { auditRestoredCommand } from './audit-restored.ts';
import { writeFile, writeOut } from './output.ts';
import { databaseShown, requireSchema, requireStore } from './store.ts';
import { Failure, shownPath, withProgressBar } from './terminal.ts';
import { CONFIG_OPTION, JSON_NEEDS_OUTPUT, UsageError } from './usage.ts';

interface VerifyCommandOptions {
  since?: number;
  checkpoints?: string;
  key?: string;
  config?: string;
  json?: boolean;
}

interface ExportCommandOptions {
  since?: number;
  output?: string;
  config?: string;
  json?: boolean;
}

export function auditCommand(): Command {
  const verifying = new Command('verify')
    .description('recompute every seal, row digest and checkpoint; exit 1 at the first that is wrong')
    .option(
      '--since <entry>',
      'recompute seals from this entry on, and take those before on trust',
      parseEntry,
    )
    .option('--checkpoints <file>', 'hold the history to a copy of checkpoints.jsonl kept elsewhere, too')
    .option('--key <file>', 'the public key of that copy (default: checkpoint-key.pub.pem beside it)')
    .addHelpText(
      'after',
      '\nExamples:\n  counterfoil audit verify\n  counterfoil audit verify --since 120000 --json\n  counterfoil audit verify --checkpoints /mnt/kept/checkpoints.jsonl',
    )
    .action(verify);
  const exporting = new Command('export')
    .description(
      'write the history and its checkpoints as lines of JSON, which scripts/verify-export.js checks',
    )
    .option('--since <entry>', 'from the seal that holds this entry on', parseEntry)
    .option('--output <file>', 'into a file, put in place when it is whole (default: standard output)')
    .addHelpText(
      'after',
      '\nExamples:\n  counterfoil audit export | gzip > history.ndjson.gz\n  counterfoil audit export --since 120000 --output history.ndjson\n  node scripts/verify-export.js history.ndjson',
    )
    .action(exportLines);
  const audit = new Command('audit')
    .description('the history and its proof')
    .addHelpText(
      'after',
      '\nExamples:\n  counterfoil audit verify\n  counterfoil audit export --output history.ndjson',
    );
  for (const command of [verifying, exporting, auditRestoredCommand()])
    audit.addCommand(
      command
        .option(...CONFIG_OPTION)
        .option('--json', `print one JSON document${command === exporting ? ', with --output' : ''}`),
    );
  return audit;
}

function parseEntry(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || !Number.isSafeInteger(number))
    throw new InvalidArgumentError('It is not the number of an entry: 1, 2, 3 …');
  return number;
}

/** The configuration of a command that reads a store. Throws `Failure` where there is none. */
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
  try {
    await requireSchema(database, configuration);
    return await use(database);
  } finally {
    await database.close();
  }
}

/** The checkpoints that somebody kept elsewhere. Throws `Failure` where a file is not there. */
function readCopy({ checkpoints, key }: VerifyCommandOptions) {
  if (checkpoints === undefined) {
    if (key !== undefined) throw new UsageError('--key is the key of --checkpoints: give both');
    return undefined;
  }
  const publicKeyFile = key ?? checkpointFiles(dirname(checkpoints)).publicKeyFile;
  for (const file of [checkpoints, publicKeyFile])
    if (!existsSync(file)) throw new Failure(`${file} does not exist`);
  return readCheckpointFile(resolve(checkpoints), publicKeyFile);
}

async function verify(options: VerifyCommandOptions): Promise<void> {
  const { since, json } = options;
  const configuration = configured(options.config);
  // The copy before the file that it is a copy of, and that before the database: none speaks of what the next does not hold.
  const copy = readCopy(options);
  const reading = readCheckpoints(configuration.storage);
  try {
    const result = await withProgressBar('verifying', (onProgress) =>
      withDatabase(configuration, (database) =>
        verifyHistory(database, reading, ROW_CHECKS, { onProgress, since, copy }),
      ),
    );
    if (since === undefined || since === 1)
      keepVerification(configuration.storage, { at: systemClock.now(), intact: true });
    const other_key = copy?.key !== undefined && reading.key !== undefined && copy.key !== reading.key;
    console.log(
      json
        ? JSON.stringify({ verified: true, ...result, ...(copy && { other_key }) })
        : told(result, other_key),
    );
  } catch (error) {
    if (!(error instanceof HistoryBroken)) throw error;
    if (speaksOfStore(error, reading, copy))
      keepVerification(configuration.storage, { at: systemClock.now(), intact: false });
    const { message: problem, entry = null, seal = null, subject = null, voucher } = error;
    const own = checkpointFiles(configuration.storage).file;
    const checkpoints = voucher === 'copied checkpoint' ? options.checkpoints! : own;
    const pair = voucher && { checkpoints: resolve(checkpoints), database: databaseShown(configuration) };
    console.log(
      json
        ? JSON.stringify({ verified: false, problem, entry, seal, subject, ...pair })
        : `Broken${entry === null ? '' : ` at entry ${entry}`}: ${problem}.${pair ? toldPair(pair) : ''}`,
    );
    process.exitCode = 1;
  }
}

/**
 * Returns whether a fault is one of this store. A copy that cannot be read, or that another key signed, may be of another store. So
 * its contradiction must not fire the alert.
 */
function speaksOfStore(
  { voucher }: HistoryBroken,
  own: CheckpointReading,
  copy: CheckpointReading | undefined,
): boolean {
  if (voucher !== 'copied checkpoint' || !copy) return true;
  return !copy.fault && (own.key ?? copy.key) === copy.key;
}

/** Names both sides of a contradiction: a wrong `storage` or `database_url` is more common than a changed history. */
function toldPair({ checkpoints, database }: { checkpoints: string; database: string }): string {
  return `\nThe checkpoints are ${shownPath(checkpoints)}, the history is that of ${database}. Check first that both are of one store.`;
}

/** What is told of rows where there are any, in the order of telling: the name of their number, and of one. */
const ROWS_TOLD = [
  ['merchants', 'merchant'],
  ['api_keys', 'API key'],
  ['invites', 'invitation'],
  ['administrators', 'administrator'],
  ['passkeys', 'passkey'],
  ['sessions', 'session'],
  ['administrator_tokens', 'token'],
] as const;

/** What was verified, in one line: `Verified: 5 entries under 4 seals, 2 payments, 0 stored responses, 1 administrator, 3 checkpoints.` */
function told(result: Verification, otherKey: boolean): string {
  const parts = [
    `${counted(result.entries, 'entry', 'entries')} under ${counted(result.seals, 'seal')}`,
    counted(result.payments, 'payment'),
    counted(result.kept_answers, 'kept answer'),
    ...ROWS_TOLD.filter(([key]) => result[key]).map(([key, one]) => counted(result[key], one)),
    counted(result.checkpoints, 'checkpoint'),
  ];
  if (result.copied_checkpoints !== undefined)
    parts.push(
      `${counted(result.copied_checkpoints, 'copied checkpoint')}${otherKey ? ' signed with another key' : ''}`,
    );
  const trusted =
    result.trusted_entries === undefined
      ? ''
      : ` Taken on trust: the first ${counted(result.trusted_entries, 'entry', 'entries')} and ${counted(result.trusted_seals, 'seal')}.`;
  return `Verified: ${parts.join(', ')}.${trusted}`;
}

async function exportLines({ since = 1, output, config, json }: ExportCommandOptions): Promise<void> {
  if (json && output === undefined) throw new UsageError(JSON_NEEDS_OUTPUT);
  const configuration = configured(config);
  const checkpoints = markCheckpoints(configuration.storage);
  try {
    const result = await withProgressBar('exporting', (onProgress) =>
      withDatabase(configuration, (database) =>
        database.snapshot((view) => {
          const lines = exportHistory(view, checkpoints, { since, now: systemClock.now(), onProgress });
          return output === undefined ? writeOut(lines) : writeFile(resolve(output), lines);
        }),
      ),
    );
    if (output === undefined || result === undefined) return;
    const { entries, seals, checkpoints: signed } = result;
    console.log(
      json
        ? JSON.stringify({ file: resolve(output), ...result })
        : `Exported ${counted(entries, 'entry', 'entries')} under ${counted(seals, 'seal')} and ${counted(signed, 'checkpoint')} to ${shownPath(resolve(output))}.`,
    );
  } catch (error) {
    if (error instanceof NoSuchEntry) throw new Failure(`${error.message}: the history ends before`);
    throw error;
  }
}
