// counterfoil audit: the commands about the history and its proof, and the one that writes it out for a third party.
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { exportHistory, markCheckpoints, NoSuchEntry } from '../../journal/export.ts';
import { counted } from '../../lib/counted.ts';
import { systemClock } from '../../lib/time.ts';
import { parseEntry } from './arguments.ts';
import { auditAcknowledgeCommand } from './audit-acknowledge.ts';
import { auditRestoredCommand } from './audit-restored.ts';
import { auditVerifyCommand } from './audit-verify.ts';
import { writeFile, writeOut } from './output.ts';
import { configured, withDatabase } from './store.ts';
import { Failure, shownPath, withProgressBar } from './terminal.ts';
import { CONFIG_OPTION, JSON_NEEDS_OUTPUT, newCommand, UsageError } from './usage.ts';

interface ExportCommandOptions {
  since?: number;
  output?: string;
  config?: string;
  json?: boolean;
}

export function auditCommand(): Command {
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
