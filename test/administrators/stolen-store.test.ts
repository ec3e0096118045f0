// A thief with an old copy of the store, and no key of it, forges nothing: no code, device, challenge or form.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { type Account, createAccount, MANY_SIGN_INS, signInAs } from '../support/console.ts';
import { FROM_OUR_PAGE } from '../support/customer.ts';
import { sharedHarness } from '../support/harness.ts';

type Row = Record<string, string | number | null>;

const hmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64url');

describe('a thief with a copy of the store', () => {
  const harness = sharedHarness('sqlite', { configuration: MANY_SIGN_INS });
  let account: Account;
  let stolen: Row;
  let payment: Row;

  before(async () => {
    account = await createAccount(harness);
    const { id } = await harness.create();
    const { database } = harness.service;
    payment = (await database.query<Row>('select * from payments where id = ?', id))[0]!;
    await signInAs(harness, account);
    stolen = await rowOf(account);
  });

  const rowOf = async ({ administrator: { id } }: Account) =>
    (await harness.service.database.query<Row>('select * from administrators where id = ?', id))[0]!;
  /** Every text of the stolen row, as a key. */
  const keys = (row: Row) => Object.values(row).filter((value) => typeof value === 'string');

  test('reads no secret of an authenticator app', async () => {
    const rows = await harness.service.database.query('select * from administrators');
    assert.doesNotMatch(JSON.stringify(rows), new RegExp(account.totpSecret));
    for (const file of globSync(join(harness.store.storage, 'counterfoil.sqlite*')))
      assert.equal(readFileSync(file).includes(account.totpSecret), false, file);
  });

  test('makes no browser a known one', async () => {
    const { deviceOf } = await import('../../src/administrators/pages/signed-in.ts');
    const { id, password } = await rowOf(account);
    const body = `${id}.${harness.clock.now() + 60_000}.${'A'.repeat(22)}`;
    for (const key of keys(stolen)) {
      for (const text of [`device ${body} ${password}`, `${body} ${password}`]) {
        const cookie = `counterfoil_device=${body}.${hmac(key, text)}`;
        const place = { ...harness.service, clock: harness.clock, baseUrl: harness.origin };
        const known = await deviceOf(place as never, { headers: { cookie } } as never);
        assert.equal(known, undefined);
      }
    }
  });

  test('sends no form of a payment', async () => {
    const address = `${harness.origin}/payment.php?payment_id=${payment.id}`;
    const text = JSON.stringify(['checkout form', payment.id, 'cancel']);
    for (const key of keys(payment)) {
      const body = new URLSearchParams({ action: 'cancel', token: hmac(key, text) });
      const answer = await fetch(address, {
        method: 'POST',
        headers: FROM_OUR_PAGE,
        body,
        redirect: 'manual',
      });
      assert.equal(answer.status, 403);
    }
    assert.equal((await harness.request(`/v1/payments/${payment.id}`)).json.data.status, 'pending');
  });
});
