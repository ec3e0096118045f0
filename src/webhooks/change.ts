// Changes of webhook endpoints, and those that the configuration file names, taken over at a start and on SIGHUP.
import { type Act, newSalt } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { newestEntry } from '../journal/queries.ts';
import { changeRow, type Facts, lockRow, recordRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { derivedId, timeOrderedId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import { phrase } from '../lib/phrases.ts';
import { DAY_MS } from '../lib/time.ts';
import type { Tenant } from '../payments/queries.ts';
import type { Database } from '../store/database.ts';
import {
  type DisabledReason,
  ENDPOINT_ID_PREFIX,
  ENDPOINTS,
  ENDPOINTS_MAXIMUM,
  type Endpoint,
  isConfigured,
} from './endpoint.ts';
import {
  addQueue,
  findQueue,
  listEndpoints,
  moveBack,
  noteAnswer,
  oldestWaiting,
  othersWithUrl,
  removeEndpoint,
} from './queries.ts';
import { newWebhookSecret, openSecret, sealSecret } from './signing.ts';

/** For how long the secret before signs along. */
const OVERLAP_MS = DAY_MS;

/** What a merchant says of an endpoint. */
type EndpointWish = Pick<Endpoint, 'url' | 'types' | 'description'>;

/** Adds an endpoint. It gets events from now on. Throws `conflict` if the tenant has 16. */
export async function createEndpoint(
  transaction: Transaction,
  ring: KeyRing,
  tenant: Tenant,
  wish: EndpointWish,
  act: Act,
  id = timeOrderedId(ENDPOINT_ID_PREFIX, transaction.now),
): Promise<Endpoint> {
  const { now } = transaction;
  const taken = new Set((await listEndpoints(transaction, tenant)).map(({ place }) => place));
  if (taken.size >= ENDPOINTS_MAXIMUM)
    throw new OperationalError(
      'conflict',
      `There are ${ENDPOINTS_MAXIMUM} webhook endpoints already: delete one.`,
    );
  let place = 1;
  while (taken.has(place)) place++;
  const endpoint: Endpoint = {
    ...ENDPOINTS.nulls,
    ...tenant,
    ...wish,
    id,
    place,
    secret: await sealSecret(transaction, ring, id, 'secret', newWebhookSecret()),
    secret_made_at: now,
    salt: newSalt(),
    version: 1,
    created_at: now,
    updated_at: now,
  };
  await transaction.insertNow(ENDPOINTS, endpoint);
  await addQueue(transaction, id, await newestEntry(transaction));
  const facts = { merchant: tenant.merchant_id, mode: tenant.mode };
  const change = { before: undefined, after: endpoint };
  await recordRow(transaction, act, 'webhook.created', ENDPOINTS, change, facts);
  return endpoint;
}

/** Changes what a merchant says of an endpoint. Throws `conflict` if a merchant changes one of the configuration file. */
export async function changeEndpoint(
  transaction: Transaction,
  id: string,
  wish: Partial<EndpointWish>,
  act: Act,
): Promise<Endpoint> {
  refuseConfigured(id, act);
  return change(transaction, id, act, 'webhook.changed', () => wish);
}

/**
 * Disables an endpoint: nothing is sent to it, and what waits goes on waiting. Returns a disabled endpoint unchanged. The merchant sees
 * `note`.
 */
export async function disableEndpoint(
  transaction: Transaction,
  id: string,
  reason: DisabledReason,
  act: Act,
  note: string | null = null,
): Promise<Endpoint> {
  const before = await found(transaction, id);
  const isOverruled = reason === 'administrator' || reason === 'operator';
  if (before.disabled_at !== null && !(isOverruled && before.disabled_reason !== reason)) return before;
  const disabled = {
    disabled_at: before.disabled_at ?? transaction.now,
    disabled_reason: reason,
    disabled_note: note,
  };
  return change(transaction, id, act, 'webhook.disabled', () => disabled, { reason });
}

/**
 * Enables an endpoint. It goes on where it was disabled: what happened meanwhile is sent now. Throws `invalid_status` if an
 * administrator or the operator disabled it and a merchant enables it, or if its secret is lost.
 */
export async function enableEndpoint(transaction: Transaction, id: string, act: Act): Promise<Endpoint> {
  const before = await found(transaction, id);
  if (before.disabled_at === null) return before;
  const isOthers = before.disabled_reason === 'administrator' || before.disabled_reason === 'operator';
  if (isOthers && act.actor.startsWith('merchant:'))
    throw new OperationalError(
      'invalid_status',
      phrase('The operator of this service disabled the endpoint: ask them to enable it.'),
    );
  if (before.secret === null)
    throw new OperationalError(
      'invalid_status',
      'The secret of the endpoint is lost: make a new one with rotate_secret.',
    );
  await noteAnswer(transaction, id, true);
  const enabled = { disabled_at: null, disabled_reason: null, disabled_note: null };
  return change(transaction, id, act, 'webhook.enabled', () => enabled);
}

/** Gives an endpoint a new secret. The one before signs along for 24 hours. */
export function rotateSecret(
  transaction: Transaction,
  ring: KeyRing,
  id: string,
  act: Act,
): Promise<Endpoint> {
  return change(transaction, id, act, 'webhook.secret_rotated', async (before) => {
    const old = openSecret(ring, before, 'secret');
    return {
      secret: await sealSecret(transaction, ring, id, 'secret', newWebhookSecret()),
      secret_made_at: Math.max(transaction.now, before.secret_made_at + 1),
      old_secret: old === undefined ? null : await sealSecret(transaction, ring, id, 'old_secret', old),
      old_secret_until: old === undefined ? null : transaction.now + OVERLAP_MS,
    };
  });
}

/** Deletes an endpoint, and with it what waits for it. Throws `conflict` as `changeEndpoint` does. */
export async function deleteEndpoint(transaction: Transaction, id: string, act: Act): Promise<void> {
  refuseConfigured(id, act);
  const before = await found(transaction, id);
  await leaveToOthers(transaction, before);
  await removeEndpoint(transaction, id);
  await recordRow(transaction, act, 'webhook.deleted', ENDPOINTS, { before, after: undefined });
}

function refuseConfigured(id: string, { actor }: Act): void {
  if (isConfigured(id) && actor.startsWith('merchant:'))
    throw new OperationalError(
      'conflict',
      phrase('The endpoint is in the configuration file of this service: its operator changes it there.'),
    );
}

/** Writes an endpoint anew with an entry. Throws `not_found`. */
export async function change(
  transaction: Transaction,
  id: string,
  act: Act,
  action: string,
  changed: (before: Endpoint) => Partial<Endpoint> | Promise<Partial<Endpoint>>,
  facts: Facts = {},
): Promise<Endpoint> {
  const before = await found(transaction, id);
  const written = { ...(await changed(before)), updated_at: transaction.now };
  await leaveToOthers(transaction, before, { ...before, ...written });
  return (await changeRow(transaction, act, action, ENDPOINTS, before, written, facts))!;
}

/**
 * Where an endpoint stops to send (some of) its events, the others with its URL begin where it has come to: until now it sent for
 * them. `after` is undefined where it is deleted.
 */
async function leaveToOthers(transaction: Transaction, before: Endpoint, after?: Endpoint): Promise<void> {
  const isLeft = after?.disabled_at !== null || after.url !== before.url || after.types !== before.types;
  if (before.disabled_at !== null || !isLeft) return;
  const others = await othersWithUrl(transaction, before);
  if (others.length === 0) return;
  const waiting = (await oldestWaiting(transaction, before.id)) ?? Number.POSITIVE_INFINITY;
  const queued = (await findQueue(transaction, before.id))?.number ?? 0;
  for (const { id } of others) await moveBack(transaction, id, Math.min(queued, waiting - 1));
}

/** Throws `not_found`. */
async function found(transaction: Transaction, id: string): Promise<Endpoint> {
  const endpoint = await lockRow(transaction, ENDPOINTS, id);
  if (!endpoint) throw endpointNotFound();
  return endpoint;
}

/** For an endpoint that does not exist, and one of another merchant. */
export const endpointNotFound = () => new OperationalError('not_found', 'There is no such webhook endpoint.');

/** An endpoint as the file has it. `name` is its own among those of the merchant. */
export interface ConfiguredEndpoint extends Pick<Endpoint, 'merchant_id' | 'mode' | 'url' | 'types'> {
  name: string;
}

const ACT = { actor: 'operator', request_id: null };
const LEFT_NOTE = 'It is no longer in the configuration file.';

const idOf = ({ merchant_id, mode, name }: ConfiguredEndpoint) =>
  derivedId(ENDPOINT_ID_PREFIX, `${merchant_id} ${mode} ${name}`);

const hadLeft = ({ disabled_reason, disabled_note }: Endpoint) =>
  disabled_reason === 'operator' && disabled_note === LEFT_NOTE;

interface Store {
  database: Database;
  journal: Journal;
  ring: KeyRing;
}

/**
 * Makes the endpoints of the file what the file says, and disables those that left it. One whose merchant has 16 already is logged and left
 * out. Throws as the journal does.
 */
export async function takeOver(
  { database, journal, ring }: Store,
  wanted: readonly ConfiguredEndpoint[],
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  const stored = (await listEndpoints(database)).filter(({ id }) => isConfigured(id));
  const left = new Map(stored.map((one) => [one.id, one]));
  for (const one of wanted) {
    const id = idOf(one);
    const before = left.get(id);
    left.delete(id);
    if (before && !hadLeft(before) && before.url === one.url && before.types === one.types) continue;
    const work = (transaction: Transaction) => takeOverOne(transaction, ring, one, before);
    await journal.commitAside(work, id).catch((error) => {
      if (!(error instanceof OperationalError && error.code === 'conflict')) throw error;
      const { merchant_id: merchant, name } = one;
      log.warn({ merchant, name }, `a webhook endpoint of the file is left out: ${error.message}`);
    });
  }
  // A merchant could enable one that was disabled for its failures.
  for (const one of left.values())
    if (one.disabled_reason !== 'administrator' && one.disabled_reason !== 'operator')
      await journal.commitAside(
        (transaction) => disableEndpoint(transaction, one.id, 'operator', ACT, LEFT_NOTE),
        one.id,
      );
}

async function takeOverOne(
  transaction: Transaction,
  ring: KeyRing,
  one: ConfiguredEndpoint,
  before: Endpoint | undefined,
): Promise<void> {
  const { merchant_id, mode, url, types, name } = one;
  const id = idOf(one);
  if (!before)
    await createEndpoint(
      transaction,
      ring,
      { merchant_id, mode },
      { url, types, description: name },
      ACT,
      id,
    );
  else if (before.url !== url || before.types !== types)
    await changeEndpoint(transaction, id, { url, types }, ACT);
  if (before && hadLeft(before)) await enableEndpoint(transaction, id, ACT);
}
