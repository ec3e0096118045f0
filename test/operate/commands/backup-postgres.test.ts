// counterfoil backup and restore of a store in PostgreSQL: one file whatever the engine, and restored into either.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { holdStorage } from '../../../src/store/open.ts';
import { type BackupPlace, backupPlace, copyKeys } from '../../support/backups.ts';
import { requireRefusal, run, start } from '../../support/command.ts';
import { contentsOf } from '../../support/contents.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { copyProgram } from '../../support/program-copy.ts';
import { type Store, temporaryStore } from '../../support/stores.ts';

type Settings = Pick<Store, 'storage' | 'database_url'>;

describe('a store on PostgreSQL', () => {
  let harness: Harness;
  let place: BackupPlace;
  let backup: string;
  const others: Store[] = [];
  before(async () => {
    harness = await startHarness('postgres');
    await harness.create({ description: 'Zoë 𝒵', metadata: { nothing: null } });
    await harness.create();
    await harness.stop(); // signs a checkpoint
    await harness.start();
    place = backupPlace(harness.store, {});
    backup = await place.backUp();
  });
  after(async () => {
    await harness.close();
    place.remove();
    for (const store of others) await store.drop();
  });

  const envOf = ({ storage, database_url }: Settings) => ({
    COUNTERFOIL_CONFIG: place.config,
    COUNTERFOIL_STORAGE: storage,
    DATABASE_URL: database_url ?? '',
  });
  const onStore = (args: string[], store: Settings) => run(args, { env: envOf(store) });
  const another = async (engine: 'sqlite' | 'postgres') => {
    const store = await temporaryStore(engine);
    others.push(store);
    return store;
  };
  const restore = ({ storage, database_url }: Settings, ...args: string[]) =>
    onStore(['restore', backup, ...args], { storage, database_url });

  test('is backed up beside its server into one SQLite file, with the checkpoints from before it', async () => {
    assert.deepEqual(readdirSync(backup).sort(), [
      'backup.json',
      'checkpoint-key.pub.pem',
      'checkpoints.jsonl',
      'counterfoil.sqlite',
    ]);
    const { engine, entries, unverified } = JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8'));
    assert.deepEqual(
      { engine, entries, unverified },
      { engine: 'postgres', entries: 2, unverified: undefined },
    );
  });

  for (const engine of ['sqlite', 'postgres'] as const)
    test(`is restored into ${engine}, every row, and served from there`, async () => {
      const store = await another(engine);
      const { code, stdout, stderr } = await restore(store);
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, /^Restored 2 entries, /);
      const [rows, theirs] = [await contentsOf(store), await contentsOf(harness.store)];
      assert.deepEqual(rows, theirs);
      copyKeys(harness.store.storage, store.storage);
      const again = await restore(store);
      assert.equal(again.code, 1, 'nothing is overwritten');
    });

  test('is not restored into a database of something else, or of another store', async () => {
    const store = await another('postgres');
    const client = new pg.Client(store.database_url!);
    await client.connect();
    await client.query('create table orders ()');
    const strange = await restore(store);
    assert.match(strange.stderr, /something else \(orders\):/);
    await client.query('drop table orders');
    await client.end();
    assert.equal((await onStore(['migrate'], store)).code, 0);
    const other = await restore(store, '--replace');
    assert.match(other.stderr, /is not empty, /);
  });

  test('whose restore was killed is taken for a store by nobody, and the same command begins anew', async () => {
    for (const step of ['await fillPostgres(copy, list, {', 'const aside = await placeFiles(']) {
      const store = await another('postgres');
      const program = copyProgram();
      program.change(
        'src/operate/commands/restore.ts',
        step,
        `process.kill(process.pid, 'SIGKILL'); ${step}`,
      );
      const env = { ...envOf(store), ...program.env };
      const killed = start(process.execPath, [program.command, 'restore', backup], { env });
      assert.equal((await killed.ended).signal, 'SIGKILL', killed.stderr);
      program.remove();
      requireRefusal(await onStore(['serve'], store), 78, /^counterfoil: a restore into \S+ is unfinished:/);
      const release = holdStorage(store);
      assert.match((await restore(store)).stderr, /another server holds/, 'of two restores one waits');
      release();
      const restored = await restore(store);
      assert.deepEqual([restored.code, restored.stderr], [0, '']);
      assert.deepEqual(await contentsOf(store), await contentsOf(harness.store));
    }
  });
});
