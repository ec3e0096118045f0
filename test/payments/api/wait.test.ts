// `Prefer: wait`: a read of a payment answers at its next change, or after the time, and misses no change between two reads.
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { before, describe, test } from 'node:test';
import { addPerson, claimAs, post, sentForReview } from '../../support/admin.ts';
import { KEY, OTHER_KEY, sharedHarness } from '../../support/harness.ts';
import { becomes, LONGER_THAN_A_TEST_MS } from '../../support/waiting.ts';

describe('a read that waits', () => {
  const service = sharedHarness('sqlite');
  before(() => {
    // Whoever waits 30 seconds is answered by the change, or not at all.
    const { waits } = service.service;
    const until = waits.until.bind(waits);
    waits.until = (asked) =>
      until({ ...asked, withinMs: asked.withinMs === 30_000 ? LONGER_THAN_A_TEST_MS : asked.withinMs });
  });

  /** Reads a payment. Returns the answer and how long it took, in milliseconds. */
  async function read(id: string, headers: Record<string, string> = {}, key = KEY) {
    const begun = performance.now();
    const answer = await service.request(`/v1/payments/${id}`, { headers, key });
    return { ...answer, tookMs: performance.now() - begun, etag: answer.headers.get('etag')! };
  }
  const cancel = (id: string) => service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
  const waiting = (count: number) => becomes(count, () => service.service.waits.counters.open);

  test('it answers at the change, and says what it applied.', async () => {
    const { id } = await service.create();
    const { id: other } = await service.create();
    const [asked, askedOther] = [read(id, { prefer: 'wait=30' }), read(other, { prefer: 'wait=30' })];
    await waiting(2);
    await cancel(other);
    await askedOther;
    await waiting(1);
    await cancel(id);
    const answer = await asked;
    assert.deepEqual([answer.status, answer.json.data.status], [200, 'cancelled']);
    assert.equal(answer.headers.get('preference-applied'), 'wait=30');
    await waiting(0);
  });

  test('without a change it answers 200 after the time, and 304 to whoever knows the payment.', async () => {
    const { id } = await service.create();
    const plain = await read(id, { prefer: 'handling=strict, wait=1' });
    assert.ok(plain.tookMs >= 1000, `${plain.tookMs} ms`);
    assert.deepEqual([plain.status, plain.headers.get('preference-applied')], [200, 'wait=1']);
    const known = await read(id, { prefer: 'wait=1', 'if-none-match': plain.etag });
    assert.deepEqual([known.status, known.text, known.etag], [304, '', plain.etag]);
    assert.ok(known.tookMs >= 1000);
    const atOnce = await read(id, { 'if-none-match': `W/${plain.etag}` });
    assert.deepEqual([atOnce.status, atOnce.headers.get('preference-applied')], [304, null]);
  });

  test('a change between two reads is not missed by who names the entity tag.', async () => {
    const { id } = await service.create();
    const { etag } = await read(id);
    await cancel(id);
    const answer = await read(id, { prefer: 'wait=30', 'if-none-match': etag });
    assert.deepEqual([answer.status, answer.json.data.status], [200, 'cancelled']);
    assert.notEqual(answer.etag, etag);
  });

  test('what does not change the payment for its merchant wakes nobody.', async () => {
    const ana = await addPerson(service, 'administrator');
    const id = await sentForReview(service);
    const { etag } = await read(id);
    const asked = read(id, { prefer: 'wait=30', 'if-none-match': etag });
    await waiting(1);
    await claimAs(service, ana, id);
    await post(service, ana, `/admin/payments/${id}/reject`, { reason: 'duplicate' });
    assert.equal((await asked).json.data.status, 'rejected');
  });

  test('it waits no longer than the maximum says.', async () => {
    const { id } = await service.create();
    const longer = read(id, { prefer: 'wait=86400' });
    await waiting(1);
    await cancel(id);
    assert.equal((await longer).headers.get('preference-applied'), 'wait=50');
  });

  test("another's payment is a 404 at once, and what is no wait is none.", async () => {
    const { id } = await service.create({}, { key: OTHER_KEY });
    const foreign = await read(id, { prefer: 'wait=30' });
    assert.equal(foreign.status, 404);
    for (const prefer of ['wait', 'wait=', 'wait=-1', 'wait=0', 'wait=1.5', 'xwait=9', 'wait=x']) {
      const answer = await read(id, { prefer }, OTHER_KEY);
      assert.deepEqual([answer.status, answer.headers.get('preference-applied')], [200, null], prefer);
    }
  });

  test('a key that was revoked meanwhile is answered 401, and a client that went away waits no more.', async () => {
    const made = (await service.request('/v1/api_keys', { method: 'POST', body: { name: 'x' } })).json.data;
    const { id } = await service.create();
    const asked = read(id, { prefer: 'wait=30' }, made.key);
    await waiting(1);
    await service.request(`/v1/api_keys/${made.id}/revoke`, { method: 'POST' });
    await cancel(id);
    assert.equal((await asked).status, 401);
    const { id: open } = await service.create();
    const headers = { authorization: `Bearer ${KEY}`, prefer: 'wait=30' };
    const gone = httpRequest(`${service.origin}/v1/payments/${open}`, { headers, agent: false });
    gone.on('error', () => {}).end();
    await waiting(1);
    gone.destroy();
    await waiting(0);
  });

  test('a stop answers those that wait.', async () => {
    const { id } = await service.create();
    const asked = read(id, { prefer: 'wait=30' });
    await waiting(1);
    await service.stop();
    const answer = await asked;
    assert.deepEqual([answer.status, answer.json.data.status], [200, 'pending']);
    await service.start();
  });
});
