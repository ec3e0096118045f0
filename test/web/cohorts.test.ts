// Requests that arrive together take each step together, in their order, and wait for nothing else.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { httpServer, inCohorts } from '../../src/web/server.ts';

const COHORT = 32;
const REQUESTS = 80;

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe('requests that arrive together', () => {
  test('take a step when all of their cohort have taken the one before.', async () => {
    const steps: string[] = [];
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const take = inCohorts(async ({ url }) => {
      for (const step of ['look up', 'show']) {
        steps.push(`${step} ${url}`);
        await null;
      }
      if (url === String(REQUESTS - 1)) resolve();
    });
    const arrive = (i: number) =>
      take({ url: String(i) } as IncomingMessage, {} as Parameters<typeof take>[1]);
    for (const i of numbers(0, REQUESTS)) arrive(i);
    assert.deepEqual(steps, [], 'none begins before all that have arrived are read');
    await done;
    const cohort = (from: number, to: number) =>
      ['look up', 'show'].flatMap((step) => numbers(from, to).map((i) => `${step} ${i}`));
    const expected = [cohort(0, COHORT), cohort(COHORT, 2 * COHORT), cohort(2 * COHORT, REQUESTS)];
    assert.deepEqual(steps, expected.flat());
  });

  test('are not begun where their connection is gone.', async () => {
    const begun: (string | undefined)[] = [];
    const take = inCohorts(({ url }) => {
      begun.push(url);
    });
    for (const [url, destroyed] of [
      ['/gone', true],
      ['/there', false],
    ] as const)
      take({ url, destroyed } as IncomingMessage, {} as Parameters<typeof take>[1]);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(begun, ['/there']);
  });

  test('are answered though their clients end their side with the last byte.', async () => {
    const answers = await sendAtOnce(
      REQUESTS,
      async (request, response) => {
        await text(request);
        await new Promise((resolve) => setTimeout(resolve, 10));
        response.end(`shown ${request.url}`);
      },
      true,
    );
    for (const [i, answer] of answers.entries()) assert.ok(answer.endsWith(`shown /${i}`), answer);
  });

  test('are all answered, and wait for none that takes its time.', async () => {
    let others = REQUESTS - 1;
    const { promise: allOthersShown, resolve } = Promise.withResolvers<void>();
    const answers = await sendAtOnce(REQUESTS, async ({ url }, response) => {
      if (url === '/0') await allOthersShown;
      response.end(`shown ${url}`);
      if (--others === 0) resolve();
    });
    for (const [i, answer] of answers.entries()) assert.ok(answer.endsWith(`shown /${i}`), answer);
  });
});

/** Sends one request on each of `count` connections in one turn, and with it the end where `isEnd`. Gives the answers. */
async function sendAtOnce(count: number, listener: RequestListener, isEnd = false): Promise<string[]> {
  const server = httpServer(listener, undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets = numbers(0, count).map(() => connect(port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const [i, socket] of sockets.entries()) {
    socket.write(`GET /${i} HTTP/1.1\r\nhost: a\r\n${isEnd ? '' : 'connection: close\r\n'}\r\n`);
    if (isEnd) socket.end();
  }
  const answers = await Promise.all(sockets.map((socket) => text(socket)));
  server.close();
  return answers;
}
