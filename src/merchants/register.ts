// New merchants of the store: by registration, and taken over from the configuration.

import type { Act } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { touchHead } from '../journal/queries.ts';
import { lockRow, recordNewRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { validationFailed } from '../lib/errors.ts';
import { randomId } from '../lib/ids.ts';
import { newSecret } from '../lib/secrets.ts';
import { MINUTE_MS } from '../lib/time.ts';
import type { Reader } from '../store/database.ts';
import { type IssuedKey, insertKey, issueKey } from './api-keys.ts';
import { commitChange, newMerchant, writeMerchant } from './change.ts';
import type { Directory } from './directory.ts';
import { findUsableInvite, useInvite } from './invite.ts';
import {
  KEY_PREFIX,
  keyDigest,
  MERCHANT_ID_PREFIX,
  MERCHANTS,
  type MerchantWithKeys,
  type Mode,
  type StoredKey,
  type StoredMerchant,
  writtenLimits,
} from './merchant.ts';
import { lookAlike } from './names-in-use.ts';
import { writtenParticulars } from './particulars.ts';
import { findKey, findKeyByDigest, findMerchant, namesSince } from './queries.ts';
import {
  detailsOf,
  nameTaken,
  plainBusinessName,
  type Registration,
  type RegistrationMode,
  refuseIfClosed,
  registrationFaults,
  UNUSABLE_INVITE,
} from './registration.ts';

/** Characters of a merchant's id behind its prefix: 100 random bits. */
const ID_CHARACTERS = 20;
/** A node hears within a second of a merchant that another node made. The rest is for clocks that differ. */
const UNHEARD_MS = MINUTE_MS;
/** Behind all ids: because the journal's head is locked in the work, all other rows of the batch must be locked before it. */
const LAST = '~';

export interface RegistrationParts {
  database: Reader;
  journal: Journal;
  directory: Directory;
  mode: RegistrationMode;
  /** Where to ask if registration is closed. */
  contact: string | undefined;
}

/** What registering comes to. */
export interface Registered extends IssuedKey {
  merchant: StoredMerchant;
}

/** The key that a merchant gets, in whichever mode it comes to be. */
export type KeyByMode = Readonly<Record<Mode, string>>;

/**
 * Makes a merchant with its first key. Without an invitation its name must look like no other merchant's. A known
 * e-mail address makes another merchant and changes nothing of the first. Without an invitation the key makes test payments. With `keys`,
 * which only the caller knows, the key is one of them, and a merchant that has it already is returned instead. Throws `validation_failed`
 * if a field or the invitation is invalid, `forbidden` if registration is closed, and what the journal throws.
 */
export async function registerMerchant(
  { database, journal, directory, mode, contact }: RegistrationParts,
  wanted: Registration,
  act: Act,
  keys?: KeyByMode,
): Promise<Registered> {
  refuseIfClosed(mode, contact);
  const faults = registrationFaults(wanted, mode);
  if (Object.keys(faults).length > 0) throw validationFailed(detailsOf(faults));
  let release: (() => void) | undefined;
  try {
    if (wanted.invite === null) {
      release = await directory.names.claim(wanted.business_name);
      if (!release) throw taken(contact);
    }
    const invite = wanted.invite === null ? undefined : await findUsableInvite(database, wanted.invite);
    if (wanted.invite !== null && !invite) throw unusable();
    const registered = await journal.commit(async (transaction) => {
      if (!invite) await refuseNewName(transaction, wanted.business_name, contact);
      return register(transaction, wanted, act, keys);
    }, invite?.id ?? LAST);
    directory.putMerchant(registered.merchant);
    directory.putKey(registered.row);
    return registered;
  } catch (error) {
    // Another node may have been quicker with the same form, or this one may have lost the answer to its own commit.
    const before = keys && (await findRegistered(database, keys));
    if (before) return before;
    throw error;
  } finally {
    release?.();
  }
}

/**
 * Throws `validation_failed` if a name looks like one that another node took a moment ago. The lock on the journal's head makes
 * other nodes wait with their commits until this one, so no name is taken in between.
 */
async function refuseNewName(
  transaction: Transaction,
  name: string,
  contact: string | undefined,
): Promise<void> {
  await touchHead(transaction);
  const names = await namesSince(transaction, transaction.now - UNHEARD_MS);
  if (names.some((other) => lookAlike(name, other))) throw taken(contact);
}

const taken = (contact: string | undefined) =>
  validationFailed(detailsOf({ business_name: nameTaken(contact) }));

/** The merchant whose first key is one of `keys`, if there is one. Throws `DatabaseError`. */
export async function findRegistered(database: Reader, keys: KeyByMode): Promise<Registered | undefined> {
  for (const key of Object.values(keys)) {
    const row = await findKeyByDigest(database, keyDigest(key));
    const merchant = row && (await findMerchant(database, row.merchant_id));
    if (merchant) return { key, row, merchant };
  }
  return undefined;
}

async function register(
  transaction: Transaction,
  { business_name, email, website, invite }: Registration,
  act: Act,
  keys: KeyByMode | undefined,
): Promise<Registered> {
  const id = randomId(MERCHANT_ID_PREFIX, ID_CHARACTERS);
  let mode: Mode = 'test';
  if (invite !== null) {
    const used = await useInvite(transaction, invite, id, act);
    if (!used) throw unusable();
    mode = used.mode;
  }
  const merchant: StoredMerchant = {
    ...newMerchant(id, transaction.now),
    name: plainBusinessName(business_name),
    email,
    website,
  };
  transaction.insert(MERCHANTS, merchant);
  recordNewRow(transaction, act, 'merchant.registered', MERCHANTS, merchant);
  const key = keys?.[mode] ?? newSecret(KEY_PREFIX[mode]);
  const wish = { merchantId: id, mode, name: null, expires_at: null, key };
  return { merchant, ...(await issueKey(transaction, wish, act)) };
}

const unusable = () => validationFailed(detailsOf({ invite: UNUSABLE_INVITE }));

/**
 * Takes a merchant of the configuration over into the store, with its keys. Existing rows stay. Returns what was written: undefined if
 * the store has all of it. Throws what the journal throws.
 */
export async function importMerchant(
  journal: Journal,
  configured: MerchantWithKeys,
  act: Act,
): Promise<{ merchant: StoredMerchant | undefined; keys: StoredKey[] }> {
  return commitChange(journal, configured.id, async (transaction) => {
    const keys: StoredKey[] = [];
    for (const { id, digest, mode, expires_at, name = null } of configured.keys) {
      if (await findKey(transaction, id)) continue;
      const from = { merchantId: configured.id, mode, name, expires_at, last_four: null, made_by: null };
      keys.push(await insertKey(transaction, act, 'key.imported', digest, from));
    }
    const before = await lockRow(transaction, MERCHANTS, configured.id);
    const isThere = before !== undefined && before.name !== null;
    return { merchant: isThere ? undefined : await writeImported(transaction, configured, act), keys };
  });
}

function writeImported(
  transaction: Transaction,
  { id, name, email = null, website, support, methods, limits, particulars }: MerchantWithKeys,
  act: Act,
): Promise<StoredMerchant> {
  return writeMerchant(transaction, act, 'merchant.imported', id, () => ({
    name,
    email,
    website,
    support,
    particulars: writtenParticulars({ ...particulars, ...(email !== null && { email_confirmed: true }) }),
    methods: methods && JSON.stringify(methods),
    limits: writtenLimits(limits),
    created_at: transaction.now,
  }));
}
