// Lines of bank statements as rows with what became of each, read a page at a time; and the report of an account for the books.
import { Readable } from 'node:stream';
import { namesOf } from '../../administrators/queries.ts';
import { formatAmount } from '../../lib/money.ts';
import { dateIn, formatTimestampIn } from '../../lib/time.ts';
import { type Payment, sumMinor } from '../../payments/payment.ts';
import { findPayments } from '../../payments/queries.ts';
import { decisionOf, reviewersOf } from '../../review/review.ts';
import type { Reader } from '../../store/database.ts';
import { type ExportFormat, rowWriter, type Separator } from '../../web/row-writer.ts';
import { signedSum } from '../balance-queries.ts';
import { exactMinor, type KeptLine, type KeptStatement, saidOn, signedText } from '../kept.ts';
import { findStatement, type LineFilter, type LinePlace, listLines } from '../line-queries.ts';
import type { Period } from '../period.ts';

const PAGE = 500;

/** What a row of an export is made of. */
interface Exported extends ReturnType<typeof saidOn> {
  line: KeptLine;
  statement: KeptStatement | undefined;
  payment: Payment | undefined;
  /** Who decided the payment, by name, when, and why. */
  decided: { by: string; at: number; note: string | undefined } | undefined;
  timeZone: string;
}

/** The columns in their order, which is part of the format: append only. A debit has a negative amount. */
const COLUMNS = {
  id: ({ line }) => line.id,
  account: ({ line }) => line.account,
  file: ({ statement }) => statement?.file,
  day: ({ line }) => line.day,
  value_day: ({ valueDay }) => valueDay,
  amount: ({ line }) => (line.direction === 'debit' ? '-' : '') + formatAmount(exactMinor(line)),
  currency: ({ line }) => line.currency,
  booked: ({ line }) => (line.booked === 1 ? 'yes' : 'no'),
  reversal: ({ line }) => (line.reversal === 1 ? 'yes' : 'no'),
  name: ({ counterparty }) => counterparty.name,
  their_account: ({ counterparty }) => counterparty.account,
  text: ({ text }) => text || null,
  creditor_reference: ({ references }) => references.creditor,
  end_to_end_reference: ({ references }) => references.endToEnd,
  bank_reference: ({ references }) => references.bank,
  state: ({ line }) => line.state,
  note: ({ line, decided }) => line.note ?? decided?.note,
  payment_id: ({ line }) => line.payment_id,
  merchant_reference: ({ payment }) => payment?.merchant_reference,
  payment_amount: ({ payment }) => payment && formatAmount(payment.amount_minor),
  payment_status: ({ payment }) => payment?.status,
  decided_by: ({ decided }) => decided?.by,
  decided_at: ({ decided, timeZone }) => decided && formatTimestampIn(timeZone, decided.at),
  decided_on: ({ decided, timeZone }) => decided && dateIn(timeZone, decided.at),
} satisfies Record<string, (one: Exported) => string | null | undefined>;
type Column = keyof typeof COLUMNS;
const LINE_COLUMNS = Object.keys(COLUMNS) as Column[];
/** Those that are amounts. */
const LINE_AMOUNTS = ['amount', 'payment_amount'] as const;

interface HowExported {
  format: ExportFormat;
  /** As for payments. */
  separator: Separator | undefined;
  timeZone: string;
}

function rowOf(exported: Exported): Record<Column, string | null> {
  const cells = Object.entries(COLUMNS).map(([name, cell]) => [name, cell(exported) ?? null]);
  return Object.fromEntries(cells) as Record<Column, string | null>;
}

function decidedOf(payment: Payment | undefined, names: ReadonlyMap<string, string>): Exported['decided'] {
  const decision = payment && payment.decided_at !== null ? decisionOf(payment) : undefined;
  return (
    decision && { by: names.get(decision.by) ?? decision.by, at: payment!.decided_at!, note: decision.note }
  );
}

/** A line with its statement, and as a row. */
interface LineRow {
  line: KeptLine;
  statement: KeptStatement | undefined;
  row: Record<Column, string | null>;
}

/** The lines that `filter` lets through, a page at a time. Throws `DatabaseError`. */
async function* lineRows(
  database: Reader,
  filter: LineFilter,
  timeZone: string,
  first?: 'newest' | 'oldest',
): AsyncGenerator<LineRow[]> {
  const statements = new Map<string, KeptStatement | undefined>();
  for (let after: LinePlace | undefined; ; ) {
    const page = await listLines(database, filter, after, PAGE, first);
    for (const { statement_id: id } of page)
      if (!statements.has(id)) statements.set(id, await findStatement(database, id));
    const ids = [...new Set(page.flatMap(({ payment_id }) => payment_id ?? []))];
    const payments = ids.length > 0 ? await findPayments(database, ids) : [];
    const names = await namesOf(database, reviewersOf(payments));
    const byId = new Map(payments.map((payment) => [payment.id, payment]));
    if (page.length > 0)
      yield page.map((line) => {
        const statement = statements.get(line.statement_id);
        const payment = byId.get(line.payment_id ?? '');
        const decided = decidedOf(payment, names);
        return {
          line,
          statement,
          row: rowOf({ ...saidOn(line), line, statement, payment, decided, timeZone }),
        };
      });
    if (page.length < PAGE) return;
    after = page.at(-1)!;
    // SQLite answers without ever waiting: others get their turn between two pages.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function* exportLines(
  database: Reader,
  filter: LineFilter,
  { format, separator, timeZone }: HowExported,
): AsyncGenerator<string> {
  const { head, line } = rowWriter(format, LINE_COLUMNS, LINE_AMOUNTS, separator);
  if (head !== '') yield head;
  for await (const rows of lineRows(database, filter, timeZone)) yield line(rows.map(({ row }) => row));
}

/** The lines as bytes to send, the newest day first: a page is read when the one before is on its way, and no earlier. */
export const linesStream = (database: Reader, filter: LineFilter, how: HowExported): Readable =>
  streamOf(exportLines(database, filter, how));

const streamOf = (pages: AsyncGenerator<string>) =>
  Readable.from(pages, { objectMode: true, highWaterMark: 1 });

/** The columns in their order, which is part of the format: append only. `row` is `opening`, `line`, `closing` or `bank`. */
const REPORT_COLUMNS = ['row', ...LINE_COLUMNS, 'balance'] as const;
type ReportRow = Record<(typeof REPORT_COLUMNS)[number], string | null>;

/** A line of the report. `balance`: of the account after it, hundredths; undefined if it is unknown, or the line is not booked. */
export interface ReportLine extends LineRow {
  balance: number | undefined;
}

/** The lines of a period, the oldest first, a page at a time. Lines that others stand for are left out. */
export async function* reportLines(
  database: Reader,
  period: Period,
  timeZone: string,
): AsyncGenerator<ReportLine[]> {
  const { account, currency, from, to } = period;
  let balance = period.opening;
  for await (const rows of lineRows(database, { account, currency, from, to }, timeZone, 'oldest'))
    yield rows.flatMap((one) => {
      const { line, statement } = one;
      if (['split', 'replaced', 'undone'].includes(line.state)) return [];
      const counts = line.booked === 1 && statement?.format !== 'pasted';
      if (!counts || balance === undefined) return { ...one, balance: undefined };
      balance = sumMinor([balance, signedSum([{ direction: line.direction, sum_minor: exactMinor(line) }])]);
      return { ...one, balance };
    });
}

async function* exportReport(
  database: Reader,
  period: Period,
  { format, separator, timeZone }: HowExported,
): AsyncGenerator<string> {
  const { head, line } = rowWriter(format, REPORT_COLUMNS, [...LINE_AMOUNTS, 'balance'], separator);
  if (head !== '') yield head;
  yield line([balanceRow(period, 'opening', period.from, period.opening)]);
  for await (const page of reportLines(database, period, timeZone))
    yield line(page.map(({ row, balance }) => ({ row: 'line', ...row, balance: amountOrNull(balance) })));
  yield line([
    balanceRow(period, 'closing', period.to, period.closing),
    balanceRow(period, 'bank', period.to, period.bank),
  ]);
}

const amountOrNull = (minor: number | undefined) => (minor === undefined ? null : signedText(minor));
const EMPTY = Object.fromEntries(REPORT_COLUMNS.map((name) => [name, null])) as ReportRow;

function balanceRow(
  { account, currency }: Period,
  row: string,
  day: string,
  balance: number | undefined,
): ReportRow {
  return { ...EMPTY, row, account, currency, day, balance: amountOrNull(balance) };
}

/** The report as bytes to send, as `linesStream` sends them. */
export const reportStream = (database: Reader, period: Period, how: HowExported): Readable =>
  streamOf(exportReport(database, period, how));
