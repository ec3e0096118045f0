// Who gets into /admin: whoever has a good token, and from the moment it is no longer good, nobody.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { newSecret } from '../../../src/lib/secrets.ts';
import { DAY_MS } from '../../../src/lib/time.ts';
import { addPerson, addToken, entryCount, type Person, post, sentForReview } from '../../support/admin.ts';
import { signIn } from '../../support/console.ts';
import { KEY, sharedHarness } from '../../support/harness.ts';
import { change, giveRole } from '../../support/people.ts';

const REFUSED =
  '{"error":{"code":"unauthorized","message":"The administrator token is missing or invalid."}}';

describe('tokens at /admin', () => {
  const service = sharedHarness('sqlite', {
    configuration: 'trust_proxy: [127.0.0.1]\nrate_limits: {enabled: true}\n',
  });
  let reviewer: Person;
  let address = 0;

  before(async () => {
    reviewer = await addPerson(service, 'reviewer');
  });

  /** Every call comes from an address of its own, so that wrong ones do not add up. */
  const from = (ip = `198.51.100.${++address}`) => ({ 'x-forwarded-for': ip });
  const get = (key: string | null, path = '/admin/payments', headers = {}) =>
    service.request(path, { key, headers: { ...from(), ...headers } });

  test('a good token gets in, however the scheme is spelled.', async () => {
    assert.equal((await get(reviewer.token)).status, 200);
    assert.equal(
      (await get(null, '/admin/payments', { authorization: `bEARER  ${reviewer.token} ` })).status,
      200,
    );
  });

  test('whatever else is sent is refused, in the same words.', async () => {
    const { token } = reviewer;
    const swapped = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
    const headers: Record<string, string>[] = [
      {},
      { authorization: '' },
      { authorization: 'Bearer' },
      { authorization: token },
      { authorization: `Basic ${token}` },
      { authorization: `Bearer ${token.slice(0, -1)}` },
      { authorization: `Bearer ${token}0` },
      { authorization: `Bearer ${token} ${token}` },
      { authorization: `Bearer ${swapped}` },
      { authorization: `Bearer ${newSecret('cfa_')}` },
      { authorization: `Bearer ${KEY}` },
      { authorization: `Bearer cfk_test_${token.slice(4)}` },
      { authorization: `Bearer ${'x'.repeat(4000)}` },
      { 'x-api-key': token },
      { cookie: `session=${token}` },
    ];
    for (const one of headers) {
      const answer = await get(null, '/admin/payments', one);
      assert.equal(answer.status, 401, JSON.stringify(one));
      assert.equal(answer.text, REFUSED);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="api"');
      assert.equal(
        (await get(null, `/admin/payments?token=${token}&access_token=${token}`, one)).status,
        401,
      );
    }
  });

  test('an administrator token opens nothing under /v1.', async () => {
    for (const path of ['/v1/payments', '/v1/nowhere'])
      assert.equal((await get(reviewer.token, path)).status, 401);
    const creation = await post(service, reviewer, '/v1/payments', { amount: 1 });
    assert.equal(creation.status, 401);
  });

  test('a session of the console is nothing here.', async () => {
    const value = (await signIn(service)).cookies.get('counterfoil_session')!;
    for (const secret of [value, value.split('.')[0]!]) {
      for (const name of ['session', 'counterfoil', 'counterfoil_session', '__Host-session'])
        assert.equal((await get(null, '/admin/payments', { cookie: `${name}=${secret}` })).status, 401);
      assert.equal((await get(secret)).status, 401);
    }
  });

  test('a role that is too low is told so before the body is looked at, and nothing is changed.', async () => {
    const auditor = await addPerson(service, 'auditor');
    const id = await sentForReview(service);
    const entries = await entryCount(service);
    for (const act of ['approve', 'reject', 'record']) {
      for (const path of [`/admin/payments/${id}/${act}`, `/admin/payments/unknown/${act}`]) {
        for (const options of [{}, { headers: { 'content-type': 'text/plain' } }]) {
          const answer = await post(service, auditor, path, '{', options);
          assert.equal(answer.status, 403);
          assert.equal(answer.json.error.code, 'forbidden');
        }
      }
    }
    assert.equal((await get(auditor.token)).status, 200);
    assert.equal(await entryCount(service), entries);
  });

  test('a token has the lesser of its role and its owner’s, at once when that changes.', async () => {
    const person = await addPerson(service, 'reviewer');
    const lesser = await addToken(service, person.id, 'auditor');
    const id = await sentForReview(service);
    const approve = (token: string) =>
      post(service, { token }, `/admin/payments/${id}/approve`, { version: 999 });
    assert.equal((await approve(lesser.token)).status, 403);
    assert.equal((await approve(person.token)).status, 409);
    await giveRole(service.service, person.id, 'auditor');
    assert.equal((await approve(person.token)).status, 403);
    const unread = await post(service, person, `/admin/payments/${id}/approve`, '{');
    assert.equal(unread.status, 403, 'and before the body is looked at');
    assert.equal((await get(person.token)).status, 200);
  });

  test('a revoked token, an expired one and a disabled owner’s are refused from then on.', async () => {
    const person = await addPerson(service, 'reviewer');
    const { token, row } = await addToken(service, person.id, 'reviewer');
    const short = await addToken(service, person.id, 'auditor', 1);
    for (const key of [token, short.token, person.token]) assert.equal((await get(key)).status, 200);

    await change(service.service, row.id, 'revoke');
    assert.equal((await get(token)).text, REFUSED);
    assert.equal((await get(person.token)).status, 200);

    service.clock.advance(DAY_MS);
    assert.equal((await get(short.token)).text, REFUSED);
    assert.equal((await get(person.token)).status, 200);

    await change(service.service, person.id, 'disable');
    assert.equal((await get(person.token)).text, REFUSED);
    await change(service.service, person.id, 'enable');
    assert.equal((await get(person.token)).status, 200);
    assert.equal((await get(token)).text, REFUSED);
  });

  test('a cut or mistyped token is refused without a look-up.', async () => {
    const { journal } = service.service;
    const rename = (from: string, to: string) =>
      journal.commit((transaction) => transaction.query(`alter table ${from} rename to ${to}`));
    await rename('administrator_tokens', 'gone');
    try {
      assert.equal((await get(reviewer.token)).status, 500);
      for (const key of [
        reviewer.token.slice(0, -1),
        `${reviewer.token.slice(0, 20)}${reviewer.token[20] === 'x' ? 'y' : 'x'}${reviewer.token.slice(21)}`,
        KEY,
      ])
        assert.equal((await get(key)).status, 401);
    } finally {
      await rename('gone', 'administrator_tokens');
    }
    assert.equal((await get(reviewer.token)).status, 200);
  });
});
