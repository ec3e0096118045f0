// The report of an account over some days, for the books: its opening balance, every line with what became of it, its closing balance.
import { Readable } from 'node:stream';
import { signedAmount } from '#bank-statements';
import type { Reader } from '../../store/database.ts';
import { type ExportFormat, rowWriter, type Separator } from '../../web/row-writer.ts';
import { type Period, signedSum } from '../period.ts';
import { LINE_AMOUNTS, LINE_COLUMNS, type LineRow, lineRows } from './lines-export.ts';

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
      balance += signedSum([{ direction: line.direction, sum_minor: line.amount_minor }]);
      return { ...one, balance };
    });
}

async function* exportReport(
  database: Reader,
  period: Period,
  format: ExportFormat,
  separator: Separator | undefined,
  timeZone: string,
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

const amountOrNull = (minor: number | undefined) => (minor === undefined ? null : signedAmount(minor));
const EMPTY = Object.fromEntries(REPORT_COLUMNS.map((name) => [name, null])) as ReportRow;

function balanceRow(
  { account, currency }: Period,
  row: string,
  day: string,
  balance: number | undefined,
): ReportRow {
  return { ...EMPTY, row, account, currency, day, balance: amountOrNull(balance) };
}

/** The report as bytes to send: a page is read when the one before is on its way, and no earlier. */
export function reportStream(
  database: Reader,
  period: Period,
  {
    format,
    separator,
    timeZone,
  }: { format: ExportFormat; separator: Separator | undefined; timeZone: string },
): Readable {
  return Readable.from(exportReport(database, period, format, separator, timeZone), {
    objectMode: true,
    highWaterMark: 1,
  });
}
