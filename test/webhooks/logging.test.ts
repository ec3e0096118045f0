// The log of webhooks: one line for each attempt that failed and for each endpoint that was disabled, and nothing that a merchant wrote.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { Delivery, Endpoint } from '../../src/webhooks/endpoint.ts';
import { logAttempt } from '../../src/webhooks/sender.ts';
import { sharedHarness } from '../support/harness.ts';
import { shared } from '../support/shared.ts';
import { eventually } from '../support/waiting.ts';
import { endpointsOf, type Shown } from '../support/webhook-endpoints.ts';
import { answering, WebhookReceiver } from '../support/webhook-receiver.ts';

const FAILED = 'a webhook was not delivered';
const DISABLED = 'a webhook endpoint was disabled';

const service = sharedHarness('sqlite', { configuration: 'log_level: info\n' });
const receiver = shared(WebhookReceiver.start);

const { add, deliveries, remove } = endpointsOf(service, (path) => receiver.url(path));
const lines = (msg: string) =>
  service.logged.map((line) => JSON.parse(line)).filter((one) => one.msg === msg);

test('an attempt that failed has a line with ids, status, duration and reason, and no secret, query or body.', async () => {
  receiver.reply = answering(500, {}, 'reply-of-the-server');
  const { id, secret } = await add('/hook?token=part-of-the-query', { description: 'words-of-the-merchant' });
  const payment = await service.create({ merchant_reference: 'reference-of-the-merchant' });
  await eventually(async () => lines(FAILED).length > 0);
  const { level, time, ms, reason, ...line } = lines(FAILED)[0];
  const [{ id: delivery, event_id: event }] = (await deliveries(id)) as [Shown];
  assert.deepEqual(line, {
    ...{ merchant: 'mer_development', endpoint: id, delivery, event },
    ...{ type: 'payment.created', attempt: 1, status: 500, msg: FAILED },
  });
  assert.equal(level, 30);
  assert.ok(time && Number.isInteger(ms));
  assert.match(reason, /^Your server answered 500 in \d+ ms$/);
  const all = service.logged.join('');
  for (const kept of [
    secret,
    '/hook',
    'part-of-the-query',
    'words-of',
    'reference-of',
    'reply-of',
    payment.id,
  ])
    assert.ok(!all.includes(kept), kept);
  await remove(id);
});

test('an endpoint that several attempts at once find gone is said to be disabled once.', async () => {
  const held: ServerResponse[] = [];
  receiver.reply = (_received, response) => void held.push(response);
  const { id } = await add('/gone');
  await Promise.all(Array.from({ length: 4 }, () => service.create()));
  await receiver.have(4, '/gone');
  for (const response of held) response.writeHead(410).end();
  await eventually(async () => lines(FAILED).filter(({ endpoint }) => endpoint === id).length === 4);
  const [{ level, endpoint, status, reason }, ...others] = lines(DISABLED);
  assert.deepEqual(others, []);
  assert.deepEqual([level, endpoint, status], [40, id, 410]);
  assert.equal(reason, 'Its server answered 410, gone');
});

test('the name of the server is left out of the reason.', () => {
  const said: { reason: string }[] = [];
  const log = { info: (fields: { reason: string }) => void said.push(fields), warn: () => {} };
  const endpoint = { url: 'https://private-name.example:8443/x', merchant_id: 'mer_x' } as Endpoint;
  const delivery = { id: 'dlv_x', endpoint_id: 'whe_x', event_id: 'evt_x', attempts: 0 } as Delivery;
  const outcome = { ok: false, status: null, ms: 1, reply: null, retryAfterMs: null };
  const noted = { status: 'retrying', disabled: null } as const;
  for (const reason of [
    'The name private-name.example does not lead to public addresses',
    'No connection to private-name.example:8443 within 5 s',
  ])
    logAttempt(log as never, endpoint, delivery, { ...outcome, reason }, noted);
  assert.deepEqual(
    said.map(({ reason }) => reason),
    ['The name … does not lead to public addresses', 'No connection to … within 5 s'],
  );
});
