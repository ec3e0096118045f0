// Two servers and one SQLite store: the second is turned away, whichever way it comes, and has the store when the first is gone.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { freePort } from '../support/free-ports.ts';
import { writeConfiguration } from '../support/harness.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { temporaryStore } from '../support/stores.ts';

const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 1;

/** Starts a server on a store, reached by `storage`. Answers with the server, or with what a refused one said. */
type TryStart = (storage?: string) => Promise<ServerProcess | string>;

/** A store that is dropped in the end, with the servers that still have it. */
async function withStore(use: (tryStart: TryStart, storage: string) => Promise<void>): Promise<void> {
  const store = await temporaryStore('sqlite');
  const config = writeConfiguration(store, 'development', 'log_level: error\n');
  const servers: ServerProcess[] = [];
  const tryStart: TryStart = async (storage = store.storage) => {
    try {
      const server = await startServerProcess({ config, port: await freePort(), storage });
      servers.push(server);
      return server;
    } catch (error) {
      return (error as Error).message;
    }
  };
  try {
    await use(tryStart, store.storage);
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
      await withStore(async (tryStart, storage) => {
        const pair = await Promise.all([tryStart(), tryStart()]);
        const server = pair.find(isServer);
        assert.ok(server, `neither serves: ${pair}`);
        assertRefused(pair.find((one) => one !== server)!, storage);
        await assertServes(server);
      });
    }
  });

  test(`${RUNS} servers come to a store that is held, and have it as soon as its server was killed`, {
    timeout: Infinity,
  }, async () => {
    await withStore(async (tryStart, storage) => {
      let first = await tryStart();
      for (let run = 0; run < RUNS; run++) {
        assert.ok(isServer(first), String(first));
        assertRefused(await tryStart(), storage);
        await assertServes(first);
        await first.end('SIGKILL');
        first = await tryStart();
      }
      assert.ok(isServer(first), String(first));
      assert.equal(await first.end('SIGTERM'), 0);
    });
  });

  test('is turned away by another name of the folder as well: a symbolic link, a bind mount', async (context) => {
    await withStore(async (tryStart, storage) => {
      const first = await tryStart();
      assert.ok(isServer(first), String(first));
      const folder = mkdtempSync(join(tmpdir(), 'counterfoil-link-'));
      const link = join(folder, 'storage');
      symlinkSync(storage, link);
      const bound = bindMount(storage);
      try {
        assertRefused(await tryStart(link), link);
        if (bound) assertRefused(await tryStart(bound.path), bound.path);
        else context.diagnostic('without the bind mount: making one needs root');
      } finally {
        bound?.remove();
        rmSync(folder, { recursive: true });
      }
      await assertServes(first);
    });
  });
});
