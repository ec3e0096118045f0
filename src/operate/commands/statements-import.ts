// counterfoil statements import: keeps bank statements in the store, each file whole or not at all, and shows what they hold.
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import {
  type Balance,
  CSV_CHOICES,
  CSV_ROLES,
  type CsvRole,
  type CsvSeen,
  ENCODINGS,
  type Encoding,
  FILE_BYTES_MAXIMUM,
  mergedLayout,
  type Overview,
  overviewOf,
  type PartialLayout,
  parseChoices,
  type ReadOptions,
  type ReadStatements,
  readStatements,
  type Statement,
  type StatementLine,
  signedAmount,
  thousandsMark,
} from '#bank-statements';
import { dayInWords, daysInWords } from '../../review/told.ts';
import { type Imported, importedText } from '../../statements/import.ts';
import {
  type CheckedFile,
  checkFile,
  type FileFault,
  faultLine,
  importFile,
  isUnseen,
  layoutsOf,
} from '../../statements/import-file.ts';
import { type ReadFile, readBeside } from '../../statements/read-beside.ts';
import { readingOptions } from '../../statements/remembered.ts';
import { OPERATOR, type StoreOptions, withStore } from './store.ts';
import { columns, Failure, printBesideBar, shownPath, withProgressBar } from './terminal.ts';

interface Options extends StoreOptions, CsvFlags {
  despiteFaults?: boolean;
  dryRun?: boolean;
  confirm?: boolean;
}

interface Told {
  file: string;
  statements: Record<string, unknown>[] | null;
  faults: FileFault[];
  notes: FileFault[];
}

/** `counterfoil statements import`. Sets exit code 1 if there is a fault. Throws what `withStore` throws. */
export async function importFiles(files: readonly string[], options: Options): Promise<void> {
  const { despiteFaults = false, dryRun = false, confirm = false, json } = options;
  await withStore(options, async ({ configuration, database, journal }) => {
    const told: Told[] = [];
    const csv = { ...csvOptions(options), ...(await readingOptions(database, configuration.methods)) };
    const sizes = files.map((path) => statSync(path).size);
    const all = sum(sizes);
    await withProgressBar('importing', async (onProgress) => {
      for (const [i, path] of files.entries()) {
        onProgress(sum(sizes.slice(0, i)), all);
        const read = await readLarge(path, csv);
        const checked = checkFile(read, configuration.methods, confirm, csv);
        if (confirm) checked.confirmed?.push(...layoutsOf(read, checked.statements));
        const begun = sum(sizes.slice(0, i));
        const onTurn = (_: unknown, done: number, of: number) =>
          onProgress(begun + Math.floor((sizes[i]! * done) / Math.max(1, of)), all);
        const imported = await importFile(journal, checked, OPERATOR, { despiteFaults, dryRun, onTurn });
        const { faults, notes } = checked;
        told.push({ file: basename(path), statements: imported?.map(shown) ?? null, faults, notes });
        if (!json && !confirm) printUnseen(read);
        if (!json) printBesideBar(fileText(basename(path), imported, checked, read));
      }
    });
    if (json) console.log(JSON.stringify({ dry_run: dryRun, files: told }));
    else if (dryRun) console.log('Nothing was imported: this was a dry run.');
    if (told.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
  });
}

function printUnseen({ csv = [], statements, told }: ReadFile): void {
  for (const one of csv.filter(isUnseen)) {
    const its = statements.flatMap((its, i) =>
      its.file === one.file ? [statementText(its, told[i]!.overview)] : [],
    );
    printBesideBar([seenText(one), ...its, ''].join('\n'));
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

/** Reads a file of which no more than some thousand lines are held. */
async function readLarge(path: string, csv: ReadOptions): Promise<ReadFile> {
  const { size } = statSync(path);
  const isRead = size > 0 && size <= FILE_BYTES_MAXIMUM && statSync(path).isFile();
  if (isRead) return readBeside(readFileSync(path), basename(path), csv);
  const read = readFile(path, csv);
  return { ...read, told: [], bytes: () => undefined };
}

/** The statements of a file. One that is too large is a fault. Throws what Node throws for a file that cannot be read. */
export function readFile(path: string, csv?: ReadOptions): ReadStatements {
  const name = basename(path);
  const status = statSync(path);
  if (status.isDirectory()) throw new Failure(`${shownPath(path)} is a folder: name the files in it`);
  if (status.size <= FILE_BYTES_MAXIMUM) return readStatements(readFileSync(path), name, csv);
  return { statements: [], faults: [{ file: name, line: 0, text: 'The file is larger than 64 MB.' }] };
}

function shown({ id, account, statement, added, booked, known }: Imported) {
  const { format, number, from, to } = statement;
  return { id, account, format, number, from, to, added, booked, known };
}

function fileText(
  file: string,
  imported: Imported[] | undefined,
  checked: CheckedFile,
  { statements: inFile, csv = [] }: ReadStatements,
): string {
  const statements = (imported ?? []).map((one) => {
    const { number, from, to } = one.statement;
    const what = [one.account, number && `number ${number}`, daysInWords(from, to)];
    return `  ${what.filter(Boolean).join(', ')}: ${importedText(one)}`;
  });
  const isLook = csv.some(isUnseen) && checked.confirmed === undefined;
  const isNothing = checked.statements.length === 0 && checked.faults.length > 0;
  const isNameless = inFile.some(
    ({ format, account }) => format === 'csv' && (account.iban ?? account.other) === undefined,
  );
  const remedy = isLook
    ? 'If the lines above are right, repeat with --confirm; else say it with --csv'
    : isNameless
      ? 'Say the account with --account'
      : 'Put that right, and import the file again';
  const advice = isNothing ? `${remedy}.` : 'To import what is right: --despite-faults';
  const refused = imported === undefined || isNothing ? [`  Not imported. ${advice}`] : [];
  const notes = checked.notes.map((one) => `  ${faultLine(one)}`);
  return [
    file,
    ...statements,
    ...notes,
    ...checked.faults.map((one) => `  ${faultLine(one)}`),
    ...refused,
  ].join('\n');
}

/** A statement with its sums, and of CSV the first, last and largest line. */
export function statementText(statement: Statement, overview: Overview = overviewOf(statement)): string {
  const { file, format, account, number, from, to, opening, closing } = statement;
  const { lines, pending, creditMinor, debitMinor, reachedMinor, shown } = overview;
  const balance = (one: Balance | undefined) =>
    one ? `${signedAmount(one.minor)} ${one.currency}` : 'not named';
  const name = [account.iban ?? account.other ?? 'not named: give --account to import it', account.currency];
  return columns([
    [file, `${format}${number === undefined ? '' : `, number ${number}`}`],
    ['  account', name.filter(Boolean).join(', ')],
    ['  days', daysInWords(from, to) || 'not named'],
    ['  lines', lines === 0 ? 'none' : `${lines}${pending > 0 ? `, ${pending} of them pending` : ''}`],
    ['  credits', signedAmount(creditMinor)],
    ['  debits', signedAmount(debitMinor)],
    ['  opening', balance(opening)],
    ['  closing', balance(closing)],
    ...(format === 'csv'
      ? [...reached(reachedMinor), ...shown.map(({ what, line }) => [`  ${what}`, lineText(line)])]
      : []),
  ]);
}

const reached = (minor: bigint | undefined) =>
  minor === undefined
    ? []
    : [['  by the lines', `${signedAmount(minor)}, which the opening balance and the lines come to`]];

function lineText(line: StatementLine): string {
  const { at, bookingDay, valueDay, direction, amountMinor, currency, counterparty, text } = line;
  const amount = signedAmount(direction === 'debit' ? -amountMinor : amountMinor);
  const words = [counterparty.name, text.replaceAll('\n', ' ')].filter(Boolean).join(': ');
  const day = bookingDay ?? valueDay;
  return `line ${at}: ${day === undefined ? 'no day' : dayInWords(day)}  ${amount} ${currency}  ${words.slice(0, 60)}`;
}

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
export function seenText(seen: CsvSeen): string {
  const { file, profile, isRemembered, headerLine, layout, sample, names, questions } = seen;
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
