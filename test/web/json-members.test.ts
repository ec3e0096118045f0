// Every operation that takes JSON refuses an object that has a member twice, before it looks at anything else in it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addPerson } from '../support/admin.ts';
import { KEY, sharedHarness } from '../support/harness.ts';

const TWICE = '{"x":1,"y":[{"a":1,"\\u0061":1}]}';

const service = sharedHarness('sqlite');

interface Operation {
  requestBody?: { content: Record<string, unknown> };
}

test('an object that has a member twice is invalid_json on every operation that takes JSON.', async () => {
  const { token } = await addPerson(service, 'administrator');
  const { paths } = (await service.request('/openapi.json')).json as {
    paths: Record<string, Record<string, Operation>>;
  };
  const tried: string[] = [];
  for (const [path, operations] of Object.entries(paths)) {
    if (!operations.post?.requestBody?.content['application/json']) continue;
    const key = path.startsWith('/admin') ? token : path.startsWith('/v1') ? KEY : null;
    const answer = await service.request(path.replaceAll(/\{\w+\}/g, 'x'), {
      method: 'POST',
      body: TWICE,
      key,
    });
    assert.equal(answer.status, 400, path);
    assert.equal(answer.json.error.code, 'invalid_json', path);
    tried.push(path);
  }
  for (const path of ['/v1/payments', '/v1/api_keys', '/admin/payments/{payment_id}/approve', '/register'])
    assert.ok(tried.includes(path), `${path} of ${tried}`);
});
