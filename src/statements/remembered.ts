// Remembers how CSV exports of an account are read, as the bookkeeper confirmed it.

import type { CsvLayout, ReadOptions, RememberedLayout } from '#bank-statements';
import type { Act } from '../journal/audit-entry.ts';
import { newSalt } from '../journal/audit-entry.ts';
import { changeRow, recordNewRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { timeOrderedId } from '../lib/ids.ts';
import type { MethodSettings } from '../payments/methods/method.ts';
import type { Reader } from '../store/database.ts';
import { LAYOUT_ID_PREFIX, LAYOUTS } from './kept.ts';
import { findLayout, listLayouts } from './rule-queries.ts';

/** Everything that was confirmed. Throws `DatabaseError`. */
async function rememberedLayouts(database: Reader): Promise<RememberedLayout[]> {
  const rows = await listLayouts(database);
  return rows.map(({ account, shape, layout }) => ({
    account,
    shape,
    layout: JSON.parse(layout) as CsvLayout,
  }));
}

/** What is known of files beside what they hold: confirmed layouts, and the currencies of own accounts. Throws `DatabaseError`. */
export async function readingOptions(
  database: Reader,
  methods: readonly Pick<MethodSettings, 'accounts'>[],
): Promise<ReadOptions> {
  const accounts = methods.flatMap((method) =>
    method.accounts.map(({ iban, rows, currency }) => ({
      account: iban ?? (rows ?? []).map(({ value }) => value).join('/'),
      currency,
    })),
  );
  return { remembered: await rememberedLayouts(database), accounts };
}

/** Keeps a layout in place of the one before. Does nothing if it is the same. Throws `DatabaseError`. */
export async function rememberLayout(
  transaction: Transaction,
  { account, shape, layout }: RememberedLayout,
  act: Act,
): Promise<void> {
  const before = await findLayout(transaction, account, shape);
  const written = JSON.stringify(layout);
  if (before?.layout === written) return;
  const { now } = transaction;
  if (before) {
    const columns = { layout: written, updated_at: now };
    await changeRow(transaction, act, 'csv_layout.changed', LAYOUTS, before, columns);
    return;
  }
  const id = timeOrderedId(LAYOUT_ID_PREFIX, now);
  const times = { created_at: now, updated_at: now };
  const row = { id, account, shape, layout: written, salt: newSalt(), version: 1, ...times };
  await transaction.insertNow(LAYOUTS, row);
  recordNewRow(transaction, act, 'csv_layout.confirmed', LAYOUTS, row);
}
