// API keys of the store: made, replaced by another with an overlap, and revoked, each with an entry of the history.
import { DatabaseError } from '../database/database.ts';
import { type Act, newSalt, rowDigest } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import type { Transaction } from '../journal/transaction.ts';
import { holdsCardNumber } from '../lib/card-number.ts';
import { OperationalError, validationFailed } from '../lib/errors.ts';
import { newSecret } from '../lib/secrets.ts';
import { textFault } from '../lib/text.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/time.ts';
import type { Directory } from './directory.ts';
import type { KnownKey } from './known-key.ts';
import { KEY_PREFIX, keyDigest, keyId, type Mode } from './merchant.ts';
import { countWorkingKeys, endKey, findKey } from './queries.ts';
import { isOver, KEY_COLUMNS, type StoredKey } from './stored-key.ts';

/** For how long a key goes on working beside the one that replaces it, in milliseconds. */
export const OVERLAPS_MS = { '0': 0, '1h': HOUR_MS, '24h': DAY_MS, '7d': 7 * DAY_MS } as const;
export type Overlap = keyof typeof OVERLAPS_MS;

/**
 * How many keys of one merchant and mode may work at the same time: enough for anybody, few enough for a list. Those that run out
 * beside their successors come on top, so that a key can be replaced when there are that many.
 */
export const WORKING_KEYS_MAXIMUM = 50;
/** Code points of a key's name. */
export const KEY_NAME_MAXIMUM = 80;
/** An end that lies nearer is a mistake. */
const SHORTEST_LIFE_MS = MINUTE_MS;

/** Who makes, replaces or revokes a key, and with which key, where it is done with one. */
export interface KeyAct extends Act {
  key?: string;
}

/** What is asked of a new key. `expires_at` in milliseconds since 1970; nothing where it does not end by itself. */
export interface KeyWish {
  merchantId: string;
  mode: Mode;
  name: string | null;
  expires_at: number | null;
  /** The id of the key in whose place it is made. */
  replaces?: string;
  /** The key itself, of 256 bits that nobody else knows; without it one is made here. */
  key?: string;
}

/** A key as it is told once, and its row. */
export interface IssuedKey {
  key: string;
  row: StoredKey;
}

/**
 * Makes a key; it is told nowhere else. Raises `validation_failed` where its name or its end is not right, `conflict` where the
 * merchant has too many that work.
 */
export async function issueKey(transaction: Transaction, wish: KeyWish, act: KeyAct): Promise<IssuedKey> {
  const { merchantId, mode, expires_at } = wish;
  const { now } = transaction;
  const name = wish.name?.trim() || null;
  const faults: Record<string, string> = {};
  const fault = name === null ? undefined : keyNameFault(name);
  if (fault) faults.name = fault;
  if (expires_at !== null && !(expires_at >= now + SHORTEST_LIFE_MS))
    faults.expires_at = 'Must lie at least a minute in the future.';
  if (Object.keys(faults).length > 0) throw validationFailed(faults);
  if (wish.replaces === undefined) await requireRoom(transaction, merchantId, mode, WORKING_KEYS_MAXIMUM);
  const key = wish.key ?? newSecret(KEY_PREFIX[mode]);
  const row = keyRow(keyDigest(key), { merchantId, mode, name, expires_at, last_four: key.slice(-4) }, now);
  transaction.insert('api_keys', row);
  const facts = {
    merchant: merchantId,
    mode,
    ...(wish.replaces !== undefined && { replaces: wish.replaces }),
  };
  recordKey(transaction, act, 'key.issued', row, facts);
  return { key, row };
}

/** Raises `conflict` where a merchant has `maximum` keys that work. Of keys that are made at the same moment a few may slip through. */
async function requireRoom(
  transaction: Transaction,
  merchantId: string,
  mode: Mode,
  maximum: number,
): Promise<void> {
  if ((await countWorkingKeys(transaction, merchantId, mode, transaction.now)) >= maximum)
    throw new OperationalError(
      'conflict',
      `The merchant has ${maximum} keys that work. Revoke one that is not used.`,
    );
}

/** What is wrong with a key's name. */
export function keyNameFault(name: string): string | undefined {
  return (
    textFault(name, KEY_NAME_MAXIMUM) ??
    (holdsCardNumber(name) ? 'Must not contain a card number.' : undefined)
  );
}

export function keyRow(
  digest: string,
  {
    merchantId,
    ...rest
  }: Pick<StoredKey, 'mode' | 'name' | 'expires_at' | 'last_four'> & { merchantId: string },
  now: number,
): StoredKey {
  return {
    id: keyId(digest),
    digest,
    merchant_id: merchantId,
    ...rest,
    replaced_by: null,
    salt: newSalt(),
    version: 1,
    created_at: now,
    revoked_at: null,
  };
}

/** Records a change of a key, given as it is after it. */
export function recordKey(
  transaction: Transaction,
  { actor, request_id, key }: KeyAct,
  action: string,
  row: StoredKey,
  facts: Record<string, string> = {},
): void {
  const { id: subject } = row;
  transaction.record({
    actor,
    action,
    subject,
    request_id,
    facts: { ...facts, ...(key !== undefined && { key }), row: rowDigest(KEY_COLUMNS, row) },
  });
}

/**
 * Makes a key in the place of `old`, which works on for `overlapMs` milliseconds, or until its own end if that is nearer. The new one
 * has no end, and the old one's name unless another is given. Raises `invalid_status` where the old one is over or was replaced
 * already, `validation_failed` for the name, `conflict` where too many keys of the merchant run out at the same time.
 */
export async function rotateKey(
  transaction: Transaction,
  old: KnownKey,
  { overlapMs, name = null, key }: { overlapMs: number; name?: string | null; key?: string },
  act: KeyAct,
): Promise<IssuedKey & { old: StoredKey }> {
  const before = await changeable(transaction, old);
  const { now } = transaction;
  if (before.replaced_by !== null)
    throw new OperationalError(
      'invalid_status',
      `The key was rotated already: ${before.replaced_by} replaces it.`,
    );
  const { merchant_id: merchantId, mode } = old;
  if (overlapMs > 0) await requireRoom(transaction, merchantId, mode, 2 * WORKING_KEYS_MAXIMUM);
  const wish = {
    merchantId,
    mode,
    name: name ?? before.name,
    expires_at: null,
    replaces: old.id,
    ...(key !== undefined && { key }),
  };
  const issued = await issueKey(transaction, wish, act);
  const end = now + overlapMs;
  const expires_at = Math.min(before.expires_at ?? end, old.expires_at ?? end, end);
  const after = { ...before, expires_at, replaced_by: issued.row.id };
  return { ...issued, old: await writeEnd(transaction, after, act, 'key.replaced') };
}

/** Revokes a key now and for good. Raises `invalid_status` where it is over already. */
export async function revokeKey(
  transaction: Transaction,
  key: KnownKey,
  act: KeyAct,
): Promise<{ row: StoredKey }> {
  const before = await changeable(transaction, key);
  const after = { ...before, revoked_at: transaction.now };
  return { row: await writeEnd(transaction, after, act, 'key.revoked') };
}

/** The row of a key that still works; one to be written where the configuration alone names it. Raises `invalid_status`. */
async function changeable(transaction: Transaction, key: KnownKey): Promise<StoredKey> {
  const { now } = transaction;
  const { merchant_id, digest, mode, expires_at } = key;
  const from = { merchantId: merchant_id, mode, name: null, expires_at, last_four: null };
  const row = (await findKey(transaction, key.id)) ?? { ...keyRow(digest, from, now), version: 0 };
  if (row.revoked_at !== null) throw new OperationalError('invalid_status', 'The key is revoked already.');
  if (isOver(row, now) || isOver(key, now))
    throw new OperationalError('invalid_status', 'The key has expired.');
  return row;
}

/** Writes a key that ends over its row, or as the first row of one that the configuration names. */
async function writeEnd(
  transaction: Transaction,
  row: StoredKey,
  act: KeyAct,
  action: 'key.replaced' | 'key.revoked',
): Promise<StoredKey> {
  const after = { ...row, version: row.version + 1 };
  if (row.version === 0) transaction.insert('api_keys', after);
  else if (!(await endKey(transaction, after)))
    throw new OperationalError('invalid_status', 'The key was changed at the same moment. Look again.');
  const facts: Record<string, string> = after.replaced_by === null ? {} : { replaced_by: after.replaced_by };
  recordKey(transaction, act, action, after, facts);
  return after;
}

/**
 * Does `work` about the key or merchant `id`, and tells the directory of this node at once what comes of it. Raises what they
 * raise, and what the journal raises.
 */
export async function changeKeys<T extends { row: StoredKey; old?: StoredKey }>(
  { journal, directory }: { journal: Journal; directory: Directory },
  id: string,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  let done: T;
  try {
    done = await journal.commit(work, id);
  } catch (error) {
    // Another node wrote the first row of a key of the configuration at the same moment: the second look finds it.
    if (!(error instanceof DatabaseError && error.failure === 'conflict')) throw error;
    done = await journal.commit(work, id);
  }
  if (done.old) directory.putKey(done.old);
  directory.putKey(done.row);
  return done;
}
