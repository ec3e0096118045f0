// Merchants in the console: listed, looked at, suspended with a reason by whoever may, and let go on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signIn } from '../../support/console.ts';
import { KEY, sharedHarness } from '../../support/harness.ts';
import { strictly } from '../../support/markup.ts';
import { becomes } from '../../support/waiting.ts';

const harness = sharedHarness('sqlite');

test('Only an administrator suspends, with a reason; the page tells who did and why; no key is shown.', async () => {
  await harness.create();
  const ana = await signIn(harness, 'administrator', 'Ana Admin');
  const bob = await signIn(harness, 'reviewer', 'Bob Reviewer');
  const list = await bob.get('/merchants');
  assert.match(list.body, /Development Shop/);
  assert.deepEqual(strictly(list.text).faults, []);
  const page = await bob.get('/merchants/mer_development');
  assert.doesNotMatch(page.body, /Suspend…/);
  assert.doesNotMatch(page.text, new RegExp(KEY));
  assert.equal((await bob.get('/merchants/mer_development/suspend')).status, 403);
  assert.equal((await bob.post('/merchants/mer_development/suspend', { reason: 'No.' })).status, 403);
  assert.equal((await ana.get('/merchants/mer_nobody')).status, 404);

  const question = await ana.get('/merchants/mer_development/suspend');
  const wrong = await ana.send(question, { reason: ' ' }, 'Suspend the merchant');
  assert.deepEqual([wrong.status, wrong.faults], [422, ['reason']]);
  const card = await ana.send(question, { reason: 'Card 4242 4242 4242 4242' }, 'Suspend the merchant');
  assert.equal(card.status, 422);
  const done = await ana.send(wrong, { reason: 'Stolen <b>key</b>' }, 'Suspend the merchant');
  assert.match(done.body, /Suspended since/);
  assert.match(done.text, /Stolen &lt;b&gt;key/);
  assert.deepEqual(strictly(done.text).faults, []);
  await becomes(403, async () => (await harness.request('/v1/payments')).status);

  const back = await ana.send(
    await ana.get('/merchants/mer_development/resume'),
    { reason: 'New key' },
    'Resume the merchant',
  );
  assert.match(back.body, /Stolen[\s\S]*New key/);
  assert.match((await bob.get('/merchants/mer_development')).body, /by Ana Admin/);
  await becomes(200, async () => (await harness.request('/v1/payments')).status);
  await harness.verify();
});
