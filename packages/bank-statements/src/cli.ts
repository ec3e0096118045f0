// The command `bank-statements`: reads files and writes what they hold, as text, JSON or CSV.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { signedAmount } from './balance.ts';
import { type PartialLayout, parseChoices } from './csv-layout.ts';
import { ENCODINGS, type Encoding } from './encodings.ts';
import { overviewOf } from './overview.ts';
import { type ReadStatements, readStatements } from './read.ts';
import type { Statement, StatementLine } from './statement.ts';

const USAGE = `Usage: bank-statements FILE... [--json|--csv] [--set CHOICE...] [--account ACCOUNT] [--encoding NAME]

Reads CAMT.052, 053 and 054, MT940, MT942, OFX and CSV, also in ZIP archives, and writes what the files hold.

  --json       everything, as JSON
  --csv        a row for each line, as CSV
  --set        how a CSV file is read: dates=dmy, decimal=comma, sign=signed, currency=EUR, amount=NAME, booked=WORD, …
  --account    the account of CSV files that do not name theirs
  --encoding   of files that do not name theirs: ${ENCODINGS.join(', ')}

Exit code: 0 if everything was read, 1 if there is a fault or a question, 2 for a wrong command.
`;

/** Runs the command. Returns its exit code. */
export function main(args: readonly string[]): number {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  const { values, positionals, choices } = parsed;
  if (values.help || positionals.length === 0) {
    console.log(USAGE);
    return values.help ? 0 : 2;
  }
  const read = positionals.map((path) =>
    readStatements(readFileSync(path), basename(path), {
      ...(choices && { choices }),
      ...(values.account !== undefined && { account: values.account }),
      ...(values.encoding !== undefined && { encoding: values.encoding as Encoding }),
    }),
  );
  const all: ReadStatements = {
    statements: read.flatMap(({ statements }) => statements),
    faults: read.flatMap(({ faults }) => faults),
    notes: read.flatMap(({ notes = [] }) => notes),
    csv: read.flatMap(({ csv = [] }) => csv),
  };
  if (values.json) console.log(JSON.stringify(all, null, 2));
  else if (values.csv) console.log(csvText(all.statements));
  else console.log(all.statements.map(statementText).join('\n'));
  for (const one of [...faultsOf(all, 'notes'), ...faultsOf(all, 'faults')]) console.error(one);
  return faultsOf(all, 'faults').length > 0 ? 1 : 0;
}

function parse(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: 'boolean' },
      csv: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      set: { type: 'string', multiple: true },
      account: { type: 'string' },
      encoding: { type: 'string' },
    },
  });
  if (values.encoding !== undefined && !ENCODINGS.some((one) => one === values.encoding))
    throw new Error(`--encoding must be one of ${ENCODINGS.join(', ')}.`);
  const choices: PartialLayout | string | undefined = values.set && parseChoices(values.set);
  if (typeof choices === 'string') throw new Error(`--set: ${choices}`);
  return { values, positionals, choices };
}

const faultsOf = (all: ReadStatements, kind: 'faults' | 'notes'): string[] =>
  [
    ...(all[kind] ?? []),
    ...all.statements.flatMap((one) => (one[kind] ?? []).map((fault) => ({ file: one.file, ...fault }))),
  ].map(({ file, line, text, warning }) => {
    const begin = kind === 'faults' ? '' : warning ? 'warning: ' : 'note: ';
    return `${begin}${line > 0 ? `${file}:${line}` : file}: ${text}`;
  });

function statementText(statement: Statement): string {
  const { file, format, account, from, to, closing } = statement;
  const { lines, pending, creditMinor, debitMinor } = overviewOf(statement);
  const money =
    `in ${signedAmount(creditMinor)}, out ${signedAmount(debitMinor)} ${account.currency ?? ''}`.trim();
  return [
    `${file}: ${format}, account ${account.iban ?? account.other ?? 'not named'}, ${[from, to].filter(Boolean).join(' to ') || 'no days named'}`,
    `  ${lines} lines${pending > 0 ? `, ${pending} of them pending` : ''}: ${money}${closing ? `, closing balance ${signedAmount(closing.minor)}` : ''}`,
    ...statement.lines.map((line) => `  ${lineText(line)}`),
  ].join('\n');
}

const signed = ({ direction, amountMinor }: StatementLine) =>
  signedAmount(direction === 'debit' ? -amountMinor : amountMinor);

const lineText = (line: StatementLine): string =>
  [
    line.bookingDay ?? line.valueDay ?? 'no day',
    `${signed(line)} ${line.currency}`,
    line.counterparty.name,
    line.text.replaceAll('\n', ' '),
    line.status === 'pending' && 'pending',
  ]
    .filter(Boolean)
    .join('  ');

const NAMES =
  'file,account,booking_day,value_day,amount,currency,status,name,counterparty,text,end_to_end,creditor_reference,bank_reference,fingerprint';

function csvText(statements: readonly Statement[]): string {
  const cell = (text = '') => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = statements.flatMap(({ file, account, lines }) =>
    lines.map((line) =>
      [
        ...[file, account.iban ?? account.other, line.bookingDay, line.valueDay, signed(line), line.currency],
        ...[line.status, line.counterparty.name, line.counterparty.account, line.text],
        ...[line.references.endToEnd, line.references.creditor, line.references.bank, line.fingerprint],
      ]
        .map(cell)
        .join(','),
    ),
  );
  return [NAMES, ...rows].join('\r\n');
}
