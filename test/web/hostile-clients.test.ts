// Clients that mean harm, over bare sockets: none ends the process, holds up its stop, or gets an answer outside the contract.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { cutNothing } from '../support/clockwork.ts';
import { assertLinear } from '../support/growth.ts';
import { type Harness, KEY, startHarness } from '../support/harness.ts';
import { exchange, parseAnswers } from '../support/wire-client.ts';

const CONNECT = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n';
const GET = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';
const REQUESTS_PER_SOCKET = 1000;

async function dial(service: Harness): Promise<Socket> {
  const socket = connect({
    port: Number(new URL(service.origin).port),
    host: '127.0.0.1',
    allowHalfOpen: true,
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

describe('hostile clients', () => {
  let service: Harness;
  /** What would have ended the process. The test runner blames nobody for it, since the server was begun outside the test. */
  const fatal: unknown[] = [];
  const collect = (error: unknown) => void fatal.push(error);
  before(async () => {
    process.on('uncaughtException', collect);
    service = await startHarness('sqlite');
  });
  after(async () => {
    process.off('uncaughtException', collect);
    await service.close();
  });

  for (const [title, text] of [
    ['CONNECT', CONNECT],
    ['CONNECT behind a request', GET + CONNECT],
    ['an upgrade', 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ['an unmet Expect', 'GET /health HTTP/1.1\r\nHost: x\r\nExpect: nonsense\r\n\r\n'],
    ['what is no HTTP', 'NONSENSE\r\n\r\n'],
  ] as const) {
    test(`${title}, then a reset at any moment, harms nobody`, async () => {
      for (let i = 0; i < 100; i++) {
        const socket = await dial(service);
        socket.write(text);
        if (i % 2) await pause(i % 5);
        socket.resetAndDestroy();
      }
      await pause(50);
      assert.deepEqual(fatal.splice(0), []);
      assert.equal((await service.request('/health')).status, 200);
    });
  }

  test('CONNECT behind a request that is not answered yet is never taken for its answer', async () => {
    const bytes = await exchange(Number(new URL(service.origin).port), Buffer.from(GET + CONNECT));
    assert.equal(parseAnswers(bytes)[0]?.status ?? 200, 200);
  });

  for (const [title, text, event] of [
    ['CONNECT', CONNECT, 'connect'],
    ['what is no HTTP', 'NONSENSE\r\n\r\n', 'clientError'],
  ] as const) {
    test(`a client that sends ${title} and then neither reads nor closes holds up no stop`, async () => {
      const other = await startHarness('sqlite');
      cutNothing(other);
      const heard = new Promise((resolve) => other.service.app.server.once(event, resolve));
      const socket = await dial(other);
      socket.pause();
      socket.write(text);
      await heard;
      await other.close();
      assert.ok(!socket.destroyed);
      socket.destroy();
    });
  }

  test('a body that is a little too large is refused while it is sent, and the connection goes on', async () => {
    const socket = await dial(service);
    let got = '';
    socket.on('data', (bytes) => (got += bytes));
    const length = 79_000;
    const [first, rest] = ['x'.repeat(10_000), 'x'.repeat(length - 10_000)];
    const head = `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;
    socket.write(`${head}Content-Length: ${length}\r\n\r\n${first}`);
    while (!got.includes('payload_too_large')) await pause(5);
    socket.write(`${rest}${GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}`);
    await once(socket, 'end');
    assert.deepEqual(
      parseAnswers(Buffer.from(got)).map(({ status }) => status),
      [413, 200],
    );
    socket.destroy();
  });

  test(`the answer ${REQUESTS_PER_SOCKET} of a connection is its last, and says so`, async () => {
    const port = Number(new URL(service.origin).port);
    const answers = parseAnswers(await exchange(port, Buffer.from(GET.repeat(REQUESTS_PER_SOCKET + 5))));
    assert.equal(answers.length, REQUESTS_PER_SOCKET);
    for (const [i, { status, headers }] of answers.entries()) {
      assert.equal(status, 200);
      assert.match(headers.get('x-request-id') ?? '', /^req_/);
      assert.equal(headers.get('connection'), i === REQUESTS_PER_SOCKET - 1 ? 'close' : 'keep-alive');
    }
  });

  test('a number of 60,000 digits costs no more than it is long, wherever its digits are', async () => {
    for (const [begin, digit, end] of [
      ['0.1', '0', '1'],
      ['1', '0', '1'],
      ['1e', '9', ''],
      ['1e-', '9', ''],
    ] as const)
      await assertLinear(
        async (length) => {
          const body = `{"amount":${begin}${digit.repeat(length)}${end}}`;
          const { status } = await service.request('/v1/payments', { method: 'POST', body });
          assert.equal(status, 422);
        },
        60_000,
        begin,
      );
  });
});
