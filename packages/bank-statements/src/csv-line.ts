// Reads one row of a CSV table as a line of a statement.
import { csvCurrency } from './csv-currencies.ts';
import { CSV_ROLES, type CsvLayout, type CsvRole } from './csv-layout.ts';
import type { CsvRow } from './csv-rows.ts';
import { type CsvAmount, csvAmount, csvDay, markOf } from './csv-values.ts';
import { balanceWord, isPendingWord, isTotalWord, type StatusMeaning, statusOf } from './csv-words.ts';
import type { LineRead } from './fingerprint.ts';
import { RETURNED } from './mt940-information.ts';
import type { StatementAccount, StatementLine } from './statement.ts';
import { folded, ibanOf, present, referenceOf } from './values.ts';

/** What a row is. */
export type RowRead =
  | {
      kind: 'line';
      line: LineRead;
      own: StatementAccount;
      balanceMinor: number | undefined;
      chargesMinor: number;
    }
  | { kind: 'balance'; which: 'opening' | 'closing'; minor: number | undefined }
  /** A row that moved no money, or is empty. */
  | { kind: 'none' }
  /** A row that moved no money, as its status says. */
  | { kind: 'void'; status: string }
  /**
   * A row that goes on with the row above, as a part of its amount or as text. `isMoney`: its amount stands where those of lines do, so it
   * is lost unless the parts come to the amount above.
   */
  | {
      kind: 'more';
      text: string;
      minor?: number;
      isMoney?: true;
      words: Pick<LineRead, 'references' | 'counterparty'>;
    }
  /** Words that are in no column where they could mean something. */
  | { kind: 'words'; text: string }
  | { kind: 'fault'; text: string };

/** The cells of a row by their roles, and what stood in rows before: days and accounts repeat. */
class Cells {
  cells: readonly string[] = [];
  readonly #places: Record<CsvRole, readonly number[]>;
  readonly #layout: CsvLayout;
  readonly #days = new Map<string, string | undefined>();
  readonly #statuses = new Map<string, string | undefined>();
  readonly #accounts = new Map<string, string | undefined>();
  /** Whether the first amount in the column for money out has a minus. */
  outIsNegative: boolean | undefined;

  constructor(layout: CsvLayout, names: readonly string[]) {
    this.#layout = layout;
    const places = Object.keys(CSV_ROLES).map((role) => [
      role,
      (layout.columns[role as CsvRole] ?? [])
        .map((name) => names.indexOf(name))
        .filter((place) => place >= 0),
    ]);
    this.#places = Object.fromEntries(places);
  }

  all(role: CsvRole): string[] {
    const found: string[] = [];
    for (const place of this.#places[role]) {
      const cell = this.cells[place];
      if (cell) found.push(cell);
    }
    return found;
  }

  one(role: CsvRole): string | undefined {
    for (const place of this.#places[role]) {
      const cell = this.cells[place];
      if (cell) return cell;
    }
    return undefined;
  }

  /** The texts of a role, each with single spaces. */
  joined(role: CsvRole, by: string): string {
    let text = '';
    for (const cell of this.all(role)) text = text === '' ? folded(cell)! : `${text}${by}${folded(cell)}`;
    return text;
  }

  day(written: string): string | undefined {
    return remembered(this.#days, written, (text) => csvDay(text, this.#layout.dates));
  }

  status(written: string): StatusMeaning | undefined {
    const read = (text: string) => this.#layout.statuses?.[text] ?? statusOf(text);
    return remembered(this.#statuses, written, read) as StatusMeaning | undefined;
  }

  account(written: string): string | undefined {
    return remembered(this.#accounts, written, (text) => ibanOf(text) ?? referenceOf(text));
  }
}

/** Texts that are remembered with what they were read as. */
const REMEMBERED_MAXIMUM = 2000;

function remembered(
  known: Map<string, string | undefined>,
  written: string,
  read: (text: string) => string | undefined,
): string | undefined {
  const found = known.get(written);
  if (found !== undefined || known.has(written)) return found;
  if (known.size >= REMEMBERED_MAXIMUM) known.clear();
  const value = read(written);
  known.set(written, value);
  return value;
}

/** Reads rows with this layout, whose columns have these names. */
export function rowReader(layout: CsvLayout, names: readonly string[]): (row: CsvRow) => RowRead {
  const row = new Cells(layout, names);
  return ({ cells, line }) => {
    if (cells.every((cell) => cell === '')) return { kind: 'none' };
    for (let place = names.length; place < cells.length; place++)
      if (cells[place] !== '')
        return { kind: 'fault', text: 'This row is left out: it has more cells than there are columns.' };
    row.cells = cells;
    return balanceRow(cells, row, layout) ?? wordsRow(cells, row, layout) ?? lineOf(row, line, layout);
  };
}

/** A row that tells a balance in place of a movement: its first cell says so, or one where no text and no name stand beside. */
function balanceRow(cells: readonly string[], row: Cells, layout: CsvLayout): RowRead | undefined {
  if (!cells.some((cell) => balanceWord(cell) !== undefined)) return undefined;
  const words = cells.filter((cell) => balanceWord(cell) !== undefined);
  const word = words[0]!;
  const isFirst = cells.find((cell) => cell !== '') === word;
  const beside = (['text', 'name', 'payer', 'payee'] as const).flatMap((role) => row.all(role));
  // Codes of the bank stand beside words for a balance, and customers' words do not.
  if (!isFirst && beside.some((cell) => !words.includes(cell) && /\p{L}{3}/u.test(cell))) return undefined;
  const which = balanceWord(word)!;
  if (which === 'turnover') return { kind: 'void', status: word };
  const read = signedAmountOf(row, layout);
  const isTotal = isTotalWord(word);
  const minor = typeof read === 'string' || isTotal ? balanceOf(row, layout) : read.minor;
  if ((minor === undefined || Number.isNaN(minor)) && isTotal) return undefined;
  return { kind: 'balance', which, minor };
}

const MONEY = ['amount', 'debit', 'credit'] as const;

/** A row that goes on with the one above, or a footer: it names no day, or only what is a part of an amount. */
function wordsRow(cells: readonly string[], row: Cells, layout: CsvLayout): RowRead | undefined {
  const filled = cells.filter((cell) => cell !== '');
  if (row.day(row.one('day') ?? '') === undefined && isTotalWord(filled[0]!))
    return { kind: 'words', text: filled.join(' ') };
  const isMoney = MONEY.some((role) => row.one(role) !== undefined);
  const isDated = row.one('day') !== undefined || row.one('value') !== undefined;
  if (isMoney && (isDated || row.one('status') !== undefined)) return undefined;
  if (!isDated || row.one('part') !== undefined) {
    const own = isMoney ? signedAmountOf(row, layout) : undefined;
    if (typeof own === 'string') return undefined;
    const part = own?.minor ?? optionalAmount('part', row, layout);
    const words: Words = {
      ...{ direction: 'credit', references: {}, counterparty: {}, isReversal: false },
      text: row.joined('text', '\n'),
    };
    addWords(words, row);
    const { text, references, counterparty } = words;
    if (part === null || (text === '' && part === undefined))
      return { kind: 'words', text: filled.join(' ') };
    return {
      kind: 'more',
      text,
      ...(part !== undefined && { minor: part }),
      ...(isMoney && { isMoney }),
      words: { references, counterparty },
    };
  }
  const isDay = row.day(row.one('day') ?? '') !== undefined;
  return !isDay && filled.length === 1 ? { kind: 'words', text: filled[0]! } : undefined;
}

function lineOf(row: Cells, at: number, layout: CsvLayout): RowRead {
  const fault = (why: string): RowRead => ({ kind: 'fault', text: `This row is left out: ${why}.` });
  const said = row.one('status');
  const status = said === undefined ? undefined : row.status(said);
  if (status === 'void') return { kind: 'void', status: said! };
  if (said !== undefined && status === undefined) return fault(`the status "${said}" is not known`);
  const amount = signedAmountOf(row, layout);
  if (typeof amount === 'string') return fault(amount);
  const written = row.one('day');
  const bookingDay = written === undefined ? undefined : row.day(written);
  const valueWritten = row.one('value');
  const valueDay = valueWritten === undefined ? undefined : row.day(valueWritten);
  const isUnbooked =
    bookingDay === undefined && (written === undefined ? valueDay !== undefined : isPendingWord(written));
  const isPending = status === 'pending' || isUnbooked;
  if (bookingDay === undefined && !isPending) return fault(`the day "${written ?? ''}" cannot be read`);
  const named = row.one('currency');
  const currency = named === undefined ? (amount.currency ?? layout.currency) : csvCurrency(named);
  if (currency === undefined) return fault(`the currency "${named ?? ''}" is not known`);
  const charges = optionalAmount('charges', row, layout);
  const balance = balanceOf(row, layout);
  if (charges === null) return fault(`the charges "${row.one('charges')}" cannot be read`);
  if (Number.isNaN(balance) && !isPending) return fault(`the balance "${row.one('balance')}" cannot be read`);
  const direction = amount.minor < 0 ? 'debit' : 'credit';
  // Members are added in one order: engines are several times as fast with objects of one shape.
  const line = { position: 0, at } as StatementLine;
  if (bookingDay !== undefined) line.bookingDay = bookingDay;
  if (valueDay !== undefined) line.valueDay = valueDay;
  line.amountMinor = Math.abs(amount.minor);
  line.currency = currency;
  line.direction = direction;
  line.status = isPending ? 'pending' : 'booked';
  line.isReversal = false;
  line.references = {};
  line.text = row.joined('text', '\n');
  line.counterparty = {};
  line.fingerprint = '';
  addWords(line, row);
  if (charges) line.chargesMinor = Math.abs(charges);
  if (amount.beyond !== undefined) line.beyond = amount.beyond;
  const own = row.all('own');
  const ownAccount = own.length === 0 ? NO_ACCOUNT : ownOf(own);
  return {
    kind: 'line',
    own: ownAccount,
    chargesMinor: charges ?? 0,
    balanceMinor: Number.isNaN(balance) ? undefined : balance,
    line,
  };
}

const NO_ACCOUNT: StatementAccount = {};

/** Adds what the bank wrote for people, and its references. */
function addWords(line: Words, row: Cells): void {
  const code = folded(row.all('code').join(' '));
  for (const role of ['creditor', 'endToEnd', 'mandate', 'bank'] as const) {
    const reference = referenceOf(row.one(role));
    if (reference !== undefined) line.references[role] = reference;
  }
  const name = row.joined(line.direction === 'credit' ? 'payer' : 'payee', ' ') || row.joined('name', ' ');
  if (name !== '') line.counterparty.name = name;
  const written = row.one('account');
  const account = written === undefined ? undefined : row.account(written);
  if (account !== undefined) line.counterparty.account = account;
  line.isReversal = RETURNED.test(code === undefined ? line.text : `${code}\n${line.text}`);
  if (code !== undefined) line.code = code;
}

type Words = Pick<LineRead, 'direction' | 'references' | 'counterparty' | 'text' | 'isReversal' | 'code'>;

/** The currency of a row whose amounts have none beside them. */
function currencyOf(row: Cells, layout: CsvLayout): string | undefined {
  const named = row.one('currency');
  return named === undefined ? layout.currency : csvCurrency(named);
}

/** Hundredths with their sign, and what else stands with them. */
type Signed = Pick<CsvAmount, 'minor' | 'currency' | 'beyond'>;

/** A signed amount, or what is wrong. */
function signedAmountOf(row: Cells, layout: CsvLayout): Signed | string {
  if (layout.sign === 'columns') return splitAmount(row, layout);
  const written = row.one('amount');
  const amount =
    written === undefined ? undefined : csvAmount(written, layout.decimal, currencyOf(row, layout));
  if (!amount) return `the amount "${written ?? ''}" cannot be read`;
  const wrong = `the sign of the amount "${written}" is not the one of this file`;
  const { isNegative, isBracketed, mark } = amount;
  let isOut = isNegative;
  if (layout.sign === 'mark') {
    const said = markOf(row.one('mark') ?? mark);
    if (said === undefined)
      return `the mark "${row.one('mark') ?? mark ?? ''}" says neither debit nor credit`;
    // A minus takes back what the mark says.
    isOut = (said === 'debit') !== (isNegative || isBracketed);
  } else if (layout.sign === 'brackets') {
    if (isNegative || mark !== undefined) return wrong;
    isOut = isBracketed;
  } else if (isBracketed || mark !== undefined) return wrong;
  else if (layout.sign === 'inverted') isOut = !isNegative;
  return withSign(amount, isOut);
}

const withSign = ({ minor, currency, beyond }: CsvAmount, isOut: boolean): Signed => ({
  minor: isOut && minor !== 0 ? -minor : minor,
  ...(currency !== undefined && { currency }),
  ...(beyond !== undefined && { beyond }),
});

/** Of the two columns one holds the amount; the other is empty or zero. Banks write money out with and without a minus. */
function splitAmount(row: Cells, layout: CsvLayout): Signed | string {
  const [debit, credit] = (['debit', 'credit'] as const).map((role) => {
    const cell = row.one(role);
    const written = cell === '-' ? undefined : cell;
    const among = currencyOf(row, layout);
    return written === undefined ? undefined : { written, amount: csvAmount(written, layout.decimal, among) };
  });
  for (const one of [debit, credit])
    if (one && (!one.amount || one.amount.isBracketed)) return `the amount "${one.written}" cannot be read`;
  const [out, into] = [debit?.amount, credit?.amount];
  if (into?.isNegative) return `the amount "${credit!.written}" is negative in the column for money in`;
  if (out && out.minor !== 0 && into && into.minor !== 0) return 'it has money out and money in';
  const isOut = out !== undefined && (out.minor !== 0 || !into);
  if (isOut && out.minor !== 0) {
    row.outIsNegative ??= out.isNegative;
    if (row.outIsNegative !== out.isNegative)
      return `the amount "${debit!.written}" is in the column for money out, where some have a minus and others do not`;
  }
  const amount = isOut ? out : into;
  return amount ? withSign(amount, isOut) : 'it has no amount';
}

/** Hundredths with their sign; undefined for an empty cell, null for what cannot be read. */
function optionalAmount(
  role: 'charges' | 'balance' | 'part',
  row: Cells,
  layout: CsvLayout,
): number | null | undefined {
  const written = row.one(role);
  if (written === undefined || written === '-' || /^n\/a$/i.test(written)) return undefined;
  const amount = csvAmount(written, layout.decimal, currencyOf(row, layout));
  if (!amount) return null;
  const { minor, isNegative, isBracketed, mark } = amount;
  return (isNegative || isBracketed || markOf(mark) === 'debit') && minor !== 0 ? -minor : minor;
}

/** The balance of a row, NaN for one that cannot be read. Some banks write it with the other decimal mark. */
function balanceOf(row: Cells, layout: CsvLayout): number | undefined {
  const read = optionalAmount('balance', row, layout);
  if (read !== null) return read;
  const decimal = layout.decimal === 'comma' ? 'point' : 'comma';
  return optionalAmount('balance', row, { ...layout, decimal }) ?? Number.NaN;
}

/** The own account as the bank writes it; parts such as sort code and number are joined. */
export function ownOf(cells: readonly string[]): StatementAccount {
  const written = cells.map((cell) => cell.replace(/^'/, '').replace(/'$/, '')).join('/');
  const iban = ibanOf(written);
  return iban === undefined ? present({ other: referenceOf(written) }) : { iban };
}
