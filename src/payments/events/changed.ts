// A merchant's payments that changed, each once and at its newest change, in the order of commits.

import { newestEntry } from '../../journal/queries.ts';
import { lastBefore } from '../../journal/search.ts';
import type { Reader } from '../../store/database.ts';
import { historyOf } from '../history.ts';
import { asOf, type Payment, type Status } from '../payment.ts';
import { findPayments, type Tenant } from '../queries.ts';
import { findTold, LOOKED_AT_MAXIMUM, READ_AT_ONCE, toldOfPayments } from './list.ts';

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
  /** Whether there may be more behind the page. */
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
