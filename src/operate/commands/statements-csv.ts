// Options for CSV files, and the text that shows how a CSV file was read.
import { InvalidArgumentError, Option } from 'commander';
import type { CsvSeen, ReadOptions } from '#bank-statements';
import {
  CSV_CHOICES,
  CSV_ROLES,
  type CsvRole,
  ENCODINGS,
  type Encoding,
  mergedLayout,
  type PartialLayout,
  parseChoices,
  thousandsMark,
} from '#bank-statements';
import { columns } from './terminal.ts';

/** What the options give. */
export interface CsvFlags {
  csv?: PartialLayout;
  account?: string;
  encoding?: Encoding;
}

/** The options of commands that read statements. */
export const csvFlags = (): Option[] => [
  new Option(
    '--csv <choice...>',
    'how CSV is read: dates=dmy, decimal=comma, text=Purpose+Note and others',
  ).argParser((text: string, before?: PartialLayout) => {
    const read = parseChoices([text]);
    if (typeof read === 'string') throw new InvalidArgumentError(read);
    return mergedLayout(before ?? { columns: {} }, read);
  }),
  new Option(
    '--account <account>',
    'the account of files that do not name theirs; one that names another is refused',
  ),
  new Option('--encoding <encoding>', 'of files that do not name theirs; without it the bytes tell').choices(
    ENCODINGS,
  ),
];

export const csvOptions = ({ csv, account, encoding }: CsvFlags): ReadOptions => ({
  ...(csv && { choices: csv }),
  ...(account !== undefined && { account }),
  ...(encoding && { encoding }),
});

/** How a file was read, and how to say it otherwise. */
export function seenText({
  file,
  profile,
  isRemembered,
  headerLine,
  layout,
  sample,
  names,
  questions,
}: CsvSeen): string {
  const known = isRemembered
    ? 'as it was read before'
    : profile === undefined
      ? 'by the names of its columns'
      : `as ${profile}`;
  const where = headerLine === undefined ? 'no row of names' : `names in line ${headerLine}`;
  const choices = (Object.keys(CSV_CHOICES) as (keyof typeof CSV_CHOICES)[]).map((key) => {
    const word = layout[key];
    if (word !== undefined) return [`  ${key}`, word, meaning(key, word)];
    return questions.length > 0 ? [`  ${key}`, '?', ''] : [`  ${key}`, '-', 'the file does not need it'];
  });
  const groups = thousandsMark(sample.flat(), layout.decimal);
  const roles = Object.entries(layout.columns).map(([role, held]) => [
    `  ${role}`,
    held.join('+'),
    CSV_ROLES[role as CsvRole],
  ]);
  const unused = names.filter((name) => !Object.values(layout.columns).flat().includes(name));
  return [
    `${file}: read ${known}, ${where}`,
    columns([
      ...choices,
      ...(groups ? [['  thousands', groups, '']] : []),
      ...(layout.currency === undefined ? [] : [['  currency', layout.currency, 'of lines that name none']]),
      ...roles,
      ...(unused.length > 0 ? [['  not read', unused.join(', '), '']] : []),
    ]),
    ...questions.map(({ key }) => `  To answer: ${key === 'columns' ? columnsHint(layout) : HINTS[key]}`),
  ].join('\n');
}

const meaning = (key: keyof typeof CSV_CHOICES, word: string) =>
  (CSV_CHOICES[key] as Readonly<Record<string, string>>)[word] ?? '';

/** What to type for the columns: with the guess, for who finds it right, where there is one. */
function columnsHint({ columns }: CsvSeen['layout']): string {
  const guessed = Object.entries(columns).map(([role, held]) => {
    const names = held.join('+');
    return /^[\w#.+-]+$/.test(names) ? `${role}=${names}` : `${role}="${names}"`;
  });
  const typed = guessed.length > 0 ? guessed.join(' ') : 'day=NAME amount=NAME text=NAME';
  return `--csv ${typed}, or other names of columns, or #1, #2, …`;
}

const HINTS: Record<Exclude<CsvSeen['questions'][number]['key'], 'columns'>, string> = {
  currency: '--csv currency=EUR, or currency=NAME of a column',
  status: '--csv booked=WORD, pending=WORD or void=WORD',
  ...(Object.fromEntries(
    Object.entries(CSV_CHOICES).map(([key, words]) => [
      key,
      Object.keys(words)
        .map((word) => `--csv ${key}=${word}`)
        .join(' or '),
    ]),
  ) as Record<keyof typeof CSV_CHOICES, string>),
};
