// Token buckets: exact at any rate, divided among nodes, honest about the wait, and kept for so many keys and no more.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Caller, MerchantLimits, Mode } from '../../src/merchants/merchant.ts';
import { CallerBuckets, TokenBucket } from '../../src/web/rate-limit.ts';

describe('token buckets', () => {
  const RATES = [1, 2, 3, 7, 49, 50, 200, 999];
  const NODES = [1, 2, 3, 7, 1000];
  const combinations = RATES.flatMap((perSecond) => NODES.map((nodes) => ({ perSecond, nodes })));
  const LIMITS = { writes_per_second: 50, reads_per_second: 200, refused_keys_per_minute: 20, nodes: 1 };

  test('whoever waits as many whole seconds as they were told is served, at any rate.', () => {
    for (const { perSecond, nodes } of combinations) {
      let now = 1_790_000_000_123;
      const bucket = new TokenBucket('write', perSecond, nodes, now);
      for (let i = 0; i < 20; i++) {
        while (bucket.take(now));
        now += i; // some way into the wait
        while (bucket.take(now));
        now += bucket.nextS * 1000;
        assert.ok(bucket.take(now), `${perSecond}/s on ${nodes} nodes`);
      }
    }
  });

  test('in an hour as many pass as the rate says and what was there at first, to the request.', () => {
    // A bucket of one request runs over between two looks at it.
    const several = combinations.filter(({ perSecond, nodes }) => perSecond < 100 && nodes < perSecond);
    for (const { perSecond, nodes } of several) {
      const begin = 1_790_000_000_000;
      const bucket = new TokenBucket('read', perSecond, nodes, begin);
      let passed = 0;
      for (let now = begin; now <= begin + 3_600_000; now += 7) while (bucket.take(now)) passed++;
      const last = Math.floor(3_600_000 / 7) * 7;
      assert.equal(passed, bucket.capacity + Math.floor((last * perSecond) / (1000 * nodes)));
    }
  });

  test('every node takes one request at least, and says in how long.', () => {
    const bucket = new TokenBucket('write', 1, 1000, 0);
    assert.equal(bucket.policyField, '"write";q=1;w=1000');
    assert.equal(bucket.take(0), true);
    assert.equal(bucket.limitField, '"write";r=0;t=1000');
    assert.equal(bucket.take(999_999), false);
    assert.equal(bucket.take(1_000_000), true);
  });

  test('the policy never promises more in its window than the rate allows.', () => {
    for (const { perSecond, nodes } of combinations) {
      const { policyField } = new TokenBucket('read', perSecond, nodes, 0);
      const [, quota, window] = /^"read";q=(\d+);w=([1-9]\d*)$/.exec(policyField)!.map(Number);
      assert.ok(quota! * nodes <= window! * perSecond, policyField);
    }
  });

  test('a clock that is set back gives nothing away and locks nobody out.', () => {
    const now = 1_790_000_000_000;
    const bucket = new TokenBucket('write', 50, 1, now);
    for (let i = 0; i < 100; i++) bucket.take(now);
    assert.equal(bucket.take(now - 3_600_000), false);
    assert.equal(bucket.take(now - 3_600_000 + 20), true);
    assert.equal(bucket.take(now - 3_600_000 + 20), false);
  });

  const caller = (id: string, limits: MerchantLimits = {}, mode: Mode = 'live'): Caller => ({
    merchant: { id, name: id },
    key: { id: `key_${id}`, digest: id, mode, expires_at: null },
    limits,
    actor: `merchant:${id}`,
  });

  test('a merchant has one bucket in each mode, whichever of its keys it calls with.', () => {
    const buckets = new CallerBuckets(LIMITS);
    const [one, test] = [caller('mer_a'), caller('mer_a', {}, 'test')];
    const another = { ...one, key: { ...one.key, id: 'key_other' } };
    assert.equal(buckets.find(another, 'POST', 0), buckets.find(one, 'POST', 0));
    assert.notEqual(buckets.find(test, 'POST', 0), buckets.find(one, 'POST', 0));
    assert.notEqual(buckets.find(caller('mer_b'), 'POST', 0), buckets.find(one, 'POST', 0));
  });

  test('of 100,000 merchants the buckets of those that called last are kept, and no others.', () => {
    const buckets = new CallerBuckets(LIMITS);
    const empty = (key: string) => {
      const bucket = buckets.find(caller(key), 'POST', 0);
      while (bucket.take(0));
      return bucket;
    };
    const first = empty('first');
    for (let i = 0; i < 100_000; i++) buckets.find(caller(`merchant ${i}`), 'POST', 0).take(0);
    assert.notEqual(buckets.find(caller('first'), 'POST', 0), first, 'forgotten');
    assert.equal(
      buckets.find(caller('merchant 99999'), 'POST', 0).limitField,
      '"write";r=99;t=1',
      'remembered',
    );
    const kept = Array.from({ length: 100_000 }, (_, i) =>
      buckets.find(caller(`merchant ${99_999 - i}`), 'POST', 0),
    );
    assert.ok(kept.filter(({ limitField }) => limitField === '"write";r=99;t=1').length < 25_000);
  });

  test('a merchant that calls on is not forgotten however many others come.', () => {
    const buckets = new CallerBuckets(LIMITS);
    const busy = buckets.find(caller('busy'), 'GET', 0);
    for (let i = 0; i < 100_000; i++) {
      buckets.find(caller(`merchant ${i}`), 'GET', 0);
      if (i % 1000 === 0) assert.equal(buckets.find(caller('busy'), 'GET', 0), busy);
    }
  });

  test("a merchant's new limit counts from the next request.", () => {
    const buckets = new CallerBuckets(LIMITS);
    assert.equal(buckets.find(caller('mer_a'), 'POST', 0).capacity, 100);
    const own = { writes_per_second: 5 };
    assert.equal(buckets.find(caller('mer_a', own), 'POST', 0).capacity, 10);
    assert.equal(
      buckets.find(caller('mer_a', { ...own }), 'POST', 0),
      buckets.find(caller('mer_a', own), 'POST', 0),
    );
  });
});
