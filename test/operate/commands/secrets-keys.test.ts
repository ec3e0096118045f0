// counterfoil secrets rotate, list and remove beside servers that run, on both engines: nobody notices, and no secret is lost.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { recordAdministrator } from '../../../src/administrators/administrator.ts';
import { changeAdministrator, findAdministrator } from '../../../src/administrators/queries.ts';
import { sealTotpSecret } from '../../../src/administrators/totp.ts';
import { keyLine, keyOfLine, newSecretKey, readSecretKeys } from '../../../src/journal/keys/key-file.ts';
import { KeyRing } from '../../../src/journal/keys/key-ring.ts';
import { operatorOf, run } from '../../support/command.ts';
import {
  type Account,
  type Client,
  codeOf,
  createAccount,
  formOf,
  MANY_SIGN_INS,
  newClient,
  signInAs,
} from '../../support/console.ts';
import type { Form } from '../../support/customer.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { ENGINES, temporaryStore } from '../../support/stores.ts';

const CURRENT = /is the current key: counterfoil secrets rotate puts/;
const ACT = { actor: 'operator', request_id: null };

for (const engine of ENGINES) {
  describe(`keys for secrets on ${engine}`, () => {
    const shared = mkdtempSync(join(tmpdir(), 'counterfoil-shared-key-'));
    const file = join(shared, 'secrets.key');
    const first = newSecretKey();
    /** One node on SQLite with a key of its own, two on PostgreSQL that share a file. */
    const nodes: Harness[] = [];
    let env: Record<string, string>;
    let place: Parameters<typeof readSecretKeys>[0];
    let accounts: Account[];

    before(async () => {
      const isShared = engine === 'postgres';
      writeFileSync(file, `${keyLine(first)}\n`, { mode: 0o600 });
      const configuration = `${MANY_SIGN_INS}${isShared ? `nodes: 2\nsecrets_key_file: ${file}\n` : ''}`;
      const one = await startHarness(engine, { configuration });
      nodes.push(one);
      if (isShared) {
        const { storage } = await temporaryStore('sqlite');
        nodes.push(await startHarness(engine, { store: { ...one.store, storage }, configuration }));
      }
      const { storage } = one.store;
      place = { storage, secrets_key_file: isShared ? file : null, secrets_keys: null };
      env = operatorOf(one.store, 'development', configuration);
      accounts = [];
      for (let i = 0; i < 8; i++) accounts.push(await createAccount(one));
    });
    after(async () => {
      for (const node of nodes.slice(1)) {
        await node.service.stop();
        rmSync(node.store.storage, { recursive: true });
      }
      await nodes[0]!.close();
      rmSync(shared, { recursive: true });
    });

    const secrets = (...args: string[]) => run(['secrets', ...args], { env });
    const listed = async () => JSON.parse((await secrets('list', '--json')).stdout);
    /** Those that secrets are sealed with. */
    const keysNow = async () =>
      new Set(
        (await listed()).keys
          .filter(({ sealed_secrets }: { sealed_secrets: number }) => sealed_secrets > 0)
          .map(({ id }: { id: string }) => id),
      );
    const idsHeld = () => readSecretKeys(place).map(({ id }) => id);

    /** The sign-in form, opened on a node. */
    async function formOn(node: Harness): Promise<[Client, Form]> {
      const client = newClient(node);
      return [client, formOf(await client.get('/sign-in?next=/account'))];
    }

    /** Sends it to a node, filled in. */
    async function signInOn(node: Harness, [client, { action, values }]: [Client, Form], account: Account) {
      const { email, password } = account;
      const typed = { ...values, email, password, code: codeOf(node, account) };
      const page = await client.post(new URL(action.pathname, node.origin), typed);
      assert.equal(page.h1, 'Your account', page.body);
    }

    /** Rotates as the operator of these nodes does. Returns the new key's id. */
    async function rotate(): Promise<string> {
      if (engine === 'sqlite') {
        const { code, stdout, stderr } = await secrets('rotate', '--json');
        assert.equal(code, 0, stderr);
        return JSON.parse(stdout).current;
      }
      const asked = await secrets('rotate');
      assert.equal(asked.code, 0, asked.stderr);
      const key = keyOfLine(asked.stdout.trim())!;
      assert.match(asked.stderr, new RegExp(`secrets rotate --to ${key.id}`));
      assert.match((await secrets('rotate', '--to', key.id)).stderr, /holds no key [0-9a-f]{16}/);
      appendFileSync(file, asked.stdout);
      const { code, stderr } = await secrets('rotate', '--to', key.id);
      assert.equal(code, 0, stderr);
      return key.id;
    }

    test('while servers run, forms opened before go on, and every secret is sealed with the new key', async () => {
      const [old] = idsHeld() as [string];
      assert.match((await secrets('remove', old)).stderr, CURRENT, 'of a store whose key has no entry yet');
      const signedIn = await signInAs(nodes[0]!, accounts[0]!);
      const opened = await Promise.all(nodes.map(formOn));
      const rotating = rotate();
      const meanwhile = (async () => {
        for (const [i, account] of accounts.slice(3).entries()) {
          const node = nodes[i % nodes.length]!;
          await signInOn(node, await formOn(node), account);
        }
      })();
      const [key] = await Promise.all([rotating, meanwhile]);
      assert.deepEqual(await keysNow(), new Set([key]));
      for (const [i, form] of opened.entries())
        await signInOn(nodes[(i + 1) % nodes.length]!, form, accounts[i + 1]!);
      assert.equal((await signedIn.client.get('/account')).h1, 'Your account', 'a session goes on');
      const states = (await listed()).keys.map(
        ({ id, state, sealed_secrets, held_in }: Record<string, unknown>) => [
          id,
          state,
          sealed_secrets,
          held_in !== null,
        ],
      );
      assert.deepEqual(states, [
        [old, 'old', 0, true],
        [key, 'current', accounts.length, true],
      ]);
      await nodes[0]!.verify();
    });

    test('a key that a secret needs is not removed, nor the current one; an old one is, and counts nowhere', async () => {
      const [old, key] = idsHeld() as [string, string];
      const { journal, database } = nodes[0]!.service;
      const { id } = accounts[0]!.administrator;
      const orders = { current: old, removed: [] };
      const lagging = new KeyRing(() => readSecretKeys(place), orders);
      const sealLagging = () =>
        journal.commit(async (transaction) => {
          const found = (await findAdministrator(transaction, id))!;
          const totp_secret = await sealTotpSecret(transaction, lagging, found, accounts[0]!.totpSecret);
          const changed = await changeAdministrator(transaction, id, found.version, { totp_secret });
          await recordAdministrator(transaction, ACT, 'administrator.totp_replaced', changed!);
        });
      await sealLagging();
      const needed = await secrets('remove', old);
      assert.equal(needed.code, 1);
      assert.match(
        needed.stderr,
        new RegExp(`^counterfoil: 1 secret .* ${old} \\(\\S+\\): .*secrets rotate --to ${key}\n$`),
      );
      assert.equal((await secrets('rotate', '--to', key)).code, 0);
      assert.deepEqual(await keysNow(), new Set([key]));
      for (const [wrong, words] of [
        [key, CURRENT],
        ['0123456789abcdef', /the store has no key 0123456789abcdef/],
      ] as const)
        assert.match((await secrets('remove', wrong)).stderr, words);
      assert.deepEqual(
        (await listed()).keys.map(({ state }: { state: string }) => state),
        ['old', 'current'],
        'what was refused changed nothing',
      );
      const removed = await secrets('remove', old);
      assert.deepEqual(
        [removed.code, removed.stdout],
        [0, `No node takes the key ${old} for anything within a second.\n`],
      );
      if (engine === 'sqlite') {
        const backups = join(shared, 'backups');
        const saved = await run(['backup', backups], { env });
        assert.equal(saved.code, 0, saved.stderr);
        const [name] = readdirSync(backups);
        const { keys } = JSON.parse(readFileSync(join(backups, name!, 'backup.json'), 'utf8'));
        assert.deepEqual(keys.secrets, [key], 'a backup names the keys that the store counts');
      }
      await assert.rejects(sealLagging(), { code: 'unavailable' }, 'a node that lags seals nothing with it');
      assert.match((await secrets('rotate', '--to', old)).stderr, /was used before/);
      assert.match((await secrets('remove', old)).stderr, /counts no key/);
      await nodes[0]!.verify();
      assert.equal(
        (await database.query("select 1 from audit_entries where action = 'secrets.key_removed'")).length,
        1,
      );
    });
  });
}
