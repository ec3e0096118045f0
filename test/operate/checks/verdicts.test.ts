// How health judges disks, folders and durability that no test can bring about.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { VERSION } from '../../../src/lib/version.ts';
import { CHECKS } from '../../../src/operate/checks/checks.ts';
import {
  blockVerdict,
  fileSystemOf,
  fileSystemVerdict,
  servedSign,
  spaceVerdict,
} from '../../../src/operate/checks/machine-checks.ts';
import { durabilityVerdict } from '../../../src/operate/checks/store-checks.ts';
import { durability } from '../../../src/store/database.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { installation } from '../../support/production.ts';
import { openPatiently, temporaryStore } from '../../support/stores.ts';
import { LONGER_THAN_A_TEST_MS } from '../../support/waiting.ts';

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
  assert.equal(blockVerdict(1024, '/s')?.is, 'warning');
  assert.equal(blockVerdict(4096, '/s'), undefined);

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
  const database = await openPatiently(store);
  assert.deepEqual(await durability(database), { journal_mode: 'wal' });
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

test('a service of another version and a schema with another text are told', async () => {
  const server = createServer((_, response) => response.end('{"status":"ok","version":"0.0.9"}'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const store = await temporaryStore('sqlite');
  const database = await openPatiently(store);
  await migrate(database);
  const look = async (id: string) => {
    const urls = { public: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    const subject = { settings: {}, urls, deadlineMs: LONGER_THAN_A_TEST_MS, store: { database } };
    const { is, ...verdict } = await CHECKS.find((check) => check.id === id)!.look(subject as never);
    return { is, text: JSON.stringify(verdict) };
  };
  const other = await look('reach_api');
  assert.equal(other.is, 'warning');
  assert.match(other.text, new RegExp(`0\\.0\\.9 serves .* this is ${VERSION}`));
  assert.equal((await look('schema')).is, 'ok');
  await database.transaction((transaction) =>
    transaction.query("update schema_migrations set digest = 'x' where version = 1 returning version"),
  );
  const changed = await look('schema');
  assert.equal(changed.is, 'warning');
  assert.match(changed.text, /another 0001-schema/);
  await database.close();
  await store.drop();
  server.close();
});
