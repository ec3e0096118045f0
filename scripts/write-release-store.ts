// Writes test/releases/VERSION/ before a release: a backup of a store that this version made, with its keys, for the tests of later versions.
// A demo's worth of everything is in it: payments in each status, webhooks and letters, people, a bank statement and keys.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import packageJson from '../package.json' with { type: 'json' };
import { fillEmptyStore } from '../src/operate/commands/welcome.ts';
import { readConfiguration } from '../src/operate/config.ts';
import { addPerson } from '../test/support/admin.ts';
import { backupPlace, copyKeys } from '../test/support/backups.ts';
import { camt, TRANSFERS } from '../test/support/camt.ts';
import { ROOT } from '../test/support/command.ts';
import { signIn } from '../test/support/console.ts';
import { type Harness, KEY, startHarness } from '../test/support/harness.ts';
import { addMerchant } from '../test/support/store-merchant.ts';
import { eventually } from '../test/support/waiting.ts';

const folder = join(ROOT, 'test/releases', packageJson.version);
if (existsSync(folder) && !process.argv.includes('--replace')) {
  console.error(
    `${folder} is there already. A released store is never written again; before the release: --replace`,
  );
  process.exit(1);
}
const harness = await startHarness('sqlite', { configuration: TRANSFERS });
await fill(harness);
await harness.verify();
await harness.stop(); // signs a checkpoint
const place = backupPlace(harness.store);
const backup = await place.backUp();
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
cpSync(backup, folder, { recursive: true });
copyKeys(harness.store.storage, folder);
const database = join(folder, 'counterfoil.sqlite');
writeFileSync(`${database}.gz`, gzipSync(readFileSync(database), { level: 9 }));
rmSync(database);
execFileSync('biome', ['format', '--write', join(folder, 'backup.json')], { stdio: 'ignore' });
place.remove();
await harness.store.drop();
console.log(readdirSync(folder).join('\n'));

/** Leaves rows in all tables but those of passkeys, invitations, rules of bank lines and confirmed CSV layouts, and of stretches of a long history. */
async function fill({ service, store, origin, clock, request }: Harness): Promise<void> {
  const configuration = readConfiguration(join(store.storage, 'counterfoil.yaml'));
  const caller = service.directory.find(KEY, clock.now())!;
  await fillEmptyStore({ configuration, service, caller }, `${origin}/dev/inbox`);
  const [payment] = (await request('/v1/payments?status=requires_review')).json.data;
  const headers = { 'idempotency-key': 'release' };
  await request('/v1/payments', {
    method: 'POST',
    headers,
    body: { amount: 7.5, customer: { name: 'Ana', email: 'ana@example.org' } },
  });
  await addMerchant(harness);
  await signIn(harness);
  const { token } = await addPerson(harness, 'administrator', 'Otto Operator');
  const body = camt([
    { amount: payment.amount, bank: 'A1', text: payment.id },
    { amount: '7.00', bank: 'A2', name: 'Zoë Berg' },
  ]);
  await request('/admin/statements', {
    method: 'POST',
    key: token,
    body,
    headers: { 'content-type': 'application/octet-stream' },
  });
  await eventually(async () => (await rowsIn('webhook_attempts')) > 0 && (await rowsIn('letters')) > 0);
}

async function rowsIn(table: string): Promise<number> {
  harness.service.database.refresh();
  const [row] = await harness.service.database.query<{ count: number }>(
    `select count(*) as count from ${table}`,
  );
  return row!.count;
}
