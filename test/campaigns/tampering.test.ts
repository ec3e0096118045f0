// Edits of a database behind the service's back, each found where it was made, on both engines. COUNTERFOIL_RUNS: how many on each.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Harness, startHarness } from '../support/harness.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { ENGINES } from '../support/stores.ts';
import { buildHistory } from './administration.ts';
import { breakIntoPostgres, breakIntoSqlite } from './break-in.ts';
import { commitCrimes, disagreement, Judge, type Tampered, tamper, told } from './tampering.ts';

const RUNS = Number(process.env.COUNTERFOIL_RUNS);
const EDITS_ON = { sqlite: RUNS || 250, postgres: RUNS || 80 };

for (const engine of ENGINES) {
  const random = new SeededRandom();
  describe(`tampering on ${engine}`, () => {
    let service: Harness;
    let folder: string;
    let store: Tampered;
    before(async () => {
      console.log(`tampering on ${engine}: seed ${random.seed} (COUNTERFOIL_SEED)`);
      folder = mkdtempSync(join(tmpdir(), 'counterfoil-tampering-'));
      service = await startHarness(engine);
      const { storage, database_url } = service.store;
      const copies: string[] = [];
      const copy = (name: string) => {
        const file = join(folder, `${name}.sqlite`);
        copyFileSync(join(storage, 'counterfoil.sqlite'), file);
        return file;
      };
      await buildHistory(service, random, () => {
        if (engine === 'sqlite') copies.push(copy(`${copies.length}`));
      });
      const breakIn =
        engine === 'sqlite' ? breakIntoSqlite(copy('broken-into')) : await breakIntoPostgres(database_url!);
      store = { storage, folder, breakIn, copies };
    });
    after(async () => {
      await store.breakIn.end();
      rmSync(folder, { recursive: true, force: true });
      await service.store.drop();
    });

    test('what nobody touched is found right', async () => {
      await store.breakIn.edit(async () => true);
      const judgement = await new Judge(store.storage, folder).look(store.breakIn.access);
      assert.deepEqual([judgement.ours, judgement.theirs.verified], [undefined, true]);
      assert.equal(disagreement(judgement), undefined);
    });

    test('whatever an intruder would want most is found, and whose it is', async () => {
      assert.deepEqual(await commitCrimes(store, random), []);
    });

    test(`each of ${EDITS_ON[engine]} edits is found where it was made, and a third party agrees`, {
      timeout: Infinity,
    }, async (context) => {
      const { kinds, theirs, misses } = await tamper(store, EDITS_ON[engine], random);
      context.diagnostic(`${JSON.stringify(kinds)}; by a third party: ${JSON.stringify(theirs)}`);
      assert.equal(misses.length, 0, told(misses, random.seed));
    });
  });
}
