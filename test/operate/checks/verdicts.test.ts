// How health judges disks, folders and durability that no test can bring about.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileSystemVerdict, spaceVerdict } from '../../../src/operate/checks/file-checks.ts';
import { fileSystemOf, servedSign } from '../../../src/operate/checks/folders.ts';
import { durabilityVerdict } from '../../../src/operate/checks/store-checks.ts';
import { openDatabase } from '../../../src/store/open.ts';
import { installation } from '../../support/production.ts';
import { temporaryStore } from '../../support/stores.ts';

test('what no test can bring about is judged all the same', () => {
  for (const type of ['nfs', 'nfs4', 'cifs', '9p', 'fuse.sshfs'])
    assert.equal(fileSystemVerdict(type, '/s', true).is, 'failed', type);
  assert.equal(fileSystemVerdict('nfs4', '/s', false).is, 'ok', 'SQLite alone is lost there');
  for (const type of ['tmpfs', 'ramfs'])
    assert.equal(fileSystemVerdict(type, '/s', false).is, 'failed', type);
  for (const type of ['ext4', 'xfs', 'btrfs', 'zfs'])
    assert.equal(fileSystemVerdict(type, '/s', true).is, 'ok');
  assert.equal(fileSystemVerdict('overlay', '/s', true).is, 'warning');

  const GIB = 1024 ** 3;
  assert.equal(spaceVerdict(0.4 * GIB, GIB, '/s').is, 'failed');
  assert.equal(spaceVerdict(10 * GIB, 1000 * GIB, '/s').is, 'warning');
  assert.equal(spaceVerdict(60 * GIB, 1000 * GIB, '/s').is, 'ok');

  const durable = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' };
  assert.equal(durabilityVerdict(durable).is, 'ok');
  assert.equal(durabilityVerdict({ ...durable, synchronous_commit: 'remote_apply' }).is, 'ok');
  for (const weak of [
    { fsync: 'off' },
    { full_page_writes: 'off' },
    { synchronous_commit: 'off' },
    { synchronous_commit: 'local' },
    { synchronous_commit: 'remote_write' },
  ])
    assert.equal(durabilityVerdict({ ...durable, ...weak }).is, 'failed', JSON.stringify(weak));
  assert.equal(durabilityVerdict({ journal_mode: 'delete' }).is, 'failed');
  assert.equal(durabilityVerdict({ journal_mode: 'wal' }).is, 'ok');
});

test('the writer of a SQLite store has a log that it flushes', async () => {
  const store = await temporaryStore('sqlite');
  const database = await openDatabase(store, () => {});
  assert.deepEqual(await database.durability(), { journal_mode: 'wal' });
  await database.close();
  await store.drop();
});

test('a file system is found by the longest mount that holds a folder, its name unescaped', () => {
  const mounts = [
    '/dev/sda1 / ext4 rw 0 0',
    'tmpfs /tmp tmpfs rw 0 0',
    'server:/x /tmp/with\\040space nfs4 rw 0 0',
    '/dev/sdb1 /tm xfs rw 0 0',
    '/dev/sdc1 /srv ext4 rw 0 0',
    'overlaid /srv cifs rw 0 0',
  ].join('\n');
  const typeOf = (path: string) => fileSystemOf(path, mounts);
  assert.equal(typeOf('/none'), 'ext4');
  assert.equal(typeOf('/srv/storage'), 'cifs', 'the later lies over the earlier');
  assert.equal(typeOf('/tmp'), 'tmpfs');
  assert.equal(typeOf('/tmp/not made yet'), 'tmpfs');
  assert.equal(typeOf('/tmp/with space/storage'), 'nfs4');
  assert.equal(typeOf('/tmpother'), 'ext4');
});

test('folders are served by their names, their place, or what lies in them or above', () => {
  const place = installation();
  try {
    assert.equal(servedSign(place.folder), undefined);
    assert.match(servedSign('/var/www/shop/storage')!, /called www/);
    assert.match(servedSign('/home/ana/Public/storage')!, /called Public/);
    assert.match(servedSign('/usr/share/nginx/storage')!, /is in \/usr\/share\/nginx/);
    assert.equal(servedSign('/home/ana/wwwx'), undefined);
    const folder = join(place.folder, 'a/b');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(place.folder, '.htaccess'), '');
    assert.match(servedSign(folder)!, /\.htaccess is there/);
    chmodSync(place.folder, 0o777);
    assert.equal(servedSign(folder), undefined, 'anybody may have put it there');
  } finally {
    place.remove();
  }
});
