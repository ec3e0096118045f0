// Payments as rows for spreadsheets (CSV) and programs (NDJSON): read a page at a time, so that any number needs little memory.
import { Readable } from 'node:stream';
import { namesOf } from '../administrators/queries.ts';
import { formatAmount } from '../lib/money.ts';
import { dateIn, formatTimestampIn } from '../lib/time.ts';
import type { Offer } from '../payments/methods/offer.ts';
import { asOf, dueMinor, isDecided, type Payment, receivedMinor } from '../payments/payment.ts';
import type { Reader } from '../store/database.ts';
import { type ExportFormat, rowWriter, type Separator } from '../web/row-writer.ts';
import { type SearchFilter, searchPayments } from './queries.ts';
import { arrivalsOf, knownSoFar, reviewActs, reviewersOf } from './review.ts';

const PAGE = 500;

/** What may come out of JSON that is kept: text, or undefined. */
type Kept = Readonly<Record<string, unknown>>;
const kept = (text: string | null): Kept => (text === null ? {} : ((JSON.parse(text) as Kept | null) ?? {}));
const textIn = (values: Kept, name: string) => {
  const value = values[name];
  return typeof value === 'string' ? value : null;
};

/**
 * A payment as a row: every value is text, amounts with two decimals, moments as ISO 8601 with the offset of `timeZone`. Of what the
 * customer sent it holds who paid from which account, and nothing of a card. `names` are those of administrators by id.
 */
function rowOf(
  stored: Payment,
  { now, timeZone, offer }: Pick<ExportOptions, 'now' | 'timeZone' | 'offer'>,
  names: ReadonlyMap<string, string>,
) {
  const payment = asOf(stored, now);
  const moment = (ms: number | null) => (ms === null ? null : formatTimestampIn(timeZone, ms));
  const day = (ms: number | null) => (ms === null ? null : dateIn(timeZone, ms));
  const customer = kept(payment.customer);
  const sent = kept(payment.submission);
  const acts = reviewActs(payment);
  const decision = acts.findLast(({ act }) => act === 'approve' || act === 'reject');
  const arrivals = arrivalsOf(payment);
  const notes = acts.flatMap(({ note }) => note ?? []);
  return {
    id: payment.id,
    created_at: moment(payment.created_at),
    merchant_id: payment.merchant_id,
    merchant_name: payment.merchant_name,
    merchant_reference: payment.merchant_reference,
    mode: payment.mode,
    amount: formatAmount(payment.amount_minor),
    currency: payment.currency,
    status: payment.status,
    status_reason: payment.status_reason,
    description: payment.description,
    expires_at: moment(payment.expires_at),
    submitted_at: moment(payment.submitted_at),
    decided_at: moment(payment.decided_at),
    updated_at: moment(payment.updated_at),
    customer_name: textIn(customer, 'name'),
    customer_email: textIn(customer, 'email'),
    customer_phone: textIn(customer, 'phone'),
    // The column outlives the erasure of what was sent; what was sent before there was a column says it itself.
    method: payment.method ?? textIn(sent, 'method'),
    payer_name: textIn(sent, 'payer_name'),
    payer_email: textIn(sent, 'payer_email'),
    payer_phone: textIn(sent, 'payer_phone'),
    payer_account_name: textIn(sent, 'transfer_name'),
    payer_account: textIn(sent, 'transfer_account'),
    transfer_reference: transferReferenceOf(payment, offer),
    bank_reference: acts.findLast((act) => act.bank_reference !== undefined)?.bank_reference ?? null,
    decided_by: decision && payment.decided_at !== null ? (names.get(decision.by) ?? decision.by) : null,
    note: notes.length > 0 ? notes.join('\n') : null,
    received_amount: arrivals.length > 0 ? formatAmount(knownSoFar(payment) ?? 0) : null,
    received_on: arrivals.at(-1)?.received_on ?? null,
    created_on: day(payment.created_at),
    submitted_on: day(payment.submitted_at),
    decided_on: day(payment.decided_at),
    pay_by: payment.pay_by,
    announced_at: moment(payment.announced_at),
    amount_received: formatAmount(receivedMinor(payment)),
    amount_due: formatAmount(dueMinor(payment)),
    amount_returned: formatAmount(payment.returned_minor ?? 0),
  };
}
type ExportRow = ReturnType<typeof rowOf>;

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

/** The columns in their order, which is part of the format: append only. */
export const EXPORT_COLUMNS = [
  'id',
  'created_at',
  'merchant_id',
  'merchant_name',
  'merchant_reference',
  'mode',
  'amount',
  'currency',
  'status',
  'status_reason',
  'description',
  'expires_at',
  'submitted_at',
  'decided_at',
  'updated_at',
  'customer_name',
  'customer_email',
  'customer_phone',
  'method',
  'payer_name',
  'payer_email',
  'payer_phone',
  'payer_account_name',
  'payer_account',
  'transfer_reference',
  'bank_reference',
  'decided_by',
  'note',
  'received_amount',
  'received_on',
  'created_on',
  'submitted_on',
  'decided_on',
  'pay_by',
  'announced_at',
  'amount_received',
  'amount_due',
  'amount_returned',
] as const satisfies (keyof ExportRow)[];

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
