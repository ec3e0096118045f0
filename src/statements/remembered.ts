// Remembers how CSV exports of an account are read, as the bookkeeper confirmed it.

import { electronicFormatIBAN, isValidIBAN } from 'ibantools';
import type { ReadOptions, RememberedLayout, StatementAccount } from '#bank-statements';
import { type Act, newSalt } from '../journal/audit-entry.ts';
import { changeRow, recordNewRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { timeOrderedId } from '../lib/ids.ts';
import type { MethodSettings } from '../payments/methods/settings.ts';
import { accountsAgree } from '../payments/methods/transfer/payer-account.ts';
import type { Reader } from '../store/database.ts';
import { LAYOUT_ID_PREFIX, LAYOUTS } from './kept.ts';
import { findLayout, listLayouts } from './line-queries.ts';

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
  const layouts = await listLayouts(database);
  return {
    remembered: layouts.map(({ account, shape, layout }) => ({ account, shape, layout: JSON.parse(layout) })),
    accounts,
  };
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

const characters = (text: string) => text.toUpperCase().replaceAll(/[^0-9A-Z]/g, '');

/** The least of an account number without its bank that tells which account it is. */
const NUMBER_MINIMUM = 6;

/**
 * How an account is kept: the IBAN of the configured account that a statement names, else what the bank writes. It may name the account
 * by its number with or without leading zeros, behind a BIC or a bank code, if that is one own account's. An account without an IBAN is
 * known by one of its further lines, or by all of them: sort code and account number. Undefined if no transfer is to be paid to it.
 */
export const ownAccount = (account: StatementAccount, methods: Methods): string | undefined =>
  foundAccount(account, methods)?.kept;

type Methods = readonly Pick<MethodSettings, 'accounts'>[];

/** An account as a statement names it. What looks like an IBAN and fails its check is a spelling of the bank's own: one that was cut. */
export const namedAccount = ({ iban, ...rest }: StatementAccount): StatementAccount =>
  iban !== undefined && !isValidIBAN(iban) ? { ...rest, other: iban } : { ...rest, ...(iban && { iban }) };

/** Whether two spellings name one of the configured accounts. */
export function isOneAccount(one: StatementAccount, other: StatementAccount, methods: Methods): boolean {
  const which = foundAccount(one, methods)?.which;
  return which !== undefined && foundAccount(other, methods)?.which === which;
}

/** How an account is kept, and which it is, however it is spelled: its IBAN, or what is configured of one without. */
function foundAccount(
  { iban, other }: StatementAccount,
  methods: Methods,
): { kept: string; which: unknown } | undefined {
  const accounts = methods.flatMap((one) => one.accounts);
  const ibans = new Set(
    accounts.flatMap((one) => (one.iban === undefined ? [] : electronicFormatIBAN(one.iban)!)),
  );
  const byIban = (own: string) => ({ kept: own, which: own });
  if (iban !== undefined && ibans.has(iban)) return byIban(iban);
  if (other === undefined) return undefined;
  const alike = [...ibans].filter((own) => accountsAgree(own, other));
  if (alike.length === 1) return byIban(alike[0]!);
  const written = characters(other);
  const behind = characters(other.split('/').at(-1)!);
  for (const account of iban === undefined ? accounts : []) {
    const { iban: own, rows } = account;
    const values = (rows ?? []).map(({ value }) => characters(value)).filter((value) => value !== '');
    const names = [...values, values.join('')];
    if (names.includes(written) || (behind.length >= NUMBER_MINIMUM && values.includes(behind)))
      return own === undefined ? { kept: other, which: account } : byIban(electronicFormatIBAN(own)!);
  }
  return undefined;
}
