// How a CSV file is to be read: its marks, the order of its days, its signs, and which column holds what.
import type { StatusMeaning } from './csv-words.ts';

/** What a column may hold. Several columns may share a role: texts are joined, of the others the first that is not empty counts. */
export const CSV_ROLES = {
  day: 'Booking day',
  value: 'Value day',
  amount: 'Amount',
  debit: 'Money out',
  credit: 'Money in',
  mark: 'Debit or credit',
  currency: 'Currency',
  balance: 'Balance',
  part: 'Amount of a part',
  charges: 'Charges',
  status: 'Booked or not',
  payer: 'Payer',
  payee: 'Payee',
  name: 'Their name',
  account: 'Their account',
  text: 'Text',
  code: 'Kind',
  endToEnd: 'End-to-end id',
  creditor: 'Creditor ref.',
  mandate: 'Mandate',
  bank: 'Bank’s reference',
  own: 'Own account',
} as const;
export type CsvRole = keyof typeof CSV_ROLES;

/** What a status may mean. */
export const CSV_STATUSES = {
  booked: 'booked: the money moved',
  pending: 'pending: it may still move',
  void: 'void: it did not move',
} as const satisfies Record<StatusMeaning, string>;
export type CsvStatus = keyof typeof CSV_STATUSES;

/** The choices of a bookkeeper, each word with what it means. */
export const CSV_CHOICES = {
  delimiter: { comma: 'comma', semicolon: 'semicolon', tab: 'tab', pipe: 'vertical bar' },
  quote: { double: 'double quotation marks', single: 'single quotation marks' },
  dates: { dmy: 'day, month, year', mdy: 'month, day, year', ymd: 'year, month, day' },
  decimal: { comma: 'comma: 1.234,56', point: 'point: 1,234.56' },
  sign: {
    signed: 'a minus for money out',
    brackets: 'brackets for money out',
    columns: 'a column for money out and one for money in',
    mark: 'a mark: S and H, D and C, Af and Bij; a minus turns it',
    inverted: 'a minus for money in, as on cards',
  },
} as const;
export type CsvChoice = keyof typeof CSV_CHOICES;
const CHOICES = Object.keys(CSV_CHOICES) as CsvChoice[];

export type DateOrder = keyof typeof CSV_CHOICES.dates;
export type DecimalWord = keyof typeof CSV_CHOICES.decimal;
export type SignWord = keyof typeof CSV_CHOICES.sign;

/** Columns are named as in the header; `#3` is the third one where the header has no name for it, or the file has no header. */
export type CsvColumns = Partial<Record<CsvRole, string[]>>;

export interface CsvLayout {
  delimiter: keyof typeof CSV_CHOICES.delimiter;
  quote: keyof typeof CSV_CHOICES.quote;
  dates: DateOrder;
  /** Missing as long as no amount has told it: whole numbers are read alike either way. */
  decimal?: DecimalWord;
  sign: SignWord;
  /** ISO 4217; of lines that name none. */
  currency?: string;
  /** What words of the status say that are not known, by the words as the bank writes them. */
  statuses?: Record<string, StatusMeaning>;
  columns: CsvColumns;
}

/** What is known of a layout: what a profile says, what was detected, what the bookkeeper chose. */
export type PartialLayout = Partial<CsvLayout> & { columns: CsvColumns };

/** How a bookkeeper had an export of an account read before. */
export interface RememberedLayout {
  /** Identifies exports by the names of their columns. */
  shape: string;
  /** As statements of the account are kept. */
  account: string;
  layout: CsvLayout;
}

export const CSV_MARKS = {
  delimiter: { comma: ',', semicolon: ';', tab: '\t', pipe: '|' },
  quote: { double: '"', single: "'" },
} as const;

/**
 * Reads choices such as `dates=dmy`, `decimal=comma`, `currency=EUR`, `text=Purpose+Note`, `mark=#13`, `booked=Processed`; `value=` takes
 * a column away.
 * Returns a sentence for what cannot be read.
 */
export function parseChoices(texts: readonly string[]): PartialLayout | string {
  const layout: PartialLayout = { columns: {} };
  for (const text of texts) {
    const [, key = '', value = ''] = /^(\w+)=(.*)$/s.exec(text) ?? [];
    if (Object.hasOwn(CSV_ROLES, key) && key !== 'currency') {
      layout.columns[key as CsvRole] = columnNames(value);
    } else if (CHOICES.includes(key as CsvChoice)) {
      const words = Object.keys(CSV_CHOICES[key as CsvChoice]);
      if (!words.includes(value)) return `It must be ${key}= and one of ${words.join(', ')}.`;
      Object.assign(layout, { [key]: value });
    } else if (key === 'currency') {
      if (/^[A-Z]{3}$/.test(value)) layout.currency = value;
      else layout.columns.currency = columnNames(value);
    } else if (STATUSES.includes(key as StatusMeaning)) {
      for (const word of columnNames(value))
        layout.statuses = { ...layout.statuses, [word]: key as StatusMeaning };
    } else return `It must be one of ${choiceNames().join(', ')}, then = and a value.`;
  }
  return layout;
}

const columnNames = (value: string) => value.split('+').filter((name) => name !== '');

const STATUSES = Object.keys(CSV_STATUSES) as CsvStatus[];
const choiceNames = (): string[] => [...CHOICES, ...Object.keys(CSV_ROLES), ...STATUSES];

/** `over` where it says something, else `under`. Columns that both name keep the order of `under`: a form has none of its own. */
export function mergedLayout(under: PartialLayout, over: PartialLayout): PartialLayout {
  const columns = { ...under.columns };
  for (const [role, names] of Object.entries(over.columns) as [CsvRole, string[]][])
    columns[role] = inOrderOf(columns[role] ?? [], names);
  const statuses = { ...under.statuses, ...over.statuses };
  return { ...under, ...over, ...(Object.keys(statuses).length > 0 && { statuses }), columns };
}

/** `known` if it has the same names, else `names`. The order of texts is part of what tells a line from another. */
export function inOrderOf(known: readonly string[], names: readonly string[]): string[] {
  const isSame = known.length === names.length && known.every((name) => names.includes(name));
  return [...(isSame ? known : names)];
}
