// What gives access is held against its record: a row that was edited in the store itself lets nobody in, on any node.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findPrincipal } from '../../src/administrators/session.ts';
import { createToken, findTokenPrincipal } from '../../src/administrators/token.ts';
import { newSecret } from '../../src/lib/secrets.ts';
import { changeKeys, issueKey, revokeKey } from '../../src/merchants/api-keys.ts';
import { changeMerchantState } from '../../src/merchants/change.ts';
import { keyDigest, keyRow } from '../../src/merchants/merchant.ts';
import { acknowledgeAll } from '../support/acknowledge.ts';
import { KEY, OPERATOR, sharedHarness } from '../support/harness.ts';
import { editOutside, insertOutside } from '../support/outside.ts';
import { addPerson, partsOf } from '../support/people.ts';
import { addMerchant } from '../support/store-merchant.ts';

const WHO = { ...OPERATOR, by: 'operator' };

describe('an edited store', () => {
  const service = sharedHarness('sqlite');

  const edit = async (sql: string) => {
    await editOutside(service.store, sql);
    service.service.database.refresh();
  };
  const restart = async () => {
    await service.stop();
    await service.start();
  };
  const statusOf = async (key: string) => (await service.request('/v1/payments', { key })).status;
  /** Runs `check` while a value is another, and puts it back. */
  async function while_(
    table: string,
    id: string,
    column: string,
    value: string,
    check: () => Promise<void>,
  ) {
    const [row] = await service.service.database.query<Record<string, string | number | null>>(
      `select ${column} as value from ${table} where id = ?`,
      id,
    );
    await edit(`update ${table} set ${column} = ${value} where id = '${id}'`);
    await check();
    const before = typeof row!.value === 'string' ? `'${row!.value}'` : row!.value;
    await edit(`update ${table} set ${column} = ${before} where id = '${id}'`);
  }

  test('hands no session to another, and lets no raised role act', async () => {
    const parts = partsOf(service);
    const ana = await addPerson(parts, { email: 'ana@example.org', role: 'auditor' });
    const ben = await addPerson(parts, { email: 'ben@example.org' });
    const { id } = ana.administrator;
    const token = { administratorId: id, role: 'auditor', name: 'ERP', days: 9 } as const;
    const made = await parts.journal.commit((one) => createToken(one, token, OPERATOR));
    const { database } = service.service;
    const now = () => service.clock.now();
    const signedIn = async () => {
      database.refresh();
      return (await findPrincipal(database, ana.secret, now()))?.id;
    };
    const calls = async () => (await findTokenPrincipal(database, made.token, now())).principal?.role;
    assert.deepEqual([await signedIn(), await calls()], [id, 'auditor']);
    const isOut = async () => assert.equal(await signedIn(), undefined);
    await while_('sessions', ana.session.id, 'administrator_id', `'${ben.administrator.id}'`, isOut);
    await while_('sessions', ana.session.id, 'expires_at', 'expires_at + 1', isOut);
    await while_('administrators', id, 'role', "'administrator'", async () => {
      await isOut();
      assert.equal(await calls(), undefined);
    });
    await while_('administrator_tokens', made.row.id, 'role', "'administrator'", async () =>
      assert.equal(await calls(), undefined),
    );
    assert.deepEqual([await signedIn(), await calls()], [id, 'auditor']);
  });

  test('makes no key good: neither one that is put in, nor one that is revived, before and after a start', async () => {
    const { merchant, key: first } = await addMerchant(service);
    const wish = { merchantId: merchant.id, mode: 'test', name: null, expires_at: null } as const;
    const { key, row } = await changeKeys(service.service, merchant.id, (one) =>
      issueKey(one, wish, OPERATOR),
    );
    await changeKeys(service.service, merchant.id, (one) =>
      revokeKey(one, service.service.directory.keyOf(row), OPERATOR),
    );
    const mine = newSecret('cfk_test_');
    const put = keyRow(keyDigest(mine), { ...wish, last_four: null, made_by: null }, service.clock.now());
    await insertOutside(service.store, 'api_keys', put as never);
    await edit(`update api_keys set revoked_at = null where id = '${row.id}'`);
    assert.deepEqual([await statusOf(first), await statusOf(mine), await statusOf(key)], [200, 401, 401]);
    await restart();
    assert.deepEqual([await statusOf(first), await statusOf(mine), await statusOf(key)], [200, 401, 401]);
    await edit(`delete from api_keys where id = '${put.id}'`);
    await edit(`update api_keys set revoked_at = 1 where id = '${row.id}'`);
    await acknowledgeAll(service, 'A test revived it.');
  });

  test('resumes no merchant, also where the row that suspends it is gone', async () => {
    const { merchant, key } = await addMerchant(service);
    const { journal } = service.service;
    for (const id of [merchant.id, 'mer_development'])
      await changeMerchantState(journal, id, 'suspended', WHO, 'A reason');
    await restart();
    assert.deepEqual([await statusOf(key), await statusOf(KEY)], [403, 403]);
    await edit(`update merchants set suspended_at = null, suspended_by = null where id = '${merchant.id}'`);
    await edit(`delete from merchants where id = 'mer_development'`);
    await restart();
    assert.deepEqual([await statusOf(key), await statusOf(KEY)], [401, 403]);
  });

  test('goes on as an operator acknowledges it', async () => {
    const { merchant, key } = await addMerchant(service);
    await edit(`update merchants set name = 'Another Name' where id = '${merchant.id}'`);
    await restart();
    assert.equal(await statusOf(key), 401);
    await acknowledgeAll(service, 'We renamed it by hand.');
    await restart();
    assert.equal(await statusOf(key), 200);
  });
});
