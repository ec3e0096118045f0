// API keys of the store: made, replaced and revoked, each with an entry of the history, and which keys may do so.

import type { Act } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { changeRow, type Facts, lockRow, recordRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { holdsCardNumber } from '../lib/card-number.ts';
import { OperationalError, validationFailed } from '../lib/errors.ts';
import { newSecret } from '../lib/secrets.ts';
import { textFault } from '../lib/text.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/time.ts';
import type { Directory } from './directory.ts';
import {
  API_KEYS,
  type ApiKey,
  isInactive,
  KEY_PREFIX,
  type KnownKey,
  keyDigest,
  keyRow,
  MERCHANTS,
  type Mode,
  REFUSED_KEY,
  type StoredKey,
  SUSPENDED_MERCHANT,
} from './merchant.ts';
import { countKeys, findKey } from './queries.ts';

/** For how long a key goes on working beside the one that replaces it, in milliseconds. */
export const OVERLAPS_MS = { '0': 0, '1h': HOUR_MS, '24h': DAY_MS, '7d': 7 * DAY_MS } as const;
export type Overlap = keyof typeof OVERLAPS_MS;

/**
 * How many keys of one merchant and mode may be active at the same time. Replaced keys that still run out count extra, so that a key can
 * be replaced at this limit.
 */
export const WORKING_KEYS_MAXIMUM = 50;
/** Maximum number of new keys of one merchant and mode in a day, rotations included. It stops a program that runs wild. */
export const NEW_KEYS_PER_DAY = 200;
/** Code points of a key's name. */
export const KEY_NAME_MAXIMUM = 80;
/** An end that lies nearer is a mistake. */
const SHORTEST_LIFE_MS = MINUTE_MS;

/** What is asked of a new key. `expires_at` in milliseconds since 1970; undefined where it does not end by itself. */
interface KeyWish {
  merchantId: string;
  mode: Mode;
  name: string | null;
  expires_at: number | null;
  /** The key itself, 256 bits that only the caller knows. Made here if undefined. */
  key?: string;
}

/** A key as it is shown once, and its row. */
export interface IssuedKey {
  key: string;
  row: StoredKey;
}

/**
 * Makes a key; it is returned this once. A key made with another key ends with that one at the latest. Throws `validation_failed` if its
 * name or its end is invalid, `conflict` if the merchant has too many active ones or made too many today, and for the key that it is made
 * with `unauthorized` and `forbidden`.
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
  const acting = await takeTurn(transaction, merchantId, act);
  refuseReplaced(acting);
  await requireRoom(transaction, merchantId, mode, WORKING_KEYS_MAXIMUM);
  return write(transaction, { ...wish, name, expires_at: withinLife(expires_at, act, acting) }, act);
}

async function write(
  transaction: Transaction,
  { merchantId, mode, name, expires_at, key = newSecret(KEY_PREFIX[mode]) }: KeyWish,
  act: KeyAct,
  replaces?: string,
): Promise<IssuedKey> {
  const from = { merchantId, mode, name, expires_at, last_four: key.slice(-4), made_by: makerOf(act) };
  const facts = withKey(act, replaces === undefined ? {} : { replaces });
  return { key, row: await insertKey(transaction, act, 'key.issued', keyDigest(key), from, facts) };
}

/** Writes the row of a new key and records it. It is in the table at once, so that a later work of the same commit counts it. */
export async function insertKey(
  transaction: Transaction,
  act: Act,
  action: string,
  digest: string,
  from: Parameters<typeof keyRow>[1],
  facts: Facts = {},
): Promise<StoredKey> {
  const row = keyRow(digest, from, transaction.now);
  await transaction.insertNow(API_KEYS, row);
  const all = { merchant: from.merchantId, mode: from.mode, ...facts };
  await recordRow(transaction, act, action, API_KEYS, { before: undefined, after: row }, all);
  return row;
}

/** Throws `conflict` where a merchant has `maximum` keys that work, or made as many as it may within a day. */
async function requireRoom(
  transaction: Transaction,
  merchantId: string,
  mode: Mode,
  maximum: number,
): Promise<void> {
  const { now } = transaction;
  const { working, made } = await countKeys(transaction, merchantId, mode, { now, since: now - DAY_MS });
  if (working >= maximum)
    throw new OperationalError(
      'conflict',
      `The merchant has ${maximum} keys that work. Revoke one that is not used.`,
    );
  if (made >= NEW_KEYS_PER_DAY)
    throw new OperationalError(
      'conflict',
      `The merchant made ${NEW_KEYS_PER_DAY} keys within a day. Make the next one tomorrow.`,
    );
}

/** What is wrong with a short text, of at most `maximum` characters and without a card number. */
export const labelFault = (text: string, maximum: number): string | undefined =>
  textFault(text, maximum) ?? (holdsCardNumber(text) ? 'Must not contain a card number.' : undefined);

/** What is wrong with a key's name. */
export const keyNameFault = (name: string): string | undefined => labelFault(name, KEY_NAME_MAXIMUM);

const withKey = ({ key }: KeyAct, facts: Facts): Facts => (key ? { ...facts, key: key.id } : facts);

/**
 * Makes a key in the place of `old`, which stays active for `overlapMs` milliseconds, or until its own end if that is nearer. The new one
 * has the old one's name unless another is given, and no end; made with a key, it has the old one's end, and ends with the key it is made
 * with at the latest. Throws `invalid_status` if the old one is inactive, was replaced already or stands in the configuration,
 * `validation_failed` for the name, `conflict` if too many keys of the merchant run out at the same time or were made today, and for the
 * key that it is made with `unauthorized` and `forbidden`.
 */
export async function rotateKey(
  transaction: Transaction,
  old: KnownKey,
  { overlapMs, name = null, key }: { overlapMs: number; name?: string | null; key?: string },
  act: KeyAct,
): Promise<IssuedKey & { old: StoredKey }> {
  const { merchant_id: merchantId, mode } = old;
  const fault = name === null ? undefined : keyNameFault(name.trim());
  if (fault) throw validationFailed({ name: fault });
  const acting = await takeTurn(transaction, merchantId, act);
  const before = await changeable(transaction, old);
  if (before.replaced_by !== null)
    throw new OperationalError(
      'invalid_status',
      `The key was rotated already: ${before.replaced_by} replaces it.`,
    );
  refuseReplaced(acting);
  const maximum = overlapMs > 0 ? 2 * WORKING_KEYS_MAXIMUM : Number.POSITIVE_INFINITY;
  await requireRoom(transaction, merchantId, mode, maximum);
  const wish = {
    merchantId,
    mode,
    name: name?.trim() || before.name,
    expires_at: act.key ? withinLife(before.expires_at, act, acting) : null,
    ...(key !== undefined && { key }),
  };
  const issued = await write(transaction, wish, act, old.id);
  const expires_at = Math.min(before.expires_at ?? Infinity, transaction.now + overlapMs);
  const end = { expires_at, replaced_by: issued.row.id };
  const facts = withKey(act, { replaced_by: issued.row.id });
  const ended = await changeRow(transaction, act, 'key.replaced', API_KEYS, before, end, facts);
  return { ...issued, old: ended! };
}

/**
 * Revokes a key now and for good. Throws `invalid_status` if it is inactive already or stands in the configuration, and for the key that
 * it is done with `unauthorized` and `forbidden`.
 */
export async function revokeKey(
  transaction: Transaction,
  key: KnownKey,
  act: KeyAct,
): Promise<{ row: StoredKey }> {
  const acting = await takeTurn(transaction, key.merchant_id, act);
  const before = await changeable(transaction, key);
  if (acting?.id !== key.id) refuseReplaced(acting); // itself it may end
  const end = { revoked_at: transaction.now };
  const facts = withKey(act, before.replaced_by === null ? {} : { replaced_by: before.replaced_by });
  return { row: (await changeRow(transaction, act, 'key.revoked', API_KEYS, before, end, facts))! };
}

/** The refusal to rotate or revoke a key of the configuration file. The id begins like the digest, so that operators find its line. */
export function livesInFile({ digest }: Pick<KnownKey, 'digest'>): OperationalError {
  return new OperationalError(
    'invalid_status',
    `The key stands in the configuration file, with the key_sha256 ${digest.slice(0, 16)}…: the operator puts another in its place there, and takes its line out.`,
  );
}

/** The row of a key that still works, locked. Throws `invalid_status`, also for a key of the configuration. */
async function changeable(transaction: Transaction, key: KnownKey): Promise<StoredKey> {
  if (key.isConfigured) throw livesInFile(key);
  const row = await lockRow(transaction, API_KEYS, key.id);
  if (!row || row.revoked_at !== null)
    throw new OperationalError('invalid_status', 'The key is revoked already.');
  if (isInactive(row, transaction.now)) throw new OperationalError('invalid_status', 'The key has expired.');
  return row;
}

/**
 * Does `work` about keys of a merchant, and tells the directory of this node at once what comes of it. Throws what it throws, and what
 * the journal throws.
 */
export async function changeKeys<T extends { row: StoredKey; old?: StoredKey }>(
  { journal, directory }: { journal: Journal; directory: Directory },
  merchantId: string,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const done = await journal.commit(work, merchantId);
  if (done.old) directory.putKey(done.old);
  directory.putKey(done.row);
  return done;
}

/** Who makes, replaces or revokes a key, and with which key, where it is done with one. */
export interface KeyAct extends Act {
  key?: ApiKey;
}

/**
 * Takes a merchant's turn: from here on all changes of its keys wait for this one, on every node, where the merchant has a row.
 * Gives the row of the key that it is done with, if there is one. A key that ended, or whose merchant was suspended, on another
 * node since the request came leaves no key behind. Throws `unauthorized` and `forbidden` for that.
 */
async function takeTurn(
  transaction: Transaction,
  merchantId: string,
  { key }: KeyAct,
): Promise<StoredKey | undefined> {
  const merchant = await lockRow(transaction, MERCHANTS, merchantId);
  if (!key) return undefined;
  const row = await findKey(transaction, key.id);
  if (isInactive(key, transaction.now) || (row && isInactive(row, transaction.now)))
    throw new OperationalError('unauthorized', REFUSED_KEY);
  if (merchant && merchant.suspended_at !== null) throw new OperationalError('forbidden', SUSPENDED_MERCHANT);
  return row;
}

/** Throws `forbidden` for a key that was replaced: until its end it reads and creates payments alone. */
export function refuseReplaced(acting: Pick<ApiKey, 'replaced_by'> | undefined): void {
  if (acting?.replaced_by)
    throw new OperationalError(
      'forbidden',
      `This key was replaced by ${acting.replaced_by}: until it expires it reads and creates payments, and nothing else.`,
    );
}

/** No key outlives the one it was made with: the nearer of the two ends, in milliseconds since 1970; undefined where neither ends. */
function withinLife(
  expires_at: number | null,
  { key }: KeyAct,
  acting: StoredKey | undefined,
): number | null {
  const ends = [expires_at, key?.expires_at, acting?.expires_at].filter((end) => end != null);
  return ends.length === 0 ? null : Math.min(...ends);
}

/** The maker of a key: the id of the key it was made with, else the kind of actor. Undefined for the first key of a registration. */
function makerOf({ actor, key }: KeyAct): string | null {
  if (key) return key.id;
  const kind = actor.split(':', 1)[0]!;
  return kind === 'operator' || kind === 'administrator' ? kind : null;
}
