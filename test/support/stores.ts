// Temporary stores on both engines, each gone when its test is.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { fileSystemOf } from '../../src/operate/checks/machine-checks.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { openDatabase, SQLITE_FILE } from '../../src/store/open.ts';
import { LONGER_THAN_A_TEST_MS } from './waiting.ts';

export type Engine = 'sqlite' | 'postgres';
const BOTH: readonly Engine[] = ['sqlite', 'postgres'];
/** Those that a file's behaviour is held to on each: in `npm test` SQLite alone, where `scripts/test-table.ts` does not ask for both. */
export const ENGINES = BOTH.filter((one) => one === (process.env.COUNTERFOIL_TEST_ENGINES ?? one));

/** Where folders lie on a disk, as production wants them: temporary ones may be in memory. */
export const ON_DISK = /^(tmpfs|ramfs)$/.test(fileSystemOf(tmpdir()) ?? '')
  ? realpathSync(fileURLToPath(new URL('../../node_modules', import.meta.url)))
  : tmpdir();

/** A database of others that tests run on instead of one of their own: what several nodes serve (several-nodes.test.ts). */
const SHARED_DATABASE = process.env.COUNTERFOIL_TEST_DATABASE;

/**
 * Every file of a folder but the configuration, a byte a character, read by another process. A process that opens and closes a file which it
 * has in SQLite too loses SQLite's locks on it (POSIX): the next process that opens the store cuts off the index of the
 * write-ahead log, and the first ends by SIGBUS.
 */
export function bytesOf(folder: string): string {
  const files = readdirSync(folder).filter((file) => file !== 'counterfoil.yaml');
  return execFileSync('cat', files, { cwd: folder, encoding: 'latin1', maxBuffer: 2 ** 30 });
}

export interface Store {
  engine: Engine;
  /** A private directory of its own. */
  storage: string;
  database_url: string | null;
  drop(): Promise<void>;
}

async function onServer(sql: string): Promise<void> {
  const client = new pg.Client(serverUrl());
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function serverUrl(): string {
  const url = process.env.COUNTERFOIL_TEST_POSTGRES;
  if (!url) throw new Error('run tests through `npm test -- FILE`, which starts the PostgreSQL they need');
  return url;
}

/** Opens a store, which on PostgreSQL is waited for as long as a test lasts. */
export const openPatiently = (settings: Pick<Store, 'storage' | 'database_url'>): Promise<Database> =>
  openDatabase(settings, assert.ifError, undefined, LONGER_THAN_A_TEST_MS);

/** A store that has the tables, and nothing in them: the file of SQLite, and the name of the database of PostgreSQL. */
const TEMPLATES: Record<Engine, string> = {
  sqlite: 'COUNTERFOIL_TEST_TEMPLATE_FILE',
  postgres: 'COUNTERFOIL_TEST_TEMPLATE',
};

/** Makes on both engines what the stores of `storeToServe` are copied from, which spares a run the making of their tables. */
export async function makeTemplates(): Promise<void> {
  for (const engine of BOTH) {
    const { storage, database_url } = await temporaryStore(engine);
    const database = await openPatiently({ storage, database_url });
    await migrate(database);
    await database.close();
    process.env[TEMPLATES[engine]] =
      database_url === null ? join(storage, SQLITE_FILE) : new URL(database_url).pathname.slice(1);
  }
}

/** Makes a store to serve from, whose tables are there already. */
export async function storeToServe(engine: Engine): Promise<Store> {
  const template = process.env[TEMPLATES[engine]];
  if (engine === 'postgres') return temporaryStore(engine, tmpdir(), template);
  const store = await temporaryStore(engine);
  if (template) copyFileSync(template, join(store.storage, SQLITE_FILE));
  return store;
}

/** Makes an empty store, in a folder of `place`, or one on PostgreSQL that has what a database `template` has. */
export async function temporaryStore(
  engine: Engine,
  place = tmpdir(),
  template = 'template1',
): Promise<Store> {
  const storage = mkdtempSync(join(place, 'counterfoil-test-')); // mode 0700
  let database_url: string | null = null;
  let name = '';
  if (engine === 'postgres' && SHARED_DATABASE) {
    database_url = SHARED_DATABASE;
  } else if (engine === 'postgres') {
    name = `test_${randomBytes(8).toString('hex')}`;
    await onServer(`create database ${name} template ${template}`);
    const url = new URL(serverUrl());
    url.pathname = `/${name}`;
    database_url = url.href;
  }
  return {
    engine,
    storage,
    database_url,
    async drop() {
      rmSync(storage, { recursive: true, force: true });
      if (name) await onServer(`drop database ${name} with (force)`);
    },
  };
}
