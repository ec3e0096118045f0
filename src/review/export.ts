// Payments as rows for spreadsheets (CSV) and programs (NDJSON): read a page at a time, so that any number needs little memory.
import { Readable } from 'node:stream';
import { namesOf } from '../administrators/queries.ts';
import { formatAmount } from '../lib/money.ts';
import { dateIn, formatTimestampIn } from '../lib/time.ts';
import type { Offer } from '../payments/methods/offer.ts';
import { asOf, dueMinor, isDecided, type Payment, receivedMinor } from '../payments/payment.ts';
import type { Reader } from '../store/database.ts';
import { type ExportFormat, rowWriter, type Separator } from '../web/row-writer.ts';
import { arrivalsOf, decisionOf, knownSoFar, type ReviewAct, reviewActs, reviewersOf } from './review.ts';
import { type SearchFilter, searchPayments } from './search-queries.ts';

const PAGE = 500;

/** What may come out of JSON that is kept: text, or undefined. */
type Kept = Readonly<Record<string, unknown>>;
const kept = (text: string | null): Kept => (text === null ? {} : ((JSON.parse(text) as Kept | null) ?? {}));
const textIn = (values: Kept, name: string) => {
  const value = values[name];
  return typeof value === 'string' ? value : null;
};

/** What a row is made of. */
interface Exported {
  payment: Payment;
  customer: Kept;
  sent: Kept;
  acts: ReviewAct[];
  offer: ExportOptions['offer'];
  /** The names of administrators by id. */
  names: ReadonlyMap<string, string>;
  /** A moment, and its day, in the file's time zone. */
  moment(ms: number | null): string | null;
  day(ms: number | null): string | null;
}

/**
 * The columns in their order, which is part of the format: append only. Every value is text, amounts with two decimals, moments as ISO 8601
 * with the offset of the time zone. Of what the customer sent they hold who paid from which account, and nothing of a card.
 */
const COLUMNS = {
  id: ({ payment }) => payment.id,
  created_at: ({ payment, moment }) => moment(payment.created_at),
  merchant_id: ({ payment }) => payment.merchant_id,
  merchant_name: ({ payment }) => payment.merchant_name,
  merchant_reference: ({ payment }) => payment.merchant_reference,
  mode: ({ payment }) => payment.mode,
  amount: ({ payment }) => formatAmount(payment.amount_minor),
  currency: ({ payment }) => payment.currency,
  status: ({ payment }) => payment.status,
  status_reason: ({ payment }) => payment.status_reason,
  description: ({ payment }) => payment.description,
  expires_at: ({ payment, moment }) => moment(payment.expires_at),
  submitted_at: ({ payment, moment }) => moment(payment.submitted_at),
  decided_at: ({ payment, moment }) => moment(payment.decided_at),
  updated_at: ({ payment, moment }) => moment(payment.updated_at),
  customer_name: ({ customer }) => textIn(customer, 'name'),
  customer_email: ({ customer }) => textIn(customer, 'email'),
  customer_phone: ({ customer }) => textIn(customer, 'phone'),
  // The column outlives the erasure of what was sent; what was sent before there was a column says it itself.
  method: ({ payment, sent }) => payment.method ?? textIn(sent, 'method'),
  payer_name: ({ sent }) => textIn(sent, 'payer_name'),
  payer_email: ({ sent }) => textIn(sent, 'payer_email'),
  payer_phone: ({ sent }) => textIn(sent, 'payer_phone'),
  payer_account_name: ({ sent }) => textIn(sent, 'transfer_name'),
  payer_account: ({ sent }) => textIn(sent, 'transfer_account'),
  transfer_reference: ({ payment, offer }) => transferReferenceOf(payment, offer),
  bank_reference: ({ acts }) =>
    acts.findLast((act) => act.bank_reference !== undefined)?.bank_reference ?? null,
  decided_by({ payment, names }) {
    const by = payment.decided_at === null ? undefined : decisionOf(payment)?.by;
    return by === undefined ? null : (names.get(by) ?? by);
  },
  note: ({ acts }) => acts.flatMap(({ note }) => note ?? []).join('\n') || null,
  received_amount: ({ payment }) =>
    arrivalsOf(payment).length > 0 ? formatAmount(knownSoFar(payment) ?? 0) : null,
  received_on: ({ payment }) => arrivalsOf(payment).at(-1)?.received_on ?? null,
  created_on: ({ payment, day }) => day(payment.created_at),
  submitted_on: ({ payment, day }) => day(payment.submitted_at),
  decided_on: ({ payment, day }) => day(payment.decided_at),
  pay_by: ({ payment }) => payment.pay_by,
  announced_at: ({ payment, moment }) => moment(payment.announced_at),
  amount_received: ({ payment }) => formatAmount(receivedMinor(payment)),
  amount_due: ({ payment }) => formatAmount(dueMinor(payment)),
  amount_returned: ({ payment }) => formatAmount(payment.returned_minor ?? 0),
} satisfies Record<string, (exported: Exported) => string | null>;

type Column = keyof typeof COLUMNS;
export const EXPORT_COLUMNS = Object.keys(COLUMNS) as Column[];

/** A payment as a row. */
function rowOf(
  stored: Payment,
  { now, timeZone, offer }: ExportOptions,
  names: Exported['names'],
): Record<Column, string | null> {
  const payment = asOf(stored, now);
  const exported: Exported = {
    payment,
    customer: kept(payment.customer),
    sent: kept(payment.submission),
    acts: reviewActs(payment),
    offer,
    names,
    moment: (ms) => (ms === null ? null : formatTimestampIn(timeZone, ms)),
    day: (ms) => (ms === null ? null : dateIn(timeZone, ms)),
  };
  const cells = EXPORT_COLUMNS.map((name) => [name, COLUMNS[name](exported)]);
  return Object.fromEntries(cells) as Record<Column, string | null>;
}

/**
 * The reference that the customer was told, or is told if they sent nothing yet. Null if there is no transfer, and for a payment that may
 * have been erased, because erasing changes what its reference is made of.
 */
function transferReferenceOf(payment: Payment, offer: ExportOptions['offer']): string | null {
  const { payment_details, status, review, customer, metadata, description } = payment;
  if (payment_details !== null) return textIn(kept(payment_details), 'transfer_reference');
  const isBare = [customer, metadata, description, review].every((value) => value === null);
  const mayBeErased = isDecided(payment) ? review === null : status === 'cancelled' && isBare;
  return mayBeErased ? null : (offer?.transferFor(payment)?.reference ?? null);
}

/** Those that are amounts. */
const AMOUNTS = ['amount', 'received_amount', 'amount_received', 'amount_due', 'amount_returned'] as const;

interface ExportOptions {
  format: ExportFormat;
  /** For a spreadsheet: what separates the cells of CSV. Without it CSV is for programs: commas and no byte order mark. */
  separator?: Separator | undefined;
  filter: SearchFilter;
  /** Whose days and offsets the file has. */
  timeZone: string;
  /** Milliseconds since 1970: what is pending past its time is cancelled. */
  now: number;
  /** Tells the reference of a payment whose customer sent nothing; without it the column is empty then. */
  offer?: Pick<Offer, 'transferFor'>;
  /** Told how many rows are done, and when the last of them was created. */
  onProgress?(done: number, created_at: number): void;
}

/**
 * Gives the payments that `filter` lets through, newest first, some lines at a time; those created meanwhile are left out.
 * Returns how many those were. Throws `DatabaseError`.
 */
export async function* exportPayments(
  database: Reader,
  options: ExportOptions,
): AsyncGenerator<string, number> {
  const { format, separator, filter, now, onProgress } = options;
  const { head, line } = rowWriter(format, EXPORT_COLUMNS, AMOUNTS, separator);
  if (head !== '') yield head;
  let done = 0;
  for (let before: string | undefined; ; ) {
    const page = await searchPayments(database, filter, before, PAGE, now);
    const last = page.at(-1);
    if (last) {
      done += page.length;
      const names = await namesOf(database, reviewersOf(page));
      yield line(page.map((payment) => rowOf(payment, options, names)));
      onProgress?.(done, last.created_at);
    }
    if (page.length < PAGE) return done;
    before = last!.id;
    // SQLite answers without ever waiting: others get their turn between two pages.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The same as bytes to send: a page is read when the one before is on its way, and no earlier. */
export function exportStream(database: Reader, options: ExportOptions): Readable {
  return Readable.from(exportPayments(database, options), { objectMode: true, highWaterMark: 1 });
}
