// The key ring: what it seals opens in its own cell alone, its MACs hold for their own purpose, and its file is private and whole.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  addSecretKey,
  type KeyPlace,
  keyLine,
  newSecretKey,
  readSecretKeys,
  SecretKeysUnfit,
  writeSecretKeys,
} from '../../../src/journal/keys/key-file.ts';
import { KeyRing, sealedWith } from '../../../src/journal/keys/key-ring.ts';

const storage = mkdtempSync(join(tmpdir(), 'counterfoil-key-ring-'));
after(() => rmSync(storage, { recursive: true }));
const PLACE: KeyPlace = { storage, secrets_key_file: null, secrets_keys: null };
const CELL = { table: 'administrators', row: 'adm_1', column: 'totp_secret' };
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';

const [old, other] = [newSecretKey(), newSecretKey()];
const orders = (current: string, removed: string[] = []) => ({ current, removed });
const ringOf = (current = old.id, ...keys: (typeof old)[]) =>
  new KeyRing(() => [old, ...keys], orders(current));

test('a sealed text names its key, differs each time, and opens in its own cell alone', () => {
  const ring = ringOf();
  const [one, two] = [ring.seal(CELL, SECRET), ring.seal(CELL, SECRET)];
  assert.notEqual(one, two);
  assert.equal(sealedWith(one), old.id);
  assert.doesNotMatch(one, new RegExp(SECRET));
  assert.equal(ring.open(CELL, one), SECRET);
  for (const cell of [
    { ...CELL, table: 'endpoints' },
    { ...CELL, row: 'adm_2' },
    { ...CELL, column: 'password' },
  ])
    assert.throws(() => ring.open(cell, one), /for another place/);
  const parts = one.split('.');
  for (const [i, part] of parts.entries()) {
    if (i < 2) continue;
    const changed = parts.with(i, `${part[0] === 'A' ? 'B' : 'A'}${part.slice(1)}`).join('.');
    assert.throws(() => ring.open(CELL, changed), /was changed/);
  }
  assert.throws(() => ring.open(CELL, SECRET), /is not sealed/);
});

test('a key that came since is read again; without it nothing opens', () => {
  const keys = [old];
  const ring = new KeyRing(() => keys, orders(old.id));
  const sealed = ringOf(other.id, other).seal(CELL, SECRET);
  assert.throws(() => ring.open(CELL, sealed), SecretKeysUnfit);
  keys.push(other);
  assert.equal(ring.open(CELL, sealed), SECRET);
  assert.equal(ring.current, old.id, 'it seals as before until it is told otherwise');
  ring.use(orders(other.id));
  assert.equal(sealedWith(ring.seal(CELL, SECRET)), other.id);
  assert.throws(() => new KeyRing(() => [old], orders(other.id)), SecretKeysUnfit);
});

test('a MAC holds for its purpose and text, through a rotation, and not once its key is gone', () => {
  const mac = ringOf().mac('device', 'adm_1');
  assert.match(mac, /^[\w-]{43}$/);
  assert.equal(ringOf().isMac('device', 'adm_1', mac), true);
  assert.equal(ringOf().isMac('checkout form', 'adm_1', mac), false);
  assert.equal(ringOf().isMac('device', 'adm_2', mac), false);
  assert.equal(ringOf(other.id, other).isMac('device', 'adm_1', mac), true);
  for (const gone of [
    new KeyRing(() => [other], orders(other.id)),
    new KeyRing(() => [old, other], orders(other.id, [old.id])),
  ])
    assert.equal(gone.isMac('device', 'adm_1', mac), false);
});

test('keys are kept in a file of mode 0600, one a line, and a cut or mistyped one is refused', () => {
  assert.deepEqual(readSecretKeys(PLACE), []);
  const made = [addSecretKey(PLACE), addSecretKey(PLACE)];
  const file = join(storage, 'secrets.key');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(
    readSecretKeys(PLACE).map(({ id }) => id),
    made.map(({ id }) => id),
  );
  const text = readFileSync(file, 'utf8');
  for (const wrong of [
    text.slice(0, -2),
    text.replace(/_(.)(\S{42})\n/, (_, one, rest) => `_${one === 'A' ? 'B' : 'A'}${rest}\n`),
  ]) {
    writeFileSync(file, wrong);
    assert.throws(() => readSecretKeys(PLACE), /secrets\.key: .* no whole key: /);
  }
});

test('keys come from a named file or from the environment, which the program never writes', () => {
  const file = join(storage, 'mounted');
  const named = { ...PLACE, secrets_key_file: file };
  assert.throws(() => readSecretKeys(named), /mounted: cannot be read \(ENOENT\)/);
  writeFileSync(file, `# a comment\n${keyLine(old)}\n`);
  assert.deepEqual(readSecretKeys(named), [old]);
  const given = { ...named, secrets_keys: `${keyLine(other)} ${keyLine(old)}` };
  assert.deepEqual(
    readSecretKeys(given).map(({ id }) => id),
    [other.id, old.id],
  );
  for (const place of [named, given]) assert.throws(() => writeSecretKeys(place, [old]), /does not write/);
});
