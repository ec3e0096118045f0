// Lines of bank statements as rows, with what became of each: read a page at a time, so that any number needs little memory.
import { Readable } from 'node:stream';
import { namesOf } from '../../administrators/queries.ts';
import { formatAmount } from '../../lib/money.ts';
import { dateIn, formatTimestampIn } from '../../lib/time.ts';
import type { Payment } from '../../payments/payment.ts';
import { findPayments } from '../../payments/queries.ts';
import { decisionOf, reviewersOf } from '../../review/review.ts';
import type { Reader } from '../../store/database.ts';
import { type ExportFormat, rowWriter, type Separator } from '../../web/row-writer.ts';
import { exactMinor, type KeptLine, type KeptStatement } from '../kept.ts';
import { findStatement, type LineFilter, type LinePlace, listLines } from '../line-queries.ts';
import { bankLine } from './line-evidence.ts';

const PAGE = 500;

/** The columns in their order, which is part of the format: append only. */
export const LINE_COLUMNS = [
  'id',
  'account',
  'file',
  'day',
  'value_day',
  'amount',
  'currency',
  'booked',
  'reversal',
  'name',
  'their_account',
  'text',
  'creditor_reference',
  'end_to_end_reference',
  'bank_reference',
  'state',
  'note',
  'payment_id',
  'merchant_reference',
  'payment_amount',
  'payment_status',
  'decided_by',
  'decided_at',
  'decided_on',
] as const;
/** Those that are amounts. */
export const LINE_AMOUNTS = ['amount', 'payment_amount'] as const;
type Column = (typeof LINE_COLUMNS)[number];

interface LinesExport {
  format: ExportFormat;
  /** As for payments. */
  separator?: Separator | undefined;
  filter: LineFilter;
  timeZone: string;
}

/** A line as a row: a debit has a negative amount. */
function rowOf(
  line: KeptLine,
  file: string | null,
  payment: Payment | undefined,
  names: ReadonlyMap<string, string>,
  timeZone: string,
): Record<Column, string | null> {
  const { valueDay, references, text, counterparty } = bankLine(line);
  const decision = payment && payment.decided_at !== null ? decisionOf(payment) : undefined;
  const decidedAt = decision ? payment!.decided_at : null;
  return {
    id: line.id,
    account: line.account,
    file,
    day: line.day,
    value_day: valueDay ?? null,
    amount: (line.direction === 'debit' ? '-' : '') + formatAmount(exactMinor(line)),
    currency: line.currency,
    booked: line.booked === 1 ? 'yes' : 'no',
    reversal: line.reversal === 1 ? 'yes' : 'no',
    name: counterparty.name ?? null,
    their_account: counterparty.account ?? null,
    text: text === '' ? null : text,
    creditor_reference: references.creditor ?? null,
    end_to_end_reference: references.endToEnd ?? null,
    bank_reference: references.bank ?? null,
    state: line.state,
    note: line.note ?? decision?.note ?? null,
    payment_id: line.payment_id,
    merchant_reference: payment?.merchant_reference ?? null,
    payment_amount: payment ? formatAmount(payment.amount_minor) : null,
    payment_status: payment?.status ?? null,
    decided_by: decision ? (names.get(decision.by) ?? decision.by) : null,
    decided_at: decidedAt === null ? null : formatTimestampIn(timeZone, decidedAt),
    decided_on: decidedAt === null ? null : dateIn(timeZone, decidedAt),
  };
}

/** A line with its statement, and as a row. */
export interface LineRow {
  line: KeptLine;
  statement: KeptStatement | undefined;
  row: Record<Column, string | null>;
}

/** The lines that `filter` lets through, a page at a time. Throws `DatabaseError`. */
export async function* lineRows(
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
        return { line, statement, row: rowOf(line, statement?.file ?? null, payment, names, timeZone) };
      });
    if (page.length < PAGE) return;
    after = page.at(-1)!;
    // SQLite answers without ever waiting: others get their turn between two pages.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function* exportLines(
  database: Reader,
  { format, separator, filter, timeZone }: LinesExport,
): AsyncGenerator<string> {
  const { head, line } = rowWriter(format, LINE_COLUMNS, LINE_AMOUNTS, separator);
  if (head !== '') yield head;
  for await (const rows of lineRows(database, filter, timeZone)) yield line(rows.map(({ row }) => row));
}

/** The lines as bytes to send, the newest day first: a page is read when the one before is on its way, and no earlier. */
export function linesStream(database: Reader, options: LinesExport): Readable {
  return Readable.from(exportLines(database, options), { objectMode: true, highWaterMark: 1 });
}
