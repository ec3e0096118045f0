// Faults of the machine around the store: backups, port, certificate, clock, keys, PostgreSQL; each with what is to be said of it.
import { copyFileSync, renameSync } from 'node:fs';
import { createServer } from 'node:http';
import { HOUR_MS } from '../../src/lib/time.ts';
import { hasOpenssl, temporaryCertificates } from '../support/certificates.ts';
import { noFaketime, SettableClock } from '../support/faketime.ts';
import { temporaryStore } from '../support/stores.ts';
import type { Fault } from './told-faults.ts';
import { onSqlite } from './told-faults-of-store.ts';
import { borrowedPostgres } from './told-postgres.ts';
import { Site } from './told-site.ts';
import type { Told } from './told-watch.ts';

const ON_NODE: readonly Fault[] = [
  {
    what: 'The folder of backups is gone',
    site: onSqlite,
    inject: async (site) => renameSync(site.backups, site.gone),
    told: {
      doctor: ['backups'],
      alert: { name: 'CounterfoilBackupOld', line: /^counterfoil_backup_newest_timestamp_seconds 0$/m },
      log: /the age of backups could not be measured/,
      runbook: { entry: 'A backup fails', words: /counterfoil-backup-old/ },
    },
  },
  {
    what: 'The port is taken',
    site: onSqlite,
    inject: (site) =>
      site.restart(async () => {
        const other = createServer((_, response) => response.destroy()).unref();
        await new Promise<void>((listening) => other.listen(site.port, '127.0.0.1', listening));
      }),
    told: {
      health: 'no answer',
      doctor: ['reach_api', 'reach_checkout', 'reach_console'],
      alert: { name: 'CounterfoilDown', line: null },
      refused: { code: 1, says: /port \d+ of \S+ is taken/ },
      runbook: { entry: 'The port is taken', words: /port … is taken/ },
    },
  },
  {
    what: 'The process hangs (SIGSTOP)',
    site: onSqlite,
    inject: async ({ server }) => server.child.kill('SIGSTOP'),
    told: {
      health: 'no answer',
      doctor: ['reach_api', 'reach_checkout', 'reach_console'],
      alert: { name: 'CounterfoilDown', line: null },
      runbook: { entry: 'One node hangs', words: /every request is answered 503 after 10 seconds/ },
    },
  },
  {
    what: 'A key leaked, and a stranger uses it',
    site: onSqlite,
    inject: (site) => site.create(),
    told: {
      log: /"key":"key_[0-9a-f]{16}"/,
      runbook: { entry: 'A key leaked', words: /its id stands in the log \(`key`\)/ },
    },
  },
];

const certificates = hasOpenssl ? temporaryCertificates() : undefined;
const WITHOUT_OPENSSL = hasOpenssl ? false : 'openssl is missing';
const withCertificate = async (name: string, dates?: readonly string[]) =>
  Site.start(await temporaryStore('sqlite'), { tls: certificates!.make(name, dates) });

const ON_CERTIFICATES: readonly Fault[] = [
  {
    what: 'The certificate and its key do not belong together, after a renewal',
    skip: WITHOUT_OPENSSL,
    site: () => withCertificate('old'),
    inject: async ({ options, server }) => {
      copyFileSync(certificates!.make('new').key, options.tls!.key);
      server.child.kill('SIGHUP');
    },
    told: {
      doctor: ['key_pair'],
      log: /the certificate stays as it was/,
      runbook: { entry: 'The certificate has expired', words: /the certificate stays as it was/ },
    },
  },
];

let clock: SettableClock;
const clocked = async () => {
  const store = await temporaryStore('sqlite');
  clock = new SettableClock(store.storage);
  return Site.start(store, { env: clock.env });
};
const stepped = (hours: number, doctor: readonly string[]): Fault => ({
  what: `The clock was set ${Math.abs(hours)} h ${hours < 0 ? 'back' : 'forward'}`,
  skip: noFaketime,
  site: clocked,
  inject: async () => clock.set(hours * HOUR_MS),
  told: {
    doctor,
    log: /the system clock was set \w+/,
    runbook: { entry: 'The clock was stepped', words: /the system clock was set …/ },
  },
});

const POSTGRES_GONE: Told = {
  health: 503,
  failing: 'store_writable',
  doctor: ['store', 'reach_api'],
  alert: { name: 'CounterfoilNotReady', line: /^counterfoil_ready\{check="store_writable"\} 0$/m },
  log: /"msg":"unavailable"/,
  runbook: { entry: 'The database is down', words: /store_writable/ },
};
const postgres = borrowedPostgres();
const ON_POSTGRES: readonly Fault[] = [
  {
    what: 'PostgreSQL has no connection left, and somebody creates',
    site: async () => Site.start(await postgres.store()),
    inject: async (site) => {
      await postgres.takeConnections();
      await site.create();
    },
    told: {
      ...POSTGRES_GONE,
      runbook: { entry: 'PostgreSQL is full', words: /With no connection left, both are 503/ },
    },
  },
  {
    what: 'PostgreSQL is gone, and somebody creates',
    site: async () => Site.start(await postgres.store()),
    inject: async (site) => {
      await postgres.stop();
      await site.create();
    },
    told: POSTGRES_GONE,
  },
];

export const MACHINE_FAULTS: readonly Fault[] = [
  ...ON_NODE,
  ...ON_CERTIFICATES,
  stepped(1, ['checkpoint']),
  stepped(-1, ['backups', 'history_clock']),
  ...ON_POSTGRES,
];
