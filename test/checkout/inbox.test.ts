// /dev/inbox, the receiver of webhooks in development: it verifies, shows the last 50, and answers 500 once when told to.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sharedHarness, startHarness } from '../support/harness.ts';
import { eventually, until } from '../support/waiting.ts';
import { endpointsOf } from '../support/webhook-endpoints.ts';

const INBOX = '/dev/inbox';

describe('/dev/inbox', () => {
  const service = sharedHarness('sqlite');

  const page = async () => (await service.request(INBOX, { key: null })).text;
  const count = async (text: string) => (await page()).split(`>${text}<`).length - 1;

  test('shows what came, verified, and answers 500 once, after which the webhook comes again.', async () => {
    const url = `http://localhost:${new URL(service.origin).port}${INBOX}`;
    assert.ok((await page()).includes(`&quot;url&quot;: &quot;${url}&quot;`) || (await page()).includes(url));
    const { add, deliveries } = endpointsOf(service, () => url);
    const made = await add();
    const { id } = await service.create();
    await eventually(async () => (await count('Signature verified')) === 1);
    assert.ok((await page()).includes(id) && (await page()).includes('payment.created'));

    const form = {
      method: 'POST',
      body: 'answer=500',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    };
    const sent = await service.request(INBOX, { ...form, key: null });
    assert.equal(sent.status, 200, 'it leads back to the page');
    assert.match(await page(), /is answered 500/);
    service.clock.stop(); // or it is tried again before anybody looks
    await service.create();
    await eventually(async () => (await count('500')) === 1);
    assert.doesNotMatch(await page(), /is answered 500/);
    const [failed] = await until(
      () => deliveries(made.id, '?status=retrying'),
      ({ length }) => length === 1,
    );
    assert.match(failed!.last_attempt!.reason, /^Your server answered 500 in \d+ ms$/);
    service.clock.advance(60_000);
    await eventually(async () => (await count('Signature verified')) === 3);
    assert.equal(await count('204'), 2);
  });
});

test('production has no inbox.', async () => {
  const service = await startHarness('sqlite', { environment: 'production' });
  for (const method of ['GET', 'POST'])
    assert.equal((await service.request(INBOX, { method, key: null })).status, 404);
  await service.close();
});
