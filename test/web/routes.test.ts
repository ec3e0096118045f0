// Routes: which there are, what they allow, how HEAD answers, and what every answer carries.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KEY, sharedHarness } from '../support/harness.ts';

describe('routes', () => {
  const service = sharedHarness('sqlite');

  test('a known path with an unknown method is 404 with Allow.', async () => {
    for (const [path, allow] of [
      ['/health', 'GET, HEAD'],
      ['/openapi.json', 'GET, HEAD'],
      ['/assets/style.css', 'GET, HEAD'],
      ['/v1/payments', 'GET, HEAD, POST'],
      ['/v1/payments?limit=1', 'GET, HEAD, POST'],
      ['/v1/payments/pay_x', 'GET, HEAD'],
      ['/v1/payments/pay_x/cancel', 'POST'],
      ['/nothing', null],
      ['/v1/nothing', null],
    ] as const) {
      for (const method of ['DELETE', 'PATCH', 'OPTIONS', 'PROPFIND']) {
        const answer = await service.request(path, { method });
        assert.equal(answer.status, 404, `${method} ${path}`);
        assert.equal(answer.json.error.code, 'not_found');
        assert.equal(answer.headers.get('allow'), allow, `${method} ${path}`);
      }
    }
  });

  test('a file that is not there has no Allow for the methods that were asked with, and a page for browsers.', async () => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await service.request('/assets/none.css', { method, headers: { accept: 'text/html' } });
      assert.deepEqual([answer.status, answer.headers.get('allow')], [404, null], method);
      assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8', method);
    }
  });

  test('HEAD answers as GET does, without the body.', async () => {
    const { id } = await service.create();
    for (const path of [
      '/health',
      '/v1/payments',
      `/v1/payments/${id}`,
      '/openapi.json',
      '/assets/colours-2a47b0.css',
      `/payment.php?payment_id=${id}`,
      '/nothing',
      '/v1/payments?limit=0',
    ]) {
      const [get, head] = [await service.request(path), await service.request(path, { method: 'HEAD' })];
      assert.equal(head.status, get.status, path);
      assert.equal(head.text, '');
      assert.equal(head.headers.get('content-type'), get.headers.get('content-type'));
      assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(get.text)), path);
    }
  });

  test('a trailing slash, a double slash and other letter case are 404.', async () => {
    const { id } = await service.create();
    for (const path of [
      '/health/',
      '//health',
      '/Health',
      '/v1/payments/',
      '/v1//payments',
      '/V1/payments',
      '/v1/Payments',
      `/v1/payments/${id}/`,
      `/v1/payments//${id}`,
      `/v1/payments/${id}/Cancel`,
      '/openapi.json/',
      '/payment.php/',
    ])
      assert.equal((await service.request(path)).status, 404, path);
  });

  test('no answer carries CORS headers, every answer a request id of its own.', async () => {
    const headers = {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
      'x-request-id': 'mine',
    };
    const ids = new Set<string>();
    const paths = [
      '/health',
      '/v1/payments',
      '/openapi.json',
      '/nothing',
      '/payment.php',
      '/v1/payments?limit=x',
    ];
    for (const path of paths) {
      for (const method of ['GET', 'OPTIONS', 'POST']) {
        for (const key of [KEY, null]) {
          const answer = await service.request(path, { method, key, headers });
          assert.deepEqual(
            [...answer.headers.keys()].filter((name) => name.startsWith('access-control-')),
            [],
          );
          ids.add(answer.headers.get('x-request-id')!);
        }
      }
    }
    assert.equal(ids.size, paths.length * 6);
    assert.ok([...ids].every((id) => /^req_[0-9a-z]{16}$/.test(id)));
  });
});
