// counterfoil keys: a key is shown once, its digest goes into the file, and nothing else in the file changes.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, test } from 'node:test';
import { addKeyToFile } from '../../../src/operate/commands/key-file.ts';
import { readConfiguration } from '../../../src/operate/config.ts';
import {
  ANSI,
  DEVELOPMENT,
  type Folder,
  requireRefusal,
  run,
  temporaryFolder,
} from '../../support/command.ts';
import { digestOf, idOfKey } from '../../support/keys.ts';

const PRODUCTION = 'environment: production\nbase_url: https://pay.example\ntrust_proxy: [127.0.0.1]\n';
let folder: Folder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const text = () => readFileSync(folder.config, 'utf8');
const create = (...args: string[]) => run(['keys', 'create', ...args], { cwd: folder.path });

test('a key for a merchant that is there is printed alone on standard output and kept as a digest', async () => {
  const { code, stdout, stderr } = await create('--merchant', 'Development Shop');
  assert.equal(code, 0);
  const key = stdout.trim();
  assert.equal(stdout, `${key}\n`);
  assert.match(key, /^cfk_test_\w{49}$/);
  assert.match(stderr, new RegExp(`${idOfKey(key)} of Development Shop \\(mer_development\\)`));
  assert.match(stderr, /only this once[\s\S]*SIGHUP/);
  assert.ok(!stderr.includes(key) && !text().includes(key), 'the key stands nowhere else');
  assert.doesNotMatch(stdout + stderr, ANSI);
  const entry = `      - key_sha256: ${digestOf(key)}\n        mode: test\n`;
  assert.equal(text(), DEVELOPMENT + entry, 'comments and all else are as they were');
});

/** Ways in which a file is written by hand. `+` begins a line that a key adds; all else must stay to the character. */
const BY_HAND: Record<string, string> = {
  'a list with comments, a quoted digest and empty lines': `merchants:
  - id: mer_a
    name: "A"
    keys:            # keys below
      # the first
      - key_sha256: '${'a'.repeat(64)}'   # live
        mode: test   # last
+      - key_sha256: KEY
+        name: "Web, shop"
    # after


registration: { mode:   closed }
`,
  'a name in folded lines, without keys': `merchants:
- id:   mer_a
  name: >-
    A
    folded
+  keys:
+    - key_sha256: KEY
+      name: "Web, shop"

# the end
`,
  'keys without any': `merchants:
    -   id: mer_a
        name: A
        keys:            # keys below
+          - key_sha256: KEY
+            name: "Web, shop"
        support: a@shop.example
`,
  'no merchants': `# merchants come here
+merchants:
+  - id: mer_a
+    name: A
+    keys:
+      - key_sha256: KEY
+        name: "Web, shop"
`,
};
for (const [way, marked] of Object.entries(BY_HAND))
  for (const [ends, lineEnd, head] of [
    ['LF', '\n', ''],
    ['CRLF and a byte order mark', '\r\n', '\ufeff'],
  ] as const)
    test(`a key is added to ${way}, with ${ends}, and all else stays`, async () => {
      const written = `${head}environment: development # here\ntrust_proxy: [127.0.0.1]\n\n${marked}`;
      writeFileSync(folder.config, written.replace(/^\+.*\n/gm, '').replaceAll('\n', lineEnd));
      const entry = { key_sha256: 'b'.repeat(64), name: 'Web, shop' };
      await addKeyToFile(folder.config, { id: 'mer_a', name: 'A' }, entry);
      const expected = written.replace(/^\+/gm, '').replace('KEY', entry.key_sha256);
      assert.equal(text(), expected.replaceAll('\n', lineEnd));
    });

test('a key is added within brackets, or nothing is written', async () => {
  const entry = { key_sha256: 'b'.repeat(64) };
  const add = () => addKeyToFile(folder.config, { id: 'mer_a', name: 'A' }, entry);
  const old = `{key_sha256: ${'a'.repeat(64)}}`;
  const added = `{ key_sha256: ${entry.key_sha256} }`;
  for (const [before, after] of [
    [
      `[ {id: mer_a, name: A, keys: [${old},]} ] # all`,
      `[ {id: mer_a, name: A, keys: [${old},${added}]} ] # all`,
    ],
    [`[{id: mer_a, name: A}]`, `[{id: mer_a, name: A, keys: [${added}]}]`],
  ]) {
    writeFileSync(folder.config, `environment: development\nmerchants: ${before}`);
    await add();
    assert.equal(text(), `environment: development\nmerchants: ${after}`);
  }
  const shared = `environment: development\nmerchants:\n  - {id: mer_b, name: B, keys: &all [${old}]}\n  - {id: mer_a, name: A, keys: *all}\n`;
  writeFileSync(folder.config, shared);
  await assert.rejects(add, /key by hand/);
  assert.equal(text(), shared);
});

test('a merchant may be named by its id, and a name that is not there adds one', async () => {
  assert.equal((await create('--merchant', 'mer_development')).code, 0);
  assert.equal((await create('--merchant', 'Corner Shop')).code, 0);
  assert.equal((await create('--merchant', 'Corner Shop')).code, 0);
  const { merchants } = readConfiguration(folder.config, {});
  assert.deepEqual(
    merchants.map(({ name, keys }) => [name, keys.length]),
    [
      ['Development Shop', 2],
      ['Corner Shop', 2],
    ],
  );
  assert.match(merchants[1]!.id, /^mer_[0-9a-z]{20}$/);
});

test('an id that is not there makes no merchant of that name', async () => {
  requireRefusal(await create('--merchant', 'mer_developmnet'), 1, /^counterfoil: there is no merchant/);
  assert.equal(text(), DEVELOPMENT);
});

test('a name that two merchants have is not guessed at', async () => {
  folder.remove();
  folder = temporaryFolder(
    'environment: development\nmerchants:\n  - {id: mer_a, name: Shop}\n  - {id: mer_b, name: Shop}\n',
  );
  requireRefusal(await create('--merchant', 'Shop'), 1, /2 merchants are called "Shop": name one by its id/);
});

test('--json gives one document, --expires an end', async () => {
  const before = Date.now();
  const { stdout, stderr } = await create('--merchant', 'Corner Shop', '--expires', '90d', '--json');
  assert.equal(stderr, '');
  const { key, id, mode, merchant, expires_at, file } = JSON.parse(stdout);
  assert.equal(id, idOfKey(key));
  assert.deepEqual([mode, merchant.name, file], ['test', 'Corner Shop', folder.config]);
  const made = Date.parse(expires_at) - 90 * 86_400_000;
  assert.ok(made > before - 1000 && made <= Date.now(), expires_at);
  assert.match(text(), new RegExp(`expires_at: ${expires_at.replace('+', '\\+')}`));
  const exact = await create('--merchant', 'Corner Shop', '--expires', '2099-01-31T00:00:00+02:00', '--json');
  assert.equal(JSON.parse(exact.stdout).expires_at, '2099-01-30T22:00:00+00:00');
});

test('a live key needs production, where it is written as live', async () => {
  requireRefusal(await create('--merchant', 'Corner Shop', '--live'), 1, /^counterfoil: in development all/);
  assert.equal(text(), DEVELOPMENT);
  folder.remove();
  folder = temporaryFolder(PRODUCTION);
  const { stdout } = await create('--merchant', 'Corner Shop', '--live');
  assert.match(stdout, /^cfk_live_/);
  const [merchant] = readConfiguration(folder.config, {}).merchants;
  assert.deepEqual(
    merchant!.keys.map(({ mode }) => mode),
    ['live'],
  );
});

test('a name that checkout could not show changes nothing', async () => {
  requireRefusal(await create('--merchant', 'x'.repeat(121)), 78, /^counterfoil: .*counterfoil.yaml:\d+:/);
  assert.equal(text(), DEVELOPMENT);
});

test('keys list shows ids, modes, merchants and ends, never a key', async () => {
  const key = (await create('--merchant', 'Corner Shop', '--expires', '12h', '--name', 'Till')).stdout.trim();
  const { code, stdout } = await run(['keys', 'list'], { cwd: folder.path });
  assert.equal(code, 0);
  const lines = stdout.trimEnd().split('\n');
  assert.match(lines[0]!, /^key_[0-9a-f]{16} {2}cfk_test_… {2}Development Shop {2}mer_development +– +in/);
  assert.match(
    lines[1]!,
    new RegExp(`^${idOfKey(key)} {2}cfk_test_… {2}Corner Shop .* expires \\d+ \\w+ 20`),
  );
  assert.doesNotMatch(stdout, /cfk_test_\w/);
  assert.doesNotMatch(stdout, ANSI);
  const { keys } = JSON.parse((await run(['keys', 'list', '--json'], { cwd: folder.path })).stdout);
  assert.deepEqual(
    keys.map((one: { merchant_id: string; expires_at: string | null; status: string }) => [
      one.merchant_id,
      one.expires_at !== null,
      one.status,
    ]),
    [
      ['mer_development', false, 'active'],
      [readConfiguration(folder.config, {}).merchants[1]!.id, true, 'active'],
    ],
  );
  const one = await run(['keys', 'list', '--merchant', 'Corner Shop'], { cwd: folder.path });
  assert.equal(one.stdout.trimEnd().split('\n').length, 1);
  assert.deepEqual(
    keys.map(({ name }: { name: string | null }) => name),
    [null, 'Till'],
    'the file keeps a name',
  );
});

test('a new merchant is said to be new, and one that looks like a slip wants --new', async () => {
  const first = await create('--merchant', 'Corner Shop');
  assert.match(first.stderr, /^\nCorner Shop .*new merchant: mer_[0-9a-z]{20}, in/);
  assert.doesNotMatch((await create('--merchant', 'Corner Shop')).stderr, /new merchant/);
  const before = text();
  for (const slip of ['Corner Shpo', 'corner shop', 'Corner  Shop', 'Corner-Shops']) {
    const { code, stdout, stderr } = await create('--merchant', slip);
    assert.deepEqual([code, stdout], [1, ''], slip);
    assert.match(
      stderr,
      new RegExp(
        `^counterfoil: ${slip} is new: there is no merchant of that name\\. Did you mean Corner Shop \\(mer_\\w+\\)\\? No key was made\\. To make a new merchant all the same, add --new\n$`,
      ),
    );
  }
  assert.equal(text(), before);
  assert.equal((await create('--merchant', 'Corner Shpo', '--new')).code, 0);
  assert.equal(readConfiguration(folder.config, {}).merchants.length, 3);
});

test('names that count are no slips of one another, nor are names of which half differs', async () => {
  for (const name of ['Shop 1', 'Shop 2', 'Corner Shop', 'Other Shop'])
    assert.equal((await create('--merchant', name)).code, 0, name);
});

test('a name for a key that it may not have is refused before anything is made', async () => {
  requireRefusal(
    await create('--merchant', 'Corner Shop', '--name', 'x'.repeat(81)),
    1,
    /--name: .*at most 80 characters/,
  );
  assert.equal(text(), DEVELOPMENT);
});

test('keys that are made at once all stand in the file, and one that cannot be written is not printed', async () => {
  const made = await Promise.all(
    Array.from({ length: 6 }, () => create('--merchant', 'mer_development', '--json')),
  );
  const kept = readConfiguration(folder.config, {}).merchants[0]!.keys.map(({ id }) => id);
  for (const { code, stdout, stderr } of made) {
    assert.equal(code, 0, stderr);
    assert.ok(kept.includes(JSON.parse(stdout).id));
  }
  assert.equal(kept.length, 7);
  writeFileSync(`${folder.config}.new`, '');
  const before = text();
  const { code, stdout, stderr } = await create('--merchant', 'mer_development');
  assert.deepEqual([code, stdout, text()], [1, '', before]);
  assert.match(stderr, /^counterfoil: \.\/counterfoil\.yaml\.new is there: .*\n$/);
});

test('a merchant is named by its id before another by its name', async () => {
  folder.remove();
  folder = temporaryFolder(
    'environment: development\nmerchants:\n  - {id: mer_a, name: mer_b}\n  - {id: mer_b, name: Shop}\n',
  );
  const { code, stderr } = await run(['keys', 'list', '--merchant', 'mer_b'], { cwd: folder.path });
  assert.deepEqual([code, stderr], [0, '']);
  assert.match((await create('--merchant', 'mer_b')).stderr, /of Shop \(mer_b\)/);
});

test('a live key is made for a production configuration that still holds what production refuses', async () => {
  folder.remove();
  folder = temporaryFolder(DEVELOPMENT.replace('environment: development', 'environment: production'));
  const { code, stdout, stderr } = await create('--merchant', 'mer_development', '--live');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^cfk_live_/);
  assert.ok(text().includes(digestOf(stdout.trim())));
});
