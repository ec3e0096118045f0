// /v1/webhook_endpoints and /v1/deliveries: what a merchant can set, what is refused, and that nobody reaches what is somebody else's.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Harness, OTHER_KEY, type RequestOptions, sharedHarness } from '../../support/harness.ts';
import { shared } from '../../support/shared.ts';
import { becomes, eventually } from '../../support/waiting.ts';
import { answering, WebhookReceiver } from '../../support/webhook-receiver.ts';

const ENDPOINTS = '/v1/webhook_endpoints';
const DAY_MS = 86_400_000;
const daysAgo = (service: Harness, days: number) =>
  new Date(service.clock.now() - days * DAY_MS).toISOString();

/** What is wrong with a new endpoint, by the field that the answer must name. */
const BAD_ENDPOINTS: [string, object][] = [
  ['url', {}],
  ['url', { url: null }],
  ['url', { url: 1 }],
  ['url', { url: '' }],
  ['url', { url: 'hook' }],
  ['url', { url: '/hook' }],
  ['url', { url: 'ftp://shop.example/hook' }],
  ['url', { url: 'javascript:alert(1)' }],
  ['url', { url: 'https://' }],
  ['url', { url: 'https://user@shop.example' }],
  ['url', { url: 'https://user:pass@shop.example' }],
  ['url', { url: 'https://shop.example/a b' }],
  ['url', { url: 'https://shop.example\\hook' }],
  ['url', { url: 'https://shop.example/\n' }],
  ['url', { url: `https://shop.example/${'x'.repeat(2048)}` }],
  ['url', { url: 'https://10.0.0.1/hook' }],
  ['url', { url: 'https://[fd12::1]/hook' }],
  ['url', { url: 'https://167772161/' }],
  ['url', { url: 'https://0xa.1/' }],
  ['url', { url: 'https://012.0.0.1/' }],
  ['url', { url: ['https://shop.example'] }],
  ['types', { types: [] }],
  ['types', { types: 'payment.created' }],
  ['types', { types: {} }],
  ['types.0', { types: ['payment.paid'] }],
  ['types.0', { types: [null] }],
  ['types.1', { types: ['payment.created', 7] }],
  ['types', { types: Array(10).fill('payment.created') }],
  ['description', { description: 1 }],
  ['description', { description: 'x'.repeat(256) }],
  ['description', { description: 'a\u0000b' }],
  ['description', { description: 'a\u202eb' }],
  ['description', { description: [] }],
];
const BAD_CHANGES: [string, object][] = [
  ['status', { status: 'off' }],
  ['status', { status: true }],
  ...BAD_ENDPOINTS.slice(1).filter(([, { url = 'x' }]: [string, { url?: unknown }]) => url),
];

describe('webhook endpoints', () => {
  const service = sharedHarness('sqlite', { isVerified: true });
  const receiver = shared(WebhookReceiver.start);

  const send = (method: string, path = '', options: RequestOptions = {}) =>
    service.request(ENDPOINTS + path, { method, ...options });
  async function create(fields: object = {}, options: RequestOptions = {}) {
    const body = { url: receiver.url(), ...fields };
    const answer = await send('POST', '', { body, ...options });
    assert.equal(answer.status, 201, answer.text);
    return answer.json.data;
  }
  const remove = async (id: string) => assert.equal((await send('DELETE', `/${id}`)).status, 200);

  test('an endpoint is created, listed, read, changed and deleted; its secret is told once.', async () => {
    const made = await send('POST', '', { body: { url: receiver.url(), description: 'Till' } });
    const { secret, ...data } = made.json.data;
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.ok(made.headers.get('location')!.endsWith(`${ENDPOINTS}/${data.id}`));
    assert.deepEqual((await send('GET', `/${data.id}`)).json.data, data);
    assert.deepEqual((await send('GET')).json.data, [data]);
    const types = ['payment.approved'];
    const changed = await send('PATCH', `/${data.id}`, { body: { types, description: null } });
    assert.deepEqual([changed.json.data.types, changed.json.data.description], [types, null]);
    assert.equal(changed.json.data.url, data.url);
    const off = await send('PATCH', `/${data.id}`, { body: { status: 'disabled', types: null } });
    assert.deepEqual([off.json.data.status, off.json.data.disabled_reason], ['disabled', 'merchant']);
    assert.equal(off.json.data.types, null);
    assert.deepEqual((await send('DELETE', `/${data.id}`)).json.data.deleted, true);
    for (const method of ['GET', 'DELETE']) assert.equal((await send(method, `/${data.id}`)).status, 404);
    assert.deepEqual((await send('GET')).json.data, []);
  });

  test('each wrong request is told what is wrong with which field.', async () => {
    assert.ok(BAD_ENDPOINTS.length + BAD_CHANGES.length >= 60);
    const { id } = await create();
    for (const [field, fields] of BAD_ENDPOINTS) {
      const body = { ...(field === 'url' ? {} : { url: receiver.url() }), ...fields };
      const answer = await send('POST', '', { body });
      assert.equal(answer.status, 422, `${JSON.stringify(fields)} ${answer.text}`);
      assert.deepEqual(Object.keys(answer.json.error.details), [field], answer.text);
    }
    for (const [field, body] of BAD_CHANGES) {
      const answer = await send('PATCH', `/${id}`, { body });
      assert.equal(answer.status, 422, `${JSON.stringify(body)} ${answer.text}`);
      assert.deepEqual(Object.keys(answer.json.error.details), [field], answer.text);
    }
    const since = daysAgo(service, 1);
    for (const [fields, body] of [
      ['what,since', {}],
      ['what', { what: 'all', since }],
      ['since', { what: 'failed', since: 'yesterday' }],
      ['since', { what: 'failed', since: '2026-11-20' }],
      ['since', { what: 'failed', since: daysAgo(service, 31) }],
      ['since', { what: 'missing', since: daysAgo(service, -1) }],
    ] as const) {
      const answer = await send('POST', `/${id}/resend`, { body });
      assert.equal(answer.status, 422, answer.text);
      assert.equal(Object.keys(answer.json.error.details).join(), fields, answer.text);
    }
    for (const query of ['limit=0', 'limit=101', 'status=done', 'cursor=x', 'cursor=d2hl']) {
      const answer = await send('GET', `/${id}/deliveries?${query}`);
      assert.equal(answer.status, 422, query);
      assert.deepEqual(Object.keys(answer.json.error.details), [query.split('=')[0]], query);
    }
    const strict = { headers: { prefer: 'handling=strict' }, body: { url: receiver.url(), urls: 1 } };
    assert.deepEqual(Object.keys((await send('POST', '', strict)).json.error.details), ['urls']);
    const long = { headers: { 'idempotency-key': 'x'.repeat(256) }, body: {} };
    const both = Object.keys((await send('POST', '', long)).json.error.details);
    assert.deepEqual(both.sort(), ['Idempotency-Key', 'url']);
    assert.equal((await send('GET')).json.data.length, 1, 'nothing was made');
    await remove(id);
  });

  test('a merchant has 16 endpoints in a mode at most, however many requests come at once.', async () => {
    const all = await Promise.all(
      Array.from({ length: 24 }, () => send('POST', '', { body: { url: receiver.url() } })),
    );
    const statuses = all.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [...Array(16).fill(201), ...Array(8).fill(409)]);
    const { data } = (await send('GET')).json;
    assert.equal(data.length, 16);
    await create({}, { key: OTHER_KEY });
    await remove(data[3].id);
    const { id } = await create();
    for (const one of (await send('GET')).json.data) await remove(one.id);
    assert.notEqual(id, data[3].id);
  });

  test('the same idempotency key gives the same endpoint again without its secret, and the store holds no secret.', async () => {
    const body = { url: receiver.url(), description: 'once' };
    const options = { headers: { 'idempotency-key': 'hook-1' }, body };
    const first = await send('POST', '', options);
    const again = await send('POST', '', options);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    const { id, secret } = first.json.data;
    assert.match(secret, /^whsec_/);
    assert.deepEqual(again.json.data, { ...first.json.data, secret: null });
    const rotate = () => send('POST', `/${id}/rotate_secret`, { headers: { 'idempotency-key': 'turn-1' } });
    const turned = await rotate();
    assert.notEqual(turned.json.data.secret, secret);
    assert.match(turned.json.data.secret, /^whsec_/);
    assert.deepEqual((await rotate()).json.data, { ...turned.json.data, secret: null });
    const { database } = service.service;
    const kept = [
      ...(await database.query('select body from idempotency_keys')),
      ...(await database.query('select secret, old_secret from webhook_endpoints')),
      ...(await database.query('select facts from audit_entries')),
    ];
    assert.ok(kept.length > 3);
    assert.ok(!JSON.stringify(kept).includes('whsec_'));
    await remove(id);
  });

  test('both secrets sign for 24 hours after a rotation, then the new one alone.', async () => {
    const { id, secret } = await create();
    const turned = await send('POST', `/${id}/rotate_secret`);
    const now = turned.json.data.secret;
    assert.ok(turned.json.data.old_secret_until);
    const sent = async () => {
      const { data } = (await send('POST', `/${id}/test`)).json;
      assert.deepEqual([data.delivered, data.status], [true, 200], JSON.stringify(data));
      const received = receiver.received.find((one) => one.id === data.event_id)!;
      assert.equal(received.event.type, 'webhook.test');
      return [secret, now].map((one) => WebhookReceiver.isSigned(received, [one]));
    };
    assert.deepEqual(await sent(), [true, true]);
    service.clock.advance(DAY_MS + 1000);
    assert.deepEqual(await sent(), [false, true]);
    await remove(id);
  });

  test('nothing of another merchant is reached: endpoints, deliveries, resends.', async () => {
    const { id } = await create({ url: receiver.url('/own') });
    await service.create();
    await receiver.have(1, '/own');
    const [delivery] = (await send('GET', `/${id}/deliveries`)).json.data;
    const resendBody = { what: 'failed', since: daysAgo(service, 1) };
    for (const [method, path, body] of [
      ['GET', `${ENDPOINTS}/${id}`],
      ['PATCH', `${ENDPOINTS}/${id}`, { status: 'disabled' }],
      ['DELETE', `${ENDPOINTS}/${id}`],
      ['POST', `${ENDPOINTS}/${id}/test`],
      ['POST', `${ENDPOINTS}/${id}/rotate_secret`],
      ['POST', `${ENDPOINTS}/${id}/resend`, resendBody],
      ['GET', `${ENDPOINTS}/${id}/deliveries`],
      ['GET', `/v1/deliveries/${delivery.id}`],
      ['POST', `/v1/deliveries/${delivery.id}/resend`],
    ] as const) {
      const theirs = await service.request(path, { method, body, key: OTHER_KEY });
      assert.equal(theirs.status, 404, `${method} ${path} ${theirs.text}`);
    }
    assert.ok(!(await send('GET', '', { key: OTHER_KEY })).text.includes(id));
    // The receiver has it before the attempt is written down.
    const attempts = async () => (await service.request(`/v1/deliveries/${delivery.id}`)).json.data.attempts;
    await eventually(async () => (await attempts()).length === 1);
    await remove(id);
    assert.equal((await service.request(`/v1/deliveries/${delivery.id}`)).status, 404);
  });

  test('a delivery is sent again by hand; what failed and what is missing, all at once.', async () => {
    await service.create({ expires_in: 5_000_000 }); // before there is an endpoint
    const { id } = await create({ url: receiver.url('/again'), types: ['payment.created'] });
    receiver.reply = answering(500, { 'retry-after': '86400' }); // no attempt comes by itself
    const { id: payment } = await service.create({ expires_in: 5_000_000 });
    await receiver.have(1, '/again');
    receiver.reply = answering(200);
    const body = { what: 'failed', since: daysAgo(service, 1) };
    await becomes(1, async () => (await send('POST', `/${id}/resend`, { body })).json.data.deliveries);
    const [first, second] = await receiver.have(2, '/again');
    assert.equal(first!.id, second!.id);
    const query = `?payment_id=${payment}`;
    const [delivery] = (await send('GET', `/${id}/deliveries${query}`)).json.data;
    assert.equal(
      (await service.request(`/v1/deliveries/${delivery.id}/resend`, { method: 'POST' })).status,
      200,
    );
    await receiver.have(3, '/again');
    const missing = { what: 'missing', since: daysAgo(service, 29) };
    assert.equal((await send('POST', `/${id}/resend`, { body: missing })).status, 200);
    await receiver.have(4, '/again');
    const created = (await service.request('/v1/events?type=payment.created&limit=100')).json.data;
    const came = () => receiver.received.filter(({ path }) => path === '/again');
    await becomes(created.length, () => new Set(came().map((one) => one.id)).size); // all events of the history
    const off = await send('PATCH', `/${id}`, { body: { status: 'disabled' } });
    assert.equal(off.status, 200);
    assert.equal((await send('POST', `/${id}/resend`, { body })).json.error.code, 'invalid_status');
    await remove(id);
  });
});
