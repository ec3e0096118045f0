// Places: the console and /admin on addresses or under host names of their own, and nothing but them there.
import assert from 'node:assert/strict';
import { request as send } from 'node:http';
import { test } from 'node:test';
import { setUpLink } from '../../src/operate/commands/welcome.ts';
import { readConfiguration } from '../../src/operate/config.ts';
import { placesOf } from '../../src/operate/settings/places.ts';
import { freePorts } from '../support/free-ports.ts';
import { type Harness, KEY, startHarness, writeConfiguration } from '../support/harness.ts';

interface Told {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** A request with whatever Host: `fetch` sends its own. */
function ask(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Told> {
  return new Promise((resolve, reject) => {
    const request = send({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }));
    });
    request.on('error', reject);
    request.end();
  });
}

const portOf = (service: Harness) => Number(new URL(service.origin).port);
const NOT_FOUND = '{"error":{"code":"not_found","message":"There is no such endpoint."}}';

async function assertNothing(
  port: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<void> {
  const { status, text } = await ask(port, path, headers);
  assert.equal(`${status} ${text}`, `404 ${NOT_FOUND}`, `${path} ${JSON.stringify(headers)}`);
}

async function withService(
  configuration: string,
  use: (service: Harness, port: number) => Promise<void>,
): Promise<void> {
  await using service = await startHarness('sqlite', { configuration });
  await use(service, portOf(service));
}

test('a console on a port of its own serves itself and health there, and is nowhere else.', async () => {
  const [own] = await freePorts(1);
  await withService(`console: { port: ${own} }\n`, async (service, port) => {
    assert.equal(service.service.consoleBaseUrl, `http://127.0.0.1:${own}`);
    assert.equal((await ask(own!, '/console')).status, 303);
    assert.equal((await ask(own!, '/console/sign-in')).status, 200);
    for (const path of ['/health', '/health/ready']) assert.equal((await ask(own!, path)).status, 200);
    for (const path of ['/v1/payments', '/openapi.json', '/payment.php', '/admin/payments', '/csp-report'])
      await assertNothing(own!, path);
    for (const path of ['/console', '/console/sign-in', '/console/anything']) await assertNothing(port, path);
    assert.equal((await ask(port, '/v1/payments')).status, 401);
    assert.equal((await ask(port, '/admin/payments')).status, 401);
  });
});

test('/admin on a port of its own serves itself and health there, is nowhere else, and openapi.json says where.', async () => {
  const [own] = await freePorts(1);
  await withService(`admin: { port: ${own} }\n`, async (_service, port) => {
    assert.equal((await ask(own!, '/admin/payments')).status, 401);
    assert.equal((await ask(own!, '/health')).status, 200);
    for (const path of ['/v1/payments', '/console', '/payment.php']) await assertNothing(own!, path);
    await assertNothing(port, '/admin/payments', { authorization: 'Bearer cfa_any' });
    const { paths } = JSON.parse((await ask(port, '/openapi.json')).text);
    assert.deepEqual(paths['/admin/payments'].servers, [{ url: `http://127.0.0.1:${own}` }]);
    assert.equal(paths['/v1/payments'].servers, undefined);
  });
});

test('the console and /admin may share a port, or a host name.', async () => {
  const [own] = await freePorts(1);
  await withService(`console: { port: ${own} }\nadmin: { port: ${own} }\n`, async () => {
    assert.equal((await ask(own!, '/console')).status, 303);
    assert.equal((await ask(own!, '/admin/payments')).status, 401);
  });
  const ops = 'https://ops.example';
  await withService(`console: { base_url: ${ops} }\nadmin: { base_url: "${ops}/a" }\n`, async (_, port) => {
    const headers = { host: 'ops.example' };
    assert.equal((await ask(port, '/console', headers)).status, 303);
    assert.equal((await ask(port, '/a/admin/payments', headers)).status, 401);
    assert.equal((await ask(port, '/a/health', headers)).status, 200);
    await assertNothing(port, '/admin/payments', headers);
    await assertNothing(port, '/a/console', headers);
  });
});

test('under a host name of its own, the console answers to that name alone, and nothing else does to it.', async () => {
  await withService('console: { base_url: https://Console.example:8443 }\n', async (_, port) => {
    for (const host of ['console.example', 'console.example:8443', 'CONSOLE.EXAMPLE:1']) {
      assert.equal((await ask(port, '/console', { host })).status, 303, host);
      assert.equal((await ask(port, '/health', { host })).status, 200);
      for (const path of ['/v1/payments', '/payment.php', '/openapi.json', '/admin/payments'])
        await assertNothing(port, path, { host, authorization: `Bearer ${KEY}` });
    }
    for (const host of [
      ...['pay.example', 'console.example.evil', 'xconsole.example', '127.0.0.1', ''],
      ...['pay.example, console.example', 'pay.example,console.example'], // a list is no host name
    ]) {
      await assertNothing(port, '/console', { host });
      await assertNothing(port, '/console/sign-in', { host });
      assert.equal((await ask(port, '/v1/payments', { host })).status, 401);
    }
  });
});

test('X-Forwarded-Host leads to the console from trusted proxies alone, and of several the last counts.', async () => {
  const place = 'console: { base_url: https://console.example }\n';
  const forwarded = (name: string) => ({ host: 'pay.example', 'x-forwarded-host': name });
  await withService(place, async (_, port) => {
    await assertNothing(port, '/console', forwarded('console.example'));
    assert.equal((await ask(port, '/v1/payments', forwarded('console.example'))).status, 401);
  });
  await withService(`${place}trust_proxy: [127.0.0.1]\n`, async (_, port) => {
    assert.equal((await ask(port, '/console', forwarded('console.example'))).status, 303);
    assert.equal((await ask(port, '/console', forwarded('pay.example, console.example'))).status, 303);
    await assertNothing(port, '/console', forwarded('console.example, pay.example'));
    await assertNothing(port, '/console', { host: 'console.example', 'x-forwarded-host': 'pay.example' });
  });
  await withService(`${place}trust_proxy: [192.0.2.0/24]\n`, async (_, port) => {
    await assertNothing(port, '/console', forwarded('console.example'));
  });
});

test('links, cookies, reports and the origin of forms follow the base URL of the console, path and all.', async () => {
  const configuration = 'console: { base_url: "https://ops.example/back" }\n';
  await withService(configuration, async (_, port) => {
    const headers = { host: 'ops.example' };
    const page = await ask(port, '/back/console/sign-in', headers);
    assert.equal(page.status, 200);
    const named = [...page.text.matchAll(/(?:href|src|action)="(\/[^"]*)"/g)].map(([, path]) => path!);
    assert.ok(named.length > 3);
    assert.deepEqual(
      named.filter((path) => !path.startsWith('/back/console')),
      [],
    );
    for (const path of named.filter((one) => one.includes('/assets/')))
      assert.equal((await ask(port, path, headers)).status, 200, path);
    assert.equal((await ask(port, '/back/console', headers)).headers.location, '/back/console/sign-in');
    assert.match(String(page.headers['set-cookie']), /^__Host-counterfoil_form=.*; Secure/);
    assert.match(
      String(page.headers['reporting-endpoints']),
      /https:\/\/ops\.example\/back\/console\/csp-report/,
    );
    assert.match(String(page.headers['strict-transport-security']), /max-age/);
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' };
    const post = (origin: string) => ask(port, '/back/console/sign-in', { ...form, origin }, 'POST');
    assert.match((await post('https://pay.example')).text, /another site|not from/i);
    assert.doesNotMatch((await post('https://ops.example')).text, /another site|not from/i);
    assert.match(page.text, /&quot;rpId&quot;:&quot;ops\.example&quot;/, 'passkeys as well');
  });
});

test('set-up links lead to the console, wherever it is.', async () => {
  const [own] = await freePorts(1);
  for (const [configuration, expected] of [
    [`console: { port: ${own} }\n`, `http://127.0.0.1:${own}/console/set-up?link=`],
    ['console: { base_url: "https://ops.example/x" }\n', 'https://ops.example/x/console/set-up?link='],
  ] as const)
    await withService(configuration, async (service) => {
      const file = writeConfiguration(service.store, 'development', configuration);
      const link = await setUpLink(readConfiguration(file), service.service);
      assert.equal(link?.slice(0, expected.length), expected);
    });
});

test('a place says its port or its URL, and the rest follows from what is set for all.', () => {
  const settings = (extra: object) =>
    ({
      host: '127.0.0.1',
      port: 8080,
      base_url: null,
      checkout_base_url: null,
      tls: null,
      console: {},
      admin: {},
      ...extra,
    }) as Parameters<typeof placesOf>[0];
  const urls = (extra: object) => placesOf(settings(extra)).baseUrls;
  assert.equal(urls({}).console, 'http://127.0.0.1:8080');
  assert.equal(urls({ base_url: 'https://pay.example/x' }).admin, 'https://pay.example/x');
  assert.equal(urls({ console: { port: 9000 } }).console, 'http://127.0.0.1:9000');
  assert.equal(urls({ console: { host: '::1', port: 9000 } }).console, 'http://[::1]:9000');
  assert.equal(urls({ tls: { certificate: 'c', key: 'k' } }).public, 'https://127.0.0.1:8080');
  const tls = { certificate: 'c', key: 'k' };
  const apart = urls({ base_url: 'https://pay.example', tls, admin: { port: 9000 } });
  assert.equal(apart.admin, 'https://pay.example:9000');
  assert.equal(apart.public, 'https://pay.example');
  const same = placesOf(settings({ console: { port: 8080 } }), 8081);
  assert.equal(same.listeners.length, 1, 'the same port, wherever it moved to');
});

test('a checkout under the host name of the console’s neighbour stays with the API.', async () => {
  const configuration =
    'base_url: http://api.example\ncheckout_base_url: http://pay.example\nconsole: { base_url: "http://pay.example/staff" }\n';
  await withService(configuration, async (_, port) => {
    for (const host of ['api.example', 'pay.example']) {
      assert.equal((await ask(port, '/payment.php', { host })).status, 404);
      assert.match((await ask(port, '/payment.php', { host })).text, /<!doctype html>/);
      assert.equal((await ask(port, '/staff/console', { host })).status, 303);
    }
  });
});
