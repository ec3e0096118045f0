// Statements, their lines and layouts of CSV files as they are kept: three tables, and what may become of a line.
import type { StatementFormat, StatementLine } from '#bank-statements';
import type { Act } from '../journal/audit-entry.ts';
import { changeRow, type Facts } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { isTimeOrderedId } from '../lib/ids.ts';
import { formatAmount } from '../lib/money.ts';
import { phrase } from '../lib/phrases.ts';
import { sumMinor } from '../payments/payment.ts';
import { integer, integerOrNull, type RowOf, table, text, textOrNull } from '../store/table.ts';

export const STATEMENT_ID_PREFIX = 'stm_';
export const LINE_ID_PREFIX = 'lin_';
export const LAYOUT_ID_PREFIX = 'csv_';
export const RULE_ID_PREFIX = 'rul_';
export const isStatementId = (text: string): boolean => isTimeOrderedId(STATEMENT_ID_PREFIX, text);
export const isLineId = (text: string): boolean => isTimeOrderedId(LINE_ID_PREFIX, text);

/** A row of `statements`. Days are YYYY-MM-DD, balances hundredths of `currency`. */
export const STATEMENTS = table('statements', {
  /** `stm_…`. */
  id: text(),
  /** The IBAN without spaces, or what the bank writes in its place. */
  account: text(),
  currency: textOrNull(),
  format: text<StatementFormat>(),
  /** The name of the file. */
  file: text(),
  /** The bank's number of the statement. */
  number: textOrNull(),
  first_day: textOrNull(),
  last_day: textOrNull(),
  opening_minor: integerOrNull(),
  closing_minor: integerOrNull(),
  /** How many lines the file shows, those included that were known before. */
  lines: integer(),
  /** What was wrong, as JSON text (`StatementFault[]`), without what it quotes of the file; null if nothing was. */
  faults: textOrNull(),
  /** Tells the same statement in another file. */
  digest: text(),
  salt: text(),
  version: integer(),
  imported_at: integer(),
});
export type KeptStatement = RowOf<typeof STATEMENTS>;

/**
 * What became of a line. `matched`: it is the money of a payment. `ignored`: a reviewer said, with a reason, that it is of none.
 * `split`: it is the money of several payments, and each part is a line of its own. `replaced`: a later file shows its transactions, which
 * are lines of their own, or it was a part of a line that is whole again. `undone`: its import was undone.
 */
export const LINE_STATES = ['open', 'matched', 'ignored', 'split', 'replaced', 'undone'] as const;
export type LineState = (typeof LINE_STATES)[number];

/** A row of `statement_lines`. */
export const LINES = table('statement_lines', {
  /** `lin_…`, in the order of the file. */
  id: text(),
  /** The statement that brought it first. */
  statement_id: text(),
  account: text(),
  /** Tells the same money in another file. */
  fingerprint: text(),
  /** The bank's reference of the entry. Lines that are parts of one entry share it. */
  entry_reference: textOrNull(),
  /** The amount of the entry, if this line is one of several transactions in it; of the line, if it is a part of one that was split. */
  part_of_minor: integerOrNull(),
  /** The booking day, else the value day, else the statement's last day; empty if it is pending and the bank names none. */
  day: text(),
  /** Hundredths, never negative. */
  amount_minor: integer(),
  currency: text(),
  direction: text<'credit' | 'debit'>(),
  /** 0 while it is pending. */
  booked: integer(),
  /** 1 for a reversal or a returned transfer. */
  reversal: integer(),
  /** What the bank wrote, as JSON text (`LineDetails`). Null once it is erased. */
  details: textOrNull(),
  state: text<LineState>(),
  payment_id: textOrNull(),
  /** Why it is ignored. */
  note: textOrNull(),
  salt: text(),
  version: integer(),
  created_at: integer(),
  updated_at: integer(),
});
export type KeptLine = RowOf<typeof LINES>;

/** What of a line may tell who paid and what for. */
export type LineDetails = Pick<
  StatementLine,
  'valueDay' | 'references' | 'text' | 'counterparty' | 'code' | 'chargesMinor' | 'partOf' | 'beyond'
> & {
  /** The bank names no day: that of the row is the statement's last day, or the one on which it was pasted. */
  undated?: true;
  /** Of a part of a line: its thousandth, which the column cannot hold. */
  third?: number;
};

const NO_DETAILS: LineDetails = { references: {}, text: '', counterparty: {} };

/** What the bank wrote on a line; nothing if it was erased. */
export function saidOn({ details }: Pick<KeptLine, 'details'>): LineDetails {
  return details === null ? NO_DETAILS : (JSON.parse(details) as LineDetails);
}

/**
 * The amount of a line in minor units, with a tenth if the bank wrote thousandths; of a part, what that has of them.
 */
export function exactMinor({
  amount_minor,
  fingerprint = '',
  ...line
}: Pick<KeptLine, 'amount_minor'> &
  Partial<Pick<KeptLine, 'details' | 'fingerprint'> & LineDetails>): number {
  const said = line.details == null ? line : saidOn({ details: line.details });
  const [, written] = (!fingerprint.includes('/') && /(\d) [A-Z]{3}$/.exec(said.beyond ?? '')) || [];
  const third = said.third ?? written;
  return third === undefined ? amount_minor : sumMinor([Math.floor(amount_minor), Number(third) / 10]);
}

/** A balance or a signed amount as text, as `formatAmount` writes its digits: `-2.339`. */
export const signedText = (minor: number): string =>
  `${minor < 0 ? '-' : ''}${formatAmount(Math.abs(minor))}`;

/** A row of `csv_layouts`: how CSV exports of an account are read. */
export const LAYOUTS = table('csv_layouts', {
  /** `csv_…`. */
  id: text(),
  /** As in `statements`. */
  account: text(),
  /** Identifies exports by the names of their columns. */
  shape: text(),
  /** JSON text (`CsvLayout`). */
  layout: text(),
  salt: text(),
  version: integer(),
  created_at: integer(),
  updated_at: integer(),
});
export type KeptLayout = RowOf<typeof LAYOUTS>;

/** A row of `line_rules`: lines that are ignored when they come in. */
export const RULES = table('line_rules', {
  /** `rul_…`. */
  id: text(),
  direction: text<KeptLine['direction']>(),
  /** The name of the other side in folded words, and its account; either may be empty. */
  name_key: text(),
  other_account: text(),
  /** The name as the bank wrote it. */
  name: text(),
  /** Why its lines are ignored. */
  reason: text(),
  state: text<'active' | 'ended'>(),
  salt: text(),
  version: integer(),
  created_at: integer(),
  updated_at: integer(),
});
export type KeptRule = RowOf<typeof RULES>;

/** What a change may write on a line. */
type LineWritten = Partial<
  Omit<KeptLine, 'id' | 'account' | 'amount_minor' | 'currency' | 'version' | 'created_at' | 'updated_at'>
>;

/** Writes columns of a line, and records it. Throws `conflict`, with `refusal`, if the line was changed since it was read. */
export async function writeLine(
  transaction: Transaction,
  { actor, request_id }: Act,
  action: string,
  line: KeptLine,
  written: LineWritten,
  { facts = {}, refusal }: { facts?: Facts; refusal?: string } = {},
): Promise<KeptLine> {
  const columns = { ...written, updated_at: transaction.now };
  const changed = await changeRow(transaction, { actor, request_id }, action, LINES, line, columns, facts);
  if (changed) return changed;
  const usual = phrase('The line was changed a moment ago. Look at it again.');
  throw new OperationalError('conflict', refusal ?? usual);
}
