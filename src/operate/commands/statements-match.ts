// counterfoil statements match: says which payments the lines of a file or of the store are for, and why; it changes nothing.

import type { ReadStatements } from '#bank-statements';
import { counted } from '../../lib/counted.ts';
import { formatAmount } from '../../lib/money.ts';
import { systemClock } from '../../lib/time.ts';
import { dayInWords } from '../../review/told.ts';
import { faultLine } from '../../statements/import-file.ts';
import { MATCH_LEVELS, type Proposal } from '../../statements/matching/judge-line.ts';
import { type BankLine, mayMatch, unkeptLine } from '../../statements/matching/line-evidence.ts';
import { openLines, proposeBeside } from '../../statements/matching/open-lines.ts';
import type { LineProposals } from '../../statements/matching/propose.ts';
import { readingOptions } from '../../statements/remembered.ts';
import { matchSettingsOf } from '../surface-settings.ts';
import { type CsvFlags, csvOptions, readFile } from './statements-import.ts';
import { type StoreOptions, withStore } from './store.ts';
import { columns } from './terminal.ts';

interface Options extends StoreOptions, CsvFlags {
  prefix?: string[];
}

/** `counterfoil statements match`. Throws what `withStore` throws. */
export async function matchFiles(files: readonly string[], options: Options): Promise<void> {
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
