// counterfoil statements: reads bank statements and says what they hold.
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { Command } from 'commander';
import { counted } from '../lib/counted.ts';
import { signedAmount } from '../statements/balance.ts';
import { gapFaults } from '../statements/gap.ts';
import { FILE_BYTES_MAXIMUM, readStatements } from '../statements/read.ts';
import type { Balance, ReadStatements, Statement } from '../statements/statement.ts';
import { columns } from './terminal.ts';
import { JSON_OPTION } from './usage.ts';

export function statementsCommand(): Command {
  return new Command('statements')
    .description("read the bank's statements")
    .addHelpText('after', '\nExample:\n  counterfoil statements check november.xml')
    .addCommand(
      new Command('check')
        .description('read statements and say what they hold and what is wrong; nothing is stored')
        .argument('<file...>', 'CAMT.052, 053 or 054, MT940 or MT942; also in a ZIP archive')
        .option(...JSON_OPTION)
        .addHelpText(
          'after',
          `
Examples:
  counterfoil statements check november.xml
  counterfoil statements check statements/*.sta --json`,
        )
        .action(check),
    );
}

/** `counterfoil statements check`. Sets exit code 1 if there is a fault. */
function check(files: readonly string[], { json }: { json?: boolean }): void {
  const read = files.map(readFile);
  const statements = read.flatMap((one) => one.statements);
  const faults = [
    ...read.flatMap((one) => one.faults),
    ...statements.flatMap(({ file, faults }) => faults.map((fault) => ({ file, ...fault }))),
    ...gapFaults(statements),
  ];
  if (json) console.log(JSON.stringify({ statements, faults }));
  else {
    for (const statement of statements) console.log(`${told(statement)}\n`);
    for (const { file, line, text } of faults) console.log(`${line > 0 ? `${file}:${line}` : file}: ${text}`);
    const lines = statements.reduce((sum, one) => sum + one.lines.length, 0);
    console.log(
      `${counted(statements.length, 'statement')}, ${counted(lines, 'line')}, ${counted(faults.length, 'fault')}.`,
    );
  }
  if (faults.length > 0) process.exitCode = 1;
}

function readFile(path: string): ReadStatements {
  const name = basename(path);
  if (statSync(path).size <= FILE_BYTES_MAXIMUM) return readStatements(readFileSync(path), name);
  return { statements: [], faults: [{ file: name, line: 0, text: 'The file is larger than 64 MB.' }] };
}

function told({ file, format, account, number, from, to, opening, closing, lines }: Statement): string {
  const sum = (direction: string) =>
    lines
      .filter((line) => line.status === 'booked' && line.direction === direction)
      .reduce((sum, line) => sum + BigInt(line.amountMinor), 0n);
  const balance = (one: Balance | undefined) =>
    one ? `${signedAmount(one.minor)} ${one.currency}` : 'not named';
  const pending = lines.filter(({ status }) => status === 'pending').length;
  const name = [account.iban ?? account.other ?? 'no account', account.currency].filter(Boolean).join(' ');
  return columns([
    [file, `${format}${number === undefined ? '' : `, number ${number}`}`],
    ['  account', name],
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
