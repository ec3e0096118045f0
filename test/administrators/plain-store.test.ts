// A store of the version before, whose authenticator secrets are plain: the first start seals them, and nothing of them is left in the files.
import assert from 'node:assert/strict';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { changeAdministrator, findAdministrator } from '../../src/administrators/queries.ts';
import { recordAdministrator } from '../../src/administrators/record.ts';
import { isSealed } from '../../src/journal/keys/key-ring.ts';
import { openDatabase } from '../../src/store/open.ts';
import { start } from '../support/command.ts';
import { type Account, createAccount, MANY_SIGN_INS, signInAs } from '../support/console.ts';
import { type Harness, startHarness, writeConfiguration } from '../support/harness.ts';
import { copyProgram } from '../support/program-copy.ts';
import { ENGINES, type Store } from '../support/stores.ts';

const ACT = { actor: 'operator', request_id: null };
/** The migration that brought the keys. */
const KEYS_SINCE = 6;

/** Writes the secret as the version before did, with its entry in the history. */
async function writePlain({ service }: Harness, { administrator, totpSecret }: Account): Promise<void> {
  await service.journal.commit(async (transaction) => {
    const { id, version } = (await findAdministrator(transaction, administrator.id))!;
    const changed = await changeAdministrator(transaction, id, version, { totp_secret: totpSecret });
    await recordAdministrator(transaction, ACT, 'administrator.totp_replaced', changed!);
  });
}

/** Takes away what the version before did not have: the table of keys, the key, and what later migrations added. */
async function forgetKeys(store: Store): Promise<void> {
  const database = await openDatabase(store, () => {});
  await database.script(
    `drop table secret_keys; drop table payment_stretches; drop table webhook_endpoints; drop table webhook_queues;
     drop table webhook_deliveries; drop table webhook_attempts; drop table statements; drop table statement_lines; drop table csv_layouts; drop index merchants_by_age; alter table payments drop column locale;
     drop index payments_by_payer_name; drop index payments_by_bank_reference;
     drop index payments_announced; alter table payments drop column pay_by;
     alter table payments drop column received_minor; alter table payments drop column announced_at;
     alter table payments drop column returned_minor;
     alter table payments drop column payer_name; alter table payments drop column bank_reference;
     delete from schema_migrations where version >= ${KEYS_SINCE}`,
  );
  await database.close();
  rmSync(join(store.storage, 'secrets.key'));
}

/** A stopped service on a store with plain secrets. */
async function plainStore(engine: (typeof ENGINES)[number]): Promise<[Harness, Account[]]> {
  const harness = await startHarness(engine, { configuration: MANY_SIGN_INS });
  const accounts = [await createAccount(harness), await createAccount(harness)];
  for (const account of accounts) await writePlain(harness, account);
  await harness.stop();
  await forgetKeys(harness.store);
  if (engine === 'sqlite') assert.ok(filesHold(harness.store, accounts[0]!.totpSecret), 'it is plain before');
  return [harness, accounts];
}

function filesHold({ storage }: Store, text: string): boolean {
  return globSync(join(storage, 'counterfoil.sqlite*')).some((file) => readFileSync(file).includes(text));
}

async function assertSealed(harness: Harness, accounts: readonly Account[]): Promise<void> {
  for (const account of accounts) {
    const row = await findAdministrator(harness.service.database, account.administrator.id);
    assert.ok(isSealed(row!.totp_secret!), row!.totp_secret!);
    assert.equal(filesHold(harness.store, account.totpSecret), false, 'the files hold it still');
    await signInAs(harness, account);
  }
  await harness.verify();
}

for (const engine of ENGINES) {
  describe(`a store of the version before on ${engine}`, () => {
    test('is sealed at the first start, and the same apps sign in', async () => {
      const [harness, accounts] = await plainStore(engine);
      await harness.start();
      try {
        await assertSealed(harness, accounts);
      } finally {
        await harness.close();
      }
    });

    test('is sealed by the next start, where a kill came right after the first row', async () => {
      const [harness, accounts] = await plainStore(engine);
      const program = copyProgram();
      program.change(
        'src/administrators/reseal.ts',
        'list?.push(email);',
        "if (list === done) process.kill(process.pid, 'SIGKILL');",
      );
      const { store } = harness;
      const serving = start(
        process.execPath,
        [program.command, 'serve', '--config', writeConfiguration(store)],
        {
          env: {
            ...program.env,
            PORT: '0',
            COUNTERFOIL_STORAGE: store.storage,
            DATABASE_URL: store.database_url ?? '',
          },
        },
      );
      await serving.ended;
      program.remove();
      assert.equal(serving.child.signalCode, 'SIGKILL', serving.stderr);
      await harness.start();
      try {
        const entries = "select 1 from audit_entries where action = 'administrator.totp_sealed'";
        assert.equal((await harness.service.database.query(entries)).length, 2, 'each is sealed once');
        await assertSealed(harness, accounts);
      } finally {
        await harness.close();
      }
    });
  });
}
