// counterfoil backup --unverified: saves what does not verify, marked, so that it stands for no backup and deletes none.
import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { type BackupPlace, backupPlace } from '../../support/backups.ts';
import { requireRefusal } from '../../support/command.ts';
import { type Harness, startHarness } from '../../support/harness.ts';

const PAGE_BYTES = 4096;
const INDEX = 'payments_by_status';

describe('backup --unverified', () => {
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

  test('it keeps one that does not verify, marked, which stands for none and deletes none', async () => {
    const { storage, folder, command } = await ownStore('evidence');
    const good = [await command(), await command()].map(({ stdout }) => basename(JSON.parse(stdout).backup));
    edit(storage, 'update payments set amount_minor = amount_minor + 1');
    assert.equal((await command('--unverified', '--keep', '1')).code, 2, 'evidence deletes nothing');
    const made = await command('--unverified');
    assert.equal(made.code, 0, made.stderr);
    const { backup, unverified, entries } = JSON.parse(made.stdout);
    assert.match(unverified, /^the history .* written: payment \S+ /);
    assert.equal(JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8')).unverified, unverified);
    assert.ok(entries > 0);
    const said = await place.command(['backup', folder, '--unverified'], storage);
    assert.match(said.stdout, /, NOT VERIFIED: .*\. It .* not count/);
    const marked = readdirSync(folder).filter((name) => !good.includes(name));
    edit(storage, 'update payments set amount_minor = amount_minor - 1');
    const newest = basename(JSON.parse((await command('--keep', '1')).stdout).backup);
    assert.deepEqual(readdirSync(folder).sort(), [...marked, newest].sort(), 'what is marked is not counted');

    const fresh = place.freshStorage();
    requireRefusal(await place.command(['restore', backup], fresh), 1, /was not verified when it was made:/);
    assert.equal(existsSync(fresh), false);
    const taken = await place.command(['restore', backup, '--unverified'], fresh);
    assert.equal(taken.code, 0, taken.stderr);
    assert.match(taken.stdout, /; NOT VERIFIED: the history .*\.\n/);
    const amounts = (where: string) => read(where, 'select sum(amount_minor) as total from payments');
    assert.deepEqual(amounts(fresh), amounts(backup), 'as it is');
    assert.notDeepEqual(amounts(fresh), amounts(storage));
  });

  test('it keeps what SQLite finds damaged, and changes nothing about a store that is whole', async () => {
    const { storage, command } = await ownStore('damage');
    assert.equal(JSON.parse((await command('--unverified')).stdout).unverified, null);
    const file = join(storage, 'counterfoil.sqlite');
    const bytes = readFileSync(file);
    const [{ rootpage }] = read(storage, "select rootpage from sqlite_schema where name = 'seals'") as [
      { rootpage: number },
    ];
    bytes.fill(0xff, (rootpage - 1) * PAGE_BYTES, rootpage * PAGE_BYTES);
    writeFileSync(file, bytes);
    assert.equal((await command()).code, 1);
    const { code, stdout, stderr } = await command('--unverified');
    assert.equal(code, 0, stderr);
    const { backup, unverified } = JSON.parse(stdout);
    assert.match(unverified, /damaged|malformed/);
    const fresh = place.freshStorage();
    assert.equal((await place.command(['restore', backup, '--unverified'], fresh)).code, 0);
    const [there, kept] = [fresh, backup].map((where) => readFileSync(join(where, 'counterfoil.sqlite')));
    assert.deepEqual(there, kept);
  });

  test('an index that lacks a row is damage, though every row reads well', async () => {
    const { storage, command } = await ownStore('index');
    const database = new DatabaseSync(join(storage, 'counterfoil.sqlite'));
    const [{ sql }] = database.prepare(`select sql from sqlite_schema where name = '${INDEX}'`).all() as [
      { sql: string },
    ];
    database.exec(`drop index ${INDEX}; ${sql.replace(/( where .*)?$/s, ' where 0')}`);
    database.enableDefensive(false);
    database.exec('pragma writable_schema = on');
    database.prepare('update sqlite_schema set sql = ? where name = ?').run(sql, INDEX);
    database.close();
    requireRefusal(await command(), 1, /the database is damaged, and so is its copy: .* in index/);
    const { unverified } = JSON.parse((await command('--unverified')).stdout);
    assert.match(unverified, /database is damaged/);
  });

  /** A store of its own, whose backups lie in a folder of their own. */
  async function ownStore(name: string) {
    const storage = place.freshStorage();
    cpSync(await place.backUp(), storage, { recursive: true });
    const folder = join(dirname(place.folder), name);
    return {
      storage,
      folder,
      command: (...options: string[]) => place.command(['backup', folder, '--json', ...options], storage),
    };
  }

  const edit = (folder: string, sql: string) => {
    const database = new DatabaseSync(join(folder, 'counterfoil.sqlite'));
    database.exec(sql);
    database.close();
  };
  const read = (folder: string, sql: string) => {
    const database = new DatabaseSync(join(folder, 'counterfoil.sqlite'), { readOnly: true });
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  };
});
