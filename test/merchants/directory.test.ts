// The directory: what the configuration and the store say of one key, put together, and rows that arrive late or out of order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newSecret } from '../../src/lib/secrets.ts';
import { newMerchant } from '../../src/merchants/change.ts';
import { Directory } from '../../src/merchants/directory.ts';
import {
  DEVELOPMENT_KEY,
  keyDigest,
  keyId,
  keyRow,
  type MerchantWithKeys,
  type Mode,
  type StoredKey,
} from '../../src/merchants/merchant.ts';

const NOW = 1_800_000_000_000;
const KEY = newSecret('cfk_live_');
const digest = keyDigest(KEY);

function shop(id: string, keys: MerchantWithKeys['keys'] = []): MerchantWithKeys {
  return { id, name: `Shop ${id}`, website: null, support: null, methods: null, limits: {}, keys };
}
const configured = (mode: Mode, expires_at: number | null = null) =>
  shop('mer_file', [{ id: keyId(digest), digest, mode, expires_at }]);
const stored = (more: Partial<StoredKey> = {}): StoredKey => ({
  ...keyRow(
    digest,
    { merchantId: 'mer_file', mode: 'live', name: null, expires_at: null, last_four: null, made_by: null },
    NOW,
  ),
  ...more,
});
const registered = (id: string) => ({ ...newMerchant(id, NOW), name: 'Registered' });

test('a key that both name lives in the configuration: its end and its mode count, whatever the store says', () => {
  for (const [file, row, now, works] of [
    [null, null, NOW, true],
    [NOW + 1, null, NOW, true],
    [NOW, null, NOW, false],
    [null, NOW, NOW, true],
    [NOW + 5, NOW + 9, NOW + 5, false],
    [NOW + 9, NOW + 5, NOW + 5, true],
  ] as const) {
    const directory = new Directory([configured('live', file)]);
    directory.putKey(stored({ mode: 'test', expires_at: row }));
    assert.equal(directory.find(KEY, now)?.key.mode, works ? 'live' : undefined, `${file} ${row}`);
  }
  const directory = new Directory([configured('live')]);
  const told = directory.putKey(stored({ revoked_at: NOW }));
  directory.distrust(keyId(digest));
  assert.deepEqual([told.isConfigured, told.revoked_at, told.created_at], [true, null, null]);
  assert.ok(directory.find(KEY, NOW) && directory.knows(KEY));
  assert.equal(directory.keysOf('mer_file').length, 1);
  directory.replace([shop('mer_file')]);
  assert.equal(directory.find(KEY, NOW), undefined, 'the store counts once it left the file');
});

test('in development all keys make test payments', () => {
  const development = new Directory([configured('live')], { testOnly: true });
  assert.equal(development.find(KEY, NOW)!.key.mode, 'test');
  development.replace([]);
  development.putMerchant({ ...registered('mer_file') });
  development.putKey(stored({ mode: 'live' }));
  assert.equal(development.find(KEY, NOW)!.key.mode, 'test');
});

test('the public development key opens nothing that the configuration does not name, whatever the store says', () => {
  const directory = new Directory([]);
  directory.putMerchant(registered('mer_file'));
  const given = { merchantId: 'mer_file', name: null, expires_at: null, last_four: null, made_by: null };
  directory.putKey(stored());
  directory.putKey(keyRow(keyDigest(DEVELOPMENT_KEY), { ...given, mode: 'test' }, NOW));
  assert.ok(directory.find(KEY, NOW));
  assert.equal(directory.find(DEVELOPMENT_KEY, NOW), undefined);
});

test('a row never takes the place of a newer one', () => {
  const directory = new Directory([]);
  const merchant = registered('mer_file');
  directory.putMerchant({ ...merchant, version: 3, suspended_at: NOW });
  directory.putMerchant({ ...merchant, version: 2 });
  assert.ok(directory.isSuspended('mer_file'));
  directory.putKey(stored({ version: 2, revoked_at: NOW }));
  directory.putKey(stored({ version: 1 }));
  assert.equal(directory.find(KEY, NOW), undefined);
  directory.putMerchant({ ...merchant, version: 4 });
  assert.ok(!directory.isSuspended('mer_file'));
});

test('a key whose merchant left the configuration is refused, and works again once the merchant is back or in the store', () => {
  const directory = new Directory([configured('live')]);
  directory.putKey(stored());
  assert.ok(directory.find(KEY, NOW));
  directory.replace([]);
  assert.equal(directory.find(KEY, NOW), undefined);
  assert.ok(!directory.knows(KEY), 'the store may know more of it');
  directory.putMerchant(registered('mer_file'));
  assert.equal(directory.find(KEY, NOW)!.merchant.name, 'Registered');
  directory.replace([configured('live')]);
  assert.equal(directory.find(KEY, NOW)!.merchant.name, 'Shop mer_file');
});

test('keys that are over are let go, and do not come back with a row that was read before', () => {
  const directory = new Directory([]);
  directory.putMerchant(registered('mer_file'));
  directory.putKey(stored());
  assert.ok(directory.find(KEY, NOW));
  const told = directory.putKey(stored({ version: 2, revoked_at: NOW }));
  assert.equal(told.revoked_at, NOW);
  assert.deepEqual([directory.keysOf('mer_file'), directory.hasKeys], [[], false]);
  assert.equal(directory.putKey(stored()).revoked_at, NOW);
  assert.equal(directory.find(KEY, NOW), undefined);
  const expiring = new Directory([]);
  expiring.putKey(stored({ expires_at: NOW }));
  expiring.forgetInactive(NOW - 1);
  assert.ok(expiring.hasKeys);
  expiring.forgetInactive(NOW);
  assert.ok(!expiring.hasKeys);
  const listing = new Directory([], { keepsOver: true });
  listing.putKey(stored({ revoked_at: NOW }));
  assert.equal(listing.keysOf('mer_file').length, 1);
});

test('a key that left the configuration and is nowhere else is refused at once', () => {
  const directory = new Directory([configured('live')]);
  assert.ok(directory.find(KEY, NOW));
  directory.replace([shop('mer_file')]);
  assert.equal(directory.find(KEY, NOW), undefined);
});

test('merchants are those of the configuration, then those of the store, each once', () => {
  const directory = new Directory([shop('mer_z'), shop('mer_b')]);
  for (const id of ['mer_y', 'mer_b', 'mer_c']) directory.putMerchant(registered(id));
  directory.putMerchant({ ...newMerchant('mer_state', NOW), name: null });
  assert.deepEqual(
    directory.merchants.map(({ id, name }) => `${id} ${name}`),
    ['mer_z Shop mer_z', 'mer_b Shop mer_b', 'mer_c Registered', 'mer_y Registered'],
  );
  assert.equal(directory.count, 4);
  assert.equal(directory.merchant('mer_state'), undefined);
});
