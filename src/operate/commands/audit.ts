// counterfoil audit: recomputes the history and names what is off, acknowledges rows, and writes it out for a third party.
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
import { exportHistory, markCheckpoints, NoSuchEntry } from '../../journal/export.ts';
import { type Acknowledgement, acknowledgeFaults, type RowFault } from '../../journal/rows.ts';
import { HistoryBroken, type Verification } from '../../journal/verify.ts';
import { momentsIn } from '../../lib/moments.ts';
import { counted } from '../../lib/text.ts';
import { systemClock } from '../../lib/time.ts';
import { reasonFault } from '../../merchants/change.ts';
import {
  configured,
  databaseShown,
  OPERATOR,
  type Store,
  type StoreOptions,
  verifying,
  withDatabase,
  withStore,
} from './store.ts';
import { Failure, print, shownPath, withProgressBar, writeLines } from './terminal.ts';
import { auditRestoredCommand } from './upkeep.ts';
import {
  addCommands,
  CONFIG_OPTION,
  JSON_NEEDS_OUTPUT,
  newCommand,
  parseEntry,
  UsageError,
} from './usage.ts';

interface ExportCommandOptions extends StoreOptions {
  since?: number;
  output?: string;
}

export function command(): Command {
  const exporting = newCommand(
    'export',
    'write the history and its checkpoints as lines of JSON, which scripts/verify-export.js checks',
    [
      'audit export | gzip > history.ndjson.gz',
      `audit export --since 120000 --output history.ndjson
  node scripts/verify-export.js history.ndjson`,
    ],
  )
    .option('--since <entry>', 'from the seal that holds this entry on', parseEntry)
    .option('--output <file>', 'into a file, put in place when it is whole (default: standard output)')
    .action(exportLines);
  const audit = newCommand('audit', 'the history and its proof', [
    'audit verify',
    'audit export --output history.ndjson',
  ]);
  exporting.option(...CONFIG_OPTION).option('--json', 'print one JSON document, with --output');
  return addCommands(audit, [
    auditVerifyCommand(),
    exporting,
    auditAcknowledgeCommand(),
    auditRestoredCommand(),
  ]);
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
          return writeLines(lines, output);
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

interface AcknowledgeOptions extends StoreOptions {
  reason: string;
}

function auditAcknowledgeCommand(): Command {
  return newCommand(
    'acknowledge',
    'record that rows which are not as the history says are known; audit verify reports them, and exits 0',
    [
      'audit acknowledge pay_01m7xy90z59x4m4bthzeq11xez7gvadtw35y --reason "Amount edited by hand on 20 November, incident 7"',
      'audit acknowledge key_4be2f08a51c7d936 --reason "Row lost with a disk page" --json',
    ],
    `
It verifies the whole history first, and refuses if anything but rows is wrong: a broken seal, entry or checkpoint cannot be acknowledged.
The rows stay as they are. Put right what you can before: docs/operating/runbook.md, under "audit verify is red".`,
  )
    .argument('<row...>', 'the rows as audit verify names them: pay_…, mer_…, key_…')
    .requiredOption(
      '--reason <text>',
      'what happened and who decided it; part of the history for ever, so nothing personal',
    )
    .action(acknowledge);
}

async function acknowledge(rows: string[], options: AcknowledgeOptions): Promise<void> {
  const reason = options.reason.trim();
  const wrong = reasonFault(reason);
  if (wrong) throw new UsageError(`--reason: ${wrong}`);
  await withStore(options, async (store) => {
    const wanted = new Set(rows);
    const { faults, others } = await findFaults(store, wanted);
    for (const fault of faults) requireNameable(fault);
    const left = [...wanted].filter((row) => !faults.some(({ subject }) => subject === row));
    if (left.length > 0)
      throw new Failure(
        `${left.join(', ')} ${left.length === 1 ? 'is' : 'are'} as the history says, or no row: name rows as audit verify does. Nothing was recorded`,
      );
    await store.journal.commit((transaction) => acknowledgeFaults(transaction, OPERATOR, faults, reason));
    const acknowledged = faults.map(({ subject, kind: fault, entry = null }) => ({ subject, fault, entry }));
    const lines = faults.map(({ problem }) => `Acknowledged: ${problem}.`);
    if (others > 0) lines.push(`${counted(others, 'other row')} still not as the history says.`);
    const text = [...lines, 'Next: counterfoil audit verify'].join('\n');
    print(options, { json: { acknowledged, reason, others }, text });
  });
}

/**
 * Verifies everything. Returns the faults of the `wanted` rows, and how many other rows are at fault. Throws `Failure` if the history
 * itself is broken.
 */
async function findFaults(
  { configuration, database }: Store,
  wanted: ReadonlySet<string>,
): Promise<{ faults: RowFault[]; others: number }> {
  const faults: RowFault[] = [];
  const onFault = (fault: RowFault) => wanted.has(fault.subject) && faults.push(fault);
  const reading = readCheckpoints(configuration.storage);
  try {
    await verifying(database, reading, { onFault });
    return { faults, others: 0 };
  } catch (error) {
    if (!(error instanceof HistoryBroken)) throw error;
    if (error.rows === 0)
      throw new Failure(
        `the history itself is broken, which cannot be acknowledged: ${error.message}. See counterfoil audit verify`,
      );
    return { faults, others: error.rows - faults.length };
  }
}

/** Throws `Failure` if a row cannot be the subject of an entry. */
function requireNameable({ subject, problem, isNameable }: RowFault): void {
  if (!isNameable)
    throw new Failure(`${problem}, and ${subject} is no id that this program makes: delete the row`);
}

/** Faults of rows that are listed at most, and those that a person is shown. */
const FAULTS_MAXIMUM = 1000;
const FAULTS_SHOWN = 20;

interface VerifyCommandOptions extends StoreOptions {
  since?: number;
  checkpoints?: string;
  key?: string;
}

function auditVerifyCommand(): Command {
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
    const result = await withDatabase(configuration, (database) =>
      verifying(database, reading, { onFault, onAcknowledged, since, copy }),
    );
    if (since === undefined || since === 1) keep(true);
    const other_key = copy?.key !== undefined && reading.key !== undefined && copy.key !== reading.key;
    console.log(
      json
        ? JSON.stringify({ verified: true, ...result, acknowledgements, ...(copy && { other_key }) })
        : toldVerified(result, other_key) + toldKnown(acknowledgements, configuration.time_zone),
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
function toldVerified(result: Verification, otherKey: boolean): string {
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
