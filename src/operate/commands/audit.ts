// counterfoil audit: the commands about the history and its proof, and the one that writes it out for a third party.

import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { checkpointFiles, readCheckpoints } from '../../journal/checkpoint.ts';
import { exportHistory, markCheckpoints, NoSuchEntry } from '../../journal/export.ts';
import { KNOWN_SEAL_FILE, type OtherHistory, otherHistory } from '../../journal/known-seal.ts';
import { acknowledgeFaults, type RowFault } from '../../journal/row-fault.ts';
import { HistoryBroken, verifyHistory } from '../../journal/verify.ts';
import { counted } from '../../lib/counted.ts';
import { sync } from '../../lib/durable-files.ts';
import { momentsIn } from '../../lib/moments.ts';
import { systemClock } from '../../lib/time.ts';
import { reasonFault } from '../../merchants/suspend.ts';
import { holdStorage } from '../../store/open.ts';
import { ROW_CHECKS } from '../checks/row-checks.ts';
import { type Configuration, configurationFile, readConfiguration } from '../config.ts';
import { parseEntry } from './arguments.ts';
import { auditVerifyCommand } from './audit-verify.ts';
import { freshFolder } from './backup-folder.ts';
import {
  configured,
  lendStore,
  OPERATOR,
  requireStore,
  type Store,
  type StoreOptions,
  withDatabase,
  withStore,
} from './store.ts';
import { Failure, print, shownPath, withProgressBar, writeFile, writeOut } from './terminal.ts';
import { CONFIG_OPTION, JSON_NEEDS_OUTPUT, newCommand, UsageError } from './usage.ts';

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
  for (const command of [auditVerifyCommand(), exporting, auditAcknowledgeCommand(), auditRestoredCommand()])
    audit.addCommand(
      command
        .option(...CONFIG_OPTION)
        .option('--json', `print one JSON document${command === exporting ? ', with --output' : ''}`),
    );
  return audit;
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

function auditRestoredCommand(): Command {
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
  const release = holdStorage(configuration);
  try {
    const other = await recordRestored(configuration);
    tell(other, await moveCheckpointsAside(configuration.storage), configuration, options.json);
  } finally {
    release();
  }
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

function tell(
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
    await withProgressBar('verifying', (onProgress) =>
      verifyHistory(database, reading, ROW_CHECKS, { onProgress, onFault }),
    );
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
