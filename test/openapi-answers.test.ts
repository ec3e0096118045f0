// The OpenAPI document is true: every real answer validates against what it says of that path, method and status.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { issueKey, WORKING_KEYS_MAXIMUM } from '../src/merchants/api-keys.ts';
import {
  type Answer,
  OTHER_KEY,
  type RequestOptions,
  sharedHarness,
  startHarness,
} from './support/harness.ts';
import { heldUp } from './support/journal.ts';
import { DocumentedService, type HoldOptions, LIMITED, type Method, SLOW_KEY } from './support/openapi.ts';
import { setState } from './support/store-merchant.ts';
import { ENGINES } from './support/stores.ts';

const TRIALS = ['submit', 'approve', 'reject', 'expire', 'record', 'request_link'];

/** Documented, but not seen here: it takes ten seconds (test/web/errors.test.ts). */
const NOT_PROVOKED = / 408$/;

/** Webhooks and /admin have tests of their own. */
const UNDER_V1 = ['/v1/payments', '/v1/test/', '/v1/events', '/v1/api_keys'];
const PATHS = ['/health', ...UNDER_V1];

for (const engine of ENGINES) {
  describe(`answers against openapi.json on ${engine}`, () => {
    const service = sharedHarness(engine, { configuration: LIMITED });
    let documented: DocumentedService;

    before(async () => {
      documented = await DocumentedService.of(service);
    });

    const hold = (method: Method, template: string, options: HoldOptions) =>
      documented.hold(method, template, options);

    const sendLink = (options: HoldOptions) => hold('POST', '/v1/payments/{payment_id}/send_link', options);

    test('what the service answers is as documented: success.', async () => {
      await hold('GET', '/health', { key: null });
      await hold('GET', '/health/ready', { key: null });
      const whole = {
        amount: 12.5,
        currency: 'eur',
        merchant_reference: 'A',
        description: 'B',
        return_url: 'https://a.example',
        cancel_url: 'https://b.example',
        customer: { name: 'A', email: 'a@b.example', phone: '1' },
        metadata: { a: [1, null] },
        expires_in: 300,
      };
      const request = documented.ajv.getSchema(
        'https://document.example/#/components/schemas/PaymentRequest',
      )!;
      for (const body of [
        { amount: 1 },
        whole,
        { amount: 1, customer: null, metadata: null, currency: null },
      ]) {
        assert.ok(request(body), JSON.stringify(request.errors));
        const { id } = (await hold('POST', '/v1/payments', { body })).json.data;
        const { headers } = await hold('GET', '/v1/payments/{payment_id}', { id });
        const known = { 'if-none-match': headers.get('etag')! };
        await hold('GET', '/v1/payments/{payment_id}', { id, headers: known });
        await hold('GET', '/v1/payments', { query: '?limit=1' });
        const [event] = (await hold('GET', '/v1/payments/{payment_id}/events', { id })).json.data;
        await hold('GET', '/v1/events', { query: `?limit=1&after=${event.id}` });
        await hold('GET', '/v1/events/{event_id}', { id: event.id });
        await sendLink({ id });
        await hold('POST', '/v1/payments/{payment_id}/cancel', { id });
        await hold('GET', '/v1/payments/{payment_id}', { id });
      }
      await sendLink({});
      await hold('GET', '/v1/payments', { query: '?merchant_reference=nobody' });
    });

    test('what the document refuses in a request, the service refuses as well.', async () => {
      const request = documented.ajv.getSchema(
        'https://document.example/#/components/schemas/PaymentRequest',
      )!;
      for (const body of [
        {},
        { amount: '1' },
        { amount: 0 },
        { amount: 1e12 },
        { amount: 1, currency: 1 },
        { amount: 1, expires_in: 1.5 },
        { amount: 1, expires_in: 299 },
        { amount: 1, description: 'x'.repeat(1001) },
        { amount: 1, customer: [1] },
        { amount: 1, metadata: 'x' },
      ]) {
        assert.equal(request(body), false, JSON.stringify(body));
        assert.equal((await hold('POST', '/v1/payments', { body })).status, 422);
      }
    });

    test('what the service answers is as documented: errors of every endpoint.', async () => {
      for (const { path, method } of documented.operations(...PATHS)) {
        await documented.holdSyntaxErrors(method, path);
        if (path.startsWith('/v1')) await hold(method, path, { key: null });
      }
      await setState(service, 'mer_other', 'suspended');
      for (const { path, method } of documented.operations(...UNDER_V1))
        assert.equal((await hold(method, path, { key: OTHER_KEY })).status, 403);
      await setState(service, 'mer_other', 'resumed');
    });

    test('what the service answers is as documented: a key that has used up its requests.', async () => {
      for (const { path, method } of documented.operations(...UNDER_V1)) {
        const statuses: number[] = [];
        while (statuses.at(-1) !== 429 && statuses.length < 10)
          statuses.push((await hold(method, path, { key: SLOW_KEY })).status);
        assert.equal(statuses.at(-1), 429, String(statuses));
      }
    });

    test('what the service answers is as documented: errors of payments.', async () => {
      const post = (options: RequestOptions) => hold('POST', '/v1/payments', options);
      await post({ body: '{' });
      await post({ body: '{}', headers: { 'content-type': 'text/plain' } });
      await post({ body: `"${'x'.repeat(64 * 1024)}"` });
      await post({ body: {}, headers: { 'idempotency-key': '' } });
      const headers = { 'idempotency-key': 'openapi' };
      const { id } = (await post({ body: { amount: 1 }, headers })).json.data;
      await post({ body: { amount: 1 }, headers });
      await post({ body: { amount: 2 }, headers });
      await hold('GET', '/v1/payments', { query: '?limit=0' });
      await hold('GET', '/v1/events', { query: '?after=x' });
      await hold('GET', '/v1/events/stream', {});
      await hold('GET', '/v1/events/{event_id}', {});
      await hold('GET', '/v1/payments/{payment_id}/events', {});
      await hold('GET', '/v1/payments/{payment_id}/events', { id, query: '?type=x' });
      await hold('GET', '/v1/payments/{payment_id}', {});
      const cancel = (options: RequestOptions & { id?: string }) =>
        hold('POST', '/v1/payments/{payment_id}/cancel', options);
      await cancel({});
      await cancel({ id });
      await cancel({ id });
      await cancel({ id, headers: { 'idempotency-key': '' } });
      await sendLink({ id, headers: { 'idempotency-key': '' } });
    });

    test('what the service answers is as documented: trying out.', async () => {
      for (const trial of TRIALS) {
        const { id } = await service.create();
        const attempt = (options: RequestOptions & { id?: string }) =>
          hold('POST', `/v1/test/payments/{payment_id}/${trial}`, options);
        if (trial === 'approve' || trial === 'reject')
          await hold('POST', '/v1/test/payments/{payment_id}/submit', { id });
        if (trial === 'request_link') await hold('POST', '/v1/test/payments/{payment_id}/expire', { id });
        await attempt({});
        await attempt({ id });
        await attempt({ id });
        await attempt({ id, headers: { 'idempotency-key': '' } });
        if (trial !== 'reject' && trial !== 'record') continue;
        await attempt({ id, body: '{' });
        await attempt({ id, body: '{}', headers: { 'content-type': 'text/plain' } });
        await attempt({ id, body: `"${'x'.repeat(64 * 1024)}"` });
      }
    });

    test('what the service answers is as documented: API keys.', async () => {
      const make = (options: RequestOptions) => hold('POST', '/v1/api_keys', options);
      const rotate = (id: string, options: RequestOptions) =>
        hold('POST', '/v1/api_keys/{key_id}/rotate', { id, ...options });
      const unknown = `key_${'0'.repeat(16)}`;
      const { id } = (await make({ body: { name: 'A', expires_in: 60 } })).json.data;
      await hold('GET', '/v1/api_keys/{key_id}', { id });
      await hold('GET', '/v1/api_keys/{key_id}', {});
      await hold('GET', '/v1/api_keys', { query: '?limit=1' });
      await hold('GET', '/v1/api_keys', { query: '?limit=0' });
      const rotated = (await rotate(id, { body: { overlap_seconds: 3600, name: 'B' } })).json;
      await hold('POST', '/v1/api_keys/{key_id}/revoke', { id: rotated.data.id });
      for (const one of [id, unknown]) await rotate(one, {});
      for (const one of [rotated.data.id, unknown])
        await hold('POST', '/v1/api_keys/{key_id}/revoke', { id: one });
      for (const post of [make, (options: RequestOptions) => rotate(id, options)]) {
        await post({ body: '{' });
        await post({ body: '{}', headers: { 'content-type': 'text/plain' } });
        await post({ body: { name: 'x'.repeat(64 * 1024) } });
        await post({ body: { name: 1 } });
      }
      const wish = { merchantId: 'mer_development', mode: 'test', name: null, expires_at: null } as const;
      const by = { actor: 'operator', request_id: null };
      const { journal } = service.service;
      for (let i = 0; i < WORKING_KEYS_MAXIMUM - 1; i++)
        await journal.commit((transaction) => issueKey(transaction, wish, by));
      await make({ body: {} });
      assert.equal((await make({ body: {} })).status, 409);
    });

    test('what the service answers is as documented: API keys of a store that takes nothing.', async () => {
      const other = await startHarness(engine);
      const held = new DocumentedService(other, documented.document);
      const { id } = (await held.hold('POST', '/v1/api_keys', { body: {} })).json.data;
      await other.service.journal.close();
      const each = async (status: number) => {
        for (const path of ['', '/{key_id}/rotate', '/{key_id}/revoke'])
          assert.equal(
            (await held.hold('POST', `/v1/api_keys${path}`, { id, ...(path === '' && { body: {} }) })).status,
            status,
          );
      };
      await each(503);
      await other.stop();
      await other.start();
      await other.service.database.script('alter table api_keys rename to gone');
      await each(500);
      for (const path of ['', '/{key_id}']) await held.hold('GET', `/v1/api_keys${path}`, { id });
      for (const one of held.seen) documented.seen.add(one);
      await other.close();
    });

    test('what the service answers is as documented: a request still in progress, and a store that takes nothing.', async () => {
      const { id } = await service.create();
      const { go } = await heldUp(service.service.journal);
      const headers = { 'idempotency-key': 'in progress' };
      const create = () => hold('POST', '/v1/payments', { body: { amount: 1 }, headers });
      const cancel = () => hold('POST', '/v1/payments/{payment_id}/cancel', { id, headers });
      // Of two that are the same, whichever comes first is being worked on.
      const creating = [create(), create()];
      const cancelling = [cancel(), cancel()];
      try {
        for (const pair of [creating, cancelling]) assert.equal((await Promise.race(pair)).status, 409);
      } finally {
        go();
      }
      const statuses = async (pair: Promise<Answer>[]) =>
        (await Promise.all(pair)).map(({ status }) => status).sort();
      assert.deepEqual(await statuses(creating), [201, 409]);
      assert.deepEqual(await statuses(cancelling), [200, 409]);
    });

    const tryEach = async () => {
      for (const trial of TRIALS) await hold('POST', `/v1/test/payments/{payment_id}/${trial}`, {});
    };

    test('every status that is documented was seen, but for one.', async () => {
      await service.service.journal.commit((transaction) =>
        transaction.query('alter table payments rename to gone'),
      );
      await hold('POST', '/v1/payments', { body: { amount: 1 } });
      await hold('GET', '/v1/payments', {});
      await hold('GET', '/v1/payments/{payment_id}', {});
      await hold('GET', '/v1/events', {});
      await hold('GET', '/v1/events/stream', {});
      await hold('GET', '/v1/events/{event_id}', { id: `evt_${'0'.repeat(34)}_1` });
      await hold('GET', '/v1/payments/{payment_id}/events', {});
      await hold('POST', '/v1/payments/{payment_id}/cancel', {});
      await sendLink({});
      await tryEach();
      await service.service.journal.close();
      service.clock.advance(2000);
      await pause(1100); // health asks the store once a second
      await hold('GET', '/health', {});
      await hold('GET', '/health/ready', {});
      await hold('POST', '/v1/payments', { body: { amount: 1 } });
      await hold('POST', '/v1/payments/{payment_id}/cancel', {});
      await sendLink({});
      await tryEach();
      // Nothing of health can break, and reading needs no store that takes writes.
      const exempt = [
        'GET /health 500',
        'GET /health/ready 500',
        'GET /v1/payments 503',
        'GET /v1/payments/{payment_id} 503',
        'GET /v1/payments/{payment_id}/events 503',
        'GET /v1/events 503',
        'GET /v1/events/stream 200', // never ends: test/payments/events/stream.test.ts
        'GET /v1/events/stream 503',
        'GET /v1/events/{event_id} 503',
        'GET /v1/api_keys 503',
        'GET /v1/api_keys/{key_id} 503',
      ];
      assert.deepEqual(
        documented.unseen(...PATHS).filter((one) => !NOT_PROVOKED.test(one) && !exempt.includes(one)),
        [],
      );
    });
  });
}
