// kill -9 of services that import a watched folder: alone on SQLite, and two nodes on PostgreSQL that share it. Every file comes in once.
// COUNTERFOIL_RUNS: how many kills on each engine.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { StatementFolder } from '../../src/statements/folder.ts';
import { ACCOUNT, camt, TRANSFERS } from '../support/camt.ts';
import { secretsOf, startHarness, writeConfiguration } from '../support/harness.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { ENGINES } from '../support/stores.ts';

const KILLS = Number(process.env.COUNTERFOIL_RUNS) || 2;
const FILES = 12;
const LINES = 200;
/** Between two looks of a service into the folder. */
const LOOK_MS = 2000;
const NAMED = { info() {}, warn() {} };

for (const engine of ENGINES)
  test(`${KILLS} kills while a folder is imported lose no file and double none, on ${engine}`, async (context) => {
    const random = new SeededRandom();
    context.diagnostic(`seed ${random.seed} (COUNTERFOIL_SEED)`);
    // The harness makes the store, stops beside the services, and looks into it at the end.
    const harness = await startHarness(engine, { configuration: TRANSFERS });
    const { store } = harness;
    const place = mkdtempSync(join(tmpdir(), 'counterfoil-folder-'));
    const folder = join(place, 'incoming');
    mkdirSync(folder);
    const isShared = engine === 'postgres';
    const extra = `${TRANSFERS}nodes: ${isShared ? 2 : 1}\nstatements:\n  folder: ${folder}\n`;
    const config = writeConfiguration(store, 'development', extra);
    const { database_url } = store;
    const begin = (storage: string): Promise<ServerProcess> =>
      startServerProcess({ config, port: 0, storage, database_url, env: secretsOf(store) });
    const nodes: ServerProcess[] = [];
    context.after(async () => {
      await Promise.all(nodes.map((node) => node.end('SIGKILL')));
      await harness.close();
      rmSync(place, { recursive: true });
    });
    if (isShared) nodes.push(await begin(join(place, 'other')));
    else await harness.stop();
    let inTheMiddle = 0;
    for (let round = 0; round < KILLS; round++) {
      for (let file = 0; file < FILES; file++) {
        const entries = Array.from({ length: LINES }, (_, i) => ({
          amount: '9.90',
          bank: `R${round}F${file}L${i}`,
        }));
        const name = join(folder, `r${round}f${file}.xml`);
        writeFileSync(`${name}.part`, camt(entries, { number: String(FILES * round + file + 1) }));
        renameSync(`${name}.part`, name);
      }
      const node = await begin(isShared ? join(place, 'killed') : store.storage);
      await delay(LOOK_MS + random.between(0, 600));
      await node.end('SIGKILL');
      if (readdirSync(join(folder, 'taken')).length > 0) inTheMiddle += 1;
    }
    await Promise.all(nodes.splice(0).map((node) => node.end('SIGTERM')));
    if (!isShared) await harness.start();
    const { journal, database } = harness.service;
    const last = new StatementFolder({
      ...{ folder, journal, database, clock: harness.clock, log: NAMED, isShared: false },
      methods: [{ accounts: [{ currency: 'EUR', holder: 'Shop', iban: ACCOUNT, rows: [] }] }],
    });
    for (let turn = 0; turn < 2; turn++) await last.look();
    assert.deepEqual(readdirSync(join(folder, 'failed')), []);
    assert.deepEqual(readdirSync(join(folder, 'taken')), []);
    assert.equal(readdirSync(join(folder, 'done')).length, KILLS * FILES);
    database.refresh();
    const [found] = await database.query<{ n: number; different: number }>(
      'select count(*) as n, count(distinct entry_reference) as different from statement_lines',
    );
    assert.deepEqual([found!.n, found!.different], [KILLS * FILES * LINES, KILLS * FILES * LINES]);
    await harness.verify();
    context.diagnostic(`${inTheMiddle} of ${KILLS} kills came while a file was taken`);
  });
