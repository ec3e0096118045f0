// The private directory: nobody else reads it, and one server at a time has a SQLite store.
import assert from 'node:assert/strict';
import {
  chmodSync,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { DatabaseError, StoreUnfit } from '../../src/store/database.ts';
import { holdStore, lockStore, openDatabase, prepareStorage, StorageExposed } from '../../src/store/open.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
import { startHarness } from '../support/harness.ts';
import { ENGINES, type Store, temporaryStore } from '../support/stores.ts';

const permissions = (path: string) => statSync(path).mode & 0o777;

async function withStore(use: (store: Store) => Promise<void>): Promise<void> {
  const store = await temporaryStore('sqlite');
  try {
    await use(store);
  } finally {
    await store.drop();
  }
}

describe('storage', () => {
  test('the directory is made for its owner alone, with the directories above it', async () => {
    await withStore(async ({ storage }) => {
      const directory = join(storage, 'a', 'b');
      prepareStorage(directory);
      assert.equal(permissions(directory), 0o700);
    });
  });

  test('a damaged lock is named, with what to do', async () => {
    await withStore(async ({ storage }) => {
      const file = join(storage, 'damaged.lock');
      writeFileSync(file, 'x'.repeat(5000));
      const said = `${file} is damaged. It holds nothing but the lock: remove it, and start again`;
      assert.throws(
        () => lockStore(file),
        (error) => error instanceof StoreUnfit && error.message === said,
      );
      rmSync(file);
      lockStore(file)();
    });
  });

  for (const engine of ENGINES) {
    test(`every file a running service has there is its owner's alone (${engine}), whatever the umask`, async () => {
      const umask = process.umask(0);
      const service = await startHarness(engine);
      try {
        await service.create();
        const { storage } = service.store;
        assert.equal(permissions(storage), 0o700);
        const whileRunning = readdirSync(storage);
        await service.stop();
        await service.start();
        for (const file of new Set([...whileRunning, ...readdirSync(storage)])) {
          const mode = statSync(join(storage, file), { throwIfNoEntry: false })?.mode ?? 0o600;
          assert.equal(mode & 0o777, 0o600, file);
        }
      } finally {
        process.umask(umask);
        await service.close();
      }
    });
  }

  test('a SQLite that can damage the file is refused, and makes none', async () => {
    await withStore(async ({ storage }) => {
      const file = join(storage, 'counterfoil.sqlite');
      const open = (version: string) => openSqlite(file, assert.fail, undefined, version);
      for (const version of ['3.51.2', '3.9.0', '2.99.99'])
        assert.throws(() => open(version), {
          constructor: StoreUnfit,
          message: `this Node has SQLite ${version}, and 3.51.3 is needed: run node scripts/install.js, or install a newer Node`,
        });
      assert.deepEqual(readdirSync(storage), []);
      for (const version of ['3.51.3', '3.100.0', '4.0.0']) await open(version).close();
    });
  });

  test('a store that is closed twice closes no file of another', async () => {
    await withStore(async ({ storage }) => {
      const database = openSqlite(join(storage, 'counterfoil.sqlite'), assert.fail);
      await database.close();
      const others = Array.from({ length: 20 }, () => openSync(import.meta.filename, 'r'));
      await database.close();
      for (const other of others) {
        assert.ok(fstatSync(other).isFile());
        closeSync(other);
      }
    });
  });

  for (const mode of [0o750, 0o705, 0o710, 0o701]) {
    test(`a directory of mode ${mode.toString(8)} is refused`, async () => {
      await withStore(async ({ storage }) => {
        chmodSync(storage, mode);
        assert.throws(() => prepareStorage(storage), StorageExposed);
      });
    });
  }

  test('one exposed file in it is refused, named, with the command that fixes it', async () => {
    const service = await startHarness('sqlite');
    await service.stop();
    const { storage } = service.store;
    chmodSync(join(storage, 'counterfoil.sqlite'), 0o644);
    await assert.rejects(service.start(), (error: Error) => {
      assert.ok(error instanceof StorageExposed);
      assert.match(error.message, /counterfoil\.sqlite .*chmod -R go= /);
      return true;
    });
    chmodSync(join(storage, 'counterfoil.sqlite'), 0o600);
    await service.start();
    await service.close();
  });

  test('a store where the database should be but is none is refused', async () => {
    await withStore(async (store) => {
      mkdirSync(join(store.storage, 'counterfoil.sqlite'), { mode: 0o700 });
      await assert.rejects(
        openDatabase(store, () => {}),
        DatabaseError,
      );
      rmSync(join(store.storage, 'counterfoil.sqlite'), { recursive: true });
    });
  });

  test('a second hold on a store is refused until the first is let go', async () => {
    await withStore(async (store) => {
      const release = holdStore(store);
      assert.throws(
        () => holdStore(store),
        (error) => error instanceof DatabaseError && error.failure === 'unavailable',
      );
      release();
      holdStore(store)();
    });
  });
});
