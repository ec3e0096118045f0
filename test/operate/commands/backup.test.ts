// counterfoil backup: whole, private and verified before it has a name, beside a server and without one.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { HOUR_MS } from '../../../src/lib/time.ts';
import { type BackupPlace, backupPlace, folderContents } from '../../support/backups.ts';
import { type Running, requireRefusal } from '../../support/command.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { isInstalled } from '../../support/proxy.ts';
import { verifySqlite } from '../../support/read-only-store.ts';

const FILES = ['backup.json', 'checkpoint-key.pub.pem', 'counterfoil.sqlite'];
const isFinished = (name: string) => /^2\d{3}-.*Z$/.test(name) && !name.startsWith('2020');
const mode = (path: string) => statSync(path).mode & 0o777;

describe('backup', () => {
  let harness: Harness;
  let place: BackupPlace;
  before(async () => {
    harness = await startHarness('sqlite');
    place = backupPlace(harness.store);
    for (let i = 0; i < 3; i++) await harness.create();
  });
  after(async () => {
    place.remove();
    await harness.close();
  });

  test('beside a server it is a private folder named by its moment, with one file for the database, told in one line', async () => {
    const { code, stdout, stderr } = await place.command(['backup', place.folder]);
    assert.deepEqual([code, stderr], [0, '']);
    const [, entries, shown] =
      /^Backed up (\d+) entries to (\S+), verified, in \d\.\d s\. No key is in it: counterfoil secrets backup saves those\.\n$/.exec(
        stdout,
      )!;
    assert.equal(entries, '3');
    const path = resolve(tmpdir(), shown!);
    assert.match(path, /\/\d{4}-\d\d-\d\dT\d{6}Z$/);
    assert.deepEqual(readdirSync(path).sort(), FILES);
    assert.deepEqual(
      [mode(path), ...FILES.map((file) => mode(join(path, file)))],
      [0o700, ...FILES.map(() => 0o600)],
    );
    const before = folderContents(path);
    assert.equal((await verifySqlite(join(path, 'counterfoil.sqlite'), path)).payments, 3);
    assert.deepEqual(folderContents(path), before, 'reading it leaves it as it is');
  });

  test('without a server it is the same, and the storage is as it was', async () => {
    await harness.stop();
    const before = folderContents(harness.store.storage);
    const path = await place.backUp();
    assert.deepEqual(folderContents(harness.store.storage), before);
    assert.deepEqual(readdirSync(path).sort(), [...FILES, 'checkpoints.jsonl'].sort());
    await harness.start();
  });

  test('the database is copied after the checkpoints, so that it reaches as far as they do', async () => {
    await whileCopyingCheckpoints(
      async () => void (await harness.create({ merchant_reference: 'MEANWHILE' })),
    );
    const newest = join(place.folder, readdirSync(place.folder).sort().at(-1)!, 'counterfoil.sqlite');
    const database = new DatabaseSync(newest, { readOnly: true });
    const found = database.prepare("select id from payments where merchant_reference = 'MEANWHILE'").all();
    database.close();
    assert.equal(found.length, 1);
    // A stop signs what there is: the signer, which looks each minute, must not meet the pipes that follow.
    await harness.stop();
    await harness.start();
  });

  test('one that is killed leaves no folder that looks like a backup; one made half a day later takes it away', async () => {
    const before = readdirSync(place.folder).filter((name) => !name.startsWith('.'));
    await whileCopyingCheckpoints(async ({ child }) => void child.kill('SIGKILL'));
    const [left, ...more] = readdirSync(place.folder).filter((name) => !before.includes(name));
    assert.match(left!, /^\.unfinished-/);
    assert.deepEqual(more, []);
    const made = basename(await place.backUp());
    const all = [...before, made];
    assert.deepEqual(
      readdirSync(place.folder).sort(),
      [left, ...all],
      'it may be the one that another node makes',
    );
    const longAgo = new Date(Date.now() - 13 * HOUR_MS);
    utimesSync(join(place.folder, left!), longAgo, longAgo);
    all.push(basename(await place.backUp()));
    assert.deepEqual(readdirSync(place.folder).sort(), all);
  });

  test('one that is interrupted says that nothing of it counts, and ends as the signal has it', async () => {
    await whileCopyingCheckpoints(async (backup) => {
      backup.child.kill('SIGINT');
      assert.deepEqual(await backup.ended, { code: null, signal: 'SIGINT' });
      assert.match(backup.stderr, /^counterfoil: interrupted: nothing of it/);
    });
    for (const left of readdirSync(place.folder).filter((name) => name.startsWith('.')))
      rmSync(join(place.folder, left), { recursive: true });
  });

  test('a second one into the same folder is refused while the first is under way', async () => {
    await whileCopyingCheckpoints(async () => {
      requireRefusal(await place.command(['backup', place.folder]), 1, /^counterfoil: another backup of/);
    });
  });

  /** Runs `meanwhile` after a backup has begun and before it has read the checkpoints, which wait in a pipe. */
  async function whileCopyingCheckpoints(meanwhile: (backup: Running) => Promise<void>): Promise<void> {
    const { storage } = harness.store;
    const file = join(storage, 'checkpoints.jsonl');
    renameSync(file, `${file}.kept`);
    execFileSync('mkfifo', ['--mode=0600', file]);
    const backup = place.begin(['backup', place.folder]);
    const pipe = await open(file, 'w'); // waits for the reader
    try {
      await meanwhile(backup);
      if (backup.child.signalCode === null)
        await pipe.writeFile(readFileSync(`${file}.kept`)).catch(() => {});
    } finally {
      await pipe.close();
      await backup.ended;
      renameSync(`${file}.kept`, file);
    }
  }

  test('--keep deletes the oldest of its own beyond that many, and nothing else', async () => {
    const strays = ['notes', '2020-01-01T000000Z', '2020-01-02T000000Z'];
    for (const stray of strays) mkdirSync(join(place.folder, stray));
    writeFileSync(join(place.folder, strays[2]!, 'backup.json'), '{"made_at"'); // as a full disk leaves it
    const newest = readdirSync(place.folder).filter(isFinished).sort().at(-1)!;
    const made = basename(await place.backUp('--keep', '2'));
    assert.deepEqual(readdirSync(place.folder).sort(), [...strays.slice(1), newest, made, 'notes']);
    for (const stray of strays) rmSync(join(place.folder, stray), { recursive: true });
  });

  test('a store that was begun anew in the same place deletes no backup of the one that was lost', async () => {
    const before = folderContents(place.folder);
    const { storage } = harness.store;
    await harness.stop();
    renameSync(storage, `${storage}-lost`);
    await harness.start();
    try {
      for (const hasEntries of [false, true]) {
        if (hasEntries) await harness.create();
        requireRefusal(
          await place.command(['backup', place.folder, '--keep', '1']),
          1,
          /holds backups of another store, .*: give each a folder of its own\n$/,
        );
        assert.deepEqual(folderContents(place.folder), before);
      }
    } finally {
      await harness.stop();
      rmSync(storage, { recursive: true });
      renameSync(`${storage}-lost`, storage);
      await harness.start();
    }
  });

  test('what does not verify is not kept, and deletes nothing', async () => {
    const storage = place.freshStorage();
    cpSync(await place.backUp(), storage, { recursive: true });
    const database = new DatabaseSync(join(storage, 'counterfoil.sqlite'));
    database.exec('update payments set amount_minor = amount_minor + 1');
    database.close();
    const before = folderContents(place.folder);
    requireRefusal(
      await place.command(['backup', place.folder, '--keep', '1'], storage),
      1,
      /^counterfoil: the history is not as it was written: .*\. The copy was not kept\./,
    );
    assert.deepEqual(folderContents(place.folder), before);
  });

  test('one that lacks the checkpoint key is made, and says that no server will start on it', async () => {
    const storage = place.freshStorage();
    cpSync(await place.backUp(), storage, { recursive: true });
    const { code, stderr } = await place.command(['backup', join(dirname(place.folder), 'no-key')], storage);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^counterfoil: no server will/);
  });

  test('folders that cannot take one are refused in one line each', async () => {
    const { folder } = place;
    const other = join(dirname(folder), 'other-storage');
    execFileSync('cp', ['-r', harness.store.storage, other]); // closing copies here would end the locks of the store
    const refusals: [string[], RegExp, string?][] = [
      [[join(harness.store.storage, 'backups')], /is in the storage, and would be lost with it/],
      [[join(folder, 'not', 'there')], /\/not does not exist: make it, or mount it/],
      [
        [folder],
        /holds backups of another store, that of \S+ with the first seal \S+: give each a folder of its own/,
        other,
      ],
      [[folder], /there is no store in /, join(dirname(folder), 'nothing')],
    ];
    const before = folderContents(folder);
    for (const [args, words, storage] of refusals) {
      const { code, stdout, stderr } = await place.command(['backup', ...args], storage);
      assert.deepEqual([code, stdout], [1, ''], stderr);
      assert.match(stderr, words);
      assert.equal(stderr.split('\n').length, 2);
    }
    assert.equal((await place.command(['backup', folder, '--keep', '0'])).code, 2);
    assert.deepEqual(folderContents(folder), before);
    rmSync(other, { recursive: true });
  });

  const canMount = process.getuid?.() === 0 && isInstalled('mount', '--version');
  test('a disk without room is told what is needed and what is free', {
    skip: !canMount && 'only root can mount a small disk',
  }, async () => {
    const disk = join(dirname(place.folder), 'small');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'counterfoil-test', disk]);
    try {
      const { code, stderr } = await place.command(['backup', join(disk, 'backups')]);
      assert.equal(code, 1);
      const [, needed, free] =
        /there is no room in \S+: ([\d,]+) KB are needed, (\d+) KB are free\n$/.exec(stderr) ?? [];
      assert.ok(Number(free) <= 64 && Number(needed?.replace(',', '')) > Number(free), stderr);
      assert.deepEqual(readdirSync(join(disk, 'backups')), []);
    } finally {
      execFileSync('umount', [disk]);
    }
  });
});
