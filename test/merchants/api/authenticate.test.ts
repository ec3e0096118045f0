// Keys: what counts as one; that every refusal is the same to whoever tries, but for a key that was cut or mistyped on its way.
import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { newSecret } from '../../../src/lib/secrets.ts';
import { DAY_MS } from '../../../src/lib/time.ts';
import { EXPIRED_KEY, KEY, OTHER_KEY, sharedHarness } from '../../support/harness.ts';

const ENDING_KEY = newSecret('cfk_test_');
const LIVE_LOOKING_KEY = newSecret('cfk_live_');
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const MERCHANTS = `  - id: mer_ending
    name: Ending Shop
    keys:
      - key: ${ENDING_KEY}
        expires_at: ${inHours(24)}
      - key: ${LIVE_LOOKING_KEY}
`;

describe('authentication', () => {
  const service = sharedHarness('sqlite', { configuration: MERCHANTS });

  const list = (authorization?: string, headers: Record<string, string> = {}) =>
    service.request('/v1/payments', {
      key: null,
      headers: authorization === undefined ? headers : { authorization, ...headers },
    });

  test('the scheme is Bearer in any case, with spaces before the key.', async () => {
    for (const authorization of [`Bearer ${KEY}`, `bearer ${KEY}`, `BEARER   ${KEY}`, `Bearer ${KEY} `])
      assert.equal((await list(authorization)).status, 200, authorization);
  });

  test('whatever is wrong with a whole key, or with what is none, the answer is the same bytes.', async () => {
    const own = { method: 'POST', key: OTHER_KEY, body: {} };
    const { id, key: revoked } = (await service.request('/v1/api_keys', own)).json.data;
    assert.equal((await list(`Bearer ${revoked}`)).status, 200);
    assert.equal((await service.request(`/v1/api_keys/${id}/revoke`, own)).status, 200);
    const wrong = [
      'Bearer',
      'Bearer ',
      `Bearer${KEY}`,
      `Basic ${KEY}`,
      `Token ${KEY}`,
      KEY,
      `Bearer "${KEY}"`,
      `Bearer ${KEY.toUpperCase()}`,
      `Bearer ${newSecret('cfk_test_')}`,
      `Bearer ${newSecret('cfa_')}`,
      `Bearer ${newSecret('cfk_other_')}`,
      `Bearer ${EXPIRED_KEY}`,
      `Bearer ${revoked}`,
      `Bearer ${'x'.repeat(5000)}`,
      'Bearer schlüssel',
      'Bearer null',
      `Bearer\t${KEY}`,
      `Digest username="${KEY}"`,
    ];
    const texts = new Set<string>();
    for (const authorization of [undefined, '', ...wrong]) {
      const answer = await list(authorization);
      assert.equal(answer.status, 401, authorization ?? 'none');
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="api"');
      texts.add(answer.text);
    }
    assert.deepEqual(
      [...texts],
      ['{"error":{"code":"unauthorized","message":"The API key is missing or invalid."}}'],
    );
  });

  test('a key that was cut, run together or mistyped is told so, without a look into the store.', async () => {
    const cut = (length: number) => OTHER_KEY.slice(0, length);
    const mistyped = 'mistyped: its last characters do not fit the others.';
    const faults = {
      [cut(31)]: 'incomplete: 31 of 58 characters.',
      [cut(57)]: 'incomplete: 57 of 58 characters.',
      [cut(9)]: 'incomplete: 9 of 58 characters.',
      [LIVE_LOOKING_KEY.slice(0, 50)]: 'incomplete: 50 of 58 characters.',
      [`${OTHER_KEY}x`]: 'too long: 59 characters instead of 58.',
      [OTHER_KEY + OTHER_KEY]: 'too long: 116 characters instead of 58.',
      [OTHER_KEY.replace('L', 'l')]: mistyped,
      [cut(57) + (OTHER_KEY.endsWith('0') ? '1' : '0')]: mistyped,
      [OTHER_KEY.replace('cfk_test_', 'cfk_live_')]: mistyped,
    };
    const { database } = service.service;
    const looked = mock.method(database, 'query');
    for (const [key, fault] of Object.entries(faults)) {
      const answer = await list(`Bearer ${key}`);
      assert.equal(answer.status, 401, key);
      assert.equal(answer.json.error.message, `The API key is ${fault}`);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="api"');
    }
    const keyLooks = () =>
      looked.mock.calls.filter(({ arguments: [sql] }) => /from api_keys where digest/.test(sql as string))
        .length;
    assert.equal(keyLooks(), 0);
    await list(`Bearer ${EXPIRED_KEY}`);
    assert.equal(keyLooks(), 0, 'nor for one that is known here and over');
    await list(`Bearer ${newSecret('cfk_test_')}`);
    assert.equal(keyLooks(), 1, 'for a whole key that is unknown here alone');
    looked.mock.restore();
  });

  test('a key elsewhere than in Authorization is no key.', async () => {
    for (const name of ['x-api-key', 'api-key', 'cookie', 'proxy-authorization', 'x-authorization'])
      assert.equal((await list(undefined, { [name]: `Bearer ${KEY}` })).status, 401, name);
    for (const query of [`access_token=${KEY}`, `api_key=${KEY}`, `key=${KEY}`])
      assert.equal((await service.request(`/v1/payments?${query}`, { key: null })).status, 401, query);
  });

  test('a key stops at its end.', async () => {
    assert.equal((await list(`Bearer ${ENDING_KEY}`)).status, 200);
    service.clock.advance(DAY_MS + 1000);
    assert.equal((await list(`Bearer ${ENDING_KEY}`)).status, 401);
  });

  test('in development every key is a test key, one that looks live included.', async () => {
    assert.equal((await service.create({}, { key: LIVE_LOOKING_KEY })).livemode, false);
  });

  test('everything under /v1 wants a key, known or not; nothing else does.', async () => {
    for (const path of [
      '/v1',
      '/v1/',
      '/v1/nothing',
      '/v1/payments/',
      '/v1/payments/x/y',
      '/v1//payments',
      '/v1?x',
      '/v1/health',
    ])
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'])
        assert.equal((await service.request(path, { method, key: null })).status, 401, `${method} ${path}`);
    assert.equal((await service.request('/', { key: null })).status, 200);
    for (const path of ['/v1x', '/V1/payments', '/v2', '/v10/payments', '//v1/payments', '/x/v1/payments'])
      assert.equal((await service.request(path, { key: null })).status, 404, path);
    for (const path of ['/health', '/openapi.json'])
      assert.equal((await service.request(path, { key: null })).status, 200, path);
  });
});
