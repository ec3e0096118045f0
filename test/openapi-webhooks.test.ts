// The OpenAPI document is true of webhooks: every real answer validates against what it says of that path, method and status.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { deleteEndpoint, disableEndpoint, takeOver } from '../src/webhooks/change.ts';
import { type Harness, OTHER_KEY, type RequestOptions, startHarness } from './support/harness.ts';
import { heldUp } from './support/journal.ts';
import { DocumentedService, type HoldOptions, LIMITED, type Method, SLOW_KEY } from './support/openapi.ts';
import { setState } from './support/store-merchant.ts';
import { ENGINES } from './support/stores.ts';
import { eventually, until } from './support/waiting.ts';
import { answering, WebhookReceiver } from './support/webhook-receiver.ts';

const PATHS = ['/v1/webhook_endpoints', '/v1/deliveries'];
/** Documented, but not seen here: it takes ten seconds (test/web/errors.test.ts). */
const NOT_PROVOKED = / 408$/;
const ENDPOINT = '/v1/webhook_endpoints/{endpoint_id}';
const DELIVERY = '/v1/deliveries/{delivery_id}';

for (const engine of ENGINES) {
  describe(`answers about webhooks against openapi.json on ${engine}`, () => {
    let service: Harness;
    let documented: DocumentedService;
    let receiver: WebhookReceiver;
    const body = () => ({ url: receiver.url() });

    before(async () => {
      service = await startHarness(engine, { configuration: LIMITED });
      documented = await DocumentedService.of(service);
      receiver = await WebhookReceiver.start();
    });
    after(async () => {
      await service.close();
      await receiver.close();
    });

    const hold = (method: Method, template: string, options: HoldOptions = {}) =>
      documented.hold(method, template, options);
    const create = (options: RequestOptions = {}) =>
      hold('POST', '/v1/webhook_endpoints', { body: body(), ...options });
    const operations = () => documented.operations(...PATHS);

    test('what the service answers is as documented: success.', async () => {
      const { id, ...made } = (await create()).json.data;
      assert.match(made.secret, /^whsec_/);
      receiver.reply = answering(500);
      await service.create();
      await receiver.have(1);
      await hold('GET', '/v1/webhook_endpoints');
      await hold('GET', ENDPOINT, { id });
      await hold('PATCH', ENDPOINT, { id, body: { description: 'Till', types: ['payment.created'] } });
      await hold('POST', `${ENDPOINT}/rotate_secret`, { id });
      await hold('POST', `${ENDPOINT}/test`, { id });
      let delivery: { id: string; status: string };
      do [delivery] = (await hold('GET', `${ENDPOINT}/deliveries`, { id, query: '?limit=1' })).json.data;
      while (delivery!.status === 'pending');
      await hold('GET', DELIVERY, { id: delivery!.id });
      await hold('GET', ENDPOINT, { id });
      const since = new Date(service.clock.now() - 60_000).toISOString();
      for (const what of ['failed', 'missing'])
        await hold('POST', `${ENDPOINT}/resend`, { id, body: { what, since } });
      await hold('POST', `${DELIVERY}/resend`, { id: delivery!.id });
      await hold('DELETE', ENDPOINT, { id });
      receiver.reply = answering(200);
    });

    test('what an endpoint is sent is as documented, for each type of event.', async () => {
      const { webhooks, components } = documented.document;
      const { type } = (components.schemas.Event as { properties: { type: { enum: string[] } } }).properties;
      assert.deepEqual(Object.keys(webhooks).sort(), [...type.enum, 'webhook.test'].sort());
      const { id } = (await create({ body: { url: receiver.url('/sent') } })).json.data;
      const { id: payment } = await service.create();
      await service.request(`/v1/payments/${payment}/cancel`, { method: 'POST' });
      // It is sent once, and a process that stands still may give it up.
      await eventually(
        async () => (await hold('POST', `${ENDPOINT}/test`, { id })).json.data.delivered === true,
      );
      const all = await until(
        () => receiver.received.filter(({ path }) => path === '/sent'),
        (came) => new Set(came.map(({ event }) => event.type)).size === 3,
      );
      const types = all.map(({ event }) => event.type).filter((one) => one !== 'webhook.test');
      assert.deepEqual(types.sort(), ['payment.cancelled', 'payment.created']);
      for (const { event, headers } of all) {
        const { parameters } = webhooks[event.type]!.post!;
        for (const { name, required } of parameters!) assert.ok(required && headers[name], name);
        const schema = `${event.type}/post/requestBody/content/application~1json/schema`;
        const validate = documented.ajv.getSchema(`https://document.example/#/webhooks/${schema}`)!;
        assert.ok(validate(event), JSON.stringify(validate.errors));
        assert.equal(validate({ ...event, type: 'payment.approved' }), false);
      }
      await hold('DELETE', ENDPOINT, { id });
    });

    test('what the service answers is as documented: errors of every endpoint.', async () => {
      for (const { path, method } of operations()) {
        await documented.holdSyntaxErrors(method, path);
        await hold(method, path, { key: null });
      }
      await setState(service, 'mer_other', 'suspended');
      for (const { path, method } of operations())
        assert.equal((await hold(method, path, { key: OTHER_KEY })).status, 403);
      await setState(service, 'mer_other', 'resumed');
      for (const { path, method } of operations()) {
        const statuses: number[] = [];
        while (statuses.at(-1) !== 429 && statuses.length < 10)
          statuses.push((await hold(method, path, { key: SLOW_KEY })).status);
        assert.equal(statuses.at(-1), 429, String(statuses));
      }
    });

    test('what the service answers is as documented: what is wrong, and what is not there.', async () => {
      const since = new Date(service.clock.now() - 60_000).toISOString();
      const { id } = (await create({ headers: { 'idempotency-key': 'openapi' } })).json.data;
      await create({ headers: { 'idempotency-key': 'openapi' }, body: { ...body(), description: 'x' } });
      await create({ headers: { 'idempotency-key': '' } });
      for (const [method, path] of [
        ['POST', '/v1/webhook_endpoints'],
        ['PATCH', ENDPOINT],
        ['POST', `${ENDPOINT}/resend`],
      ] as const) {
        await hold(method, path, { id, body: '{' });
        await hold(method, path, { id, body: '{}', headers: { 'content-type': 'text/plain' } });
        await hold(method, path, { id, body: { description: 'x'.repeat(64 * 1024) } });
        await hold(method, path, { id, body: { url: 1, what: 1, description: 1 } });
      }
      await hold('POST', `${ENDPOINT}/rotate_secret`, { id, headers: { 'idempotency-key': '' } });
      await hold('GET', `${ENDPOINT}/deliveries`, { id, query: '?limit=0' });
      await service.create();
      let delivery: { id: string } | undefined;
      while (!delivery) {
        [delivery] = (await hold('GET', `${ENDPOINT}/deliveries`, { id })).json.data;
        await pause(50);
      }
      const again = { id: delivery.id, headers: { 'idempotency-key': '' } };
      await hold('POST', `${DELIVERY}/resend`, again);
      for (const { path, method } of operations())
        if (path.includes('{'))
          await hold(method, path, method === 'GET' ? {} : { body: { what: 'failed', since } });
      const { journal } = service.service;
      const act = { actor: 'operator', request_id: null };
      await journal.commit((transaction) => disableEndpoint(transaction, id, 'operator', act));
      await hold('PATCH', ENDPOINT, { id, body: { status: 'enabled' } });
      await hold('POST', `${ENDPOINT}/resend`, { id, body: { what: 'failed', since } });
      await hold('POST', `${DELIVERY}/resend`, { id: delivery.id });
      const ofFile = { merchant_id: 'mer_development', mode: 'test', name: 'shop', types: null } as const;
      await takeOver(service.service, [{ ...ofFile, url: receiver.url() }], { warn() {} });
      const { data: all } = (await hold('GET', '/v1/webhook_endpoints')).json;
      const taken = all.find((one: { description: string }) => one.description === ofFile.name);
      await hold('DELETE', ENDPOINT, { id: taken.id });
      await journal.commit((transaction) => deleteEndpoint(transaction, taken.id, act));
      for (let i = 0; i < 16; i++) await create();
      receiver.reply = () => {}; // never answers
      const tests = [hold('POST', `${ENDPOINT}/test`, { id }), hold('POST', `${ENDPOINT}/test`, { id })];
      assert.deepEqual((await Promise.all(tests)).map(({ status }) => status).sort(), [200, 409]);
      const { go } = await heldUp(journal);
      const headers = { 'idempotency-key': 'in progress' };
      const turn = () => hold('POST', `${ENDPOINT}/rotate_secret`, { id, headers });
      const turning = [turn(), turn()];
      try {
        assert.equal((await Promise.race(turning)).status, 409);
      } finally {
        go();
      }
      await Promise.all(turning);
    });

    test('every status that is documented was seen, but for one.', async () => {
      const [{ id }] = (await hold('GET', '/v1/webhook_endpoints')).json.data;
      const [delivery] = (await hold('GET', `${ENDPOINT}/deliveries`, { id })).json.data;
      const since = new Date(service.clock.now() - 60_000).toISOString();
      const each = async (isWanted: (method: Method, path: string) => boolean) => {
        for (const { path, method } of operations().filter((one) => isWanted(one.method, one.path))) {
          const isDelivery = path.startsWith(DELIVERY);
          const fields = path.endsWith('/resend') ? { what: 'failed', since } : body();
          const sent = method === 'GET' ? {} : { body: fields };
          await hold(method, path, { id: isDelivery ? delivery.id : id, ...sent });
        }
      };
      await service.service.journal.commit((transaction) =>
        transaction.query('alter table webhook_endpoints rename to gone'),
      );
      service.service.database.refresh();
      await each(() => true);
      await service.service.journal.commit((transaction) =>
        transaction.query('alter table gone rename to webhook_endpoints'),
      );
      await service.service.journal.close();
      service.service.database.refresh();
      await each((method, path) => method !== 'GET' && !path.endsWith('/test'));
      // Reading needs no store that takes writes, and a test event none at all.
      const exempt = operations()
        .filter(({ method, path }) => method === 'GET' || path.endsWith('/test'))
        .map(({ method, path }) => `${method} ${path} 503`);
      assert.deepEqual(
        documented.unseen(...PATHS).filter((one) => !NOT_PROVOKED.test(one) && !exempt.includes(one)),
        [],
      );
    });
  });
}
