// Histories that nobody touched, short and long, on both engines: no verifier suspects one. COUNTERFOIL_RUNS: ten times how many.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Harness, startHarness } from '../support/harness.ts';
import { haveReviewers } from '../support/reviewers.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { ENGINES } from '../support/stores.ts';
import { actOrAdminister } from './administration.ts';
import { forgetAnswers } from './history.ts';
import { exportText, verifyExport } from './third-party.ts';

const HISTORIES = Math.ceil((Number(process.env.COUNTERFOIL_RUNS) || 120) / 10);
/** Making a database costs PostgreSQL more than a history does. */
const ON_POSTGRES = Math.ceil(HISTORIES / 5);
const COUNT = { sqlite: HISTORIES - ON_POSTGRES, postgres: ON_POSTGRES };

const random = new SeededRandom();
let folder: string;
before(() => {
  console.log(`honest histories: seed ${random.seed} (COUNTERFOIL_SEED)`);
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-honest-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function live(service: Harness, acts: number): Promise<void> {
  for (let left = acts; left > 0; left--) {
    await actOrAdminister(service, random);
    if (random.chance(0.03)) await forgetAnswers(service);
    if (random.chance(0.04)) {
      await service.stop();
      await service.start();
    }
  }
}

/** A third party's look at the history, from some entry on, as it stands by now. */
async function requireExportRight(service: Harness, entries: number): Promise<void> {
  const since = random.between(1, Math.max(1, entries));
  const text = await service.service.database.snapshot((view) =>
    exportText(view, service.store.storage, since),
  );
  const file = join(folder, 'honest.ndjson');
  writeFileSync(file, text);
  assert.match((await verifyExport(file)).said, /^Verified: /);
}

for (const engine of ENGINES) {
  test(`none of ${COUNT[engine]} honest histories on ${engine} is suspected`, {
    timeout: Infinity,
  }, async (context) => {
    const verified = { entries: 0, shortest: Infinity, longest: 0 };
    for (let i = 0; i < COUNT[engine]; i++) {
      const service = await startHarness(engine);
      try {
        await live(service, i === 0 ? 0 : random.between(0, 15));
        // Verified while it grows, and again when it stands still.
        const together = random.between(0, 10);
        if (together > 0) await haveReviewers(service.service); // or several would write them down at once
        const load = Promise.all(Array.from({ length: together }, () => actOrAdminister(service, random)));
        await Promise.all([service.verify(), load]);
        const { entries } = await service.verify();
        await requireExportRight(service, entries);
        verified.entries += entries;
        verified.shortest = Math.min(verified.shortest, entries);
        verified.longest = Math.max(verified.longest, entries);
      } catch (error) {
        assert.fail(`history ${i}, seed ${random.seed}: ${(error as Error).stack}`);
      } finally {
        await service.close();
      }
    }
    context.diagnostic(JSON.stringify(verified));
  });
}
