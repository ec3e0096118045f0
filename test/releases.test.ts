// Stores of each release: this version opens, verifies and serves them on both engines, out of their backups and where they lie.
import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { sha256 } from '../src/lib/secrets.ts';
import { knownMigrations, schemaScript } from '../src/store/migrate.ts';
import { schemaFaults } from '../src/store/schema.ts';
import { backupPlace, copyKeys } from './support/backups.ts';
import { ROOT } from './support/command.ts';
import { startHarness } from './support/harness.ts';
import { ENGINES, openPatiently, type Store, temporaryStore } from './support/stores.ts';

const FOLDER = join(ROOT, 'test/releases');
const DATABASE = 'counterfoil.sqlite';
const RELEASES = readdirSync(FOLDER).sort();

/** Unpacks a release's backup as `counterfoil backup` left it. */
function unpack(release: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-release-'));
  cpSync(join(FOLDER, release), folder, { recursive: true });
  writeFileSync(join(folder, DATABASE), gunzipSync(readFileSync(join(folder, `${DATABASE}.gz`))));
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o600);
  return folder;
}

/** A PostgreSQL store as that version had it: its schema with the backup's rows. */
async function asItLay(backup: string, store: Store): Promise<void> {
  const source = new DatabaseSync(join(backup, DATABASE), { readOnly: true });
  const tables = source.prepare("select name from sqlite_schema where type = 'table'").all();
  const rowsOf = (name: unknown) => source.prepare(`select * from ${name}`).all() as object[];
  const database = await openPatiently(store);
  await database.transaction(async (transaction) => {
    await database.script(schemaScript('postgres', rowsOf('schema_migrations').length));
    for (const { name } of tables) {
      // The schema begins with rows of its own, which the backup has too.
      const [own] = await transaction.query(`select 1 as one from ${name} limit 1`);
      if (own) await database.script(`delete from ${name}`);
      for (const row of rowsOf(name)) await transaction.insert(String(name), [row]);
    }
  });
  await database.close();
  source.close();
  for (const name of ['checkpoints.jsonl', 'checkpoint-key.pub.pem'])
    cpSync(join(backup, name), join(store.storage, name));
}

async function restored(backup: string, store: Store): Promise<void> {
  const place = backupPlace(store);
  const { code, stderr } = await place.command(['restore', backup]);
  place.remove();
  assert.equal(code, 0, stderr);
}

const WAYS = ENGINES.flatMap((engine) => [
  { engine, name: 'restored', arrive: restored },
  ...(engine === 'postgres' ? [{ engine, name: 'as it lay', arrive: asItLay }] : []),
]);

for (const release of RELEASES)
  describe(`a store of ${release}`, () => {
    let backup: string;
    before(() => {
      backup = unpack(release);
    });
    after(() => rmSync(backup, { recursive: true }));

    test('was made with migrations that are what they were: one that is released never changes.', () => {
      const source = new DatabaseSync(join(backup, DATABASE), { readOnly: true });
      const applied = source.prepare('select name, digest from schema_migrations order by version').all();
      source.close();
      const known = knownMigrations().map(({ name, sql }) => ({ name, digest: sha256(sql) }));
      assert.deepEqual(
        applied.map((one) => ({ ...one })),
        known.slice(0, applied.length),
      );
    });

    for (const { engine, name, arrive } of WAYS)
      test(`${name} on ${engine}, verifies, has this version's schema, and serves.`, async () => {
        const store = await temporaryStore(engine);
        copyKeys(backup, store.storage);
        await arrive(backup, store);
        await using harness = await startHarness(engine, { store });
        const { entries } = JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8'));
        assert.ok((await harness.verify()).entries >= entries);
        assert.deepEqual(await schemaFaults(harness.service.database, engine), []);
        const { data } = (await harness.request('/v1/payments?limit=100')).json;
        const statuses = new Set(data.map(({ status }: { status: string }) => status));
        for (const status of ['approved', 'rejected', 'cancelled', 'requires_review'])
          assert.ok(statuses.has(status), status);
        const { id } = data.find(({ status }: { status: string }) => status === 'requires_review');
        const approved = await harness.request(`/v1/test/payments/${id}/approve`, { method: 'POST' });
        assert.equal(approved.json.data.status, 'approved', approved.text);
        await harness.create();
        await harness.verify();
      });
  });

/** Its stores are not taken over. */
const BEFORE = '0.1.0';

test('each release has left a store: scripts/write-release-store.ts writes one before it.', () => {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const released = [...changelog.matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm)].map(([, version]) => version!);
  const lacking = released.filter((version) => version !== BEFORE && !RELEASES.includes(version));
  assert.deepEqual(lacking, []);
});
