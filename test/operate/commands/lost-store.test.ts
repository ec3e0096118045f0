// A store that is lost, or that may not be looked at, is never taken for one that never was; and a look makes nothing.
import assert from 'node:assert/strict';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  COMMAND,
  type Folder,
  plainEnvironment,
  requireRefusal,
  run,
  start,
  temporaryFolder,
} from '../../support/command.ts';

/** SQLite's pages, as it makes them. */
const PAGE_BYTES = 4096;
const isRoot = process.getuid?.() === 0;

describe('where a server has signed checkpoints and its database file is gone', () => {
  let folder: Folder;
  let storage: string;
  const command = (...words: string[]) => run(words, { cwd: folder.path, env: { PORT: '0' } });
  before(async () => {
    folder = temporaryFolder();
    storage = join(folder.path, 'storage');
    const server = start(process.execPath, [COMMAND, 'serve'], { cwd: folder.path, env: { PORT: '0' } });
    await server.until(/^.*\n/);
    server.child.kill('SIGTERM'); // signs the set-up link's entry
    assert.equal((await server.ended).code, 0);
    assert.ok(existsSync(join(storage, 'checkpoints.jsonl')));
    assert.equal((await command('backup', join(folder.path, 'backups'))).code, 0);
    rmSync(join(storage, 'counterfoil.sqlite'));
  });
  after(() => folder.remove());

  const SAID =
    /storage\/counterfoil\.sqlite is missing, but \S+checkpoints\.jsonl vouches for its history: put it back/;
  for (const [words, code] of [
    [['serve'], 78],
    [['migrate'], 78],
    [['audit', 'verify'], 1],
    [['administrators', 'list'], 1],
  ] as const)
    test(`${words.join(' ')} says so, and makes no other`, async () => {
      const ended = await command(...words);
      assert.deepEqual([ended.code, ended.stdout], [code, ''], ended.stderr);
      assert.match(ended.stderr, SAID);
      assert.ok(!existsSync(join(storage, 'counterfoil.sqlite')));
    });

  test('what the line says leads on: the backup comes back, and without one a new store begins', async () => {
    const backups = join(folder.path, 'backups');
    const [name] = readdirSync(backups).filter((one) => !one.startsWith('.'));
    const restored = await command('restore', join(backups, name!), '--replace');
    assert.equal(restored.code, 0, restored.stderr);
    rmSync(join(storage, 'counterfoil.sqlite'));
    renameSync(join(storage, 'checkpoints.jsonl'), join(folder.path, 'checkpoints-of-what-was-lost.jsonl'));
    assert.equal((await command('migrate')).code, 0);
  });
});

test('a file with damaged pages is told with the entry of the runbook that says what to do', async () => {
  const folder = temporaryFolder();
  try {
    const command = (...words: string[]) => run(words, { cwd: folder.path });
    assert.equal((await command('migrate')).code, 0);
    const file = openSync(join(folder.path, 'storage', 'counterfoil.sqlite'), 'r+');
    writeSync(file, Buffer.alloc(PAGE_BYTES, 0xff), 0, PAGE_BYTES, PAGE_BYTES); // the first page, with the schema, stays
    writeSync(file, Buffer.alloc(20 * PAGE_BYTES, 0xff), 0, 20 * PAGE_BYTES, 2 * PAGE_BYTES);
    closeSync(file);
    requireRefusal(await command('audit', 'verify'), 1, /^counterfoil: the database: .*: see "The database/);
    const runbook = readFileSync(new URL('../../../docs/operating/runbook.md', import.meta.url), 'utf8');
    assert.match(runbook, /^### The database file is lost or broken$/m);
  } finally {
    folder.remove();
  }
});

test('storage that this account may not enter is told as that, and storage that is nowhere is not made', async () => {
  const folder = temporaryFolder();
  try {
    const storage = join(folder.path, 'storage');
    const environment = plainEnvironment({ COUNTERFOIL_STORAGE: storage });
    const nowhere = await run(['audit', 'verify'], { cwd: folder.path, environment });
    assert.match(nowhere.stderr, /no store in \.\/storage: /);
    assert.ok(!existsSync(storage));
    mkdirSync(storage, { mode: isRoot ? 0o700 : 0o000 });
    if (isRoot) {
      chmodSync(folder.path, 0o755);
      chmodSync(folder.config, 0o644);
    }
    const other = isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
    for (const command of ['audit verify', 'keys list', 'erase --payment pay_1']) {
      const [program, ...words] = [...other, process.execPath, COMMAND, ...command.split(' ')];
      const refused = start(program!, words, { cwd: folder.path, environment });
      assert.equal((await refused.ended).code, 1, command);
      assert.match(refused.stderr, /storage may not .*\(EACCES\): /);
    }
  } finally {
    folder.remove();
  }
});
