// counterfoil statements: reads bank statements, says what they hold, imports them, and says which payments they are for.
import { Command } from 'commander';
import type { ReadStatements } from '#bank-statements';
import { formatAmount } from '../../lib/money.ts';
import { counted } from '../../lib/text.ts';
import { systemClock } from '../../lib/time.ts';
import { dayInWords } from '../../review/told.ts';
import { faultLine, gapFaults } from '../../statements/import-file.ts';
import { MATCH_LEVELS, type Proposal } from '../../statements/matching/judge-line.ts';
import { type BankLine, mayMatch, unkeptLine } from '../../statements/matching/line-evidence.ts';
import { openLines, proposeBeside } from '../../statements/matching/open-lines.ts';
import type { LineProposals } from '../../statements/matching/propose.ts';
import { readingOptions } from '../../statements/remembered.ts';
import { undoImport } from '../../statements/undo.ts';
import { matchSettingsOf } from '../config.ts';
import {
  type CsvFlags,
  csvFlags,
  csvOptions,
  importFiles,
  readFile,
  seenText,
  statementText,
} from './statements-import.ts';
import { OPERATOR, onStore, type Store, type StoreOptions, withStore } from './store.ts';
import { columns } from './terminal.ts';
import { addCommands, addText, newCommand } from './usage.ts';

export function command(): Command {
  const checking = newCommand(
    'check',
    'read statements and say what they hold and what is wrong; nothing is stored',
    [
      'statements check november.xml',
      'statements check statements/*.sta --json',
      'statements check november.csv --csv dates=dmy sign=signed currency=GBP',
    ],
  ).argument('<file...>', 'CAMT.052, 053 or 054, MT940, MT942, OFX or CSV; also in a ZIP archive');
  const importing = new Command('import')
    .description('keep statements in the store; what it knows already adds nothing')
    .argument('<file...>', 'as for check');
  const matching = newCommand(
    'match',
    'say which payments the credits are for, and why; nothing is changed',
    ['statements match november.xml', 'statements match --json'],
  ).argument('[file...]', 'as for check; without one, the open lines of the store');
  for (const one of [checking, importing, matching]) for (const option of csvFlags()) one.addOption(option);
  checking.action(check);
  importing
    .option('--despite-faults', 'import what is right although something is wrong')
    .option('--dry-run', 'say what would be imported, and import nothing')
    .option(
      '--confirm',
      'the lines of a CSV file were looked at and are right; it is asked once for each account',
    )
    .addHelpText(
      'after',
      `
Each file is imported whole or not at all.

Examples:
  counterfoil statements import november.xml
  counterfoil statements import statements/*.sta --dry-run`,
    )
    .action(importFiles);
  matching
    .option(
      '--prefix <text...>',
      'what you write before references, in place of statements.prefixes',
      addText,
    )
    .action(matchFiles);
  const undoing = newCommand(
    'undo',
    'undo an import of which nothing was decided; its file can be imported again',
    ['statements undo stm_01k9t8a2zq4m'],
  )
    .argument('<statement>', 'the id of the statement: stm_…, as import --json and the history name it')
    .action(onStore(undo));
  const group = newCommand('statements', "the bank's statements: read, kept, and matched with payments", [
    'statements check november.xml',
    'statements import november.xml',
    'statements match',
  ]);
  return addCommands(group, [checking, importing, undoing, matching]);
}

async function undo({ journal }: Store, id: string) {
  const lines = await journal.commit((transaction) => undoImport(transaction, id, OPERATOR));
  return {
    json: { statement: id, lines },
    text: `${id} is undone: ${counted(lines, 'line')} of it no longer count.`,
  };
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

interface Options extends StoreOptions, CsvFlags {
  prefix?: string[];
}

/** `counterfoil statements match`. Throws what `withStore` throws. */
async function matchFiles(files: readonly string[], options: Options): Promise<void> {
  await withStore(options, async (store) => {
    const how = {
      ...matchSettingsOf(store.configuration),
      ...(options.prefix && { prefixes: options.prefix }),
      now: systemClock.now(),
    };
    const csv = {
      ...csvOptions(options),
      ...(await readingOptions(store.database, store.configuration.methods)),
    };
    const read = files.map((path) => readFile(path, csv));
    const faults = read.flatMap((one) => one.faults);
    const all =
      files.length > 0
        ? await proposeBeside(store.database, read.flatMap(linesOf), how)
        : await openLines(store.database, how);
    if (faults.length > 0) process.exitCode = 1;
    const matched = all.filter(({ line, proposals }) => mayMatch(line) || proposals.length > 0);
    if (options.json) return console.log(JSON.stringify({ lines: matched.map(shown), faults }));
    for (const fault of faults) console.log(faultLine(fault));
    for (const one of matched) console.log(`${lineText(one)}\n`);
    const best = ({ proposals }: LineProposals) => proposals[0]?.level;
    const counts = MATCH_LEVELS.map(
      (level) => `${matched.filter((one) => best(one) === level).length} ${level}`,
    );
    const without = matched.filter((one) => best(one) === undefined).length;
    console.log(`${counted(matched.length, 'line')}: ${counts.join(', ')}, ${without} without a proposal.`);
  });
}

const linesOf = ({ statements }: ReadStatements): BankLine[] =>
  statements.flatMap(({ file, lines }) =>
    lines.map((line) => unkeptLine(line, `${file}:${line.at}:${line.position}`)),
  );

function shown({ line, proposals }: LineProposals) {
  const { id, day, direction, amount_minor, currency, text, counterparty } = line;
  return {
    ...{ id, day, direction, amount: Number(formatAmount(amount_minor)), currency, text, counterparty },
    proposals: proposals.map(({ payment, ...proposal }) => ({
      ...{ payment_id: payment.id, merchant_reference: payment.merchant_reference },
      ...proposal,
    })),
  };
}

function lineText({ line, proposals }: LineProposals): string {
  const { day, amount_minor, currency, counterparty, text } = line;
  const head = [
    day === '' ? 'no day' : dayInWords(day),
    `${currency} ${formatAmount(amount_minor)}`,
    counterparty.name,
    text.replaceAll('\n', ' '),
  ];
  return [
    head.filter(Boolean).join('  '),
    proposals.length > 0 ? columns(proposals.map(proposalRow)) : '  No payment is proposed.',
  ].join('\n');
}

const proposalRow = ({ level, payment, sentence, act, facts }: Proposal): string[] => [
  `  ${level}`,
  payment.merchant_reference ?? payment.id,
  [sentence, act, ...facts.map(({ text }) => text)].join(' '),
];
