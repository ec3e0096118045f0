// counterfoil statements: reads bank statements, says what they hold, and imports them.
import { Command } from 'commander';
import type { Balance, Statement } from '#bank-statements';
import { signedAmount } from '#bank-statements';
import { counted } from '../../lib/counted.ts';
import { gapFaults } from '../../statements/gap.ts';
import { faultLine } from '../../statements/import-file.ts';
import { addText } from './arguments.ts';
import { type CsvFlags, csvFlags, csvOptions, seenText } from './statements-csv.ts';
import { importFiles, readFile } from './statements-import.ts';
import { matchFiles } from './statements-match.ts';
import { columns } from './terminal.ts';
import { CONFIG_OPTION, JSON_OPTION } from './usage.ts';

export function statementsCommand(): Command {
  return new Command('statements')
    .description("the bank's statements: read, kept, and matched with payments")
    .addHelpText(
      'after',
      '\nExamples:\n  counterfoil statements check november.xml\n  counterfoil statements import november.xml\n  counterfoil statements match',
    )
    .addCommand(
      new Command('check')
        .description('read statements and say what they hold and what is wrong; nothing is stored')
        .argument('<file...>', 'CAMT.052, 053 or 054, MT940, MT942, OFX or CSV; also in a ZIP archive')
        .addOption(csvFlags()[0]!)
        .addOption(csvFlags()[1]!)
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
      new Command('import')
        .description('keep statements in the store; what it knows already adds nothing')
        .argument('<file...>', 'as for check')
        .option('--despite-faults', 'import what is right although something is wrong')
        .option('--dry-run', 'say what would be imported, and import nothing')
        .addOption(csvFlags()[0]!)
        .addOption(csvFlags()[1]!)
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
    .addCommand(
      new Command('match')
        .description('say which payments the credits are for, and why; nothing is changed')
        .argument('[file...]', 'as for check; without one, the open lines of the store')
        .option(
          '--prefix <text...>',
          'what you write before references, in place of statements.prefixes',
          addText,
        )
        .addOption(csvFlags()[0]!)
        .addOption(csvFlags()[1]!)
        .option(...CONFIG_OPTION)
        .option(...JSON_OPTION)
        .addHelpText(
          'after',
          '\nExamples:\n  counterfoil statements match november.xml\n  counterfoil statements match --json',
        )
        .action(matchFiles),
    );
}

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
  const csv = read.flatMap((one) => one.csv ?? []);
  if (json) console.log(JSON.stringify({ statements, faults, ...(csv.length > 0 && { csv }) }));
  else {
    for (const one of csv) console.log(`${seenText(one)}\n`);
    for (const statement of statements) console.log(`${told(statement)}\n`);
    for (const fault of faults) console.log(faultLine(fault));
    const lines = statements.reduce((sum, one) => sum + one.lines.length, 0);
    console.log(
      `${counted(statements.length, 'statement')}, ${counted(lines, 'line')}, ${counted(faults.length, 'fault')}.`,
    );
  }
  if (faults.length > 0) process.exitCode = 1;
}

function told({ file, format, account, number, from, to, opening, closing, lines }: Statement): string {
  const sum = (direction: string) =>
    lines
      .filter((line) => line.status === 'booked' && line.direction === direction)
      .reduce((sum, line) => sum + BigInt(line.amountMinor), 0n);
  const balance = (one: Balance | undefined) =>
    one ? `${signedAmount(one.minor)} ${one.currency}` : 'not named';
  const pending = lines.filter(({ status }) => status === 'pending').length;
  const name = [account.iban ?? account.other ?? 'not named: give --account to import it', account.currency];
  return columns([
    [file, `${format}${number === undefined ? '' : `, number ${number}`}`],
    ['  account', name.filter(Boolean).join(', ')],
    ['  days', [from, to].filter(Boolean).join(' to ') || 'not named'],
    [
      '  lines',
      lines.length === 0 ? 'none' : `${lines.length}${pending > 0 ? `, ${pending} of them pending` : ''}`,
    ],
    ['  credits', signedAmount(sum('credit'))],
    ['  debits', signedAmount(sum('debit'))],
    ['  opening', balance(opening)],
    ['  closing', balance(closing)],
  ]);
}
