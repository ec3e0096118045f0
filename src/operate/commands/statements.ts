// counterfoil statements: reads bank statements, says what they hold, and imports them.
import { Command } from 'commander';
import { counted } from '../../lib/counted.ts';
import { faultLine, gapFaults } from '../../statements/import-file.ts';
import { undoImport } from '../../statements/undo.ts';
import { addText } from './arguments.ts';
import {
  type CsvFlags,
  csvFlags,
  csvOptions,
  importFiles,
  readFile,
  seenText,
  statementText,
} from './statements-import.ts';
import { matchFiles } from './statements-match.ts';
import { OPERATOR, onStore, type Store } from './store.ts';
import { CONFIG_OPTION, JSON_OPTION, newCommand } from './usage.ts';

export function command(): Command {
  return newCommand('statements', "the bank's statements: read, kept, and matched with payments", [
    'statements check november.xml',
    'statements import november.xml',
    'statements match',
  ])
    .addCommand(
      withCsvFlags(new Command('check'))
        .description('read statements and say what they hold and what is wrong; nothing is stored')
        .argument('<file...>', 'CAMT.052, 053 or 054, MT940, MT942, OFX or CSV; also in a ZIP archive')
        .option(...JSON_OPTION)
        .addHelpText(
          'after',
          `
Examples:
  counterfoil statements check november.xml
  counterfoil statements check statements/*.sta --json
  counterfoil statements check november.csv --csv dates=dmy sign=signed currency=GBP`,
        )
        .action(check),
    )
    .addCommand(
      withCsvFlags(new Command('import'))
        .description('keep statements in the store; what it knows already adds nothing')
        .argument('<file...>', 'as for check')
        .option('--despite-faults', 'import what is right although something is wrong')
        .option('--dry-run', 'say what would be imported, and import nothing')
        .option(
          '--confirm',
          'the lines of a CSV file were looked at and are right; it is asked once for each account',
        )
        .option(...CONFIG_OPTION)
        .option(...JSON_OPTION)
        .addHelpText(
          'after',
          `
Each file is imported whole or not at all.

Examples:
  counterfoil statements import november.xml
  counterfoil statements import statements/*.sta --dry-run`,
        )
        .action(importFiles),
    )
    .addCommand(undoCommand())
    .addCommand(
      withCsvFlags(new Command('match'))
        .description('say which payments the credits are for, and why; nothing is changed')
        .argument('[file...]', 'as for check; without one, the open lines of the store')
        .option(
          '--prefix <text...>',
          'what you write before references, in place of statements.prefixes',
          addText,
        )
        .option(...CONFIG_OPTION)
        .option(...JSON_OPTION)
        .addHelpText(
          'after',
          '\nExamples:\n  counterfoil statements match november.xml\n  counterfoil statements match --json',
        )
        .action(matchFiles),
    );
}

const undoCommand = (): Command =>
  new Command('undo')
    .description('undo an import of which nothing was decided; its file can be imported again')
    .argument('<statement>', 'the id of the statement: stm_…, as import --json and the history name it')
    .option(...CONFIG_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExamples:\n  counterfoil statements undo stm_01k9t8a2zq4m')
    .action(onStore(undo));

async function undo({ journal }: Store, id: string) {
  const lines = await journal.commit((transaction) => undoImport(transaction, id, OPERATOR));
  return {
    json: { statement: id, lines },
    text: `${id} is undone: ${counted(lines, 'line')} of it no longer count.`,
  };
}

const withCsvFlags = (command: Command): Command =>
  csvFlags().reduce((one, option) => one.addOption(option), command);

/** `counterfoil statements check`. Sets exit code 1 if there is a fault. */
function check(files: readonly string[], options: CsvFlags & { json?: boolean }): void {
  const { json } = options;
  const read = files.map((path) => readFile(path, csvOptions(options)));
  const statements = read.flatMap((one) => one.statements);
  const faults = [
    ...read.flatMap((one) => one.faults),
    ...statements.flatMap(({ file, faults }) => faults.map((fault) => ({ file, ...fault }))),
    ...gapFaults(statements),
  ];
  const notes = [
    ...read.flatMap((one) => one.notes ?? []),
    ...statements.flatMap(({ file, notes = [] }) => notes.map((note) => ({ file, ...note }))),
  ];
  const csv = read.flatMap((one) => one.csv ?? []);
  if (json)
    console.log(
      JSON.stringify({
        statements,
        faults,
        ...(notes.length > 0 && { notes }),
        ...(csv.length > 0 && { csv }),
      }),
    );
  else {
    for (const one of csv) console.log(`${seenText(one)}\n`);
    for (const statement of statements) console.log(`${statementText(statement)}\n`);
    for (const one of [...notes, ...faults]) console.log(faultLine(one));
    const lines = statements.reduce((sum, one) => sum + one.lines.length, 0);
    console.log(
      `${counted(statements.length, 'statement')}, ${counted(lines, 'line')}, ${counted(faults.length, 'fault')}.`,
    );
  }
  if (faults.length > 0) process.exitCode = 1;
}
