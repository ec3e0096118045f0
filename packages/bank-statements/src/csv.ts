// Reads CSV: finds the table and how it is written, asks what cannot be told, and makes statements of its rows.
import { isValidIBAN } from 'ibantools';
import { balanceFaults } from './balance.ts';
import { runningBalance } from './csv-balance.ts';
import { type CsvQuestion, detectLayout } from './csv-detect.ts';
import { type CsvEntries, type CsvEntry, partsOf, rowsRead } from './csv-entries.ts';
import { type CsvLayout, mergedLayout, type PartialLayout, type RememberedLayout } from './csv-layout.ts';
import { ownOf } from './csv-line.ts';
import { type CsvTable, csvTable } from './csv-table.ts';
import { sha256Of } from './digest.ts';
import type { Encoding } from './encodings.ts';
import { numbered } from './fingerprint.ts';
import type { Balance, Statement, StatementAccount } from './statement.ts';
import { present } from './values.ts';

/** What is known beside the file. */
export interface ReadOptions {
  /** The encoding of files that do not name theirs; without it the bytes tell. */
  encoding?: Encoding;
  /** The account that the bookkeeper chose, for files that do not name theirs. */
  account?: string;
  choices?: PartialLayout;
  remembered?: readonly RememberedLayout[];
  /** Own accounts with their currencies: the one currency of an account is that of CSV files which name none. */
  accounts?: readonly { account: string; currency: string }[];
}

/** How a file was read, for the preview: what a bookkeeper looks at and corrects. */
export interface CsvSeen {
  file: string;
  shape: string;
  /** Names of the columns, and the line where they stand. */
  names: string[];
  headerLine: number | undefined;
  /** The first rows below. */
  sample: string[][];
  layout: PartialLayout;
  /** The bank's name, if its export is known. */
  profile: string | undefined;
  /** Whether the names of the columns are those of the profile and no others. */
  isExact: boolean;
  /** Whether the bookkeeper confirmed this layout for the account. */
  isRemembered: boolean;
  questions: CsvQuestion[];
  /** The account that the file names. */
  account: StatementAccount;
}

const SAMPLE_ROWS = 5;

/** The statements of a file and how it was read; no statement if there are questions. Undefined for a text that is no table of money. */
export function readCsv(
  text: string,
  file: string,
  options: ReadOptions = {},
): { statements: Statement[]; seen: CsvSeen } | undefined {
  const { choices = { columns: {} } } = options;
  const table = csvTable(text, choices);
  if (!table) return undefined;
  const shape = sha256Of(JSON.stringify(table.names), 16);
  const named = namedAccount(table, mergedLayout({ columns: table.columns }, choices));
  const chosen = options.account === undefined ? {} : ownOf([options.account]);
  const account = Object.keys(named).length > 0 ? named : chosen;
  const known = rememberedFor(options.remembered ?? [], shape, account);
  const { layout, questions } = detectLayout(
    table,
    mergedLayout(known?.layout ?? { columns: {} }, choices),
    currencyOf(account, options.accounts ?? []),
  );
  const seen: CsvSeen = {
    ...{ file, shape, names: table.names, headerLine: table.headerLine },
    sample: table.rows
      .filter(({ cells }) => cells.some((cell) => cell !== ''))
      .slice(0, SAMPLE_ROWS)
      .map(({ cells }) => cells),
    ...{
      layout,
      profile: table.profile?.name,
      isExact: table.profile?.isExact ?? false,
      isRemembered: known?.account === nameOf(account) && known !== undefined,
      questions,
      account: named,
    },
  };
  const statements = questions.length > 0 ? [] : statementsOf(table, layout as CsvLayout, account, file);
  return { statements, seen };
}

const nameOf = ({ iban, other }: StatementAccount) => iban ?? other;

/** The currency of an account that has only one. */
function currencyOf(
  account: StatementAccount,
  accounts: NonNullable<ReadOptions['accounts']>,
): string | undefined {
  const name = nameOf(account);
  const found = new Set(
    accounts
      .filter((one) => name !== undefined && nameOf(ownOf([one.account])) === name)
      .map((one) => one.currency),
  );
  return found.size === 1 ? [...found][0] : undefined;
}

/** What was remembered for the account, or the only one if the file names none. Another account, such as a card, may have other signs. */
function rememberedFor(
  remembered: readonly RememberedLayout[],
  shape: string,
  account: StatementAccount,
): RememberedLayout | undefined {
  const fitting = remembered.filter((one) => one.shape === shape);
  const name = nameOf(account);
  return name === undefined && fitting.length === 1
    ? fitting[0]
    : fitting.find((one) => one.account === name);
}

/** The own account of the first row, else the only IBAN above the table. */
function namedAccount({ names, rows, preamble }: CsvTable, { columns }: PartialLayout): StatementAccount {
  const places = (columns.own ?? []).map((name) => names.indexOf(name));
  for (const { cells } of places.length > 0 ? rows : []) {
    const own = ownOf(places.map((place) => cells[place] ?? '').filter((cell) => cell !== ''));
    if (own.iban !== undefined || own.other !== undefined) return own;
  }
  const ibans = new Set(preamble.flatMap(({ cells }) => cells.flatMap((cell) => ibanIn(cell) ?? [])));
  return ibans.size === 1 ? { iban: [...ibans][0]! } : {};
}

function ibanIn(cell: string): string | undefined {
  const found = /[A-Z]{2}\d{2}[A-Z0-9]{11,30}/.exec(cell.replace(/\s/g, ''))?.[0];
  return found !== undefined && isValidIBAN(found) ? found : undefined;
}

/** A statement for each account and currency. One without lines, if the table has none. */
function statementsOf(
  table: CsvTable,
  layout: CsvLayout,
  account: StatementAccount,
  file: string,
): Statement[] {
  const { lines, faults, notes, told } = rowsRead(table, layout);
  const accountOf = ({ own }: CsvEntry) =>
    own.iban !== undefined || own.other !== undefined ? own : account;
  const groups = new Map<string, CsvEntry[]>();
  for (const one of lines) {
    const key = JSON.stringify([accountOf(one), one.line.currency]);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  if (groups.size === 0)
    return [
      {
        format: 'csv',
        file,
        account: { ...account, ...present({ currency: layout.currency }) },
        lines: [],
        faults,
        ...(notes.length > 0 && { notes }),
      },
    ];
  return [...groups.values()].map((group, index) => {
    const own = { ...accountOf(group[0]!), currency: group[0]!.line.currency };
    return statementOf(group, own, {
      file,
      faults: index === 0 ? faults : [],
      notes: index === 0 ? notes : [],
      told: groups.size === 1 ? told : {},
    });
  });
}

const signed = ({ direction, amountMinor }: CsvEntry['line']) =>
  direction === 'debit' ? -amountMinor : amountMinor;

function statementOf(
  group: readonly CsvEntry[],
  account: StatementAccount & { currency: string },
  { file, faults, notes, told }: { file: string } & Omit<CsvEntries, 'lines'>,
): Statement {
  const booked = group.filter(({ line }) => line.status === 'booked');
  const days = booked.map(({ line }) => line.bookingDay!).sort();
  const { currency } = account;
  const run = runningBalance(
    group.map(({ line, balanceMinor, chargesMinor }) => ({
      ...{ line: line.at, day: line.bookingDay ?? '', balanceMinor, chargesMinor },
      ...{ minor: signed(line), isPending: line.status === 'pending' },
    })),
  );
  const balance = (minor: number | bigint | undefined): Balance | undefined =>
    minor === undefined || !Number.isSafeInteger(Number(minor))
      ? undefined
      : { minor: Number(minor), currency };
  const opening = balance(run ? run.opening : told.opening);
  const closing = balance(run ? run.closing : told.closing);
  const sum = booked.reduce((sum, { line }) => sum + BigInt(signed(line)), 0n);
  const notAdding = run
    ? run.faults
    : balanceFaults(opening, closing, faults.length > 0 ? undefined : sum, 0);
  const said = [...notes, ...(run?.notes ?? [])];
  const lines = group.flatMap((entry) => partsOf(entry, said));
  return {
    format: 'csv',
    file,
    account,
    ...present({ from: days[0], to: days.at(-1), opening, closing }),
    lines: numbered({ account, format: 'csv' }, lines),
    faults: [...faults, ...notAdding],
    ...(said.length > 0 && { notes: said }),
  };
}
