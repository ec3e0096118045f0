// kill -9 in the middle of imports, beside a server: each file stands whole or not at all, and what was told as imported stands.
// COUNTERFOIL_RUNS: how many kills on each engine.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { awakeMs } from '../support/awake.ts';
import { camt, inOneFile, TRANSFERS } from '../support/camt.ts';
import { COMMAND, plainEnvironment, start, temporaryFolder } from '../support/command.ts';
import { type Harness, startHarness, writeConfiguration } from '../support/harness.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { ENGINES } from '../support/stores.ts';

const KILLS = Number(process.env.COUNTERFOIL_RUNS) || 6;
/** Files of one command. Each holds two statements with so many lines. */
const FILES = 5;
const LINES = 250;

/** A file of two statements. No other file has its lines. */
function fileOf(round: number, file: number): string {
  const [one, two] = [0, 1].map((half) => {
    const entries = Array.from({ length: LINES }, (_, i) => ({
      amount: '9.90',
      bank: `R${round}F${file}H${half}L${i}`,
      text: `Order ${i}`,
    }));
    return camt(entries, { number: String(2 * (FILES * round + file) + half) });
  });
  return inOneFile(one!, two!);
}

/** How many statements and lines of a file stand in the store. */
async function standing({ service: { database } }: Harness, name: string): Promise<[number, number]> {
  database.refresh();
  const count = async (sql: string) => Number((await database.query<{ n: number }>(sql, name))[0]!.n);
  return [
    await count('select count(*) as n from statements where file = ?'),
    await count(
      'select count(*) as n from statement_lines where statement_id in (select id from statements where file = ?)',
    ),
  ];
}

for (const engine of ENGINES)
  test(`${KILLS} kills in the middle of imports leave no half of a file, on ${engine}`, async (context) => {
    const random = new SeededRandom();
    context.diagnostic(`seed ${random.seed} (COUNTERFOIL_SEED)`);
    const harness = await startHarness(engine, { configuration: TRANSFERS });
    const folder = temporaryFolder();
    context.after(async () => {
      folder.remove();
      await harness.close();
    });
    const environment = plainEnvironment({
      COUNTERFOIL_CONFIG: writeConfiguration(harness.store, 'development', TRANSFERS),
      COUNTERFOIL_STORAGE: harness.store.storage,
      DATABASE_URL: harness.store.database_url ?? '',
    });
    const namesOf = (round: number) =>
      Array.from({ length: FILES }, (_, file) => {
        const name = `r${round}f${file}.xml`;
        writeFileSync(join(folder.path, name), fileOf(round, file));
        return name;
      });
    const begin = (names: string[]) =>
      start(
        process.execPath,
        [COMMAND, 'statements', 'import', ...names.map((name) => join(folder.path, name))],
        { environment },
      );
    // Nobody ends the first: how long the files behind the first one take is when the others are killed.
    const unharmed = begin(namesOf(0));
    await unharmed.until(/r0f0\.xml/);
    const begun = awakeMs();
    const { code } = await unharmed.ended;
    assert.equal(code, 0, unharmed.stderr);
    let rest = awakeMs() - begun;
    const files = { whole: 0, none: 0 };
    let inTheMiddle = 0;
    for (let round = 1; round <= KILLS; round++) {
      const names = namesOf(round);
      const running = begin(names);
      await running.until(/r\d+f0\.xml/);
      await delay(random.between(0, Math.round(rest)));
      running.child.kill('SIGKILL');
      await running.ended;
      const before = files.none;
      for (const name of names) {
        const found = await standing(harness, name);
        const isWhole = found[0] === 2 && found[1] === 2 * LINES;
        assert.ok(isWhole || (found[0] === 0 && found[1] === 0), `${name}: ${found}`);
        if (running.stdout.includes(name)) assert.ok(isWhole, `${name} was told as imported`);
        files[isWhole ? 'whole' : 'none'] += 1;
      }
      if (files.none > before) inTheMiddle += 1;
      else rest /= 2; // it came too late
      // What was left out comes in by a second import.
      if (round % 10 === 0) {
        const again = begin(names);
        assert.equal((await again.ended).code, 0, again.stderr);
        for (const name of names) assert.deepEqual(await standing(harness, name), [2, 2 * LINES]);
      }
    }
    harness.service.database.refresh();
    await harness.verify();
    context.diagnostic(`${inTheMiddle} kills in the middle, ${JSON.stringify(files)}`);
    assert.ok(inTheMiddle > 0, `no kill of ${KILLS} came in the middle`);
  });
