// Reads events out of the history: those of a merchant, of a payment, one by its id, and the newest change of each payment.
import type { AuditEntry } from '../../journal/audit-entry.ts';
import { newestEntry } from '../../journal/queries.ts';
import { lastBefore } from '../../journal/search.ts';
import type { Reader } from '../../store/database.ts';
import { historyOf, newestOf } from '../history.ts';
import { entriesOfSubjects, type PaymentFacts, paymentFacts, paymentIdsFrom } from '../history-queries.ts';
import { asOf, type Payment, type Status } from '../payment.ts';
import { findPayments, type Tenant } from '../queries.ts';
import {
  BEGINNING,
  type EventType,
  type PaymentEvent,
  readEventId,
  type ToldEntry,
  toldOf,
} from './event.ts';

/** Entries of a tenant that are read at once, and at most for one page: few match a type that is rare. */
export const READ_AT_ONCE = 200;
const LOOKED_AT_MAXIMUM = 4000;

/** A position in a tenant's events: an entry's number, and its id, which tells nothing of others. */
export type Position = Pick<ToldEntry, 'number' | 'id'>;

interface EventPage {
  events: (Position & { event: PaymentEvent })[];
  has_more: boolean;
  /** Behind which to go on; undefined before the first event. */
  end: Position | undefined;
}

export interface EventFilter {
  types?: readonly EventType[] | undefined;
  payment_id?: string | undefined;
}

/** All events of some payments of any merchant, by the payments' ids. Throws `DatabaseError` and `HistoryBroken`. */
export async function toldOfPayments(
  database: Reader,
  paymentIds: readonly string[],
  isWanted: (payment: PaymentFacts) => boolean = () => true,
): Promise<Map<string, ToldEntry[]>> {
  if (paymentIds.length === 0) return new Map();
  const payments = (await paymentFacts(database, paymentIds)).filter(isWanted);
  if (payments.length === 0) return new Map();
  const wanted = payments.map(({ id }) => id);
  const entries = Map.groupBy(await entriesOfSubjects(database, wanted), ({ subject }) => subject);
  return new Map(payments.map((payment) => [payment.id, toldOf(payment, entries.get(payment.id) ?? [])]));
}

/** A page of a tenant's events behind a position, in the order of commits. Throws as `historyOf` and `toldOfPayments` do. */
export async function listEvents(
  database: Reader,
  tenant: Tenant,
  { types, payment_id }: EventFilter,
  after: Position | undefined,
  limit: number,
): Promise<EventPage> {
  const events: EventPage['events'] = [];
  const isWanted = ({ event }: ToldEntry) =>
    event !== undefined && (types === undefined || types.includes(event.type));
  let end = after;
  const take = (all: readonly ToldEntry[]): boolean => {
    for (const one of all) {
      if (isWanted(one) && events.length === limit) return true;
      if (isWanted(one)) events.push(one as EventPage['events'][number]);
      end = one;
    }
    return false;
  };
  if (payment_id !== undefined) {
    const [payment] = await paymentFacts(database, [payment_id]);
    const isTheirs = payment?.merchant_id === tenant.merchant_id && payment.mode === tenant.mode;
    const all = isTheirs ? (await toldOfPayments(database, [payment_id])).get(payment_id)! : [];
    const has_more = take(all.filter(({ number }) => number > (after?.number ?? 0)));
    return { events, has_more, end };
  }
  for (let looked = 0; looked < LOOKED_AT_MAXIMUM; looked += READ_AT_ONCE) {
    const count = types === undefined ? Math.min(READ_AT_ONCE, limit + 1) : READ_AT_ONCE;
    const entries = await historyOf(database, tenant, end?.number ?? 0, count);
    if (take(await tellOf(database, entries))) return { events, has_more: true, end };
    if (entries.length < count) return { events, has_more: false, end };
  }
  return { events, has_more: true, end };
}

/** What entries about payments tell, in their order: those about payments that `isWanted` says yes to. Throws as `toldOfPayments` does. */
export async function tellOf(
  database: Reader,
  entries: readonly AuditEntry[],
  isWanted: (payment: PaymentFacts) => boolean = () => true,
): Promise<ToldEntry[]> {
  const all = await toldOfPayments(database, [...new Set(entries.map(({ subject }) => subject))], isWanted);
  const byNumber = new Map([...all.values()].flat().map((one) => [one.number, one]));
  return entries.flatMap(({ number }) => byNumber.get(number) ?? []);
}

/** The event of the entry that an id names. Undefined if it is none of the tenant's. Throws as `toldOfPayments` does. */
export async function findTold(database: Reader, tenant: Tenant, id: string): Promise<ToldEntry | undefined> {
  if (id === BEGINNING.id) return BEGINNING;
  const named = readEventId(id);
  if (!named) return undefined;
  const found = (await paymentIdsFrom(database, tenant, named.start)).find((one) => named.isOf(one.id));
  if (!found) return undefined;
  return (await toldOfPayments(database, [found.id])).get(found.id)?.[named.place - 1];
}

/** The position behind a tenant's newest entry up to number `until`. Throws as `historyOf` and `toldOfPayments` do. */
export async function positionAt(database: Reader, tenant: Tenant, until: number): Promise<Position> {
  const newest = await newestOf(database, tenant, until);
  return (newest && (await tellOf(database, [newest]))[0]) ?? BEGINNING;
}

interface ChangesSince {
  /** Behind the entry with this number. */
  number: number;
  /** At this moment (milliseconds since 1970) or later. */
  from: number;
}

interface ChangeFilter {
  merchant_reference?: string | undefined;
  status?: Status | undefined;
}

interface ChangesPage {
  payments: Payment[];
  has_more: boolean;
  /** A cursor to what comes behind the page; undefined where nothing was looked at. */
  end: string | undefined;
}

/** The beginning that a moment means, in milliseconds since 1970. */
export async function changesFrom(database: Reader, ms: number): Promise<ChangesSince> {
  return { number: await lastBefore(database, ms, await newestEntry(database)), from: ms };
}

/** The position that a cursor means. Undefined if it is none of the tenant's. Throws as `findTold` does. */
export async function changesBehind(
  database: Reader,
  tenant: Tenant,
  cursor: string,
): Promise<ChangesSince | undefined> {
  const told = await findTold(database, tenant, cursor);
  return told && { number: told.number, from: 0 };
}

/**
 * A page of a tenant's payments by their newest change. A payment that changes while a client goes from page to page comes again.
 * Throws as `historyOf` and `toldOfPayments` do.
 */
export async function listChanged(
  database: Reader,
  tenant: Tenant,
  since: ChangesSince,
  { merchant_reference, status }: ChangeFilter,
  limit: number,
  now: number,
): Promise<ChangesPage> {
  const found: Payment[] = [];
  let reached = since.number;
  let end: string | undefined;
  const isWanted = (payment: Payment) =>
    (merchant_reference === undefined || payment.merchant_reference === merchant_reference) &&
    (status === undefined || asOf(payment, now).status === status);
  for (let looked = 0; looked < LOOKED_AT_MAXIMUM; looked += READ_AT_ONCE) {
    const entries = await historyOf(database, tenant, reached, READ_AT_ONCE);
    const ids = [...new Set(entries.map(({ subject }) => subject))];
    if (ids.length === 0) return { payments: found, has_more: false, end };
    const told = await toldOfPayments(database, ids);
    // Read behind the history, so no payment is older than the change that it stands for.
    const payments = new Map((await findPayments(database, ids)).map((payment) => [payment.id, payment]));
    for (const { number, at, subject } of entries) {
      const all = told.get(subject)!;
      const payment = payments.get(subject)!;
      const isNewest = all.findLast(({ isChange }) => isChange)?.number === number;
      if (isNewest && at >= since.from && isWanted(payment)) {
        if (found.length === limit) return { payments: found, has_more: true, end };
        found.push(payment);
      }
      reached = number;
      end = all.find((one) => one.number === number)!.id;
    }
    if (entries.length < READ_AT_ONCE) return { payments: found, has_more: false, end };
  }
  return { payments: found, has_more: true, end };
}
