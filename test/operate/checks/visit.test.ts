// Calls to an installation's own addresses: no redirect is followed, and of an endless answer the beginning is looked at.
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { type Visited, visit } from '../../../src/operate/checks/address-checks.ts';
import { LONGER_THAN_A_TEST_MS } from '../../support/waiting.ts';

async function serving(listener: RequestListener, use: (origin: string) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a redirect is told as what it is, and not followed.', async () => {
  const asked: string[] = [];
  const listener: RequestListener = ({ url }, response) => {
    asked.push(url!);
    if (url === '/') response.writeHead(302, { location: '/elsewhere' }).end();
    else response.end('elsewhere');
  };
  await serving(listener, async (origin) => {
    const { status } = (await visit(`${origin}/`, LONGER_THAN_A_TEST_MS)) as Visited;
    assert.equal(status, 302);
    assert.deepEqual(asked, ['/']);
  });
});

test('an answer that never ends is cut after its beginning, and its connection with it.', async () => {
  const PIECE = 'x'.repeat(16 * 1024);
  let cut: Promise<unknown> | undefined;
  const listener: RequestListener = (_request, response) => {
    const timer = setInterval(() => response.write(PIECE), 1);
    cut = new Promise((resolve) => response.once('close', resolve)).then(() => clearInterval(timer));
    response.once('close', () => clearInterval(timer));
  };
  await serving(listener, async (origin) => {
    const visited = await visit(`${origin}/`, LONGER_THAN_A_TEST_MS);
    assert.ok('text' in visited, JSON.stringify(visited));
    assert.ok(
      visited.text.length >= 64 * 1024 && visited.text.length < 256 * 1024,
      String(visited.text.length),
    );
    await cut;
  });
});
