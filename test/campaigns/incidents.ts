// Incidents that befall a service while payments are created, how its operator is told, and what ends each by the runbook.
import { copyFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { knownSeal } from '../../src/journal/known-seal.ts';
import { HOUR_MS } from '../../src/lib/time.ts';
import { noFaketime, SettableClock } from '../support/faketime.ts';
import { NO_STANDBY, type PostgresHost, startPair } from '../support/postgres-hosts.ts';
import { type Store, temporaryStore } from '../support/stores.ts';
import { eventually } from '../support/waiting.ts';
import { mountSmallDisk, type SmallDisk, whyNoSmallDisk } from './small-disk.ts';
import { Site } from './told-site.ts';

export interface Incident {
  what: string;
  /** Why it cannot be had here. */
  skip?: string | false | undefined;
  site(): Promise<Site>;
  /** Rejects where the machine does not let it happen. */
  happen(site: Site): Promise<unknown> | unknown;
  /** What `/health` becomes; 200 where payments are to go on. 1 and 78: with what the start after it is refused. */
  health: 200 | 503 | 'no answer' | 1 | 78;
  /** A line of the log, or of what the refused start said. */
  says?: RegExp;
  /** What the operator does, in words and by commands. Afterwards the service takes payments. */
  end: string;
  lead(site: Site): Promise<unknown> | unknown;
  /** Whether all that was acknowledged before is lost for good, as the documents say. */
  losesAll?: true;
}

const FILE = 'counterfoil.sqlite';
/** Of the database and the files of its log. */
const ENDS = ['', '-wal', '-shm'];
const HELD = /the database was removed or replaced while it is open/;
const onSqlite = async () => Site.start(await temporaryStore('sqlite'));
const database = ({ store }: Site) => join(store.storage, FILE);
const killed = async ({ server }: Site) => server.end('SIGKILL');
const required = ({ code, said }: { code: number | null; said: string }) => {
  if (code !== 0) throw new Error(said);
};

/** Puts a database in the place of what is there, with the service stopped, and starts it. */
function putInPlace(site: Site, from: string): Promise<void> {
  return site.restart(() => {
    for (const name of readdirSync(site.store.storage))
      if (name.startsWith(FILE)) rmSync(join(site.store.storage, name));
    copyFileSync(from, database(site));
  });
}

async function rescue(site: Site): Promise<void> {
  const rescued = await site.run('store', 'rescue', '--json', '--output', site.backups);
  required(rescued);
  await putInPlace(site, JSON.parse(rescued.said.slice(rescued.said.indexOf('{')).split('\n')[0]!).rescued);
}

/** Waits until the node has written down the seal of payments that are acknowledged from now on: it does so each second. */
function untilKept({ store }: Site): Promise<void> {
  const before = knownSeal(store.storage)?.number ?? 0;
  return eventually(() => (knownSeal(store.storage)?.number ?? 0) > before + 2);
}

/** A copy of the database, as somebody makes one beside the service. */
function copyAside(site: Site): string {
  const copy = join(site.backups, 'copy.sqlite');
  copyFileSync(database(site), copy);
  return copy;
}

const ON_FILES: readonly Incident[] = [
  {
    what: 'The process is killed (`kill -9`)',
    site: onSqlite,
    happen: killed,
    health: 'no answer',
    end: 'start it',
    lead: (site) => site.start(),
  },
  {
    what: 'The process hangs (SIGSTOP)',
    site: onSqlite,
    happen: ({ server }) => server.child.kill('SIGSTOP'),
    health: 'no answer',
    end: 'restart it',
    async lead(site) {
      await killed(site);
      await site.start();
    },
  },
  {
    what: 'The database file is moved away while it serves',
    site: onSqlite,
    happen: (site) => renameSync(database(site), join(site.backups, 'moved.sqlite')),
    health: 503,
    says: HELD,
    end: 'move it back',
    lead: (site) => renameSync(join(site.backups, 'moved.sqlite'), database(site)),
  },
  {
    what: 'The database and its log are removed while it serves',
    site: onSqlite,
    happen({ store }) {
      for (const name of readdirSync(store.storage))
        if (name.startsWith(FILE)) rmSync(join(store.storage, name));
    },
    health: 503,
    says: HELD,
    end: '`counterfoil store rescue`, stop, put it in place, start',
    lead: rescue,
  },
  {
    what: 'An older copy is put in its place while it serves',
    site: onSqlite,
    happen: (site) => renameSync(copyAside(site), database(site)),
    health: 503,
    says: HELD,
    end: '`counterfoil store rescue`, stop, put it in place, start',
    lead: rescue,
  },
  {
    what: 'It is started on yesterday’s copy',
    site: onSqlite,
    async happen(site) {
      const copy = join(site.backups, 'copy.sqlite');
      await site.restart(() => copyFileSync(database(site), copy));
      await untilKept(site);
      await killed(site);
      for (const end of ENDS) renameSync(database(site) + end, join(site.backups, `right${end}`));
      copyFileSync(copy, database(site));
      await site.start();
    },
    health: 78,
    says: /this node had acknowledged|the checkpoint of/,
    end: 'put the right database back, with its log, and start',
    async lead(site) {
      for (const end of ENDS) rmSync(database(site) + end, { force: true });
      for (const end of ENDS) renameSync(join(site.backups, `right${end}`), database(site) + end);
      await site.start();
    },
  },
  {
    what: 'The database is gone, and a backup from before is all there is',
    site: onSqlite,
    async happen(site) {
      await untilKept(site);
      await killed(site);
      for (const name of readdirSync(site.store.storage))
        if (name.startsWith(FILE)) rmSync(join(site.store.storage, name));
      await site.start();
    },
    health: 78,
    says: /counterfoil restore|checkpoint/,
    end: '`counterfoil restore … --replace`, `counterfoil audit restored`, start',
    async lead(site) {
      const [backup] = readdirSync(site.backups);
      required(await site.run('restore', join(site.backups, backup!), '--replace'));
      const { code, said } = await site.run('audit', 'restored');
      if (code !== 0 && !/nothing to record|no start is refused/.test(said)) throw new Error(said);
      await site.start();
    },
    losesAll: true,
  },
  {
    what: 'The keys for secrets in the store are those of another installation',
    site: onSqlite,
    async happen(site) {
      const endpoint = { url: 'http://localhost:9/hook' };
      const { status } = await site.ask('/v1/webhook_endpoints', endpoint); // its secret is sealed
      if (status !== 201) throw new Error(`an endpoint: ${status}`);
      const file = join(site.store.storage, 'secrets.key');
      await site.restart(async () => {
        renameSync(file, join(site.backups, 'secrets.key'));
        const made = await site.run('secrets', 'new', '--output', file);
        if (made.code !== 0) writeFileSync(file, made.said, { mode: 0o600 });
      });
    },
    health: 78,
    says: /secrets/,
    end: 'put the right `secrets.key` back, and start',
    async lead(site) {
      renameSync(join(site.backups, 'secrets.key'), join(site.store.storage, 'secrets.key'));
      await site.start();
    },
  },
];

let disk: SmallDisk;
let clock: SettableClock;
let silent: Server;

const ON_MACHINE: readonly Incident[] = [
  {
    what: 'The disk is full',
    skip: whyNoSmallDisk('ext4'),
    async site() {
      disk = mountSmallDisk('ext4', 64);
      const store = await temporaryStore('sqlite', disk.directory);
      return Site.start({ ...store, drop: async () => disk.remove() });
    },
    happen: () => disk.fill(),
    health: 503,
    says: /"msg":"unavailable"|the disk is full/,
    end: 'make room',
    lead: () => disk.free(),
  },
  ...[1, -1].map(
    (hours): Incident => ({
      what: `The clock is set an hour ${hours > 0 ? 'forward' : 'back'}`,
      skip: noFaketime,
      async site() {
        const store = await temporaryStore('sqlite');
        clock = new SettableClock(store.storage);
        return Site.start(store, { env: clock.env });
      },
      happen: () => clock.set(hours * HOUR_MS),
      health: 200,
      says: /the system clock was set/,
      end: 'put it right',
      lead: () => clock.set(0),
    }),
  ),
  {
    what: 'A receiver of webhooks takes connections and never answers',
    site: onSqlite,
    async happen(site) {
      silent = createServer((socket) => socket.on('error', () => {}));
      await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
      silent.unref();
      const { port } = silent.address() as { port: number };
      const made = await site.ask('/v1/webhook_endpoints', { url: `http://localhost:${port}/hook` });
      if (made.status !== 201) throw new Error(made.text);
    },
    health: 200,
    end: 'nothing: its webhooks wait, and nobody else’s',
    lead: () => silent.close(),
  },
];

let hosts: [PostgresHost, PostgresHost];

async function onPair(): Promise<Site> {
  hosts = await startPair();
  const names = hosts.map(({ port }) => `127.0.0.1:${port}`).join();
  const folder: Store = await temporaryStore('sqlite');
  const drop = async () => {
    for (const host of hosts) await host.remove();
    await folder.drop();
  };
  const database_url = hosts[0].url.replace(/127\.0\.0\.1:\d+/, names);
  return Site.start({ ...folder, engine: 'postgres', database_url, drop });
}

/** The standby stops following, the primary goes on without it and dies, and the standby is promoted. */
async function promoteBehind(site: Site): Promise<void> {
  const [primary, standby] = hosts;
  await standby.kill();
  await primary.query("alter system set synchronous_standby_names = ''");
  await primary.query('select pg_reload_conf()');
  for (let i = 0; i < 20; i++)
    if ((await site.create()) !== 201) throw new Error('the primary takes no payments alone');
  // What was acknowledged last is written down within a second, and is what the standby lacks.
  await primary.kill();
  await standby.start();
  await standby.promote();
  await standby.untilPrimary();
}

const rightOneBack = async (site: Site) => {
  await hosts[1].kill();
  await hosts[0].start();
  if (site.refused) await site.start();
};

const ON_POSTGRES: readonly Omit<Incident, 'skip'>[] = [
  {
    what: 'The primary dies, and its synchronous standby is promoted',
    site: onPair,
    happen: () => hosts[0].kill(),
    health: 503,
    says: /"msg":"unavailable"/,
    end: 'promote the standby',
    async lead() {
      await hosts[1].promote();
      await hosts[1].untilPrimary();
      hosts[1].demandStandby(false);
      await hosts[1].query('select pg_reload_conf()');
    },
  },
  {
    what: 'PostgreSQL dies, and comes back',
    site: onPair,
    happen: () => hosts[0].kill(),
    health: 503,
    says: /"msg":"unavailable"/,
    end: 'start PostgreSQL',
    lead: () => hosts[0].start(),
  },
  {
    what: 'A standby that lacks acknowledged payments is promoted',
    site: onPair,
    happen: promoteBehind,
    health: 503,
    says: /has a history that ends before/,
    end: 'bring the right primary back',
    lead: rightOneBack,
  },
  {
    what: '… and the node is started again all the same',
    site: onPair,
    async happen(site) {
      await promoteBehind(site);
      await site.restart(() => {});
    },
    health: 1,
    says: /has a history that ends before the newest seal this node knows/,
    end: 'bring the right primary back, and start',
    lead: rightOneBack,
  },
];

/** In groups that do not know of one another. */
export const INCIDENTS: Record<string, readonly Incident[]> = {
  'of the files': ON_FILES,
  'of the machine': ON_MACHINE,
  'of PostgreSQL': ON_POSTGRES.map((one) => ({ ...one, skip: NO_STANDBY })),
};
