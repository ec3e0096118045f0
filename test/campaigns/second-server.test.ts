// Two servers and one SQLite store: the second is turned away, whichever way it comes, and has the store when the first is gone.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { writeConfiguration } from '../support/harness.ts';
import { freePort } from '../support/postgres-server.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { type Store, temporaryStore } from '../support/stores.ts';

const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 1;

/** Starts a server on the store, reached by `storage`. Answers with the server, or with what a refused one said. */
async function tryStart(store: Store, storage = store.storage): Promise<ServerProcess | string> {
  const config = join(store.storage, 'counterfoil.yaml');
  return startServerProcess({ config, port: await freePort(), storage }).catch(
    (error: Error) => error.message,
  );
}

/** A store that is dropped in the end, with the servers that still have it. */
async function withStore(
  use: (store: Store, started: (one: ServerProcess) => void) => Promise<void>,
): Promise<void> {
  const store = await temporaryStore('sqlite');
  writeConfiguration(store, 'development', 'log_level: error\n');
  const servers: ServerProcess[] = [];
  try {
    await use(store, (server) => servers.push(server));
  } finally {
    for (const { child } of servers) child.kill('SIGKILL');
    await store.drop();
  }
}

const isServer = (one: ServerProcess | string): one is ServerProcess => typeof one !== 'string';

function assertRefused(one: ServerProcess | string, storage: string): void {
  assert.ok(!isServer(one), 'a second server has the store');
  assert.equal(
    one,
    `exited with 1: counterfoil: the database: another server holds the store (${join(storage, 'server.lock')}): stop it first`,
  );
}

async function assertServes({ origin }: ServerProcess): Promise<void> {
  assert.equal((await fetch(`${origin}/health`)).status, 200);
}

/** A folder that is the same as another: by a bind mount where that may be made, else nothing. */
function bindMount(storage: string): { path: string; remove(): void } | undefined {
  const path = mkdtempSync(join(tmpdir(), 'counterfoil-bound-'));
  const remove = () => rmSync(path, { recursive: true, force: true });
  try {
    execFileSync('mount', ['--bind', storage, path], { stdio: 'ignore' });
  } catch {
    remove();
    return undefined;
  }
  return {
    path,
    remove() {
      execFileSync('umount', [path]);
      remove();
    },
  };
}

describe('a second server', () => {
  test(`${RUNS} pairs started at one moment: one serves, the other says why it does not, in one line`, {
    timeout: Infinity,
  }, async () => {
    for (let run = 0; run < RUNS; run++) {
      await withStore(async (store, started) => {
        const pair = await Promise.all([tryStart(store), tryStart(store)]);
        pair.filter(isServer).forEach(started);
        const [server] = pair.filter(isServer);
        assert.ok(server, `neither serves: ${pair}`);
        assertRefused(pair.find((one) => one !== server)!, store.storage);
        await assertServes(server);
      });
    }
  });

  test(`${RUNS} servers come to a store that is held, and have it as soon as its server was killed`, {
    timeout: Infinity,
  }, async () => {
    await withStore(async (store, started) => {
      let first = await tryStart(store);
      for (let run = 0; run < RUNS; run++) {
        assert.ok(isServer(first), String(first));
        started(first);
        assertRefused(await tryStart(store), store.storage);
        await assertServes(first);
        await first.end('SIGKILL');
        first = await tryStart(store);
      }
      assert.ok(isServer(first), String(first));
      assert.equal(await first.end('SIGTERM'), 0);
    });
  });

  test('is turned away by another name of the folder as well: a symbolic link, a bind mount', async (context) => {
    await withStore(async (store, started) => {
      const first = await tryStart(store);
      assert.ok(isServer(first), String(first));
      started(first);
      const folder = mkdtempSync(join(tmpdir(), 'counterfoil-link-'));
      const link = join(folder, 'storage');
      symlinkSync(store.storage, link);
      const bound = bindMount(store.storage);
      try {
        assertRefused(await tryStart(store, link), link);
        if (bound) assertRefused(await tryStart(store, bound.path), bound.path);
        else context.diagnostic('without the bind mount: making one needs root');
      } finally {
        bound?.remove();
        rmSync(folder, { recursive: true });
      }
    });
  });
});
