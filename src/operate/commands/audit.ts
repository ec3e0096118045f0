// counterfoil audit: the commands about the history and its proof, and the one that writes it out for a third party.
import { resolve } from 'node:path';
import { Command } from 'commander';
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
import { CONFIG_OPTION, JSON_NEEDS_OUTPUT, UsageError } from './usage.ts';

interface ExportCommandOptions {
  since?: number;
  output?: string;
  config?: string;
  json?: boolean;
}

export function auditCommand(): Command {
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
