// Faults of the store and of its disk, each with what is to be said of it.
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { editOutside } from '../support/outside.ts';
import { type OwnedStore, ownedStore } from '../support/owned-store.ts';
import { keepDatabase } from '../support/put-back.ts';
import { temporaryStore } from '../support/stores.ts';
import { mountSmallDisk, whyNoSmallDisk } from './small-disk.ts';
import type { Fault } from './told-faults.ts';
import { Site } from './told-site.ts';
import type { Told } from './told-watch.ts';

export const onSqlite = async () => Site.start(await temporaryStore('sqlite'));
const database = ({ store }: Site) => join(store.storage, 'counterfoil.sqlite');

const CREATES_FAIL: Told = {
  health: 503,
  failing: 'payments_writable',
  doctor: ['tables', 'reach_api'],
  alert: { name: 'CounterfoilNotReady', line: /^counterfoil_ready\{check="payments_writable"\} 0$/m },
  log: /no payment can be stored/,
  runbook: { entry: 'Creates answer 500', words: /payments_writable/ },
};
const renameColumn = ({ store }: Site) =>
  editOutside(store, 'alter table payments rename column customer to customers');

/** So small that `disk_space` of doctor and `CounterfoilDiskFull` speak before it is full. */
const DISK_MIB = 64;

/** A service on a disk of its own. */
async function onSmallDisk(): Promise<{ site: Site; disk: ReturnType<typeof mountSmallDisk> }> {
  const disk = mountSmallDisk('ext4', DISK_MIB);
  const store = await temporaryStore('sqlite', disk.directory);
  const site = await Site.start({ ...store, drop: async () => disk.remove() });
  return { site, disk };
}
const DISK_FULL: Told = {
  health: 503,
  failing: 'store_writable',
  doctor: ['reach_api'],
  alert: { name: 'CounterfoilNotReady', line: /^counterfoil_ready\{check="store_writable"\} 0$/m },
  log: /"msg":"unavailable"|the disk is full/,
  runbook: { entry: 'The disk is full', words: /store_writable/ },
};
let filled: Awaited<ReturnType<typeof onSmallDisk>>;
const smallDisk = async () => {
  filled = await onSmallDisk();
  return filled.site;
};

/** Puts the database back to what it was before five payments. Returns what does so. */
async function olderCopy(site: Site): Promise<() => Promise<void>> {
  let putBack!: () => Promise<void>;
  await site.restart(async () => {
    putBack = await keepDatabase(site.store, site.backups);
  });
  for (let i = 0; i < 5; i++) await site.create();
  return putBack;
}

/** Writes over so many bytes of the database file. */
function damage(file: string, from: number, bytes: number): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(bytes, 0x5a), 0, bytes, from);
  closeSync(descriptor);
}

export const STORE_FAULTS: readonly Fault[] = [
  { what: 'A column was renamed', site: onSqlite, inject: renameColumn, told: CREATES_FAIL },
  {
    what: 'A column was renamed, and somebody creates',
    site: onSqlite,
    inject: async (site) => {
      await renameColumn(site);
      await site.create();
    },
    told: {
      ...CREATES_FAIL,
      log: /a defect/,
      alert: { name: 'CounterfoilDefects', line: /^counterfoil_defects_total(\{[^}]*\})? [1-9]/m },
    },
  },
  {
    what: 'INSERT on `payments` was revoked (PostgreSQL)',
    site: async () => Site.start(await ownedStore()),
    inject: async ({ store }) => {
      const { asSuperuser, role } = store as OwnedStore;
      await asSuperuser(`revoke insert on payments from ${role}`);
    },
    told: { ...CREATES_FAIL, doctor: ['store', 'reach_api'] },
  },
  {
    what: 'The store was put back to an older copy, and started',
    site: onSqlite,
    inject: async (site) => site.restart(await olderCopy(site)),
    told: {
      health: 'no answer',
      doctor: ['vouched_history', 'reach_api', 'reach_checkout', 'reach_console'],
      alert: { name: 'CounterfoilDown', line: null },
      refused: { code: 78, says: /the store holds \d+ entries, and the checkpoint of/ },
      runbook: { entry: 'Restored to yesterday', words: /a start ends with 78 and says how many entries/ },
    },
  },
  {
    what: 'The disk is full',
    skip: whyNoSmallDisk('ext4'),
    site: smallDisk,
    inject: async (site) => {
      filled.disk.fill();
      for (let i = 0; (await site.create({ metadata: { x: 'x'.repeat(400) } })) === 201 && i < 4000; i++);
    },
    told: DISK_FULL,
  },
  {
    what: 'A restart on a full disk',
    skip: whyNoSmallDisk('ext4'),
    site: smallDisk,
    inject: (site) => site.restart(() => filled.disk.fill()),
    told: { ...DISK_FULL, log: /the disk is full/ },
  },
  {
    what: 'The database file is damaged at its beginning, and started',
    site: onSqlite,
    inject: (site) => site.restart(() => damage(database(site), 0, 100)),
    told: {
      health: 'no answer',
      doctor: ['store', 'reach_api', 'reach_checkout', 'reach_console'],
      alert: { name: 'CounterfoilDown', line: null },
      refused: { code: 78, says: /is not a SQLite database, or damaged at its beginning/ },
      runbook: { entry: 'The database file is lost or broken', words: /damaged at its beginning/ },
    },
  },
  {
    what: 'A row was changed by hand',
    site: onSqlite,
    inject: ({ store }) => editOutside(store, 'update payments set amount_minor = 7'),
    told: { runbook: { entry: 'audit verify is red', words: /exits 1/ } },
  },
  {
    what: 'A row was changed by hand, from the nightly `audit verify` on',
    site: onSqlite,
    inject: async (site) => {
      await editOutside(site.store, 'update payments set amount_minor = 7');
      site.refused = await site.run('audit', 'verify');
    },
    told: {
      doctor: ['verification'],
      alert: { name: 'CounterfoilHistoryBroken', line: /^counterfoil_verification_intact 0$/m },
      refused: { code: 1, says: /Broken at entry \d+: payment/ },
      runbook: { entry: 'audit verify is red', words: /Broken at entry/ },
    },
  },
];
