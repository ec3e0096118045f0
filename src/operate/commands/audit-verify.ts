// counterfoil audit verify: recomputes the history, names the first thing that is off, and lists the rows that are.
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { keepVerification } from '../../journal/background-verification.ts';
import {
  type CheckpointReading,
  checkpointFiles,
  readCheckpointFile,
  readCheckpoints,
} from '../../journal/checkpoint.ts';
import type { Acknowledgement, RowFault } from '../../journal/row-fault.ts';
import { HistoryBroken, type Verification, verifyHistory } from '../../journal/verify.ts';
import { counted } from '../../lib/counted.ts';
import { momentsIn } from '../../lib/moments.ts';
import { systemClock } from '../../lib/time.ts';
import { ROW_CHECKS } from '../checks/row-checks.ts';
import { parseEntry } from './arguments.ts';
import { configured, databaseShown, type StoreOptions, withDatabase } from './store.ts';
import { Failure, shownPath, withProgressBar } from './terminal.ts';
import { newCommand, UsageError } from './usage.ts';

/** Faults of rows that are listed at most, and those that a person is shown. */
const FAULTS_MAXIMUM = 1000;
const FAULTS_SHOWN = 20;

interface VerifyCommandOptions extends StoreOptions {
  since?: number;
  checkpoints?: string;
  key?: string;
}

export function auditVerifyCommand(): Command {
  return newCommand('verify', 'recompute every seal, row digest and checkpoint; exit 1 where one is wrong', [
    'audit verify',
    'audit verify --since 120000 --json',
    'audit verify --checkpoints /mnt/kept/checkpoints.jsonl',
  ])
    .option(
      '--since <entry>',
      'recompute seals from this entry on, and take those before on trust',
      parseEntry,
    )
    .option('--checkpoints <file>', 'hold the history to a copy of checkpoints.jsonl kept elsewhere, too')
    .option('--key <file>', 'the public key of that copy (default: checkpoint-key.pub.pem beside it)')
    .action(verify);
}

/** The checkpoints that were kept elsewhere. Throws `Failure` if a file does not exist. */
function readCopy({ checkpoints, key }: VerifyCommandOptions) {
  if (checkpoints === undefined) {
    if (key !== undefined) throw new UsageError('--key is the key of --checkpoints: give both');
    return undefined;
  }
  const publicKeyFile = key ?? checkpointFiles(dirname(checkpoints)).publicKeyFile;
  for (const file of [checkpoints, publicKeyFile]) {
    if (!existsSync(file)) throw new Failure(`${file} does not exist`);
    accessSync(file, constants.R_OK); // a copy that this account may not read says nothing against the history
  }
  return readCheckpointFile(resolve(checkpoints), publicKeyFile);
}

async function verify(options: VerifyCommandOptions): Promise<void> {
  const { since, json } = options;
  const configuration = configured(options.config);
  // The copy before the file that it is a copy of, and that before the database: none speaks of what the next does not hold.
  const copy = readCopy(options);
  const reading = readCheckpoints(configuration.storage);
  const faults: RowFault[] = [];
  const acknowledgements: Acknowledgement[] = [];
  const onFault = (fault: RowFault) => faults.length < FAULTS_MAXIMUM && faults.push(fault);
  const onAcknowledged = (one: Acknowledgement) => acknowledgements.push(one);
  const keep = (intact: boolean) =>
    keepVerification(configuration.storage, {
      at: systemClock.now(),
      intact,
      acknowledged: acknowledgements.length,
    });
  try {
    const result = await withProgressBar('verifying', (onProgress) =>
      withDatabase(configuration, (database) =>
        verifyHistory(database, reading, ROW_CHECKS, { onProgress, onFault, onAcknowledged, since, copy }),
      ),
    );
    if (since === undefined || since === 1) keep(true);
    const other_key = copy?.key !== undefined && reading.key !== undefined && copy.key !== reading.key;
    console.log(
      json
        ? JSON.stringify({ verified: true, ...result, acknowledgements, ...(copy && { other_key }) })
        : told(result, other_key) + toldKnown(acknowledgements, configuration.time_zone),
    );
  } catch (error) {
    if (!(error instanceof HistoryBroken)) throw error;
    if (speaksOfStore(error, reading, copy)) keep(false);
    const { message: problem, entry = null, seal = null, subject = null, voucher, rows } = error;
    const own = checkpointFiles(configuration.storage).file;
    const checkpoints = voucher === 'copied checkpoint' ? options.checkpoints! : own;
    const pair = voucher && { checkpoints: resolve(checkpoints), database: databaseShown(configuration) };
    console.log(
      json
        ? JSON.stringify({
            ...{ verified: false, problem, entry, seal, subject, ...pair },
            ...{ rows, faults: faults.map(shownFault), acknowledgements },
          })
        : `Broken${entry === null ? '' : ` at entry ${entry}`}: ${momentsIn(configuration.time_zone).within(problem)}.${pair ? toldPair(pair) : ''}${toldRows(rows, faults)}${toldKnown(acknowledgements, configuration.time_zone)}`,
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

const shownFault = ({ kind, problem, subject, entry, row, place }: RowFault) => {
  return { kind, problem, subject, entry: entry ?? null, row, table: place.table.name };
};

/** The rows at fault behind the first, and what to do about all. Empty if the fault is not one of rows. */
function toldRows(rows: number, [, ...faults]: readonly RowFault[]): string {
  if (rows === 0) return '';
  const shown = faults.slice(0, FAULTS_SHOWN);
  const left = rows - 1 - shown.length;
  return [
    '',
    ...shown.map(({ problem }) => `And ${problem}.`),
    ...(left > 0 ? [`And ${left} more: --json lists the first ${FAULTS_MAXIMUM}.`] : []),
    'Next: docs/operating/runbook.md, under "audit verify is red", says how to put a row right and how to acknowledge what was changed.',
  ].join('\n');
}

/** The faults that an operator acknowledged. Every verification reports them. Empty if there are none. */
function toldKnown(acknowledgements: readonly Acknowledgement[], timeZone: string): string {
  if (acknowledgements.length === 0) return '';
  const lines = acknowledgements.map(
    ({ entry, at, subject, fault, reason }) =>
      `  entry ${entry}, ${momentsIn(timeZone).moment(at)}: ${subject} (${fault}), ${JSON.stringify(reason)}`,
  );
  return `\nKnown: ${counted(acknowledgements.length, 'fault')} acknowledged.\n${lines.join('\n')}`;
}

/** The kinds of rows that are reported if there are any, in this order: the name of their number, and of one. */
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
    counted(result.kept_answers, 'stored response'),
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
