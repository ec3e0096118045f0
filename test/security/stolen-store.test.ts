// A stolen database opens nothing: every text in it is tried against a running server.
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createAdministrator } from '../../src/administrators/manage.ts';
import { readCheckpoints } from '../../src/journal/checkpoint.ts';
import { statement } from '../../src/journal/checkpoint-statement.ts';
import { invited, register } from '../registration/applicant.ts';
import { addToken } from '../support/admin.ts';
import { type Account, createAccount, signInAs } from '../support/console.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { ENGINES } from '../support/stores.ts';
import { opened, PATIENT, tablesOf, textsIn, WAYS } from './thief.ts';

const OPERATOR = { actor: 'operator', request_id: null };

for (const engine of ENGINES)
  describe(`a thief with the database on ${engine}`, () => {
    let harness: Harness;
    let victim: Account;
    /** What the owners hold, by where it is good. */
    let secrets: Record<keyof typeof WAYS, string>;
    let texts: string[];
    const query = <R>(sql: string) => harness.service.database.query(sql) as Promise<R[]>;

    before(async () => {
      harness = await startHarness(engine, { configuration: PATIENT });
      victim = await createAccount(harness);
      const { client } = await signInAs(harness, victim);
      const { journal } = harness.service;
      const { link } = await journal.commit((transaction) =>
        createAdministrator(
          transaction,
          { email: 'new@example.org', name: 'New', role: 'reviewer' },
          OPERATOR,
        ),
      );
      const { token } = await addToken(harness, victim.administrator.id, 'administrator');
      const registered = await register(harness, {
        business_name: 'Quill',
        email: 'q@example.org',
        invite: await invited(harness),
      });
      const session = client.cookies.get('counterfoil_session')!;
      secrets = {
        'as an API key': registered.json.data.api_key,
        "as an administrator's token": token,
        'as a session cookie': session,
        'as the secret of a session': session,
        'as a set-up link': link,
        'as an invitation': await invited(harness),
      };
      texts = textsIn((await tablesOf(query, engine)).values());
    });
    after(() => harness.close());

    test('finds no text that opens anything, as it stands or in parts, while what its owner holds does', async () => {
      assert.ok(texts.length > 50, `${texts.length} texts`);
      for (const [how, secret] of Object.entries(secrets)) {
        assert.ok(!texts.includes(secret), `the store holds what is good ${how}`);
        if (how !== 'as an invitation' && how !== 'as the secret of a session')
          assert.equal(await WAYS[how as keyof typeof WAYS](harness, secret), true, how);
      }
      assert.deepEqual(await opened(harness, texts), []);
      assert.equal(
        await WAYS['as an invitation'](harness, secrets['as an invitation']),
        true,
        'invitations are taken',
      );
    });

    test('cannot sign a checkpoint: one with another key is told at once', async () => {
      await harness.create();
      await harness.stop(); // signs one
      const folder = mkdtempSync(join(tmpdir(), 'counterfoil-thief-'));
      try {
        cpSync(harness.store.storage, folder, { recursive: true });
        rmSync(join(folder, 'checkpoint-key.pem'));
        const { checkpoints, fault } = readCheckpoints(folder);
        const last = checkpoints.at(-1)!;
        assert.equal(fault, undefined);
        const { privateKey } = generateKeyPairSync('ed25519');
        const { signature: _, ...forged } = { ...last, seal: last.seal + 1, last_entry: last.last_entry + 1 };
        const signature = sign(null, statement(forged), privateKey).toString('base64url');
        appendFileSync(join(folder, 'checkpoints.jsonl'), `${JSON.stringify({ ...forged, signature })}\n`);
        assert.equal(readCheckpoints(folder).fault?.problem, 'the signature is wrong');
      } finally {
        rmSync(folder, { recursive: true });
        await harness.start();
      }
    });
  });
