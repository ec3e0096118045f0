// What a peer says of those behind it: nothing counts from one that is not trusted; from one that is, the right-most stranger.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Harness, startHarness } from '../support/harness.ts';

const FORGED = {
  'x-forwarded-for': '198.51.100.7',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-port': '666',
  'x-forwarded-prefix': '/evil',
  'x-real-ip': '198.51.100.7',
  'x-original-url': '/v1/payments',
  forwarded: 'for=198.51.100.7;host=evil.example;proto=https',
};
const ONE_FORM = 'checkout_forms_per_address: 1\n';

async function on<T>(configuration: string, use: (service: Harness) => Promise<T>): Promise<T> {
  await using service = await startHarness('sqlite', { configuration });
  return await use(service);
}

/** Whether two requests count as one caller's, where one network address may send one form. */
function countAsOne(
  configuration: string,
  one: Record<string, string>,
  other: Record<string, string>,
): Promise<boolean> {
  return on(ONE_FORM + configuration, async (service) => {
    const { id } = await service.create();
    const send = async (headers: Record<string, string>) => {
      const options = { method: 'POST', key: null, body: 'action=cancel', headers };
      const type = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' };
      const path = `/payment.php?payment_id=${id}`;
      return (await service.request(path, { ...options, headers: { ...type, ...headers } })).status;
    };
    assert.equal(await send(one), 403, 'the first is looked at, and refused for what it is');
    const status = await send(other);
    assert.ok(status === 403 || status === 429, String(status));
    return status === 429;
  });
}

const via = (...addresses: string[]) => ({ 'x-forwarded-for': addresses.join(', ') });

describe('a peer that is not trusted', () => {
  for (const [title, configuration] of [
    ['where no proxy is', ''],
    ['where another is', 'trust_proxy: [192.0.2.1]\n'],
  ] as const) {
    test(`changes no link, redirect, cookie or header with what it claims, ${title}.`, async () => {
      await on(configuration, async (service) => {
        const { id } = await service.create();
        const paths = [
          '/health',
          `/v1/payments/${id}`,
          '/v1/payments?limit=1',
          '/openapi.json',
          `/payment.php?payment_id=${id}`,
          `/payment.php?payment_id=${id}&theme=dark`,
          '/console',
          '/console/sign-in',
          '/nothing',
        ];
        const told = async (path: string, headers: Record<string, string>) => {
          const { origin } = service;
          const response = await fetch(origin + path, {
            redirect: 'manual',
            headers: {
              ...headers,
              authorization: 'Bearer cfk_test_development_key_replace_before_production',
            },
          });
          const changing = /^(x-request-id|date|set-cookie|content-security-policy|keep-alive)$/;
          const kept = [...response.headers].filter(([name]) => !changing.test(name));
          const cookies = response.headers.getSetCookie().map((line) => line.replace(/=[^;]*/, ''));
          const text = (await response.text())
            .replaceAll(/"time":"[^"]*"/g, '')
            .replaceAll(/(nonce|value)="([\w-]{20,}|\d{13})"/g, '');
          return { status: response.status, kept, cookies, text };
        };
        for (const path of paths) {
          const forged = await told(path, FORGED);
          assert.deepEqual(forged, await told(path, {}), path);
          assert.doesNotMatch(JSON.stringify(forged), /evil|666|198\.51\.100/, path);
        }
        const created = await service.request('/v1/payments', {
          method: 'POST',
          body: { amount: 1 },
          headers: FORGED,
        });
        const { origin } = new URL(service.service.baseUrl);
        assert.equal(new URL(created.headers.get('location')!).origin, origin);
        assert.equal(new URL(created.json.data.checkout_url).origin, origin);
        assert.equal(created.headers.get('strict-transport-security'), null);
        assert.doesNotMatch(
          service.logged.join(''),
          /evil|198\.51\.100|127\.0\.0\.1/,
          'no address is logged',
        );
      });
    });

    test(`is one caller, whoever it claims to be, ${title}.`, async () => {
      assert.equal(await countAsOne(configuration, via('198.51.100.1'), via('198.51.100.2')), true);
      assert.equal(
        await countAsOne(configuration, { forwarded: 'for=198.51.100.1' }, { forwarded: 'for=198.51.100.2' }),
        true,
      );
    });
  }

  test('has no other Host followed, in links or redirects.', async () => {
    await on('', async (service) => {
      const { app, baseUrl } = service.service;
      const headers = { host: 'evil.example' };
      const page = await app.inject({ url: '/console', headers });
      assert.equal(page.headers.location, '/console/sign-in');
      const document = await app.inject({ url: '/openapi.json', headers });
      assert.equal(document.json().servers[0].url, baseUrl);
    });
  });
});

describe('a proxy that is trusted', () => {
  const TRUSTING = 'trust_proxy: [127.0.0.1, 10.0.0.0/8]\n';

  test('tells its customers apart.', async () => {
    assert.equal(await countAsOne(TRUSTING, via('198.51.100.1'), via('198.51.100.2')), false);
    assert.equal(await countAsOne(TRUSTING, via('198.51.100.1'), via('198.51.100.1')), true);
  });

  test('is believed for the right-most address that is no proxy, and no further.', async () => {
    const real = '198.51.100.1';
    assert.equal(await countAsOne(TRUSTING, via(real), via('203.0.113.9', real)), true);
    assert.equal(await countAsOne(TRUSTING, via(real), via('203.0.113.9', real, '10.1.2.3')), true);
    assert.equal(await countAsOne(TRUSTING, via(real), via(real, '203.0.113.9')), false);
    assert.equal(await countAsOne(TRUSTING, via(real), via(real, '203.0.113.9', '10.1.2.3')), false);
  });

  test('is not asked for anybody by other headers.', async () => {
    for (const name of ['forwarded', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip']) {
      const says = (address: string) => ({ [name]: name === 'forwarded' ? `for=${address}` : address });
      assert.equal(await countAsOne(TRUSTING, says('198.51.100.1'), says('198.51.100.2')), true, name);
    }
  });

  test('has an IPv6 subscriber counted as one, whatever the address within their network.', async () => {
    assert.equal(await countAsOne(TRUSTING, via('2001:db8:1:2::1'), via('2001:db8:1:2:ffff::2')), true);
    assert.equal(await countAsOne(TRUSTING, via('2001:db8:1:2::1'), via('2001:db8:1:3::1')), false);
  });

  test('changes no address that the service is reached at, in answers or redirects.', async () => {
    await on(`${TRUSTING}base_url: https://pay.example\n`, async (service) => {
      const headers = { ...FORGED, 'x-forwarded-proto': 'http' };
      const created = await service.request('/v1/payments', { method: 'POST', body: { amount: 1 }, headers });
      assert.match(created.json.data.checkout_url, /^https:\/\/pay\.example\/payment\.php/);
      assert.match(created.headers.get('location')!, /^https:\/\/pay\.example\/v1/);
      assert.match(created.headers.get('strict-transport-security')!, /^max-age/);
    });
  });
});
