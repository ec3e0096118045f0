// What programs send for nothing, in every body and every address of the API: one rule for an optional value that is absent.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { addPerson, sentForReview } from '../../support/admin.ts';
import { type Answer, sharedHarness } from '../../support/harness.ts';
import { type Document, resolved } from '../../support/openapi.ts';

/** Values for nothing: of any field, and of an object. */
const NOTHING = [null, '', ' ', ' \t ', '\u200b', '\u3164 \u2060\ufe0f'];
const NO_OBJECT = [...NOTHING, []];

describe('optional values that are absent', () => {
  const service = sharedHarness('sqlite');
  let token: string;
  before(async () => {
    ({ token } = await addPerson(service, 'administrator'));
  });

  const post = (path: string, body: object, key?: string) =>
    service.request(path, { method: 'POST', body, ...(key && { key }) });
  const ok = (answer: Answer, what: unknown) => {
    assert.ok(answer.status < 300, `${JSON.stringify(what)}: ${answer.status} ${answer.text}`);
    return answer.json.data;
  };

  test('every optional field of a payment, and of its customer, takes what stands for nothing.', async () => {
    const { components } = (await service.request('/openapi.json')).json as Document;
    const { properties } = components.schemas.PaymentRequest as { properties: Record<string, object> };
    const objects = ['customer', 'metadata'];
    for (const name of Object.keys(properties).filter((one) => one !== 'amount'))
      for (const value of objects.includes(name) ? NO_OBJECT : NOTHING) {
        const payment = ok(await post('/v1/payments', { amount: 5, [name]: value }), [name, value]);
        if (name in payment) assert.equal(payment[name], name === 'currency' ? 'USD' : null, name);
      }
    for (const name of ['name', 'email', 'phone'])
      for (const value of NOTHING) {
        const { customer } = ok(await post('/v1/payments', { amount: 5, customer: { [name]: value } }), name);
        assert.deepEqual(customer, { name: null, email: null, phone: null });
      }
    assert.equal((await post('/v1/payments', { amount: '' })).status, 422);
    assert.equal((await post('/v1/payments', { amount: 5, description: [] })).status, 422);
    const { metadata } = ok(await post('/v1/payments', { amount: 5, metadata: { note: '', list: [] } }), '');
    assert.deepEqual(metadata, { note: '', list: [] });
  });

  test('blanks around an e-mail address, a name and a telephone number are trimmed, and nothing else is.', async () => {
    const customer = { name: ' Jo Doe ', email: ' jo@example.org\n', phone: '\u00a0+49 30 1 ' };
    const sent = { amount: 5, merchant_reference: ' 7 ', description: ' a ', customer };
    const payment = ok(await post('/v1/payments', sent), sent);
    assert.deepEqual(payment.customer, { name: 'Jo Doe', email: 'jo@example.org', phone: '+49 30 1' });
    assert.equal(payment.merchant_reference, ' 7 ');
    assert.equal(payment.description, ' a ');
    assert.equal((await post('/v1/payments', { amount: 5, return_url: ' https://a.example' })).status, 422);
    const registration = {
      business_name: ' Corner ',
      email: ' corner@example.org ',
      website: '',
      invite: ' ',
    };
    const { merchant } = ok(await post('/register', registration), registration);
    assert.deepEqual([merchant.business_name, merchant.email], ['Corner', 'corner@example.org']);
  });

  test('keys, webhook endpoints, trials and the acts of administrators go by the same rule.', async () => {
    const url = 'https://shop.example/hook';
    for (const nothing of NOTHING) {
      const key = ok(await post('/v1/api_keys', { name: nothing, expires_in: nothing }), nothing);
      assert.equal(key.name, null);
      const rotation = { name: nothing, overlap_seconds: nothing };
      ok(await post(`/v1/api_keys/${key.id}/rotate`, rotation), nothing);
      const wish = { url, types: nothing, description: nothing };
      const endpoint = ok(await post('/v1/webhook_endpoints', wish), nothing);
      assert.deepEqual([endpoint.types, endpoint.description], [null, null]);
      const change = { method: 'PATCH', body: { url: nothing, status: nothing } };
      const changed = ok(await service.request(`/v1/webhook_endpoints/${endpoint.id}`, change), nothing);
      assert.deepEqual([changed.url, changed.status], [url, 'enabled']);
      await service.request(`/v1/webhook_endpoints/${endpoint.id}`, { method: 'DELETE' });
      const id = await sentForReview(service);
      const rejection = { reason: nothing, message: nothing };
      const tried = ok(await post(`/v1/test/payments/${id}/reject`, rejection), nothing);
      assert.deepEqual([tried.status_reason, tried.review_message], ['other', null]);
      const other = await sentForReview(service);
      const approval = { note: nothing, bank_reference: nothing, version: nothing };
      ok(await post(`/admin/payments/${other}/approve`, approval, token), nothing);
    }
  });

  test('every parameter of every list may be empty.', async () => {
    service.clock.stop(); // a key tells by the minute when it was used last
    const { paths } = resolved((await service.request('/openapi.json')).json as Document);
    let lists = 0;
    for (const [path, { get }] of Object.entries(paths)) {
      const names = (get?.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name);
      if (names.length === 0 || path.includes('{') || path.endsWith('/stream')) continue;
      lists++;
      const key = path.startsWith('/admin') ? token : undefined;
      const read = (query: string) => service.request(`${path}?${query}`, key ? { key } : {});
      const whole = await read('');
      for (const blank of ['', '+', '%20'])
        for (const name of names) {
          const answer = await read(`${name}=${blank}`);
          assert.equal(answer.status, 200, `${path} ${name} ${answer.text}`);
          if (name !== 'updated_after') assert.deepEqual(answer.json, whole.json, `${path} ${name}`);
        }
    }
    assert.ok(lists >= 8, `${lists} lists`);
  });
});
