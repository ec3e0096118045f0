// A PostgreSQL of a campaign's own, whose connections are taken and which is stopped.
import assert from 'node:assert/strict';
import pg from 'pg';
import { startPostgres } from '../support/postgres-server.ts';
import { type Store, temporaryStore } from '../support/stores.ts';
import { eventually } from '../support/waiting.ts';

const CONNECTIONS = 30;

export function borrowedPostgres() {
  let server: Awaited<ReturnType<typeof startPostgres>> | undefined;
  let held: pg.Client[] = [];
  const urlOf = (username: string, database: string) => {
    const url = new URL(server!.url);
    Object.assign(url, {
      username,
      password: username === 'postgres' ? 'postgres' : 'secret',
      pathname: `/${database}`,
    });
    return url.href;
  };
  /** Runs statements as the superuser, who has connections reserved. Returns the rows of the last. */
  async function asSuperuser(...statements: string[]): Promise<Record<string, unknown>[]> {
    const client = new pg.Client(server!.url);
    await client.connect();
    try {
      let rows: Record<string, unknown>[] = [];
      for (const sql of statements) ({ rows } = await client.query(sql));
      return rows;
    } finally {
      await client.end();
    }
  }
  /** Connects as another program until the server takes no more. */
  async function fill(): Promise<void> {
    for (;;) {
      const client = new pg.Client(urlOf('other_program', 'postgres'));
      client.on('error', () => {});
      try {
        await client.connect();
      } catch (error) {
        assert.equal((error as { code?: string }).code, '53300');
        return;
      }
      held.push(client);
    }
  }
  const stop = async () => {
    for (const client of held) client.end().catch(() => {});
    held = [];
    await server?.stop();
    server = undefined;
  };

  return {
    /** Starts a fresh cluster. Returns an empty store on it; dropping the store stops the cluster. */
    async store(): Promise<Store> {
      server = await startPostgres(['-c', `max_connections=${CONNECTIONS}`]);
      await asSuperuser(
        "create role counterfoil login password 'secret'",
        "create role other_program login password 'secret'",
        'create database counterfoil owner counterfoil',
      );
      const folder = await temporaryStore('sqlite');
      const drop = async () => {
        await folder.drop();
        await stop();
      };
      return { ...folder, engine: 'postgres', database_url: urlOf('counterfoil', 'counterfoil'), drop };
    },

    /** Takes every connection as another program, the node's among them. */
    async takeConnections(): Promise<void> {
      await asSuperuser(
        'alter role counterfoil nologin',
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'counterfoil'",
      );
      const own = "select count(*) as count from pg_stat_activity where usename = 'counterfoil'";
      await eventually(async () => Number((await asSuperuser(own))[0]!.count) === 0);
      await fill();
      await asSuperuser('alter role counterfoil login');
    },

    ...{ asSuperuser, urlOf, fill, stop },
  };
}
