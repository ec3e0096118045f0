// What the history says of stored responses tells nothing of them once they are gone: their digests have a salt.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '../../src/lib/secrets.ts';
import { startHarness } from '../support/harness.ts';
import { ENGINES } from '../support/stores.ts';

const DIGESTS = 'select request_digest from idempotency_keys';

for (const engine of ENGINES) {
  test(`on ${engine}, the same request of two keys leaves nothing that is the same`, async () => {
    await using harness = await startHarness(engine);
    const body = JSON.stringify({ amount: 1, customer: { name: 'Ada Lovelace' } });
    for (const name of ['one', 'two']) {
      const own = { 'idempotency-key': name };
      await harness.request('/v1/payments', { method: 'POST', body, headers: own });
    }
    const kept = await harness.service.database.query<{ request_digest: string }>(DIGESTS);
    const [one, two] = kept.map(({ request_digest }) => request_digest);
    assert.notEqual(one, two);
    for (const digest of [one, two]) {
      assert.match(digest!, /^[0-9a-z]{16}\.[\w-]{43}$/);
      assert.equal(digest!.includes(sha256(body)), false);
    }
  });
}
