// A temporary PostgreSQL whose owner is no superuser: rights that are taken from it are missing, as they are at operators'.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { type Store, temporaryStore } from './stores.ts';

export interface OwnedStore extends Store {
  /** The owner's name. */
  role: string;
  /** Runs SQL in the database as the superuser. */
  asSuperuser(sql: string): Promise<void>;
}

export async function ownedStore(): Promise<OwnedStore> {
  const store = await temporaryStore('postgres');
  const role = `owner_${randomBytes(6).toString('hex')}`;
  const superuser = new pg.Client(store.database_url!);
  await superuser.connect();
  superuser.on('error', () => {}); // the database is dropped while it is connected
  const url = new URL(store.database_url!);
  const name = url.pathname.slice(1);
  await superuser.query(
    `create role ${role} login password 'right'; alter database ${name} owner to ${role}`,
  );
  Object.assign(url, { username: role, password: 'right' });
  return {
    ...store,
    database_url: url.href,
    role,
    async asSuperuser(sql) {
      await superuser.query(sql);
    },
    async drop() {
      await superuser.query(
        `reassign owned by ${role} to postgres; drop owned by ${role}; drop role ${role}`,
      );
      await superuser.end();
      await store.drop();
    },
  };
}
