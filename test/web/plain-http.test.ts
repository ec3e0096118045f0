// Plain HTTP to a service that is promised over https: the proxy and this machine are served, strangers are not.
import assert from 'node:assert/strict';
import { request as send } from 'node:http';
import type { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { plainPeers } from '../../src/web/host-name.ts';
import { type Harness, LIVE_KEY, startHarness } from '../support/harness.ts';
import { ownAddress } from '../support/own-address.ts';

const REFUSED = '{"error":{"code":"forbidden","message":"This service is reached over https alone."}}';
const PATHS = [
  '/api/v1/payments',
  '/api/openapi.json',
  '/api/register',
  '/api/console/sign-in',
  '/api/admin/payments',
  '/checkout/payment.php',
  '/nothing',
];

interface Told {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

function ask(host: string, port: string, path: string, method = 'GET'): Promise<Told> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${LIVE_KEY}`, 'x-forwarded-proto': 'https' };
    const request = send({ host, port, path, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }));
    });
    request.on('error', reject);
    request.end();
  });
}

describe('from another address than loopback', {
  skip: !ownAddress && 'this machine has loopback alone',
}, () => {
  let service: Harness;
  let port: string;
  before(async () => {
    const configuration = 'host: 0.0.0.0\n';
    service = await startHarness('sqlite', { environment: 'production', configuration });
    port = new URL(service.origin).port;
  });
  after(() => service.close());

  test('a stranger is answered 403 for everything, in the one shape, without HSTS, and the connection ends.', async () => {
    for (const path of PATHS)
      for (const method of ['GET', 'POST']) {
        const { status, headers, text } = await ask(ownAddress!, port, path, method);
        assert.deepEqual([status, text], [403, REFUSED], `${method} ${path}`);
        assert.equal(headers['strict-transport-security'], undefined);
        assert.equal(headers.connection, 'close');
        assert.match(String(headers['x-request-id']), /^req_/);
      }
  });

  test('a stranger may ask for health, which says nothing of https.', async () => {
    for (const path of ['/api/health', '/api/health/ready']) {
      const { status, headers } = await ask(ownAddress!, port, path);
      assert.deepEqual([status, headers['strict-transport-security']], [200, undefined], path);
    }
  });

  test('loopback is served, with HSTS.', async () => {
    const { status, headers } = await ask('127.0.0.1', port, '/api/v1/payments');
    assert.equal(status, 200);
    assert.match(String(headers['strict-transport-security']), /^max-age/);
  });

  test('a proxy that is trusted is served.', async () => {
    const configuration = 'host: 0.0.0.0\n';
    const options = { environment: 'production', configuration, trustProxy: ownAddress! } as const;
    await using other = await startHarness('sqlite', options);
    const { status } = await ask(ownAddress!, new URL(other.origin).port, '/api/v1/payments');
    assert.equal(status, 200);
  });

  test('development serves whoever comes.', async () => {
    await using other = await startHarness('sqlite', { configuration: 'host: 0.0.0.0\n' });
    const { status } = await ask(ownAddress!, new URL(other.origin).port, '/openapi.json');
    assert.equal(status, 200);
  });
});

test('loopback in every spelling and the proxies may come, and nobody else, decided once for a connection.', () => {
  const may = plainPeers(['10.0.0.0/8', '2001:db8::5']);
  const from = (remoteAddress: string | undefined) => may({ remoteAddress } as Socket);
  for (const address of [
    '127.0.0.1',
    '127.9.9.9',
    '::1',
    '::ffff:127.0.0.1',
    '10.1.2.3',
    '::ffff:10.1.2.3',
    '2001:db8::5',
  ])
    assert.equal(from(address), true, address);
  for (const address of ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::6', '11.0.0.1', 'fe80::1', undefined])
    assert.equal(from(address), false, String(address));
  const socket = { remoteAddress: '127.0.0.1' as string | undefined };
  assert.equal(may(socket as Socket), true);
  socket.remoteAddress = undefined; // as it is once the other end has gone
  assert.equal(may(socket as Socket), true);
});
