// The OpenAPI document: well-formed, complete, and of schemas that compile.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ROUTINE_ACTS } from '../src/operate/rooms.ts';
import { sharedHarness } from './support/harness.ts';
import { type Document, METHODS, resolved } from './support/openapi.ts';

describe('openapi.json', () => {
  const service = sharedHarness('sqlite');
  let document: Document;
  let whole: { text: string; json: Document };

  before(async () => {
    const { text, json } = await service.request('/openapi.json', { key: null });
    whole = { text, json };
    document = resolved(json);
  });

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, item]) =>
      METHODS.flatMap((method) => (item[method] ? [{ path, method, operation: item[method] }] : [])),
    );

  test('it is OpenAPI 3.1, and names its title, version and server.', () => {
    assert.match(document.openapi, /^3\.1\.\d+$/);
    assert.equal(typeof document.info.title, 'string');
    assert.match(document.info.version, /^\d+\.\d+\.\d+/);
    assert.deepEqual(
      document.servers.map(({ url }) => url),
      [service.service.baseUrl],
    );
  });

  test('it has exactly the endpoints of the specification, of trying out, of events, of keys, of webhooks and of /admin.', () => {
    const named = operations().map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    const endpoints = [
      'GET /health',
      'GET /health/ready',
      'POST /v1/payments',
      'GET /v1/payments',
      'GET /v1/payments/{payment_id}',
      'POST /v1/payments/{payment_id}/cancel',
      'POST /v1/payments/{payment_id}/send_link',
      'POST /v1/test/payments/{payment_id}/submit',
      'POST /v1/test/payments/{payment_id}/approve',
      'POST /v1/test/payments/{payment_id}/reject',
      'POST /v1/test/payments/{payment_id}/expire',
      'POST /v1/test/payments/{payment_id}/record',
      'POST /v1/test/payments/{payment_id}/request_link',
      'GET /v1/payments/{payment_id}/events',
      'GET /v1/events',
      'GET /v1/events/stream',
      'GET /v1/events/{event_id}',
      'GET /v1/api_keys',
      'POST /v1/api_keys',
      'GET /v1/api_keys/{key_id}',
      'POST /v1/api_keys/{key_id}/rotate',
      'POST /v1/api_keys/{key_id}/revoke',
      'GET /v1/webhook_endpoints',
      'POST /v1/webhook_endpoints',
      'GET /v1/webhook_endpoints/{endpoint_id}',
      'PATCH /v1/webhook_endpoints/{endpoint_id}',
      'DELETE /v1/webhook_endpoints/{endpoint_id}',
      'POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret',
      'POST /v1/webhook_endpoints/{endpoint_id}/test',
      'POST /v1/webhook_endpoints/{endpoint_id}/resend',
      'GET /v1/webhook_endpoints/{endpoint_id}/deliveries',
      'GET /v1/deliveries/{delivery_id}',
      'POST /v1/deliveries/{delivery_id}/resend',
      'POST /register',
      'GET /admin/payments',
      'GET /admin/payments/{payment_id}',
      'POST /admin/payments/{payment_id}/approve',
      'POST /admin/payments/{payment_id}/reject',
      'POST /admin/payments/{payment_id}/record',
      'GET /admin/audit/entries',
      'GET /admin/audit/entries/{number}',
      'GET /admin/audit/seal',
      'GET /admin/audit/checkpoint',
      'GET /admin/statements',
      'POST /admin/statements',
      'GET /admin/statement_imports/{import_id}',
      'POST /admin/statements/{statement_id}/undo',
      'GET /admin/statement_lines',
      'GET /admin/webhook_endpoints',
      'GET /admin/webhook_endpoints/{endpoint_id}',
      'GET /admin/webhook_endpoints/{endpoint_id}/deliveries',
      'GET /admin/deliveries/{delivery_id}',
      'POST /admin/deliveries/{delivery_id}/resend',
      ...ROUTINE_ACTS.flatMap(({ admin, acts }) =>
        acts.filter(({ endpoint }) => endpoint).map(({ name }) => `POST ${admin}/${name}`),
      ),
    ];
    assert.deepEqual(named.sort(), endpoints.sort());
  });

  test('every operation has an id of its own, a summary, and parameters that its path has.', () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    assert.equal(new Set(ids).size, ids.length);
    for (const { path, operation } of operations()) {
      assert.ok(operation.summary);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const parameters = operation.parameters ?? [];
      assert.deepEqual(
        parameters.filter((one) => one.in === 'path').map(({ name }) => name),
        inPath,
      );
      for (const one of parameters) {
        assert.ok(['path', 'query', 'header', 'cookie'].includes(one.in));
        assert.ok(one.schema && (one.in !== 'path' || one.required));
      }
      const keys = parameters.map((one) => `${one.in} ${one.name}`);
      assert.equal(new Set(keys).size, keys.length);
    }
  });

  test('every response has a description, X-Request-Id and a JSON schema; every reference leads somewhere.', () => {
    for (const { path, operation } of operations()) {
      for (const [status, response] of Object.entries(operation.responses)) {
        assert.match(status, /^[1-5]\d\d$/);
        assert.ok(response.description && response.headers?.['X-Request-Id']);
        if (status === '304') assert.equal(response.content, undefined);
        else if (path === '/v1/events/stream' && status === '200')
          assert.ok(response.content['text/event-stream']?.schema);
        else assert.ok(response.content['application/json']?.schema);
      }
    }
    const components = whole.json.components as unknown as Record<string, Record<string, object>>;
    const used = new Set<string>();
    for (const [, target] of whole.text.matchAll(/"\$ref":"([^"]+)"/g)) {
      const [, kind, name] = /^#\/components\/(\w+)\/(\w+)$/.exec(target!) ?? [];
      assert.ok(components[kind!]?.[name!], String(target));
      used.add(`${kind} ${name}`);
    }
    for (const [kind, named] of Object.entries(components))
      if (kind !== 'securitySchemes')
        for (const name of Object.keys(named))
          assert.ok(used.has(`${kind} ${name}`), `${kind} ${name} is unused`);
  });

  test('each noun and each part stands once: no schema of an object comes twice.', () => {
    const places = new Map<string, string>();
    const look = (node: unknown, place: string): void => {
      if (typeof node !== 'object' || node === null) return;
      const { properties } = node as { properties?: object };
      if (properties && Object.keys(properties).length > 2) {
        const text = JSON.stringify(properties);
        assert.ok(!places.has(text), `${place} is ${places.get(text)}`);
        places.set(text, place);
      }
      for (const [key, value] of Object.entries(node)) look(value, `${place}/${key}`);
    };
    look(whole.json.components.schemas, '');
    assert.ok(whole.text.length < 180_000, `${whole.text.length} characters`);
  });

  test('every operation has one tag of the list and a description, and each tag has operations.', () => {
    const { tags } = document;
    const used = operations().map(({ operation }) => operation.tags.join());
    assert.deepEqual([...new Set(used)].sort(), tags.map(({ name }) => name).sort());
    for (const { operation } of operations()) assert.match(operation.description ?? '', /\.$/s);
    for (const { post } of Object.values(document.webhooks)) assert.deepEqual(post!.tags, ['Webhooks']);
    const { contact } = document.info as unknown as { contact: { name: string; url: string } };
    assert.equal(contact.url, service.service.baseUrl);
  });

  test('moments are date-time and addresses are uri.', () => {
    const { Payment, WebhookEndpoint, PaymentRequest } = document.components.schemas as Record<
      string,
      { properties: Record<string, object> }
    >;
    const formatOf = (schema: { properties: Record<string, object> }, name: string) =>
      /"format":"([\w-]+)"/.exec(JSON.stringify(schema.properties[name]))?.[1];
    for (const name of ['created_at', 'decided_at']) assert.equal(formatOf(Payment!, name), 'date-time');
    assert.equal(formatOf(Payment!, 'pay_by'), 'date');
    for (const name of ['checkout_url', 'return_url']) assert.equal(formatOf(Payment!, name), 'uri');
    assert.equal(formatOf(WebhookEndpoint!, 'url'), 'uri');
    assert.equal(formatOf(PaymentRequest!, 'return_url'), 'uri');
  });

  test('every schema is JSON Schema 2020-12 that compiles strictly.', () => {
    const strict = new Ajv2020({
      strict: true,
      strictRequired: false,
      allowUnionTypes: true,
      validateFormats: false,
    });
    strict.addKeyword('example');
    const { schemas } = document.components;
    const $defs = JSON.parse(JSON.stringify(schemas).replaceAll('#/components/schemas/', '#/$defs/'));
    strict.addSchema({ $id: 'https://document.example/', $defs });
    for (const name of Object.keys(schemas))
      assert.doesNotThrow(() => strict.getSchema(`https://document.example/#/$defs/${name}`), name);
  });

  test("all under /v1 wants a merchant's key, all under /admin an administrator's token, nothing else any.", () => {
    for (const { path, operation } of operations()) {
      const scheme = path.startsWith('/v1') ? 'apiKey' : 'administratorToken';
      assert.deepEqual(operation.security, /^\/(v1|admin)\//.test(path) ? [{ [scheme]: [] }] : [], path);
      for (const name of operation.security!.flatMap((one) => Object.keys(one)))
        assert.ok(document.components.securitySchemes[name]);
    }
  });

  test('it says what becomes of a key whose answer was lost: it is never told again.', () => {
    for (const path of ['/v1/api_keys', '/v1/api_keys/{key_id}/rotate']) {
      const { description, parameters } = document.paths[path]!.post!;
      assert.match(description!, /No `Idempotency-Key` is heeded[\s\S]* If the answer is lost/);
      assert.ok(parameters!.every(({ name }) => name !== 'Idempotency-Key'));
    }
  });

  test('it says in which order the queue comes, and why decisions need no idempotency key.', () => {
    assert.match(document.paths['/admin/payments']!.get!.description!, /wait longest first/);
    for (const act of ['approve', 'reject', 'record']) {
      const { description } = document.paths[`/admin/payments/{payment_id}/${act}`]!.post!;
      assert.match(description!, /no idempotency key/);
    }
  });
});
