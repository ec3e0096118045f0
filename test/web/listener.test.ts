// What is opened before a listener fails is closed again: its sites, and the listeners before it.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { createLogger } from '../../src/lib/log.ts';
import { openListeners } from '../../src/operate/listeners.ts';
import { Listener } from '../../src/web/listener.ts';
import { createShell, type ShellParts } from '../../src/web/shell.ts';
import { freePorts } from '../support/free-ports.ts';
import { PLAIN_SHELL } from '../support/shell.ts';

const HOST = '127.0.0.1';
const log = createLogger('error', { write: () => {} });

/** A site without a route, which says when it is closed. */
async function site(server: ShellParts['server'], onClose: () => void) {
  const app = createShell({ ...PLAIN_SHELL, log, server });
  app.addHook('onClose', async () => onClose());
  await app.ready();
  return app;
}

/** Listens on a port for as long as `use` takes. */
async function whileTaken(port: number, use: () => Promise<void>): Promise<void> {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(port, HOST, resolve));
  try {
    await use();
  } finally {
    taken.close();
  }
}

test('a listener that cannot listen closes every site that was built for it.', async () => {
  const [port] = (await freePorts(1)) as [number];
  const closed: string[] = [];
  const parts = ['first', 'second'].map((name) => ({
    hostNames: [name],
    build: (server: ShellParts['server']) => site(server, () => closed.push(name)),
  }));
  await whileTaken(port, () =>
    assert.rejects(
      Listener.open({ host: HOST, port, sites: parts, connections: 8 }, undefined, () => false),
      { code: 'EADDRINUSE' },
    ),
  );
  assert.deepEqual(closed.sort(), ['first', 'second']);
});

test('where the second address cannot be listened on, the first is let go of.', async () => {
  const [first, second] = (await freePorts(2)) as [number, number];
  const listeners = [first, second].map((port) => ({
    host: HOST,
    port,
    sites: [{ hostNames: [], surfaces: [] }],
  }));
  let closed = 0;
  await whileTaken(second, () =>
    assert.rejects(
      openListeners({ trust_proxy: [] }, { listeners }, undefined, (_, server) =>
        site(server, () => closed++),
      ),
      { code: 'EADDRINUSE' },
    ),
  );
  assert.equal(closed, 2);
  await whileTaken(first, async () => {}); // it is free
});
