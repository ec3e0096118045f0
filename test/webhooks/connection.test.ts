// No webhook reaches an address that is not allowed, whatever a URL, a name server or a certificate says: counted at the socket.
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { after, before, mock, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer as createRawTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { DAY_MS } from '../../src/lib/time.ts';
import type { AddressRules } from '../../src/webhooks/addresses.ts';
import { attemptDelivery } from '../../src/webhooks/attempt.ts';
import { type LookUp, lookUpAt } from '../../src/webhooks/connection.ts';
import { newWebhookSecret } from '../../src/webhooks/signing.ts';
import { hasOpenssl, temporaryCertificates } from '../support/certificates.ts';
import { FORBIDDEN, REFUSED_URLS } from '../support/forbidden-addresses.ts';
import { type NameAnswer, startNameServer } from '../support/name-server.ts';

const SECRETS = [newWebhookSecret()];

/** Every connection that this process tried to make to something else than the servers of this test, address and port. */
const attempted: string[] = [];
/** What the servers of this test took. */
let requests = 0;
let connections = 0;

const watch = (message: unknown) =>
  (message as { socket: Socket }).socket.on('connectionAttempt', (address, port) =>
    attempted.push(`${address} ${port}`),
  );

let server: Server;
let port: number;
before(async () => {
  mock.timers.enable({ apis: ['setTimeout'] }); // no attempt is given up, however long this process stands still
  subscribe('net.client.socket', watch);
  server = createServer((_request, response) => {
    requests++;
    response.end();
  });
  server.on('connection', () => connections++);
  // On every address of this machine, so that a connection to any of them is counted.
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  port = (server.address() as AddressInfo).port;
});
after(() => {
  mock.timers.reset();
  unsubscribe('net.client.socket', watch);
  server.closeAllConnections();
  server.close();
});

const send = (url: string, rules: AddressRules, lookUp?: LookUp, at = Date.now()) =>
  attemptDelivery({ url, id: 'evt_1_2', body: '{}', secrets: SECRETS, at }, rules, undefined, lookUp);

/** 127.0.0.2 alone is open, so that a connection can be seen to be made at all. */
const rules = (): AddressRules => ({ allowHttp: false, allowedNetworks: ['127.0.0.2/32'], ports: [port] });
const url = () => `http://shop.example:${port}/hook`;
const NOT_PUBLIC = 'The name shop.example does not lead to public addresses';

test('a connection is made to the address that was looked up, and is counted', async () => {
  attempted.length = 0;
  const outcome = await send(url(), rules(), async () => ['127.0.0.2']);
  assert.equal(outcome.ok, true, outcome.reason);
  assert.deepEqual(attempted, [`127.0.0.2 ${port}`]);
  assert.deepEqual([requests, connections], [1, 1]);
});

test('no name leads to a forbidden address: alone, beside an allowed one before or after it, or late', async () => {
  attempted.length = 0;
  const answersOf = (address: string): (readonly string[])[] => [
    [address],
    ['127.0.0.2', address],
    [address, '127.0.0.2'],
  ];
  let tried = 0;
  for (const address of FORBIDDEN)
    for (const answer of answersOf(address)) {
      const late: LookUp = () => delay(1, answer);
      for (const lookUp of [async () => answer, late]) {
        const outcome = await send(url(), rules(), lookUp);
        assert.deepEqual(
          [outcome.ok, outcome.status, outcome.reason],
          [false, null, NOT_PUBLIC],
          `${answer}`,
        );
        tried++;
      }
    }
  assert.ok(tried > 600, `${tried}`);
  assert.deepEqual(attempted, []);
});

test('no URL that is refused is looked up or connected to', async () => {
  attempted.length = 0;
  let asked = 0;
  const lookUp: LookUp = async () => {
    asked++;
    return ['127.0.0.2'];
  };
  for (const one of REFUSED_URLS) {
    const outcome = await send(one, { allowHttp: false, allowedNetworks: [], ports: [] }, lookUp);
    assert.match(outcome.reason, /address is refused: /, one);
  }
  assert.deepEqual([asked, attempted], [0, []]);
});

test('plain http reaches an address that the operator opened, and no public one', async () => {
  attempted.length = 0;
  for (const answer of [['93.184.216.34'], ['127.0.0.2', '93.184.216.34'], ['2606:4700::1111']]) {
    const outcome = await send(url(), rules(), async () => answer);
    assert.equal(outcome.reason, 'Plain http is not sent to a public address: use https');
  }
  assert.deepEqual(attempted, []);
});

test('a name server that rebinds is asked once for each attempt, and what it says next is checked anew', async () => {
  // The questions of the first attempt are answered with the open address, every one after them with forbidden ones.
  let addresses = ['127.0.0.2'];
  const names = await startNameServer(() => ({ addresses }));
  const lookUp = lookUpAt([names.address]);
  attempted.length = 0;
  assert.equal((await send(url(), rules(), lookUp)).ok, true);
  assert.equal(names.asked.length, 2, 'one question for each family');
  assert.deepEqual(attempted, [`127.0.0.2 ${port}`]);
  addresses = ['127.0.0.3', '::1'];
  assert.equal((await send(url(), rules(), lookUp)).reason, NOT_PUBLIC);
  assert.deepEqual(attempted, [`127.0.0.2 ${port}`]);
  names.stop();
});

test('what name servers answer is judged whole: both families, one of them late, failing or without an answer', async () => {
  const zone: Record<string, Partial<Record<4 | 6, NameAnswer>>> = {
    'both.example': { 4: { addresses: ['127.0.0.2'] }, 6: { addresses: ['::1'] } },
    'late.example': { 4: { addresses: ['127.0.0.2'] }, 6: { addresses: ['fd00::1'], afterMs: 300 } },
    'mapped.example': { 6: { addresses: ['::ffff:127.0.0.1'] } },
    'half.example': { 4: { addresses: ['127.0.0.2'] }, 6: { code: 2 } },
    'unknown.example': { 4: { code: 3 }, 6: { code: 3 } },
    'empty.example': {},
    'failing.example': { 4: { code: 2 }, 6: { code: 2 } },
    'silent.example': { 4: { afterMs: Number.POSITIVE_INFINITY }, 6: { afterMs: Number.POSITIVE_INFINITY } },
  };
  const names = await startNameServer((name, family) => zone[name]?.[family] ?? {});
  attempted.length = 0;
  const reasons = await Promise.all(
    Object.keys(zone).map(async (name) => {
      const { ok, reason } = await send(`http://${name}:${port}/`, rules(), lookUpAt([names.address]));
      return ok ? `${name} ok` : reason;
    }),
  );
  names.stop();
  const notPublic = (name: string) => `The name ${name} does not lead to public addresses`;
  assert.deepEqual(reasons.slice(0, 7), [
    notPublic('both.example'),
    notPublic('late.example'),
    notPublic('mapped.example'),
    'half.example ok',
    notPublic('unknown.example'),
    notPublic('empty.example'),
    'The name failing.example could not be resolved: its name server failed',
  ]);
  assert.match(
    reasons[7]!,
    /^(The name silent\.example could not be resolved in time|No connection to silent\.example:\d+ within 5 s)$/,
  );
  assert.deepEqual(attempted, [`127.0.0.2 ${port}`]);
});

test('a name with more than 32 addresses is refused before any of them is tried', async () => {
  attempted.length = 0;
  const many = (count: number) => async () => Array<string>(count).fill('127.0.0.2');
  assert.equal((await send(url(), rules(), many(32))).ok, true);
  attempted.length = 0;
  assert.equal(
    (await send(url(), rules(), many(33))).reason,
    'The name shop.example has more than 32 addresses',
  );
  assert.deepEqual(attempted, []);
});

test('localhost is this machine and nobody is asked for it', async () => {
  const names = await startNameServer(() => ({ addresses: ['93.184.216.34'] }));
  const outcome = await send(
    `http://localhost:${port}/`,
    { ...rules(), allowedNetworks: ['127.0.0.0/8', '::1'] },
    lookUpAt([names.address]),
  );
  assert.equal(outcome.ok, true, outcome.reason);
  assert.equal(
    (await send(`http://localhost:${port}/`, rules())).reason,
    NOT_PUBLIC.replace('shop.example', 'localhost'),
  );
  assert.deepEqual(names.asked, []);
  names.stop();
});

test('https is sent only to a server whose certificate is valid for the name', {
  skip: !hasOpenssl,
}, async () => {
  const certificates = temporaryCertificates();
  const known = certificates.make('known');
  const expired = certificates.make('expired', ['-days', '0']);
  const other = certificates.make('other');
  const defaults = getCACertificates('default');
  setDefaultCACertificates([
    ...defaults,
    ...[known, expired].map((one) => readFileSync(one.certificate, 'utf8')),
  ]);
  let taken = 0;
  const servers: { close(): unknown }[] = [];
  const files = ({ certificate, key }: { certificate: string; key: string }) => ({
    cert: readFileSync(certificate),
    key: readFileSync(key),
  });
  const serve = async ({ certificate, key }: { certificate: string; key: string }) => {
    const one = createTlsServer(files({ certificate, key }), (request, response) => {
      taken++;
      response.setHeader('x-name', String((request.socket as { servername?: string }).servername)).end();
    });
    servers.push(one);
    await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
    return (one.address() as AddressInfo).port;
  };
  const at = (name: string, tlsPort: number, now?: number) =>
    send(
      `https://${name}:${tlsPort}/`,
      { allowHttp: false, allowedNetworks: ['127.0.0.1'], ports: 'any' },
      async () => ['127.0.0.1'],
      now,
    );
  try {
    const knownPort = await serve(known);
    assert.equal((await at('localhost', knownPort)).ok, true);
    assert.equal(taken, 1);
    assert.equal((await at('shop.example', knownPort)).reason, 'The certificate is not for shop.example');
    const expiredPort = await serve(expired);
    await delay(1500); // it was valid for its first second
    assert.equal((await at('localhost', expiredPort)).reason, 'The certificate expired today');
    const later = Date.now() + 3 * DAY_MS + 60_000;
    assert.equal((await at('localhost', expiredPort, later)).reason, 'The certificate expired 3 days ago');
    assert.match((await at('localhost', await serve(other))).reason, /is signed by/);
    assert.equal(
      (await at('localhost', port)).reason,
      'Your server does not speak TLS that can be agreed on',
    );
    assert.equal(taken, 1, 'nothing is sent to any of them');
    const anew = createRawTlsServer({ ...files(known), maxVersion: 'TLSv1.2' }, (socket) => {
      socket.on('error', () => {});
      const answer = () => socket.end('HTTP/1.1 200 OK\r\n\r\n');
      socket.once('data', () => void socket.renegotiate({}, answer));
    });
    servers.push(anew);
    await new Promise<void>((resolve) => anew.listen(0, '127.0.0.1', resolve));
    const again = await at('localhost', (anew.address() as AddressInfo).port);
    assert.equal(again.ok, false, 'no second handshake is made');
  } finally {
    setDefaultCACertificates(defaults);
    for (const one of servers) one.close();
    certificates.remove();
  }
});
