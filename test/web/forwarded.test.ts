// What a peer says of those behind it: nothing counts from one that is not trusted; from one that is, the right-most stranger.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HOUR_MS } from '../../src/lib/time.ts';
import { type Harness, KEY, sharedHarness, startHarness } from '../support/harness.ts';

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

/** Whether two requests count as one caller's, where one network address may send one form. Nobody has sent one yet. */
async function countAsOne(
  service: Harness,
  one: Record<string, string>,
  other: Record<string, string>,
): Promise<boolean> {
  service.clock.advance(HOUR_MS); // what was sent before counts no more
  const { id } = await service.create();
  const send = async (headers: Record<string, string>) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' };
    const options = { method: 'POST', key: null, body: 'action=cancel', headers: { ...type, ...headers } };
    return (await service.request(`/payment.php?payment_id=${id}`, options)).status;
  };
  assert.equal(await send(one), 403, 'the first is looked at, and refused for what it is');
  const status = await send(other);
  assert.ok(status === 403 || status === 429, String(status));
  return status === 429;
}

const via = (...addresses: string[]) => ({ 'x-forwarded-for': addresses.join(', ') });

for (const [title, configuration] of [
  ['where no proxy is', ''],
  ['where another is', 'trust_proxy: [192.0.2.1]\n'],
] as const)
  describe(`a peer that is not trusted, ${title},`, () => {
    const service = sharedHarness('sqlite', { configuration: ONE_FORM + configuration });

    test('changes no link, redirect, cookie or header with what it claims.', async () => {
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
        const response = await fetch(service.origin + path, {
          redirect: 'manual',
          headers: { ...headers, authorization: `Bearer ${KEY}` },
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
      assert.doesNotMatch(service.logged.join(''), /evil|198\.51\.100|127\.0\.0\.1/, 'no address is logged');
    });

    test('is one caller, whoever it claims to be.', async () => {
      for (const says of [via, (address: string) => ({ forwarded: `for=${address}` })])
        assert.equal(await countAsOne(service, says('198.51.100.1'), says('198.51.100.2')), true);
    });

    test('has no other Host followed, in links or redirects.', async () => {
      const { app, baseUrl } = service.service;
      const headers = { host: 'evil.example' };
      const page = await app.inject({ url: '/console', headers });
      assert.equal(page.headers.location, '/console/sign-in');
      const document = await app.inject({ url: '/openapi.json', headers });
      assert.equal(document.json().servers[0].url, baseUrl);
    });
  });

describe('a proxy that is trusted', () => {
  const TRUSTING = 'trust_proxy: [127.0.0.1, 10.0.0.0/8]\n';
  const service = sharedHarness('sqlite', { configuration: ONE_FORM + TRUSTING });
  const [real, other] = ['198.51.100.1', '203.0.113.9'];

  for (const [what, first, second, isOne] of [
    ['tells its customers apart', via(real), via('198.51.100.2'), false],
    ['tells who sends again', via(real), via(real), true],
    ['is believed for the right-most address', via(real), via(other, real), true],
    ['is believed for the right-most that is no proxy', via(real), via(other, real, '10.1.2.3'), true],
    ['is believed for no address further left', via(real), via(real, other), false],
    ['is believed for none further left behind a proxy', via(real), via(real, other, '10.1.2.3'), false],
    ['has an IPv6 subscriber counted as one', via('2001:db8:1:2::1'), via('2001:db8:1:2:ffff::2'), true],
    ['has two IPv6 subscribers counted as two', via('2001:db8:1:2::1'), via('2001:db8:1:3::1'), false],
    ...['forwarded', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip'].map((name) => {
      const says = (address: string) => ({ [name]: name === 'forwarded' ? `for=${address}` : address });
      return [`is not asked for anybody by ${name}`, says(real), says('198.51.100.2'), true] as const;
    }),
  ] as const)
    test(`${what}.`, async () => assert.equal(await countAsOne(service, first, second), isOne));

  test('changes no address that the service is reached at, in answers or redirects.', async () => {
    const configuration = `${TRUSTING}base_url: https://pay.example\n`;
    await using secure = await startHarness('sqlite', { configuration });
    const headers = { ...FORGED, 'x-forwarded-proto': 'http' };
    const created = await secure.request('/v1/payments', { method: 'POST', body: { amount: 1 }, headers });
    assert.match(created.json.data.checkout_url, /^https:\/\/pay\.example\/payment\.php/);
    assert.match(created.headers.get('location')!, /^https:\/\/pay\.example\/v1/);
    assert.match(created.headers.get('strict-transport-security')!, /^max-age/);
  });
});
