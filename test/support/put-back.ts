// Keeps a copy of a stopped store's database, to be put back later under checkpoints that stayed.
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { Store } from './stores.ts';

/** Copies the database alone; call it while the service is stopped. Returns what puts the copy back, once. */
export async function keepDatabase(store: Store, folder: string): Promise<() => Promise<void>> {
  const { storage, database_url } = store;
  if (database_url === null) {
    const [file, kept] = [join(storage, 'counterfoil.sqlite'), join(folder, 'kept.sqlite')];
    copyFileSync(file, kept);
    return async () => {
      for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
      copyFileSync(kept, file);
    };
  }
  const name = new URL(database_url).pathname.slice(1);
  await onServer(database_url, [`create database ${name}_kept template ${name}`]);
  return () =>
    onServer(database_url, [`drop database ${name}`, `alter database ${name}_kept rename to ${name}`]);
}

async function onServer(database_url: string, statements: readonly string[]): Promise<void> {
  const url = new URL(database_url);
  url.pathname = '/postgres';
  const client = new pg.Client(url.href);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
