// A connection that is kept for its next request: closed when none comes, and not under one that has arrived.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { connect as connectSecurely } from 'node:tls';
import { httpServer, type KeyPair } from '../../src/web/server.ts';
import { hasOpenssl, temporaryCertificates } from '../support/certificates.ts';
import { LONGER_THAN_A_TEST_MS, standStill } from '../support/waiting.ts';

const KEPT_MS = 200;

const send = (socket: Socket, path: string) => socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);

/** A connection to a server, after its first answer. From when `keep` is called it is kept for `KEPT_MS`. */
async function kept(keyPair: KeyPair | undefined) {
  const answered = Promise.withResolvers<Socket>();
  const server = httpServer(({ url, socket }, response) => {
    response.on('finish', () => answered.resolve(socket));
    response.end(`shown ${url}`);
  }, keyPair);
  server.keepAliveTimeout = LONGER_THAN_A_TEST_MS;
  server.keepAliveTimeoutBuffer = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const at = { host: '127.0.0.1', port, rejectUnauthorized: false };
  const socket = keyPair ? connectSecurely(at) : connect(at);
  send(socket.setEncoding('latin1'), '/first');
  assert.match((await once(socket, 'data'))[0], /shown \/first$/);
  const taken = await answered.promise;
  const keep = () => {
    server.keepAliveTimeout = KEPT_MS;
    taken.setTimeout(KEPT_MS); // as the server does behind an answer
  };
  return { socket, keep, close: () => server.close() };
}

for (const [title, secure] of [
  ['plain', false],
  ['secure', true],
] as const)
  describe(`a kept ${title} connection`, { skip: secure && !hasOpenssl }, () => {
    const keyPair = () => {
      if (!secure) return;
      const certificates = temporaryCertificates();
      const { certificate, key } = certificates.make('localhost');
      const pair = { cert: readFileSync(certificate), key: readFileSync(key) };
      certificates.remove();
      return pair;
    };

    test('is closed when nothing comes.', async (context) => {
      const { socket, keep, close } = await kept(keyPair());
      context.after(close);
      keep();
      await once(socket, 'close');
    });

    test('is not closed under a request that came while the server stood still.', async (context) => {
      const { socket, keep, close } = await kept(keyPair());
      context.after(close);
      keep();
      send(socket, '/second');
      standStill(2 * KEPT_MS);
      assert.match((await once(socket, 'data'))[0], /shown \/second$/);
      await once(socket, 'close');
    });
  });
