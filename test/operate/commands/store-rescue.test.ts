// A SQLite database that is removed, moved or replaced while it serves: refused at once, said once, and saved by one command.
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { run } from '../../support/command.ts';
import { isWhole } from '../../support/extent.ts';
import { KEY, writeConfiguration } from '../../support/harness.ts';
import { type ServerProcess, startServerProcess } from '../../support/server-process.ts';
import { eventually } from '../../support/waiting.ts';

const FILE = 'counterfoil.sqlite';
/** More than the log takes before it is folded. */
const MANY = 60;

/** What may become of the files. */
const MISHAPS: Record<string, (storage: string, aside: string) => void> = {
  'the database is removed': (storage) => rmSync(join(storage, FILE)),
  'the database and its log are removed': (storage) => {
    for (const name of readdirSync(storage)) if (name.startsWith(FILE)) rmSync(join(storage, name));
  },
  'the database is moved': (storage, aside) => renameSync(join(storage, FILE), join(aside, 'moved.sqlite')),
  'an older copy is put in the place of the database': (storage, aside) => {
    copyFileSync(join(storage, FILE), join(aside, 'copy'));
    renameSync(join(aside, 'copy'), join(storage, FILE));
  },
  'an empty file is put in its place': (storage, aside) => {
    writeFileSync(join(aside, 'empty'), '');
    renameSync(join(aside, 'empty'), join(storage, FILE));
  },
  'the log is removed': (storage) => rmSync(join(storage, `${FILE}-wal`)),
};

/** In `npm test`, a mishap of each kind: a file that is gone, and another in its place. */
const KINDS = /^(the database is removed|an older copy)/;

describe('where, while it serves,', () => {
  for (const [mishap, happen] of Object.entries(MISHAPS).filter(([one]) => isWhole || KINDS.test(one)))
    test(mishap, async () => {
      const storage = mkdtempSync(join(tmpdir(), 'counterfoil-rescue-'));
      const aside = mkdtempSync(join(tmpdir(), 'counterfoil-aside-'));
      const config = writeConfiguration({ storage, database_url: null } as never);
      const env = { COUNTERFOIL_CONFIG: config, COUNTERFOIL_STORAGE: storage };
      let server: ServerProcess | undefined;
      try {
        server = await startServerProcess({ config, port: 0, storage });
        const { origin, output } = server;
        const acknowledged: string[] = [];
        const create = async () => {
          const response = await fetch(`${origin}/v1/payments`, {
            method: 'POST',
            headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
            body: JSON.stringify({ amount: 10, description: 'x'.repeat(200) }),
          });
          const body = (await response.json()) as { data: { id: string } };
          if (response.status === 201) acknowledged.push(body.data.id);
          return response.status;
        };
        for (let i = 0; i < MANY; i++) assert.equal(await create(), 201);
        happen(storage, aside);
        // The newest seal is written down each second, also for the first time.
        const names = () => readdirSync(storage).filter((name) => !name.startsWith('newest-seal.json'));
        const left = names();
        assert.equal(await create(), 503);
        const ready = await fetch(`${origin}/health/ready`);
        const { failing } = (await ready.json()) as { failing: string[] };
        assert.deepEqual([ready.status, failing], [503, ['store_writable']]);
        assert.equal(
          (await fetch(`${origin}/v1/payments`, { headers: { authorization: `Bearer ${KEY}` } })).status,
          200,
        );
        const said = () => output.filter((line) => line.includes('the database was removed or replaced'));
        await eventually(
          () => said().length === 1,
          () => output.join('\n'),
        );
        const doctor = await run(['doctor', '--json'], { env });
        const found = JSON.parse(doctor.stdout).findings.find(
          ({ id }: { id: string }) => id === 'database_file',
        );
        assert.match(found.fix, /store rescue/);
        assert.deepEqual(names(), left, 'nothing is made or taken away');

        const rescued = await run(['store', 'rescue', '--json', '--output', aside], { env });
        assert.equal(rescued.code, 0, rescued.stderr);
        const { rescued: file, payments } = JSON.parse(rescued.stdout);
        assert.equal(payments, acknowledged.length);
        await server.end('SIGTERM');
        assert.equal(said().length, 1);
        const saved = new DatabaseSync(file);
        const ids = new Set(
          saved
            .prepare('select id from payments')
            .all()
            .map(({ id }) => id),
        );
        saved.close();
        assert.deepEqual(
          acknowledged.filter((id) => !ids.has(id)),
          [],
        );

        for (const name of readdirSync(storage)) if (name.startsWith(FILE)) rmSync(join(storage, name));
        renameSync(file, join(storage, FILE));
        server = await startServerProcess({ config, port: 0, storage });
        const { code } = await run(['audit', 'verify'], { env });
        assert.equal(code, 0);
      } finally {
        await server?.end('SIGKILL');
        for (const folder of [storage, aside]) rmSync(folder, { recursive: true, force: true });
      }
    });

  test('the database is moved and moved back, it takes changes again', async () => {
    const storage = mkdtempSync(join(tmpdir(), 'counterfoil-rescue-'));
    const config = writeConfiguration({ storage, database_url: null } as never);
    const server = await startServerProcess({ config, port: 0, storage });
    try {
      const ready = async () => (await fetch(`${server.origin}/health/ready`)).status;
      const nothing = await run(['store', 'rescue'], {
        env: { COUNTERFOIL_CONFIG: config, COUNTERFOIL_STORAGE: storage },
      });
      assert.deepEqual([nothing.code, /nothing to rescue/.test(nothing.stderr)], [1, true]);
      renameSync(join(storage, FILE), join(storage, 'aside'));
      await eventually(async () => (await ready()) === 503);
      renameSync(join(storage, 'aside'), join(storage, FILE));
      await eventually(async () => (await ready()) === 200);
      assert.ok(existsSync(join(storage, FILE)));
    } finally {
      await server.end('SIGTERM');
      rmSync(storage, { recursive: true, force: true });
    }
  });
});
