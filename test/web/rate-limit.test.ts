// Rate limits of API keys: how many requests pass, what is said of them, and in which place among the checks.
import assert from 'node:assert/strict';
import { afterEach, before, describe, test } from 'node:test';
import { newSecret } from '../../src/lib/secrets.ts';
import {
  type Answer,
  type Harness,
  KEY,
  LIVE_KEY,
  OTHER_KEY,
  sharedHarness,
  startHarness,
  TEST_KEY_IN_PRODUCTION,
} from '../support/harness.ts';
import { setState } from '../support/store-merchant.ts';

const SLOW_KEY = newSecret('cfk_test_');
const ENABLED = `  - id: mer_slow
    name: Slow Shop
    rate_limits: {writes_per_second: 1, reads_per_second: 3}
    keys:
      - key: ${SLOW_KEY}
rate_limits: {enabled: true}
`;

/** Has time stand still until a test moves it: a bucket is refilled by every millisecond. */
function stopTime(service: Harness): void {
  const { clock } = service;
  const stopped = clock.now();
  let moved = 0;
  clock.now = () => stopped + moved;
  clock.advance = (ms) => {
    moved += ms;
  };
}

/** What an answer says of its limit. */
const told = ({ headers }: Answer) => [headers.get('ratelimit-policy'), headers.get('ratelimit')];

describe('rate limits', () => {
  const service = sharedHarness('sqlite', { configuration: ENABLED });
  before(async () => {
    stopTime(service);
  });
  afterEach(() => service.clock.advance(60_000)); // all buckets are full again

  /** A write that costs little: its fields are faulty. */
  const write = (key: string | null = KEY, options = {}) =>
    service.request('/v1/payments', { method: 'POST', key, body: {}, ...options });
  const read = (key = KEY, method = 'GET') => service.request('/v1/payments?limit=1', { key, method });
  const exhaust = async (key = KEY, capacity = 100) => {
    for (let i = 0; i < capacity; i++) assert.equal((await write(key)).status, 422, `write ${i}`);
  };

  test('100 writes pass at once, the next is told when to come again.', async () => {
    for (let left = 99; left >= 0; left--) {
      const answer = await write();
      assert.equal(answer.status, 422);
      assert.deepEqual(told(answer), ['"write";q=100;w=2', `"write";r=${left};t=1`]);
      assert.equal(answer.headers.get('retry-after'), null);
    }
    const answer = await write();
    assert.equal(answer.status, 429);
    assert.deepEqual(told(answer), ['"write";q=100;w=2', '"write";r=0;t=1']);
    assert.equal(answer.headers.get('retry-after'), '1');
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.equal(
      answer.text,
      '{"error":{"code":"rate_limited","message":"Too many requests came from this merchant."}}',
    );
  });

  test('reads and writes are counted apart, and so are merchants.', async () => {
    await exhaust();
    assert.equal((await write()).status, 429);
    assert.deepEqual(told(await read()), ['"read";q=400;w=2', '"read";r=399;t=1']);
    assert.deepEqual(told(await write(OTHER_KEY)), ['"write";q=100;w=2', '"write";r=99;t=1']);
  });

  test('a merchant that makes another key may not call more often.', async () => {
    const made = await service.request('/v1/api_keys', { method: 'POST', key: SLOW_KEY, body: {} });
    assert.equal(made.status, 201);
    const { key } = made.json.data;
    assert.equal((await write(key)).status, 422);
    assert.deepEqual([(await write(key)).status, (await write(SLOW_KEY)).status], [429, 429]);
  });

  test("a merchant's own limits stand over those of all.", async () => {
    assert.deepEqual(told(await write(SLOW_KEY)), ['"write";q=2;w=2', '"write";r=1;t=1']);
    assert.deepEqual(told(await read(SLOW_KEY)), ['"read";q=6;w=2', '"read";r=5;t=1']);
  });

  test('a request that is refused creates nothing and binds no idempotency key.', async () => {
    const headers = { 'idempotency-key': 'limited' };
    await exhaust(SLOW_KEY, 2);
    assert.equal((await write(SLOW_KEY, { body: { amount: 1 }, headers })).status, 429);
    service.clock.advance(1000);
    const answer = await write(SLOW_KEY, { body: { amount: 2 }, headers });
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.get('idempotency-replayed'), null);
    assert.deepEqual(told(answer), ['"write";q=2;w=2', '"write";r=0;t=1']);
    assert.equal((await read(SLOW_KEY)).json.data.length, 1);
  });

  test('the limit comes behind the key and the endpoint, and before everything else.', async () => {
    const text = { body: 'x', headers: { 'content-type': 'text/plain' } };
    const unknown = `/v1/payments/pay_${'0'.repeat(36)}`;
    const supported = await write(SLOW_KEY, text);
    assert.equal(supported.status, 415);
    assert.deepEqual(told(supported), ['"write";q=2;w=2', '"write";r=1;t=1']);
    const missing = await service.request(unknown, { key: SLOW_KEY });
    assert.equal(missing.status, 404);
    assert.deepEqual(told(missing), ['"read";q=6;w=2', '"read";r=5;t=1']);
    const cancel = await service.request(`${unknown}/cancel`, { method: 'POST', key: SLOW_KEY });
    assert.equal(cancel.status, 404);
    assert.deepEqual(told(cancel), ['"write";q=2;w=2', '"write";r=0;t=1']);
    assert.equal((await write(SLOW_KEY, text)).status, 429);
    assert.equal((await write(SLOW_KEY, { body: 'x'.repeat(70_000) })).status, 429);
    assert.equal((await write(SLOW_KEY, { body: '{' })).status, 429);
    for (const [path, method] of [
      ['/v1/nothing', 'POST'],
      ['/v1/payments', 'PUT'],
    ] as const) {
      const answer = await service.request(path, { method, key: SLOW_KEY });
      assert.equal(answer.status, 404);
      assert.deepEqual(told(answer), [null, null], 'it is counted nowhere');
    }
    const keyless = await write(null, text);
    assert.equal(keyless.status, 401);
    assert.deepEqual(told(keyless), [null, null]);
  });

  test('a suspended merchant is told so, limited or not.', async () => {
    await exhaust(SLOW_KEY, 2);
    await setState(service, 'mer_slow', 'suspended');
    assert.equal((await write(SLOW_KEY)).status, 403);
    await setState(service, 'mer_slow', 'resumed');
    assert.equal((await write(SLOW_KEY)).status, 429);
  });

  test('what needs no key is not limited.', async () => {
    await exhaust();
    for (const path of ['/health', '/openapi.json']) {
      const answer = await service.request(path, { key: KEY });
      assert.equal(answer.status, 200);
      assert.deepEqual(told(answer), [null, null]);
    }
  });
});

describe('rate limits by environment', () => {
  test('production has them without being told to.', async () => {
    await using service = await startHarness('sqlite', { environment: 'production' });
    stopTime(service);
    const write = (key: string) => service.request('/v1/payments', { method: 'POST', key, body: {} });
    for (let i = 0; i < 100; i++) assert.equal((await write(LIVE_KEY)).status, 422);
    assert.equal((await write(LIVE_KEY)).status, 429);
    assert.equal((await write(TEST_KEY_IN_PRODUCTION)).status, 422);
  });

  test('development has none, and says nothing of any.', async () => {
    await using service = await startHarness('sqlite');
    stopTime(service);
    for (let i = 0; i < 150; i++) {
      const answer = await service.request('/v1/payments', { method: 'POST', body: {} });
      assert.equal(answer.status, 422);
      assert.deepEqual(told(answer), [null, null]);
    }
  });
});

test('of two nodes each takes half.', async () => {
  await using service = await startHarness('postgres', { configuration: `${ENABLED}nodes: 2\n` });
  stopTime(service);
  const ask = (method: string, key: string) =>
    service.request('/v1/payments', { method, key, body: method === 'POST' ? {} : undefined });
  assert.deepEqual(told(await ask('POST', KEY)), ['"write";q=50;w=2', '"write";r=49;t=1']);
  assert.deepEqual(told(await ask('GET', KEY)), ['"read";q=200;w=2', '"read";r=199;t=1']);
  for (let i = 1; i < 50; i++) assert.equal((await ask('POST', KEY)).status, 422);
  assert.equal((await ask('POST', KEY)).status, 429);
  service.clock.advance(40);
  assert.equal((await ask('POST', KEY)).status, 422);
  assert.equal((await ask('POST', KEY)).status, 429);
  assert.deepEqual(told(await ask('POST', SLOW_KEY)), ['"write";q=1;w=2', '"write";r=0;t=2']);
});
