// Reads CSV: finds the table and how it is written, asks what cannot be told, and makes statements of its rows.
import { isValidIBAN } from 'ibantools';
import { balanceWarnings } from './balance.ts';
import { BalanceRows } from './csv-balance.ts';
import { type CsvQuestion, detectLayout } from './csv-detect.ts';
import { type CsvEntry, type CsvRowsSaid, partsOf, readRows } from './csv-entries.ts';
import { type CsvLayout, mergedLayout, type PartialLayout, type RememberedLayout } from './csv-layout.ts';
import { ownOf } from './csv-line.ts';
import { type CsvTable, csvTable, type TextSource } from './csv-table.ts';
import { sha256Of } from './digest.ts';
import type { Encoding } from './encodings.ts';
import { LineNumbering } from './fingerprint.ts';
import { knownAccount, nameOfAccount } from './known-account.ts';
import type { Balance, Statement, StatementAccount, StatementFault, TakeLine } from './statement.ts';
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

/**
 * The statements of a file, without their lines, and how it was read; no statement if there are questions. Undefined for a text that is no
 * table of money. Each line is handed to `take` with the number of its statement in `places`; lines with another one do not count.
 */
export function readCsv(
  source: TextSource,
  file: string,
  options: ReadOptions,
  take: TakeLine,
): (Omit<CsvRead, 'whole'> & { seen: CsvSeen }) | undefined {
  const { choices = { columns: {} }, remembered = [] } = options;
  const known = remembered.flatMap(({ layout }) => layout.columns ?? []);
  const beginning = csvTable(source, choices, known);
  if (!beginning) return undefined;
  let table: CsvTable = beginning;
  let seen = seenIn(table, file, options);
  // The first rows nearly always tell how the others are read. If all of them tell otherwise, they are read once more.
  for (let first = 0, isWhole = false; ; ) {
    const isRead = seen.questions.length === 0;
    const reading = { account: seen.readAs, file, first, take };
    const found: CsvRead | undefined = isRead
      ? statementsOf(table, seen.layout as CsvLayout, reading)
      : undefined;
    const before = JSON.stringify(seen);
    if (!isWhole) {
      table = found?.whole ?? table.eachRow(() => {});
      seen = seenIn(table, file, options);
      isWhole = true;
    }
    const { readAs, ...shown } = seen;
    if (before === JSON.stringify(seen))
      return { statements: found?.statements ?? [], places: found?.places ?? [], seen: shown };
    first += found?.statements.length ?? 0;
  }
}

/** How a table is read by what is known of it so far. `readAs`: the account of rows that name none. */
function seenIn(table: CsvTable, file: string, options: ReadOptions): CsvSeen & { readAs: StatementAccount } {
  const { choices = { columns: {} }, remembered = [] } = options;
  const shape = sha256Of(JSON.stringify(table.names), 16);
  const named = namedAccount(table, mergedLayout({ columns: table.columns }, choices));
  const account = knownAccount(options).accountOr(named);
  const before = rememberedFor(remembered, shape, account);
  const { layout, questions } = detectLayout(
    table,
    mergedLayout(before?.layout ?? { columns: {} }, choices),
    knownAccount(options).currencyOf(account),
  );
  return {
    ...{ file, shape, names: table.names, headerLine: table.headerLine },
    sample: table.sample
      .filter(({ cells }) => cells.some((cell) => cell !== ''))
      .slice(0, SAMPLE_ROWS)
      .map(({ cells }) => cells),
    ...{
      layout,
      profile: table.profile?.name,
      isExact: table.profile?.isExact ?? false,
      isRemembered: before?.account === nameOfAccount(account) && before !== undefined,
      questions,
      account: named,
    },
    readAs: account,
  };
}

/** What was remembered for the account, or the only one if the file names none. Another account, such as a card, may have other signs. */
function rememberedFor(
  remembered: readonly RememberedLayout[],
  shape: string,
  account: StatementAccount,
): RememberedLayout | undefined {
  const fitting = remembered.filter((one) => one.shape === shape);
  const name = nameOfAccount(account);
  return name === undefined && fitting.length === 1
    ? fitting[0]
    : fitting.find((one) => one.account === name);
}

/** The own account of the first row that has one, else the only IBAN above the table. */
function namedAccount({ names, sample, preamble }: CsvTable, { columns }: PartialLayout): StatementAccount {
  const places = (columns.own ?? []).map((name) => names.indexOf(name));
  for (const { cells } of places.length > 0 ? sample : []) {
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

/** Statements without their lines, the numbers with which those were handed on, and the table as all its rows tell it. */
interface CsvRead {
  statements: Statement[];
  places: number[];
  whole: CsvTable;
}

/** A statement for each account and currency. One without lines, if the table has none. */
function statementsOf(
  table: CsvTable,
  layout: CsvLayout,
  { account, file, first, take }: { account: StatementAccount; file: string; first: number; take: TakeLine },
): CsvRead {
  const groups = new Map<string, Group>();
  let group: Group | undefined;
  const { said, whole } = readRows(table, layout, (entry) => {
    const { own, line } = entry;
    const named = own.iban !== undefined || own.other !== undefined ? own : account;
    if (!group?.isOf(named, line.currency)) {
      const key = JSON.stringify([named, line.currency]);
      group = groups.get(key) ?? new Group({ ...named, currency: line.currency }, first + groups.size, take);
      groups.set(key, group);
    }
    group.add(entry);
  });
  const { faults, notes } = said;
  const nothing: CsvRowsSaid = { faults: [], notes: [], told: {} };
  const statements = [...groups.values()].map((one, index) =>
    one.statement(file, {
      ...(index === 0 ? said : nothing),
      told: groups.size === 1 ? said.told : {},
    }),
  );
  if (statements.length === 0)
    statements.push({
      format: 'csv',
      file,
      account: { ...account, ...present({ currency: layout.currency }) },
      lines: [],
      faults,
      ...(notes.length > 0 && { notes }),
    });
  return { statements, places: statements.map((_, i) => first + i), whole };
}

const signed = ({ direction, amountMinor }: CsvEntry['line']) =>
  direction === 'debit' ? -amountMinor : amountMinor;

/** The lines of one account in one currency, and what is gathered of them while they are handed on. */
class Group {
  readonly #account: StatementAccount & { currency: string };
  readonly #place: number;
  readonly #take: TakeLine;
  readonly #numbering: LineNumbering;
  readonly #balances: BalanceRows;
  readonly #notes: StatementFault[] = [];
  #from: string | undefined;
  #to: string | undefined;
  #sumMinor = 0n;
  /** What is not in the sum yet: adding numbers takes no memory. */
  #lately = 0;

  constructor(account: StatementAccount & { currency: string }, place: number, take: TakeLine) {
    this.#account = account;
    this.#place = place;
    this.#take = take;
    this.#numbering = new LineNumbering({ account, format: 'csv' });
    this.#balances = new BalanceRows(account.currency);
  }

  isOf({ iban, other }: StatementAccount, currency: string): boolean {
    const own = this.#account;
    return own.iban === iban && own.other === other && own.currency === currency;
  }

  add(entry: CsvEntry): void {
    const { line, balanceMinor, chargesMinor } = entry;
    const isPending = line.status === 'pending';
    const [day, minor] = [line.bookingDay ?? '', signed(line)];
    this.#balances.add({ line: line.at, day, minor, chargesMinor, balanceMinor, isPending });
    if (!isPending) {
      this.#lately += minor;
      if (Math.abs(this.#lately) > 2 ** 52) this.#settle();
      if (this.#from === undefined || day < this.#from) this.#from = day;
      if (this.#to === undefined || day > this.#to) this.#to = day;
    }
    if (entry.more.length === 0) this.#take(this.#numbering.next(line), this.#place);
    else for (const part of partsOf(entry, this.#notes)) this.#take(this.#numbering.next(part), this.#place);
  }

  #settle(): void {
    this.#sumMinor += BigInt(this.#lately);
    this.#lately = 0;
  }

  /** The statement without its lines. */
  statement(file: string, { faults, notes, told }: CsvRowsSaid): Statement {
    this.#settle();
    const { currency } = this.#account;
    const run = this.#balances.running();
    const balance = (minor: number | undefined): Balance | undefined =>
      minor === undefined || !Number.isSafeInteger(minor) ? undefined : { minor, currency };
    const opening = balance(run ? run.opening : told.opening);
    const closing = balance(run ? run.closing : told.closing);
    const sumMinor = faults.length > 0 ? undefined : this.#sumMinor;
    const warnings = run
      ? run.warnings
      : balanceWarnings(opening, closing, sumMinor, 0, this.#balances.length);
    const said = [...warnings, ...notes, ...this.#notes];
    return {
      format: 'csv',
      file,
      account: this.#account,
      ...present({ from: this.#from, to: this.#to, opening, closing }),
      lines: [],
      faults: [...faults, ...(run?.faults ?? [])],
      ...(said.length > 0 && { notes: said }),
    };
  }
}
