// counterfoil keys list, rotate and revoke: keys that there are.

import { type Moments, momentsIn } from '../../lib/moments.ts';
import { counted, editDistance } from '../../lib/text.ts';
import { ago, DAY_MS, systemClock, timestampOrNull } from '../../lib/time.ts';
import { changeKeys, OVERLAPS_MS, type Overlap, revokeKey, rotateKey } from '../../merchants/api-keys.ts';
import type { Directory } from '../../merchants/directory.ts';
import { keyById } from '../../merchants/follow.ts';
import { KeyUses } from '../../merchants/key-uses.ts';
import {
  isInactive,
  KEY_PREFIX,
  type KnownKey,
  keyStatus,
  type StoredKey,
} from '../../merchants/merchant.ts';
import { findKey, keysMadeBy } from '../../merchants/queries.ts';
import { type Configuration, configurationFile, readConfiguration } from '../config.ts';
import { environment } from '../environment.ts';
import { lineOfKey, UNFINISHED } from './key-file.ts';
import { existingMerchant, loadDirectory } from './merchant-names.ts';
import { lendAnyStore, listed, OPERATOR, type Store, type StoreOptions, withStore } from './store.ts';
import { canAsk, Failure, print, saysYes, shownPath } from './terminal.ts';

/** Letters of an id that may be mistyped. */
const ID_SLIPS = 3;

/** A key by its id. Throws `Failure`, which says which was probably meant. */
async function keyNamed(id: string, directory: Directory, database: Store['database']): Promise<KnownKey> {
  const found = await keyById(database, directory, id);
  if (found) return found;
  const all = directory.merchants.flatMap((merchant) => directory.keysOf(merchant.id));
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

/** How a key of the configuration is replaced and revoked: by which lines of the file. */
function wayInFile({ id, digest, merchant_id, mode }: KnownKey, { file }: Configuration): string {
  return `${id} stands in line ${lineOfKey(file, digest)} of ${shownPath(file)}: put another in its place with counterfoil keys create --merchant ${merchant_id} --${mode}, take that line and those of the same key out, and send the server SIGHUP`;
}

/** `counterfoil keys rotate`. */
export async function rotate(store: Store, id: string, options: { overlap: Overlap; name?: string }) {
  const { journal } = store;
  const directory = await loadDirectory(store.configuration, store.database);
  const before = await keyNamed(id, directory, store.database);
  if (before.isConfigured) throw new Failure(wayInFile(before, store.configuration));
  const used = (await lastUsesIn(store, [id])).get(id);
  const wanted = { overlapMs: OVERLAPS_MS[options.overlap], name: options.name ?? null };
  const { key, row, old } = await changeKeys({ journal, directory }, before.merchant_id, (transaction) =>
    rotateKey(transaction, before, wanted, OPERATOR),
  );
  const now = systemClock.now();
  const made = await keysMadeBy(store.database, old, now);
  const { mode, merchant_id, name } = row;
  const replaced = {
    ...{ id, expires_at: timestampOrNull(old.expires_at), last_used_at: timestampOrNull(used) },
  };
  return {
    json: { key, id: row.id, mode, merchant_id, name, replaced },
    text: key,
    aside: `Key ${row.id} takes the place of ${id}, for ${mode} payments of ${nameOf(merchant_id, directory)}.
Copy it now: it is shown only this once. The store holds its digest. It works already, at a running server too.
${afterRotation(old, made, usedWhen(used, now), now, momentsIn(store.configuration.time_zone))}`,
  };
}

/** What is left to do once a key was rotated: with an overlap to wait for the last use of the old one, without to look for others. */
function afterRotation(
  old: StoredKey,
  made: readonly StoredKey[],
  used: string,
  now: number,
  words: Moments,
): string {
  if (old.expires_at! > now)
    return `The old key works until ${words.moment(old.expires_at!)}; it was ${used}.
Next: put the new key where the old one is used, and see with counterfoil keys list that the old one is used no more.`;
  const ended = `The old key is refused within a second; it was ${used}. Put the new one where it was used.`;
  return made.length === 0 ? ended : `${ended}\n${leftBehind(made)}\n${endThem(old.id)}`;
}

function leftBehind(made: readonly StoredKey[]): string {
  const [was, works] = made.length === 1 ? ['was', 'works'] : ['were', 'work'];
  const ids = made.map(({ id }) => id).join(', ');
  return `With it ${counted(made.length, 'key')} ${was} made that still ${works}: ${ids}.`;
}

const endThem = (id: string) =>
  `If it leaked, end what was made with it too: counterfoil keys revoke ${id} --with-those-it-made`;

/** What a merchant is called; one that left the configuration by its id. */
const nameOf = (id: string, directory: Directory) => directory.merchant(id)?.name ?? id;

interface RevokeOptions extends StoreOptions {
  yes?: boolean;
  withThoseItMade?: boolean;
}

/** `counterfoil keys revoke`. */
export async function revoke(id: string, options: RevokeOptions): Promise<void> {
  const { withThoseItMade = false, yes = false } = options;
  await withStore(options, async (store) => {
    const { database } = store;
    const directory = await loadDirectory(store.configuration, database);
    const key = await keyNamed(id, directory, database);
    const used = (await lastUsesIn(store, [id])).get(id);
    const now = systemClock.now();
    // What a key of the configuration made stands in the store.
    const inFile = key.isConfigured ? wayInFile(key, store.configuration) : undefined;
    if (inFile && !withThoseItMade) throw new Failure(inFile);
    await refuseIfUsed(key, used, now, yes);
    const ended: string[] = [];
    // An inactive key may have made others: those are to end then.
    if (!inFile && !(withThoseItMade && isInactive(key, now))) ended.push(await end(store, key, directory));
    const made = await keysMadeBy(database, key, now);
    if (withThoseItMade)
      for (const one of made)
        ended.push(await end(store, await keyNamed(one.id, directory, database), directory));
    const left = withThoseItMade ? [] : made;
    if (inFile) {
      process.exitCode = 1;
      console.error(`counterfoil: ${inFile}`);
    }
    const { merchant_id } = key;
    const revoked_at = timestampOrNull((await findKey(database, id))?.revoked_at);
    const still_working = left.map((one) => one.id);
    const done =
      ended.length === 0
        ? `${inFile ? 'No' : `${id} is over already, and no`} key that was made with it works.`
        : `Revoked ${ended.join(', ')} of ${nameOf(merchant_id, directory)}; ${ended.length > 1 ? id : 'it'} was ${usedWhen(used, now)}. Every server refuses ${ended.length > 1 ? 'them' : 'it'} within a second.`;
    const text = left.length > 0 ? `${done}\n${leftBehind(left)}\n${endThem(id)}` : done;
    print(options, { json: { id, merchant_id, revoked_at, revoked: ended, still_working }, text });
  });
}

async function end({ journal }: Store, key: KnownKey, directory: Directory): Promise<string> {
  await changeKeys({ journal, directory }, key.merchant_id, (transaction) =>
    revokeKey(transaction, key, OPERATOR),
  );
  return key.id;
}

/** Throws `Failure` for a key that was used in the last day, unless `yes` is set or the user at the terminal confirms. */
async function refuseIfUsed(
  key: KnownKey,
  used: number | undefined,
  now: number,
  yes: boolean,
): Promise<void> {
  if (yes || isInactive(key, now) || used === undefined || used <= now - DAY_MS) return;
  const doubt = `${key.id} was ${usedWhen(used, now)}: whatever calls with it is refused as soon as it is revoked.`;
  if (!(canAsk() && (await saysYes(`${doubt} Revoke it?`))))
    throw new Failure(`${doubt} It was not revoked; add --yes to do so`);
}

interface ListOptions extends StoreOptions {
  merchant?: string;
}

/** `counterfoil keys list`. */
export async function list({ config, json, merchant: wanted }: ListOptions): Promise<void> {
  const configuration = readConfiguration(configurationFile(config), environment, UNFINISHED);
  await lendAnyStore(configuration, async (store) => {
    const directory = await loadDirectory(configuration, store?.database);
    const left = directory.leftIds.map((id) => ({ id, name: 'not in the configuration any more' }));
    const merchants =
      wanted === undefined ? [...directory.merchants, ...left] : [existingMerchant(wanted, directory)];
    const found = merchants.flatMap(({ id, name }) => directory.keysOf(id).map((key) => ({ key, name })));
    const ids = found.map(({ key }) => key.id);
    const uses = store ? await lastUsesIn(store, ids) : new Map<string, number>();
    const now = systemClock.now();
    const words = momentsIn(configuration.time_zone);
    const keys = found.map(({ key, name }) => described(key, name, uses.get(key.id), now));
    const none = 'There are no keys. Make one: counterfoil keys create --merchant "Corner Shop"';
    const cells = (one: Described) => [
      one.id,
      `${one.prefix}…${one.last_four ?? ''}`,
      one.merchant_name,
      one.merchant_id,
      one.name ?? '–',
      one.created_at === null ? 'in the configuration' : `made ${words.dayOf(Date.parse(one.created_at))}`,
      usedWhen(uses.get(one.id), now),
      stateOf(one, words),
    ];
    print({ json }, listed('keys', keys, none, cells));
  });
}

type Described = ReturnType<typeof described>;

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
    status: keyStatus(key, now),
    configured: isConfigured,
  };
}

function stateOf({ expires_at, revoked_at, replaced_by, status }: Described, words: Moments): string {
  if (revoked_at !== null) return `revoked ${words.within(revoked_at)}`;
  if (expires_at === null) return 'does not expire';
  const replaced = replaced_by === null ? '' : `, replaced by ${replaced_by}`;
  return `${status === 'expired' ? 'expired' : 'expires'} ${words.within(expires_at)}${replaced}`;
}

/** When a key was last used, in words. */
const usedWhen = (used: number | undefined, now: number) =>
  used === undefined ? 'never used' : `last used ${ago(used, now)}`;

/** When keys were last used, by their ids. */
function lastUsesIn(
  { database, journal }: Store,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  return new KeyUses(journal).lastUsed(database, ids);
}
