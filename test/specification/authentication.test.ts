// The specification's chapter on authentication, a test for each sentence, on both engines.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { KEY, OTHER_KEY, sharedHarness, startHarness } from '../support/harness.ts';
import { ENGINES } from '../support/stores.ts';

const EXAMPLE = fileURLToPath(new URL('../../counterfoil.yaml', import.meta.url));

for (const engine of ENGINES) {
  describe(`specification, Authentication, on ${engine}`, () => {
    const service = sharedHarness(engine);

    test('Every endpoint under `/v1` requires an API key sent as a Bearer token in the header `Authorization: Bearer <API_KEY>`.', async () => {
      const { id } = await service.create();
      for (const [method, path] of [
        ['POST', '/v1/payments'],
        ['GET', '/v1/payments'],
        ['GET', `/v1/payments/${id}`],
        ['POST', `/v1/payments/${id}/cancel`],
      ] as const) {
        const body = path === '/v1/payments' && method === 'POST' ? { amount: 1 } : undefined;
        assert.equal((await service.request(path, { method, key: null, body })).status, 401);
        assert.ok((await service.request(path, { method, body })).status < 300, `${method} ${path}`);
      }
    });

    test('`/health` requires no key.', async () => {
      for (const key of [null, 'wrong', KEY])
        assert.equal((await service.request('/health', { key })).status, 200);
    });

    test('A missing or invalid key gives 401 `unauthorized`.', async () => {
      for (const authorization of [undefined, '', 'Bearer', 'Bearer ', 'Bearer wrong', `Basic ${KEY}`, KEY]) {
        const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
        const answer = await service.request('/v1/payments', { key: null, headers });
        assert.equal(answer.status, 401, String(authorization));
        assert.equal(answer.json.error.code, 'unauthorized');
      }
    });

    test('An API key identifies one merchant.', async () => {
      const { id } = await service.create({}, { key: OTHER_KEY });
      assert.equal((await service.request(`/v1/payments/${id}`, { key: OTHER_KEY })).status, 200);
      assert.equal((await service.request(`/v1/payments/${id}`)).status, 404);
    });

    test('The merchant business name appears as merchant_name.', async () => {
      assert.equal((await service.create({}, { key: OTHER_KEY })).merchant_name, 'Other Shop');
    });

    test('Keys are used on the server side only and never in browser code: no page holds one, no answer lets a browser read it.', async () => {
      const payment = await service.create();
      const page = await fetch(payment.checkout_url);
      assert.doesNotMatch(await page.text(), /cfk_|<script/);
      const headers = { origin: 'https://shop.example' };
      const answer = await service.request('/v1/payments', { headers });
      assert.equal(answer.headers.get('access-control-allow-origin'), null);
    });
  });
}

describe('specification, Authentication, the configuration file', () => {
  test('A development key is preconfigured in the service configuration file.', () => {
    assert.ok(readFileSync(EXAMPLE, 'utf8').includes(KEY));
  });

  test('It must be replaced before production use: with it, production does not start.', async () => {
    for (const entry of [`key: ${KEY}`, `key_sha256: ${createHash('sha256').update(KEY).digest('hex')}`]) {
      const extra = `  - id: mer_left_over\n    name: Left Over\n    keys:\n      - ${entry}\n`;
      await assert.rejects(startHarness('sqlite', { environment: 'production', configuration: extra }), {
        name: 'ConfigurationError',
      });
    }
  });
});
