// Keys and tokens that are refused: who sends many is told to wait and learns nothing, and a right key is always taken.
import assert from 'node:assert/strict';
import { before, beforeEach, describe, mock, test } from 'node:test';
import { newSecret } from '../../src/lib/secrets.ts';
import { refusalCounts, type Throttle } from '../../src/web/rate-limit.ts';
import { addPerson } from '../support/admin.ts';
import { EXPIRED_KEY, KEY, LIVE_KEY, OTHER_KEY, sharedHarness, startHarness } from '../support/harness.ts';
import { addMerchant, unaware } from '../support/store-merchant.ts';
import { ENGINES } from '../support/stores.ts';

const ENABLED = 'trust_proxy: [127.0.0.1]\nrate_limits: {enabled: true}\n';
const unknownKey = () => newSecret('cfk_test_');

for (const engine of ENGINES) {
  describe(`refused keys on ${engine}`, () => {
    const service = sharedHarness(engine, { configuration: ENABLED });
    let addresses = 0;
    before(() => service.clock.stop());

    const newAddress = () => `198.51.100.${++addresses}`;
    const call = (from: string, key: string | null, path = '/v1/payments') =>
      service.request(path, { key, headers: { 'x-forwarded-for': from } });
    const refuseTwenty = async (from: string) => {
      for (let i = 0; i < 20; i++) assert.equal((await call(from, unknownKey())).status, 401, String(i));
    };

    test('the 21st within a minute from one address is told to wait, other addresses are not.', async () => {
      const address = newAddress();
      await refuseTwenty(address);
      const answer = await call(address, unknownKey());
      assert.equal(answer.status, 429);
      assert.equal(
        answer.text,
        '{"error":{"code":"rate_limited","message":"Too many wrong keys or tokens came from this address."}}',
      );
      assert.equal(answer.headers.get('retry-after'), '60');
      assert.equal(answer.headers.get('ratelimit'), null);
      assert.equal(answer.headers.get('www-authenticate'), null);
      assert.equal((await call(newAddress(), unknownKey())).status, 401);
      service.clock.advance(60_000);
      assert.equal((await call(address, unknownKey())).status, 401);
    });

    test('a right key from the same address goes on working, and is not counted.', async () => {
      const address = newAddress();
      await refuseTwenty(address);
      for (let i = 0; i < 5; i++) assert.equal((await call(address, unknownKey())).status, 429);
      for (let i = 0; i < 30; i++) assert.equal((await call(address, KEY)).status, 200);
      const other = newAddress();
      for (let i = 0; i < 30; i++) assert.equal((await call(other, KEY)).status, 200);
      assert.equal((await call(other, unknownKey())).status, 401);
    });

    test('the store is asked about no further unknown key from there, until the minute is over.', async () => {
      const address = newAddress();
      await refuseTwenty(address);
      const asked = mock.method(service.service.database, 'query');
      const looks = () =>
        asked.mock.calls.filter(({ arguments: [sql] }) => /from api_keys where digest/.test(String(sql)))
          .length;
      assert.equal((await call(address, unknownKey())).status, 429);
      assert.equal(looks(), 0);
      assert.equal((await call(newAddress(), unknownKey())).status, 401);
      assert.equal(looks(), 1);
      asked.mock.restore();
    });

    test('a key that this node had to look up does not count.', async () => {
      const address = newAddress();
      for (let i = 0; i < 19; i++) assert.equal((await call(address, unknownKey())).status, 401);
      for (let i = 0; i < 5; i++)
        assert.equal((await call(address, (await addMerchant(unaware(service))).key)).status, 200);
      assert.equal((await call(address, unknownKey())).status, 401);
      assert.equal((await call(address, unknownKey())).status, 429);
    });

    test('of unknown keys that come at once the store is asked about no more than twenty.', async () => {
      const address = newAddress();
      const asked = mock.method(service.service.database, 'query');
      const answers = await Promise.all(Array.from({ length: 200 }, () => call(address, unknownKey())));
      const looks = asked.mock.calls.filter(({ arguments: [sql] }) =>
        /from api_keys where digest/.test(String(sql)),
      ).length;
      asked.mock.restore();
      assert.equal(looks, 20);
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401, 429]));
    });

    test('the answer is the same bytes however near the key was.', async () => {
      const address = newAddress();
      await refuseTwenty(address);
      const near = OTHER_KEY.slice(0, -1);
      const keys = [unknownKey(), near, `${OTHER_KEY}0`, EXPIRED_KEY, 'x', '', LIVE_KEY];
      const answers = await Promise.all(keys.map((key) => call(address, key)));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [429]);
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      const names = answers.map(({ headers }) => [...headers.keys()].join(' '));
      assert.equal(new Set(names).size, 1);
    });

    test('keys under /v1 and tokens under /admin add up.', async () => {
      const person = await addPerson(service, 'reviewer');
      const address = newAddress();
      for (let i = 0; i < 10; i++) {
        assert.equal((await call(address, unknownKey())).status, 401);
        assert.equal((await call(address, newSecret('cfa_'), '/admin/payments')).status, 401);
      }
      assert.equal((await call(address, unknownKey())).status, 429);
      assert.equal((await call(address, newSecret('cfa_'), '/admin/payments')).status, 429);
      assert.equal((await call(address, person.token, '/admin/payments')).status, 200);
      assert.equal((await call(address, KEY)).status, 200);
    });

    test('who sends no key at all is always told that one is missing.', async () => {
      const address = newAddress();
      for (let i = 0; i < 25; i++) assert.equal((await call(address, null)).status, 401);
      assert.equal((await call(address, unknownKey())).status, 401);
      await refuseTwenty(newAddress());
      assert.equal((await call(address, null)).status, 401);
    });

    test('they are counted before it is asked whether there is such an endpoint.', async () => {
      const address = newAddress();
      for (let i = 0; i < 20; i++)
        assert.equal((await call(address, unknownKey(), `/v1/nothing/${i}`)).status, 401);
      assert.equal((await call(address, unknownKey())).status, 429);
    });

    test('an IPv6 subscriber is one address: their whole /64 network.', async () => {
      const within = (end: number) => `2001:db8:1:2:${end.toString(16)}::${end.toString(16)}`;
      for (let i = 0; i < 20; i++) assert.equal((await call(within(i), unknownKey())).status, 401);
      assert.equal((await call(within(999), unknownKey())).status, 429);
      assert.equal((await call('2001:db8:1:3::1', unknownKey())).status, 401);
    });

    test('a whole IPv6 allocation, a /48 network, is told to wait after four times as many; right keys work on.', async () => {
      const within = (subnet: number) => `2001:db8:7:${subnet.toString(16)}::1`;
      for (let i = 0; i < 80; i++) assert.equal((await call(within(i), unknownKey())).status, 401, String(i));
      assert.equal((await call(within(999), unknownKey())).status, 429);
      assert.equal((await call(within(998), newSecret('cfa_'), '/admin/payments')).status, 429);
      assert.equal((await call(within(997), KEY)).status, 200);
      assert.equal((await call('2001:db8:8::1', unknownKey())).status, 401);
    });
  });

  test(`without rate limits nobody is told to wait on ${engine}.`, async () => {
    await using service = await startHarness(engine);
    for (const path of ['/v1/payments', '/admin/payments'])
      for (let i = 0; i < 30; i++)
        assert.equal((await service.request(path, { key: unknownKey() })).status, 401);
  });
}

describe('refusals of an address', () => {
  const LIMITS = { writes_per_second: 50, reads_per_second: 200, refused_keys_per_minute: 20, nodes: 1 };
  let now = 0;
  const clock = { now: () => now };
  const countTimes = (counts: Throttle, times: number) => {
    for (let i = 0; i < times; i++) counts.count('192.0.2.1');
  };
  beforeEach(() => {
    now = 0;
  });

  test('one network cannot use up its allocation, and what is taken back is taken back of both.', () => {
    const counts = refusalCounts(LIMITS, clock);
    for (let i = 0; i < 500; i++) counts.count('2001:db8::1');
    for (let i = 0; i < 60; i++) assert.equal(counts.count(`2001:db8:0:${i + 1}::1`), 0, String(i));
    assert.ok(counts.waitMs('2001:db8:0:fff::1') > 0);
    counts.takeBack('2001:db8::1');
    assert.ok(counts.waitMs('2001:db8:0:fff::1') > 0);
    counts.takeBack('2001:db8:0:1::1');
    assert.equal(counts.waitMs('2001:db8:0:fff::1'), 0);
    assert.equal(counts.count('2001:db8:0:fff::1'), 0);
    assert.notEqual(counts.count('2001:db8:0:fff::1'), 0);
  });

  test('of several nodes each takes its part, one at least.', () => {
    const shared = refusalCounts({ ...LIMITS, nodes: 2 }, clock);
    countTimes(shared, 10);
    assert.equal(shared.count('192.0.2.1'), 60_000);
    const many = refusalCounts({ ...LIMITS, nodes: 1000 }, clock);
    assert.equal(many.count('192.0.2.1'), 0);
    assert.equal(many.count('192.0.2.1'), 60_000);
  });

  test('of 100,000 addresses those refused last are remembered, and no others.', () => {
    const counts = refusalCounts({ ...LIMITS, refused_keys_per_minute: 1 }, clock);
    const address = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
    for (let i = 0; i < 100_000; i++) counts.count(address(i));
    assert.equal(counts.count(address(99_999)), 60_000, 'remembered');
    assert.equal(counts.count(address(0)), 0, 'forgotten');
    let remembered = 0;
    for (let i = 99_998; i > 0; i--) if (counts.count(address(i)) > 0) remembered++;
    assert.ok(remembered < 25_000, String(remembered));
  });
});
