// TLS by a certificate of one's own: what is spoken, what is refused, and how a certificate is renewed while the service runs.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect, type SecureVersion, type TLSSocket } from 'node:tls';
import { createLogger } from '../../src/lib/log.ts';
import { systemClock } from '../../src/lib/time.ts';
import { KeyPairUnfit, loadKeyPair } from '../../src/operate/checks/certificate-checks.ts';
import { Listener } from '../../src/web/listener.ts';
import { LIMITS } from '../../src/web/server.ts';
import { createShell, type ShellParts } from '../../src/web/shell.ts';
import { type Certificates, hasOpenssl, temporaryCertificates } from '../support/certificates.ts';
import { cutNothing } from '../support/clockwork.ts';
import { run } from '../support/command.ts';
import { freePorts } from '../support/free-ports.ts';
import { type Harness, startHarness, writeConfiguration } from '../support/harness.ts';
import { PLAIN_SHELL } from '../support/shell.ts';
import { temporaryStore } from '../support/stores.ts';
import { eventually, LONGER_THAN_A_TEST_MS } from '../support/waiting.ts';
import { parseAnswers } from '../support/wire-client.ts';

/** As in `listener.ts`. */
const CLOSE_PATIENCE_MS = 9000;
const SKIP = { skip: hasOpenssl ? false : 'openssl is missing' };
/** The client offers everything it has, so that a refusal is the server's. */
const WEAK_CLIENT = 'ALL:COMPLEMENTOFALL:@SECLEVEL=0';

const tls = ({ certificate, key }: { certificate: string; key: string }) =>
  `tls: { certificate: ${certificate}, key: ${key} }\n`;

/** How a client fares that offers these versions and suites: the suite agreed on, or undefined where it was refused. */
function handshake(port: number, version: SecureVersion, ciphers = WEAK_CLIENT): Promise<string | undefined> {
  const versions = { minVersion: version, maxVersion: version };
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ciphers, ...versions });
  return new Promise((resolve) => {
    socket.on('error', () => resolve(undefined));
    socket.on('secureConnect', () => {
      resolve(socket.getCipher().name);
      socket.destroy();
    });
  });
}

/** What a GET is answered with; the certificate is looked at by the test, not by the client. */
function get(port: number, path: string): Promise<{ status: number; hsts: string | undefined }> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      const hsts = response.headers['strict-transport-security'];
      response.on('end', () => resolve({ status: response.statusCode!, hsts }));
    })
      .on('error', reject)
      .end();
  });
}

/** The name in the certificate that a new connection is shown. */
async function nameShown(port: number): Promise<string> {
  const socket = await secureSocket(port);
  const name = String(socket.getPeerCertificate().subject.CN);
  socket.destroy();
  return name;
}

async function secureSocket(port: number): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  return socket;
}

describe('TLS', SKIP, () => {
  let certificates: Certificates;
  let service: Harness;
  let port: number;
  let console_port: number;

  before(async () => {
    certificates = temporaryCertificates();
    [console_port] = (await freePorts(1)) as [number];
    const configuration = `${tls(certificates.make('first'))}console: { port: ${console_port} }\n`;
    service = await startHarness('sqlite', { configuration });
    port = Number(new URL(service.origin).port);
  });
  after(async () => {
    await service?.close();
    certificates?.remove();
  });

  test('the service is reached by https, says so in its addresses, and tells browsers to stay with it.', async () => {
    assert.equal(new URL(service.service.baseUrl).protocol, 'https:');
    for (const path of ['/health', '/nothing', '/v1/payments', '/payment.php'])
      assert.equal((await get(port, path)).hsts, 'max-age=63072000; includeSubDomains', path);
    assert.equal((await get(console_port, '/console/sign-in')).status, 200);
  });

  test('TLS 1.2 and 1.3 are spoken, older versions are refused.', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
      assert.ok(await handshake(port, version, 'DEFAULT'), version);
    for (const version of ['TLSv1', 'TLSv1.1'] as const)
      assert.equal(await handshake(port, version), undefined, version);
  });

  test('only suites with forward secrecy and authenticated encryption are agreed on, whatever is offered.', async () => {
    assert.match((await handshake(port, 'TLSv1.2'))!, /^ECDHE-ECDSA-.*(GCM|POLY1305)/);
    for (const suite of [
      'ECDHE-ECDSA-AES128-SHA',
      'ECDHE-ECDSA-AES256-SHA384',
      'ECDHE-ECDSA-AES128-SHA256',
      'ECDHE-ECDSA-AES128-CCM',
      'AES128-GCM-SHA256',
      'AES256-SHA',
      'ECDHE-ECDSA-NULL-SHA',
      'AECDH-AES128-SHA',
    ])
      assert.equal(await handshake(port, 'TLSv1.2', `${suite}:@SECLEVEL=0`), undefined, suite);
    for (const suite of ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'])
      assert.equal(await handshake(port, 'TLSv1.2', suite), suite);
  });

  test('plain HTTP, and bytes that are nothing, are answered by the end of the connection, and harm nobody.', async () => {
    for (const bytes of [
      'GET /health HTTP/1.1\r\nHost: x\r\n\r\n',
      'NONSENSE\r\n\r\n',
      '\x16\x03\x01\x00\x05hello',
    ]) {
      const socket = connectPlain({ port, host: '127.0.0.1' });
      let told = '';
      socket.on('data', (data) => (told += data.toString('latin1')));
      socket.on('error', () => {});
      socket.write(bytes, 'latin1');
      await once(socket, 'close');
      assert.doesNotMatch(told, /HTTP|error/, 'nothing that could be taken for an answer');
    }
    assert.equal((await get(port, '/health')).status, 200);
  });

  test('what is no HTTP inside TLS is answered inside TLS, in the one shape.', async () => {
    const socket = await secureSocket(port);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.write('NONSENSE\r\n\r\n');
    await once(socket, 'close');
    const [answer] = parseAnswers(Buffer.concat(chunks));
    assert.equal(answer?.status, 400);
    assert.equal(JSON.parse(answer!.body).error.code, 'bad_request');
  });

  test('whoever begins no handshake, or half of one, is cut at a stop before their own time is over.', async (context) => {
    for (const name of ['headersTimeoutMs', 'requestTimeoutMs'] as const)
      context.mock.property(LIMITS, name, LONGER_THAN_A_TEST_MS);
    const { certificate, key } = certificates.make('other');
    const keyPair = { cert: readFileSync(certificate), key: readFileSync(key) };
    const taken: Socket[] = [];
    const site = {
      hostNames: [],
      async build(server: ShellParts['server']) {
        const app = createShell({ ...PLAIN_SHELL, log: createLogger('silent'), server });
        app.server.on('connection', (socket: Socket) => taken.push(socket));
        return app;
      },
    };
    const [port] = (await freePorts(1)) as [number];
    const at = { host: '127.0.0.1', port };
    const listener = await Listener.open({ ...at, sites: [site], connections: 8 }, keyPair, () => false);
    const sockets = ['', '\x16\x03\x01\x02\x00\x01'].map((bytes) => {
      const socket = connectPlain({ ...at, allowHalfOpen: true });
      socket.on('error', () => {});
      socket.write(bytes, 'latin1');
      return socket;
    });
    await eventually(() => taken.length === sockets.length);
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const closed = listener.close();
    context.mock.timers.tick(CLOSE_PATIENCE_MS);
    await closed;
    for (const socket of sockets) socket.destroy();
  });

  test('a base URL with http is never given HSTS.', async () => {
    await using plain = await startHarness('sqlite', { configuration: 'base_url: http://pay.example\n' });
    for (const path of ['/health', '/nothing', '/payment.php', '/console/sign-in']) {
      const { headers } = await plain.request(path, { headers: { 'x-forwarded-proto': 'https' } });
      assert.equal(headers.get('strict-transport-security'), null, path);
    }
  });
});

describe('a certificate that cannot be used', SKIP, () => {
  let certificates: Certificates;
  before(() => {
    certificates = temporaryCertificates();
  });
  after(() => certificates.remove());

  const fault = (files: { certificate: string; key: string }, now = systemClock.now()) => {
    try {
      loadKeyPair(files, now, 'UTC');
    } catch (error) {
      assert.ok(error instanceof KeyPairUnfit, String(error));
      return error.message;
    }
    return 'nothing';
  };

  test('is told in one line: which file, what is wrong, and how to fix it.', () => {
    const [one, other] = [certificates.make('one'), certificates.make('other')];
    assert.equal(fault(one), 'nothing');
    const missing = join(certificates.folder, 'missing.pem');
    assert.equal(
      fault({ ...one, certificate: missing }),
      `tls.certificate: ${missing} does not exist: put it there, as PEM, or name another`,
    );
    assert.equal(
      fault({ ...one, key: other.key }),
      `tls.key: ${other.key} is not the key of ${one.certificate}: name the two that belong together`,
    );
    const empty = join(certificates.folder, 'empty.pem');
    writeFileSync(empty, 'SECRET', { mode: 0o600 });
    assert.match(fault({ ...one, certificate: empty }), /holds no certificate that can be used.*: it must/);
    assert.match(fault({ ...one, key: empty }), /holds no private key without a passphrase.*: it must be/);
    assert.doesNotMatch(fault({ ...one, key: empty }), /SECRET/);
    chmodSync(other.key, 0o644);
    assert.equal(fault(other), `tls.key: ${other.key} can be used by others: run chmod go= ${other.key}`);
  });

  test('is one that has expired, or is not valid yet.', () => {
    const files = certificates.make('short');
    const day = 24 * 60 * 60 * 1000;
    assert.match(fault(files, systemClock.now() + 31 * day), /short\.pem expired on \d+ \w+ 20\d\d, .* UTC:/);
    assert.match(fault(files, systemClock.now() - day), /is valid from \d+ \w+ 20\d\d, .* UTC on: set the/);
  });

  test('keeps the service from starting, with exit code 1, since it may be renewed.', async () => {
    const store = await temporaryStore('sqlite');
    const { certificate } = certificates.make('alone');
    const config = writeConfiguration(store, 'development', tls({ certificate, key: '/nowhere/key.pem' }));
    const { code, stderr } = await run(['serve', '--config', config], {
      env: { PORT: '0', COUNTERFOIL_STORAGE: store.storage },
    });
    await store.drop();
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^counterfoil: \S+:\d+: tls\.key: \/nowhere\/key\.pem does not exist: put it/);
  });
});

test(
  'a renewed certificate is shown, connections that are open go on, and a broken one changes nothing.',
  SKIP,
  async (context) => {
    const certificates = temporaryCertificates();
    context.after(() => certificates.remove());
    const files = certificates.make('before');
    await using harness = await startHarness('sqlite', { configuration: tls(files) });
    cutNothing(harness);
    const { service } = harness;
    const port = Number(new URL(harness.origin).port);
    const open = await secureSocket(port);
    const health = async () => {
      open.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
      const [bytes] = (await once(open, 'data')) as [Buffer];
      return bytes.toString('latin1', 0, 15);
    };
    assert.equal(await health(), 'HTTP/1.1 200 OK');
    assert.equal(await nameShown(port), 'before');

    const renewed = certificates.make('after');
    copyFileSync(renewed.key, files.key);
    copyFileSync(renewed.certificate, files.certificate);
    service.renewCertificate();
    assert.equal(await nameShown(port), 'after');
    assert.equal(await health(), 'HTTP/1.1 200 OK');
    assert.equal(await handshake(port, 'TLSv1.2', 'AES128-GCM-SHA256:@SECLEVEL=0'), undefined);
    assert.equal(await handshake(port, 'TLSv1.1'), undefined);

    copyFileSync(certificates.make('stranger').key, files.key);
    assert.throws(() => service.renewCertificate(), KeyPairUnfit);
    assert.equal(await nameShown(port), 'after');
    open.destroy();
  },
);
