// counterfoil keys list: keys of the configuration and of the store, and when they were last used.

import { type Moments, momentsIn } from '../../lib/moments.ts';
import { ago, systemClock, timestampOrNull } from '../../lib/time.ts';
import { KeyUses } from '../../merchants/key-uses.ts';
import { isInactive, KEY_PREFIX, type KnownKey } from '../../merchants/merchant.ts';
import { type Configuration, configurationFile, readConfiguration } from '../config.ts';
import { environment } from '../environment.ts';
import { UNFINISHED } from './key-file.ts';
import { existingMerchant, leftMerchants, loadDirectory } from './merchant-names.ts';
import { lendStore, type Store, type StoreOptions, storeIsThere } from './store.ts';
import { columns, print } from './terminal.ts';

interface ListOptions extends StoreOptions {
  merchant?: string;
}

/** `counterfoil keys list`. */
export async function list(options: ListOptions): Promise<void> {
  const configuration = readConfiguration(configurationFile(options.config), environment, UNFINISHED);
  if (storeIsThere(configuration))
    await lendStore(configuration, (store) => listIn(configuration, store, options));
  else await listIn(configuration, undefined, options);
}

async function listIn(
  configuration: Configuration,
  store: Store | undefined,
  { merchant: wanted, json }: ListOptions,
): Promise<void> {
  const directory = await loadDirectory(configuration, store?.database);
  const left = store && wanted === undefined ? await leftMerchants(directory, store.database) : [];
  const merchants =
    wanted === undefined ? [...directory.merchants, ...left] : [existingMerchant(wanted, directory)];
  const keys = merchants.flatMap(({ id, name }) => directory.keysOf(id).map((key) => ({ key, name })));
  const uses = store
    ? await lastUsesIn(
        store,
        keys.map(({ key }) => key.id),
      )
    : new Map<string, number>();
  const now = systemClock.now();
  const words = momentsIn(configuration.time_zone);
  const told = keys.map(({ key, name }) => described(key, name, uses.get(key.id), now));
  const lines = keys.map(({ key, name }) => lineOf(key, name, uses.get(key.id), now, words));
  const none = 'There are no keys. Make one: counterfoil keys create --merchant "Corner Shop"';
  print({ json }, { json: { keys: told }, text: lines.length === 0 ? none : columns(lines) });
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
    created_at: timestampOrNull(key.created_at),
    last_used_at: timestampOrNull(used),
    expires_at: timestampOrNull(key.expires_at),
    revoked_at: timestampOrNull(key.revoked_at),
    replaced_by,
    status: statusOf(key, now),
    configured: isConfigured,
  };
}

function statusOf(key: KnownKey, now: number): 'revoked' | 'expired' | 'active' {
  if (key.revoked_at !== null) return 'revoked';
  return isInactive(key, now) ? 'expired' : 'active';
}

function lineOf(
  key: KnownKey,
  merchant: string,
  used: number | undefined,
  now: number,
  words: Moments,
): string[] {
  const { id, mode, last_four, merchant_id, name, created_at } = key;
  return [
    id,
    `${KEY_PREFIX[mode]}…${last_four ?? ''}`,
    merchant,
    merchant_id,
    name ?? '–',
    created_at === null ? 'in the configuration' : `made ${words.dayOf(created_at)}`,
    usedWhen(used, now),
    stateOf(key, now, words),
  ];
}

function stateOf({ expires_at, revoked_at, replaced_by }: KnownKey, now: number, words: Moments): string {
  if (revoked_at !== null) return `revoked ${words.moment(revoked_at)}`;
  if (expires_at === null) return 'does not expire';
  const replaced = replaced_by === null ? '' : `, replaced by ${replaced_by}`;
  return `${expires_at <= now ? 'expired' : 'expires'} ${words.moment(expires_at)}${replaced}`;
}

/** When a key was last used, in words. */
export const usedWhen = (used: number | undefined, now: number) =>
  used === undefined ? 'never used' : `last used ${ago(used, now)}`;

/** When keys were last used, by their ids. */
export function lastUsesIn(
  { database, journal }: Store,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  return new KeyUses(journal).lastUsed(database, ids);
}
