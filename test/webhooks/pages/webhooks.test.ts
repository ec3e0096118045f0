// Webhooks in the console: every endpoint with its state and deliveries, and what administrators alone do about it.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type Client, MANY_SIGN_INS, signIn } from '../../support/console.ts';
import { sharedHarness } from '../../support/harness.ts';
import { strictly } from '../../support/markup.ts';
import { shared } from '../../support/shared.ts';
import { eventually } from '../../support/waiting.ts';
import { endpointsOf, type Shown } from '../../support/webhook-endpoints.ts';
import { answering, WebhookReceiver } from '../../support/webhook-receiver.ts';

const harness = sharedHarness('sqlite', { isVerified: true, configuration: MANY_SIGN_INS });
const receiver = shared(WebhookReceiver.start);
let ana: Client;
before(async () => {
  ana = await signIn(harness);
});

const { add, read: shownOf, deliveries: deliveriesOf } = endpointsOf(harness, (path) => receiver.url(path));
const addEndpoint = async (path: string): Promise<string> =>
  (await add(path, { description: 'Orders <1>' })).id;
const tried = (id: string, status: string) =>
  eventually(async () => (await deliveriesOf(id))[0]?.status === status);

async function look(client: Client, path: string) {
  const page = await client.get(path);
  assert.deepEqual(strictly(page.text).faults, [], path);
  return page;
}

test('Whoever reads sees each endpoint, why a delivery failed, and when it is tried again.', async () => {
  assert.match((await look(ana, '/webhooks')).body, /There are no webhook endpoints\./);
  receiver.reply = answering(500);
  const id = await addEndpoint('/shown');
  const payment = await harness.create();
  await tried(id, 'retrying');
  const olga = await signIn(harness, 'auditor', 'Olga Auditor');
  const list = await look(olga, '/webhooks');
  assert.match(list.body, /\/shown[\s\S]*Development Shop[\s\S]*Test[\s\S]*Failing/);
  assert.match((await olga.get('/webhooks?merchant=mer_nobody')).body, /has no webhook/);
  const page = await look(olga, `/webhooks/${id}`);
  assert.match(page.body, /has failed since[\s\S]*disabled on/);
  assert.match(page.body, /Orders <1>|Orders &lt;1&gt;/);
  assert.match(page.body, /payment\.created[\s\S]*be tried again/);
  assert.doesNotMatch(page.text, /whsec_/);
  assert.doesNotMatch(page.body, /Disable…|Send again…/);
  assert.match((await olga.get(`/webhooks/${id}?status=delivered`)).body, /in this state\./);
  assert.equal((await olga.get(`/webhooks/${id}?status=lost`)).status, 422);
  const [{ id: delivery }] = (await deliveriesOf(id)) as [Shown];
  // Of a server on this machine no reply is kept.
  await harness.service.journal.commit((transaction) =>
    transaction.query(
      'update webhook_attempts set reply = ? where delivery_id = ?',
      'out of <stock>',
      delivery,
    ),
  );
  harness.service.database.refresh();
  const one = await look(olga, `/webhooks/${id}/deliveries/${delivery}`);
  assert.match(one.body, /Your server answered 500 in \d+ ms/);
  assert.match(one.text, /out of &lt;stock&gt;/);
  assert.ok(one.text.includes(`/payments/${payment.id}`));
  assert.doesNotMatch(one.body, /Send again now/);
  for (const act of ['disable', 'enable', 'resend', `deliveries/${delivery}/resend`])
    assert.equal(
      (await olga.post(`/webhooks/${id}/${act}`, { reason: 'x', what: 'failed', days: '1' })).status,
      403,
    );
  const other = await addEndpoint('/other');
  for (const path of [`${other}/deliveries/${delivery}`, `${id}/deliveries/dlv_x`, 'whe_x'])
    assert.equal((await ana.get(`/webhooks/${path}`)).status, 404, path);
  assert.equal((await shownOf(id)).status, 'enabled');
});

test('An administrator disables with a reason that the merchant reads, and enables.', async () => {
  receiver.reply = answering(200);
  const id = await addEndpoint('/switched');
  const question = await look(ana, `/webhooks/${id}/disable`);
  const empty = await ana.send(question, { reason: ' ' }, 'Disable the endpoint');
  assert.equal(empty.status, 422);
  assert.deepEqual(strictly(empty.text).faults, []);
  assert.equal((await shownOf(id)).status, 'enabled');
  const off = await ana.send(question, { reason: 'Our own checkout' }, 'Disable the endpoint');
  assert.match(off.body, /An administrator disabled it\.[\s\S]*Our own/);
  const { status, disabled_reason, disabled_note } = await shownOf(id);
  assert.deepEqual(
    [status, disabled_reason, disabled_note],
    ['disabled', 'administrator', 'Our own checkout'],
  );
  const byMerchant = { method: 'PATCH', body: { status: 'enabled' } };
  assert.equal((await harness.request(`/v1/webhook_endpoints/${id}`, byMerchant)).status, 409);
  const on = await ana.send(await look(ana, `/webhooks/${id}/enable`), {}, 'Enable the endpoint');
  assert.match(on.body, /Disable…/);
  assert.equal((await shownOf(id)).status, 'enabled');
  const entries = await harness.service.database.query<{ action: string; actor: string }>(
    "select action, actor from audit_entries where subject = ? and action in ('webhook.disabled', 'webhook.enabled') order by number",
    id,
  );
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['webhook.disabled', 'webhook.enabled'],
  );
  for (const { actor } of entries) assert.match(actor, /^administrator:adm_/);
});

test('An administrator sends one delivery again, all that failed, and what an endpoint never got.', async () => {
  receiver.reply = answering(500);
  const early = await harness.create();
  const id = await addEndpoint('/again');
  const { id: payment } = await harness.create();
  await tried(id, 'retrying');
  receiver.reply = answering(200);
  const [{ id: delivery }] = (await deliveriesOf(id)) as [Shown];
  const page = await look(ana, `/webhooks/${id}/deliveries/${delivery}`);
  const again = await ana.send(page, {}, 'Send again now');
  assert.equal(again.status, 200);
  await tried(id, 'delivered');

  receiver.reply = answering(500);
  await harness.create();
  await tried(id, 'retrying');
  receiver.reply = answering(200);
  const question = await look(ana, `/webhooks/${id}/resend`);
  for (const wrong of [{ days: '31' }, { days: '0' }, { days: 'x' }, { what: 'all' }]) {
    const told = await ana.send(question, wrong, 'Send again');
    assert.equal(told.status, 422, JSON.stringify(wrong));
    assert.deepEqual(strictly(told.text).faults, []);
  }
  await ana.send(question, { what: 'failed', days: '١' }, 'Send again');
  await tried(id, 'delivered');

  const before = receiver.received.filter(({ path }) => path === '/again').length;
  await ana.send(question, { what: 'missing', days: '1' }, 'Send again');
  await receiver.have(before + 1, '/again');
  const came = () => receiver.received.map(({ path, event }) => `${path} ${event.data.payment_id}`);
  await eventually(() => came().includes(`/again ${early.id}`));
  assert.ok(came().includes(`/again ${payment}`));
});
