// counterfoil secrets: the keys saved and put back, sealed with a passphrase that no command line shows.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readCheckpoints } from '../../../src/journal/checkpoint.ts';
import { CheckpointSigner } from '../../../src/journal/checkpoint-signer.ts';
import { addSecretKey, keyOfLine, readSecretKeys, SECRETS_FILE } from '../../../src/journal/keys/key-file.ts';
import { sealKeys } from '../../../src/operate/commands/secrets.ts';
import { type BackupPlace, backupPlace, folderContents } from '../../support/backups.ts';
import {
  COMMAND,
  hasTerminal,
  plainText,
  requireRefusal,
  run,
  startOnTerminal,
} from '../../support/command.ts';
import { isWhole, sampled } from '../../support/extent.ts';
import { type Harness, startHarness } from '../../support/harness.ts';

const ringOf = (storage: string) => ({ storage, secrets_key_file: null, secrets_keys: null });
const PASSPHRASE = 'kettle orbit walnut 7 drizzle';
const KEY = 'checkpoint-key.pem';

describe('secrets', () => {
  let harness: Harness;
  let place: BackupPlace;
  let passphraseFile: string;
  let saved: string;
  const file = (name: string) => join(dirname(place.folder), name);
  const command = (verb: 'backup' | 'restore', path: string, storage?: string, passphrase = passphraseFile) =>
    place.command(['secrets', verb, path, '--passphrase-file', passphrase], storage);
  const ownKey = () => readFileSync(join(harness.store.storage, KEY));

  before(async () => {
    harness = await startHarness('sqlite');
    place = backupPlace(harness.store);
    await harness.create();
    await harness.stop(); // signs a checkpoint
    addSecretKey(ringOf(harness.store.storage));
    passphraseFile = file('passphrase');
    writeFileSync(passphraseFile, `${PASSPHRASE}\nnever read\n`, { mode: 0o600 });
    saved = file('keys.sealed');
    const { code, stdout, stderr } = await command('backup', saved);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Saved the checkpoint key [0-9a-f]{16}( and the key for secrets [0-9a-f]{16})+ to/);
  });
  after(async () => {
    place.remove();
    await harness.store.drop();
  });

  test('new prints a key that a shared file may hold, another one each time, before there is a configuration', async () => {
    const lines = await Promise.all(
      [1, 2].map(async () => {
        const { code, stdout, stderr } = await run(['secrets', 'new'], { cwd: dirname(place.folder) });
        assert.deepEqual([code, stderr], [0, '']);
        assert.match(stdout, /^[^\n]+\n$/, 'nothing but the line');
        return stdout.trim();
      }),
    );
    assert.equal(new Set(lines.map((line) => keyOfLine(line)!.id)).size, 2);
  });

  test('a stolen store, its backup and the sealed keys hold no private key', async () => {
    assert.equal(statSync(saved).mode & 0o777, 0o600);
    const text = readFileSync(saved, 'utf8');
    for (const { bytes } of readSecretKeys(ringOf(harness.store.storage)))
      assert.ok(!text.includes(Buffer.from(bytes).toString('base64url')));
    const secret = ownKey().toString().split('\n')[1]!;
    for (const form of [
      secret,
      'PRIVATE KEY',
      Buffer.from(secret, 'base64').subarray(16).toString('base64url'),
    ])
      assert.ok(!text.includes(form), form);
    const backup = await place.backUp();
    for (const name of readdirSync(backup))
      for (const one of [secret.slice(-20), 'cfs_'])
        assert.ok(!readFileSync(join(backup, name)).includes(one), name);
  });

  test('on a new machine the keys and the backup make a store that serves on, in either order', async () => {
    const backup = await place.backUp();
    for (const order of [
      ['restore', 'secrets'],
      ['secrets', 'restore'],
    ]) {
      const storage = place.freshStorage();
      for (const step of order) {
        const { code, stdout, stderr } =
          step === 'secrets'
            ? await command('restore', saved, storage)
            : await place.command(['restore', backup], storage);
        assert.deepEqual([code, stderr], [0, ''], stdout);
      }
      assert.deepEqual(readFileSync(join(storage, KEY)), ownKey());
      assert.deepEqual(readSecretKeys(ringOf(storage)), readSecretKeys(ringOf(harness.store.storage)));
      for (const name of [KEY, SECRETS_FILE]) assert.equal(statSync(join(storage, name)).mode & 0o777, 0o600);
      if (order[0] === 'restore') continue;
      const serving = await startHarness('sqlite', { store: { ...harness.store, storage } });
      await serving.create();
      await serving.stop();
      assert.equal(readCheckpoints(storage).fault, undefined);
    }
  });

  test('another passphrase, one changed character, and a head of another file open nothing, and leave nothing', async () => {
    const storage = place.freshStorage();
    const wrong = file('wrong');
    writeFileSync(wrong, `${PASSPHRASE}!`);
    requireRefusal(await command('restore', saved, storage, wrong), 1, /^counterfoil: the passphrase is/);
    const document = JSON.parse(readFileSync(saved, 'utf8'));
    const flipped = document.sealed.startsWith('A') ? 'B' : 'A';
    const forged = [
      { ...document, sealed: flipped + document.sealed.slice(1) },
      { ...document, keys: [{ ...document.keys[0], id: '0123456789abcdef' }] },
      { ...document, made_at: '2020-01-01T00:00:00+00:00' },
    ];
    // Each try costs what a passphrase is to cost.
    for (const one of sampled(forged, forged.length)) {
      writeFileSync(wrong, JSON.stringify(one));
      assert.match((await command('restore', wrong, storage)).stderr, /passphrase is another/);
    }
    for (const text of ['', '{}', JSON.stringify({ ...document, version: 2 })]) {
      writeFileSync(wrong, text);
      assert.match((await command('restore', wrong, storage)).stderr, /file is none/);
    }
    assert.equal(existsSync(storage), false);
  });

  test('a key that is there is never replaced', async () => {
    const storage = place.freshStorage();
    assert.equal((await command('restore', saved, storage)).code, 0);
    assert.match((await command('restore', saved, storage)).stdout, /^Already in \S+: the checkpoint/);
    const other = place.freshStorage();
    mkdirSync(other, { mode: 0o700 });
    new CheckpointSigner(other);
    const before = folderContents(other);
    const refused = await command('restore', saved, other);
    assert.match(refused.stderr, /checkpoint-key\.pem .*another key, [0-9a-f]{16}: /);
    assert.deepEqual(folderContents(other), before);
  });

  test('keys for secrets that were made since stay beside those that are put back, and restore names what is missing', async () => {
    const backup = await place.backUp();
    const storage = place.freshStorage();
    const ids = readSecretKeys(ringOf(harness.store.storage)).map(({ id }) => id);
    const told = JSON.parse((await place.command(['restore', backup, '--json'], storage)).stdout).keys;
    assert.deepEqual(
      told.filter(({ name }: { name: string }) => name === 'key for secrets'),
      [{ name: 'key for secrets', id: ids[0], is_there: false }],
      'the one that the store counts',
    );
    const since = addSecretKey(ringOf(storage));
    assert.equal((await command('restore', saved, storage)).code, 0);
    assert.deepEqual(
      readSecretKeys(ringOf(storage)).map(({ id }) => id),
      [...ids, since.id],
    );
    const again = await place.command(['restore', backup, '--replace'], storage);
    assert.match(again.stdout, new RegExp(`for secrets ${ids[0]}, which is here`));
    assert.equal(readSecretKeys(ringOf(storage)).length, ids.length + 1, 'the keys stay where they are');
  });

  test('a program gives the passphrase on standard input', async () => {
    const storage = place.freshStorage();
    const restoring = place.begin(['secrets', 'restore', saved, '--passphrase-file', '-', '--json'], storage);
    restoring.child.stdin!.end(`${PASSPHRASE}\r\n`);
    assert.equal((await restoring.ended).code, 0, restoring.stderr);
    const [key, ring] = JSON.parse(restoring.stdout).keys;
    assert.deepEqual([key.name, key.was_there], ['checkpoint key', false]);
    assert.deepEqual([ring.name, ring.was_there], ['key for secrets', false]);
  });

  test('what is saved has the form that version 1 has', async () => {
    const document = JSON.parse(readFileSync(saved, 'utf8'));
    assert.deepEqual(Object.keys(document), [
      'format',
      'version',
      'made_at',
      'keys',
      'salt',
      'nonce',
      'sealed',
    ]);
    const other = JSON.parse(await sealKeys({ made_at: 'x', keys: [], files: { a: 'b' } }, PASSPHRASE));
    for (const part of ['salt', 'nonce', 'sealed']) assert.notEqual(document[part], other[part]);
  });

  test('a folder that is not there is said before a passphrase is asked for', async () => {
    const nowhere = join(file('nowhere'), 'keys.sealed');
    const { code, stderr } = await run(['secrets', 'backup', nowhere], {
      env: { COUNTERFOIL_CONFIG: place.config, COUNTERFOIL_STORAGE: harness.store.storage },
    });
    assert.equal(code, 1);
    assert.match(stderr, /nowhere: .*\(ENOENT\)\n$/);
    assert.doesNotMatch(stderr, /passphrase/);
  });

  describe('on a terminal', { skip: !hasTerminal && 'this machine has no util-linux script' }, () => {
    const onTerminal = (verb: string, path: string, storage = harness.store.storage) =>
      startOnTerminal(`'${process.execPath}' '${COMMAND}' secrets ${verb} '${path}'`, {
        env: { COUNTERFOIL_CONFIG: place.config, COUNTERFOIL_STORAGE: storage },
      });

    test('the passphrase is asked for twice, shown never, and opens what it sealed', async () => {
      const path = file('typed.sealed');
      const saving = onTerminal('backup', path);
      await saving.until(/New passphrase: /);
      saving.child.stdin!.write(`${PASSPHRASE}\r`);
      await saving.until(/The same again: /);
      saving.child.stdin!.write(`${PASSPHRASE}\r`);
      assert.equal((await saving.ended).code, 0, saving.stdout);
      const storage = place.freshStorage();
      const restoring = onTerminal('restore', path, storage);
      await restoring.until(/Passphrase: /);
      restoring.child.stdin!.write(`${PASSPHRASE}\r`);
      assert.equal((await restoring.ended).code, 0, restoring.stdout);
      for (const { stdout } of [saving, restoring]) assert.ok(!plainText(stdout).includes('kettle'), stdout);
      assert.deepEqual(readFileSync(join(storage, KEY)), ownKey());
    });

    test('two that differ, and Ctrl-C, write nothing', { skip: !isWhole }, async () => {
      const path = file('never.sealed');
      for (const [second, words] of [
        [`${PASSPHRASE}x\r`, /the two passphrases differ; nothing was written/],
        ['\x03', /no passphrase was given; nothing was written/],
      ] as const) {
        const saving = onTerminal('backup', path);
        await saving.until(/New passphrase: /);
        saving.child.stdin!.write(`${PASSPHRASE}\r`);
        await saving.until(/The same again: /);
        saving.child.stdin!.write(second);
        assert.equal((await saving.ended).code, 1, saving.stdout);
        assert.match(saving.stdout, words);
        assert.equal(existsSync(path), false);
      }
    });
  });
});
