// What counterfoil keys does with keys that there are: lists them, replaces one, ends one.
import { type Configuration, configurationFile, environment, readConfiguration } from '../config.ts';
import { storeExists } from '../database/open.ts';
import { ago } from '../lib/duration.ts';
import { editDistance } from '../lib/edit-distance.ts';
import { DAY_MS, formatTimestamp, systemClock } from '../lib/time.ts';
import { OVERLAPS_MS, type Overlap, revokeKey, rotateKey } from '../merchants/api-keys.ts';
import type { Directory } from '../merchants/directory.ts';
import { KeyUses } from '../merchants/key-uses.ts';
import type { KnownKey } from '../merchants/known-key.ts';
import { KEY_PREFIX } from '../merchants/merchant.ts';
import { isOver } from '../merchants/stored-key.ts';
import { canAsk, saysYes } from './ask.ts';
import { UNFINISHED } from './key-file.ts';
import { existingMerchant, loadDirectory } from './merchant-names.ts';
import { lendStore, OPERATOR, type Store, type StoreOptions, withStore } from './store.ts';
import { columns, Failure } from './terminal.ts';

const at = (ms: number | null | undefined) => (ms == null ? null : formatTimestamp(ms));
/** Letters of an id that may be mistyped. */
const ID_SLIPS = 3;

interface ListOptions extends StoreOptions {
  merchant?: string;
}

/** `counterfoil keys list`. */
export async function list(options: ListOptions): Promise<void> {
  const configuration = readConfiguration(configurationFile(options.config), environment, UNFINISHED);
  if (storeExists(configuration))
    await lendStore(configuration, (store) => listIn(configuration, store, options));
  else await listIn(configuration, undefined, options);
}

async function listIn(
  configuration: Configuration,
  store: Store | undefined,
  { merchant: wanted, json }: ListOptions,
): Promise<void> {
  const directory = await loadDirectory(configuration, store?.database);
  const merchants = wanted === undefined ? directory.merchants : [existingMerchant(wanted, directory)];
  const keys = merchants.flatMap(({ id, name }) => directory.keysOf(id).map((key) => ({ key, name })));
  const uses = store
    ? await lastUsesIn(
        store,
        keys.map(({ key }) => key.id),
      )
    : new Map<string, number>();
  const now = systemClock.now();
  const told = keys.map(({ key, name }) => described(key, name, uses.get(key.id), now));
  if (json) console.log(JSON.stringify({ keys: told }));
  else if (told.length === 0)
    console.log('There are no keys. Make one: counterfoil keys create --merchant "Corner Shop"');
  else console.log(columns(keys.map(({ key, name }) => lineOf(key, name, uses.get(key.id), now))));
}

function described(key: KnownKey, merchant_name: string, used: number | undefined, now: number) {
  const { id, merchant_id, mode, name, last_four, replaced_by, isConfigured } = key;
  return {
    id,
    merchant_id,
    merchant_name,
    mode,
    name,
    prefix: KEY_PREFIX[mode],
    last_four,
    created_at: at(key.created_at),
    last_used_at: at(used),
    expires_at: at(key.expires_at),
    revoked_at: at(key.revoked_at),
    replaced_by,
    status: statusOf(key, now),
    configured: isConfigured,
  };
}

function statusOf(key: KnownKey, now: number): 'revoked' | 'expired' | 'active' {
  if (key.revoked_at !== null) return 'revoked';
  return isOver(key, now) ? 'expired' : 'active';
}

function lineOf(key: KnownKey, merchant: string, used: number | undefined, now: number): string[] {
  const { id, mode, last_four, merchant_id, name, created_at } = key;
  return [
    id,
    `${KEY_PREFIX[mode]}…${last_four ?? ''}`,
    merchant,
    merchant_id,
    name ?? '–',
    created_at === null ? 'in the configuration' : `made ${formatTimestamp(created_at).slice(0, 10)}`,
    usedWhen(used, now),
    stateOf(key, now),
  ];
}

function stateOf({ expires_at, revoked_at, replaced_by }: KnownKey, now: number): string {
  if (revoked_at !== null) return `revoked ${formatTimestamp(revoked_at)}`;
  if (expires_at === null) return 'does not expire';
  const replaced = replaced_by === null ? '' : `, replaced by ${replaced_by}`;
  return `${expires_at <= now ? 'expired' : 'expires'} ${formatTimestamp(expires_at)}${replaced}`;
}

const usedWhen = (used: number | undefined, now: number) =>
  used === undefined ? 'never used' : `last used ${ago(used, now)}`;

/** When keys were last used, by their ids. */
function lastUsesIn(
  { database, journal }: Store,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  return new KeyUses(journal).lastUsed(database, ids);
}

/** A key by its id. Raises `Failure`, which says which was probably meant. */
function keyNamed(id: string, directory: Directory): KnownKey {
  const all = directory.merchants.flatMap((merchant) => directory.keysOf(merchant.id));
  const found = all.find((key) => key.id === id);
  if (found) return found;
  if (id.startsWith('cfk_'))
    throw new Failure('that is a key itself, not its id: take the id, key_…, from counterfoil keys list');
  const [nearest] = all
    .map((key) => ({ id: key.id, slips: editDistance(key.id, id) }))
    .filter(({ slips }) => slips <= ID_SLIPS)
    .sort((one, other) => one.slips - other.slips);
  throw new Failure(
    `there is no key ${id}; ${nearest ? `did you mean ${nearest.id}?` : 'counterfoil keys list shows all'}`,
  );
}

/** `counterfoil keys rotate`. */
export async function rotate(
  id: string,
  options: StoreOptions & { overlap: Overlap; name?: string },
): Promise<void> {
  await withStore(options, async (store) => {
    const { journal } = store;
    const directory = await loadDirectory(store.configuration, store.database);
    const before = keyNamed(id, directory);
    const used = (await lastUsesIn(store, [id])).get(id);
    const wanted = { overlapMs: OVERLAPS_MS[options.overlap], name: options.name ?? null };
    const { key, row, old } = await journal.commit(
      (transaction) => rotateKey(transaction, before, wanted, OPERATOR),
      id,
    );
    const now = systemClock.now();
    if (options.json) {
      console.log(
        JSON.stringify({
          key,
          id: row.id,
          mode: row.mode,
          merchant_id: row.merchant_id,
          name: row.name,
          replaced: { id, expires_at: at(old.expires_at), last_used_at: at(used) },
        }),
      );
      return;
    }
    const ends = old.expires_at! <= now ? 'works no more' : `works until ${formatTimestamp(old.expires_at!)}`;
    console.log(key);
    console.error(`
Key ${row.id} takes the place of ${id}, for ${row.mode} payments of ${directory.merchant(row.merchant_id)!.name}.
Copy it now: it is shown only this once. The store holds its digest. It works already, at a running server too.
The old key ${ends}; it was ${usedWhen(used, now)}.
Next: put the new key where the old one is used, and see with counterfoil keys list that the old one is used no more.`);
  });
}

/** `counterfoil keys revoke`. */
export async function revoke(id: string, options: StoreOptions & { yes?: boolean }): Promise<void> {
  await withStore(options, async (store) => {
    const directory = await loadDirectory(store.configuration, store.database);
    const key = keyNamed(id, directory);
    const used = (await lastUsesIn(store, [id])).get(id);
    const now = systemClock.now();
    if (!options.yes && !isOver(key, now) && used !== undefined && used > now - DAY_MS) {
      const doubt = `${id} was ${usedWhen(used, now)}: whatever calls with it is refused as soon as it is revoked.`;
      if (!(canAsk() && (await saysYes(`${doubt} Revoke it?`))))
        throw new Failure(`${doubt} It was not revoked; add --yes to do so`);
    }
    const { row } = await store.journal.commit((transaction) => revokeKey(transaction, key, OPERATOR), id);
    const merchant = directory.merchant(key.merchant_id)!.name;
    if (options.json) {
      console.log(JSON.stringify({ id, merchant_id: key.merchant_id, revoked_at: at(row.revoked_at) }));
      return;
    }
    console.log(
      `Revoked ${id} of ${merchant}; it was ${usedWhen(used, now)}. Every server refuses it within a second.`,
    );
    if (key.isConfigured) console.log('Its lines may be removed from the configuration file.');
  });
}
