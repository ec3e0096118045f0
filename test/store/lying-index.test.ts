// An index that lies, the rows untouched: nobody gets in by it, and verifying and doctor name it.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { findAdministratorByEmail, passkeysOf } from '../../src/administrators/queries.ts';
import { findPrincipal, startSession } from '../../src/administrators/session.ts';
import { findBySetUpLink, insertPasskey, newSetUpLink } from '../../src/administrators/set-up.ts';
import { HistoryBroken } from '../../src/journal/verify.ts';
import { newSecret, sha256, sha256Hex } from '../../src/lib/secrets.ts';
import { createInvite, findUsableInvite, INVITE_PREFIX } from '../../src/merchants/invite.ts';
import { keyDigest } from '../../src/merchants/merchant.ts';
import { findKeyByDigest } from '../../src/merchants/queries.ts';
import { addPerson, type Person, sentForReview } from '../support/admin.ts';
import { operatorOf, run } from '../support/command.ts';
import { type Harness, sharedHarness, startHarness } from '../support/harness.ts';
import { cutFromIndex, replaceInIndex } from '../support/lying-index.ts';
import { addMerchant } from '../support/store-merchant.ts';

const OPERATOR = { actor: 'operator', request_id: null };

/** What `counterfoil audit verify` and the deep doctor say. */
async function told(harness: Harness): Promise<{ verify: string; doctor: string }> {
  const env = operatorOf(harness.store);
  const verify = await run(['audit', 'verify'], { env });
  const doctor = await run(['doctor', '--deep', '--json'], { env });
  const found = JSON.parse(doctor.stdout).findings.find(({ id }: { id: string }) => id === 'indexes');
  return { verify: `${verify.code} ${verify.stdout}`, doctor: `${found.outcome} ${found.says}` };
}

describe('on sqlite, with write access to the file', () => {
  let harness: Harness;
  let victim: Person;
  const file = () => join(harness.store.storage, 'counterfoil.sqlite');
  /** Changes the file while no server has it open. */
  async function behindItsBack(change: () => void): Promise<void> {
    await harness.stop();
    change();
    await harness.start();
  }

  before(async () => {
    harness = await startHarness('sqlite');
    victim = await addPerson(harness, 'administrator');
  });
  after(() => harness.close());

  test('a payment that an index hides from the queue is told of by verifying', async () => {
    await sentForReview(harness);
    await harness.verify();
    await behindItsBack(() => cutFromIndex(file(), 'payments_waiting'));
    const { json } = await harness.request('/admin/payments?status=requires_review', { key: victim.token });
    assert.deepEqual(json.data, [], 'it is hidden');
    const { verify, doctor } = await told(harness);
    assert.match(verify, /^1 Broken: .*payments_waiting/);
    assert.match(doctor, /^failed .*payments_waiting/);
    await assert.rejects(harness.verify(), HistoryBroken);
  });

  test('a secret or an address that an index leads to the row of another opens nothing, and verifying names the index', async () => {
    const { journal } = harness.service;
    const session = await journal.commit((transaction) => startSession(transaction, victim.id, 'totp', null));
    const link = await journal.commit((transaction) => newSetUpLink(transaction, victim, OPERATOR));
    const wish = { mode: 'test', note: null, days: 1 } as const;
    const invite = await journal.commit(async (transaction) => createInvite(transaction, wish, OPERATOR));
    const { row } = await addMerchant(harness);
    const attacker = await addPerson(harness, 'auditor', 'Mallory');
    const passkey = { credential_id: 'AAAA', public_key: 'AAAA', counter: 0, transports: '[]' };
    await journal.commit(async (transaction) =>
      insertPasskey(transaction, attacker.id, passkey, 'Mallory', OPERATOR),
    );
    const [token, key, code] = [newSecret('cfa_'), newSecret('cfk_test_'), newSecret(INVITE_PREFIX)];
    const [secret, forgedLink, email] = ['A'.repeat(43), 'b'.repeat(26), `x${victim.email.slice(1)}`];
    const forged: [index: string, from: string, to: string][] = [
      ['sqlite_autoindex_administrator_tokens_2', sha256(victim.token), sha256(token)],
      ['sqlite_autoindex_sessions_2', session.session.digest, sha256(secret)],
      ['sqlite_autoindex_administrators_3', sha256(link), sha256(forgedLink)],
      ['sqlite_autoindex_invites_2', sha256Hex(invite.code), sha256Hex(code)],
      ['sqlite_autoindex_api_keys_2', row.digest, keyDigest(key)],
      ['sqlite_autoindex_administrators_2', victim.email, email],
      ['passkeys_by_administrator', attacker.id, victim.id],
    ];
    await behindItsBack(() => {
      for (const one of forged) replaceInIndex(file(), ...one);
    });
    const { database } = harness.service;
    const now = harness.clock.now();
    assert.equal((await harness.request('/admin/payments', { key: token })).status, 401);
    assert.equal((await harness.request('/v1/payments', { key })).status, 401);
    assert.equal(await findKeyByDigest(database, keyDigest(key)), undefined);
    assert.equal(await findPrincipal(database, secret, now), undefined);
    assert.equal(await findBySetUpLink(database, forgedLink, now), undefined);
    assert.equal(await findUsableInvite(database, code), undefined);
    assert.equal(await findAdministratorByEmail(database, email), undefined);
    assert.deepEqual(await passkeysOf(database, victim.id), []);
    const { verify, doctor } = await told(harness);
    for (const said of [verify, doctor]) assert.match(said, /sqlite_autoindex_\w+/);
    assert.match(`${verify} ${doctor}`, /^1 Broken: .* failed /s);
  });
});

for (const amcheck of [true, false])
  describe(`on postgres, ${amcheck ? 'with amcheck' : 'where amcheck is not there'}`, () => {
    const harness = sharedHarness('postgres');
    before(async () => {
      if (amcheck) await asSuperuser('create extension amcheck');
    });
    async function asSuperuser(...statements: string[]): Promise<void> {
      const client = new pg.Client(harness.store.database_url!);
      await client.connect();
      for (const statement of statements) await client.query(statement);
      await client.end();
    }

    test('what is right is found right, with rows and without', async () => {
      assert.deepEqual(await harness.service.database.indexFaults(), []);
      for (let n = 0; n < 3; n++)
        await sentForReview(harness, { merchant_reference: n === 1 ? null : `ORDER ${n}` });
      await addPerson(harness, 'administrator');
      assert.deepEqual(await harness.service.database.indexFaults(), []);
      await harness.verify();
    });

    test('a payment that an index lacks is told of', async () => {
      const ready = (is: boolean) =>
        `update pg_index set indisready = ${is}, indisvalid = ${is} where indexrelid = 'payments_waiting'::regclass`;
      await asSuperuser(ready(false));
      await sentForReview(harness);
      await asSuperuser(ready(true));
      const faults = await harness.service.database.indexFaults();
      assert.equal(faults.length, 1, faults.join('; '));
      assert.match(faults[0]!, /index payments_waiting/);
      await assert.rejects(harness.verify(), /payments_waiting/);
    });
  });
