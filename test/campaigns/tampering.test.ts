// A thousand edits of a database behind the service's back, each found; a hundred honest histories, none suspected.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openSqlite } from '../../src/database/sqlite.ts';
import { readCheckpoints } from '../../src/journal/checkpoint.ts';
import { HistoryBroken, verifyHistory } from '../../src/journal/verify.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { ROW_CHECKS } from '../support/read-only-store.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { breakIntoPostgres, editCopy } from './break-in.ts';
import { act, buildHistory, forgetAnswers } from './history.ts';
import { type Access, DRAWN_EDITS } from './intruder.ts';

const EDITS_ON = { sqlite: Number(process.env.COUNTERFOIL_RUNS) || 1000, postgres: 100 };
const HONEST = { sqlite: 90, postgres: 10 };
/** How often the whole database is put back to what it was at an earlier stop. */
const RESTORE = 0.05;
const MISSES_SHOWN = 5;

const random = new SeededRandom();

/** Edits until one took effect, has it looked for, and tells what stayed unseen. */
async function tamper(
  attempt: <T>(edit: (access: Access) => Promise<T>) => Promise<T | undefined>,
  verify: () => Promise<unknown>,
): Promise<{ kind: string; miss: string | undefined }> {
  for (;;) {
    const { kind, edit } = random.pick(DRAWN_EDITS);
    const edited = await attempt((access) => edit(access, random));
    if (edited === undefined) continue;
    try {
      await verify();
      return { kind, miss: `${edited}: unseen` };
    } catch (error) {
      return { kind, miss: faultOf(error, edited) };
    }
  }
}

/** Nothing when the error is a finding that names a place. */
function faultOf(error: unknown, edited: string): string | undefined {
  if (!(error instanceof HistoryBroken)) return `${edited}: ${(error as Error).stack}`;
  const placed = error.entry ?? error.seal ?? error.subject;
  return placed !== undefined || /migration|the head/.test(error.message)
    ? undefined
    : `${edited}: no place in "${error.message}"`;
}

describe('tampering on sqlite', () => {
  let service: Harness;
  let folder: string;
  const copies: string[] = [];
  before(async () => {
    console.log(`tampering: seed ${random.seed} (COUNTERFOIL_SEED)`);
    folder = mkdtempSync(join(tmpdir(), 'counterfoil-tampering-'));
    service = await startHarness('sqlite');
    await buildHistory(service, random, () => {
      const copy = join(folder, `${copies.length}.sqlite`);
      copyFileSync(join(service.store.storage, 'counterfoil.sqlite'), copy);
      copies.push(copy);
    });
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await service.store.drop();
  });

  async function verifyFile(file: string) {
    const database = openSqlite(file, () => {});
    try {
      return await verifyHistory(database, readCheckpoints(service.store.storage), ROW_CHECKS);
    } finally {
      await database.close();
    }
  }

  test(`each of ${EDITS_ON.sqlite} edits is found, and its place named`, {
    timeout: Infinity,
  }, async (context) => {
    const honest = copies.at(-1)!;
    const { entries, checkpoints } = await verifyFile(honest);
    const edited = join(folder, 'edited.sqlite');
    const kinds = new Map<string, number>();
    const misses: string[] = [];
    for (let i = 0; i < EDITS_ON.sqlite; i++) {
      let outcome: { kind: string; miss: string | undefined };
      if (random.chance(RESTORE)) {
        const older = random.pick(copies.slice(0, -1));
        const miss = await verifyFile(older).then(
          () => `${older} in its place: unseen`,
          (error) => faultOf(error, older),
        );
        outcome = { kind: 'restore an older copy', miss };
      } else {
        outcome = await tamper(
          (edit) => editCopy(honest, edited, edit),
          () => verifyFile(edited),
        );
      }
      kinds.set(outcome.kind, (kinds.get(outcome.kind) ?? 0) + 1);
      if (outcome.miss) misses.push(outcome.miss);
    }
    context.diagnostic(
      `${entries} entries, ${checkpoints} checkpoints; ${JSON.stringify(Object.fromEntries(kinds))}`,
    );
    assert.equal(
      misses.length,
      0,
      `seed ${random.seed}: ${misses.length} misses\n${misses.slice(0, MISSES_SHOWN).join('\n')}`,
    );
  });
});

describe('tampering on postgres', () => {
  test(`each of ${EDITS_ON.postgres} edits is found, and its place named`, async () => {
    const service = await startHarness('postgres');
    await buildHistory(service, random);
    const { edit, access, end } = await breakIntoPostgres(service.store.database_url!);
    const reading = readCheckpoints(service.store.storage);
    const view = { query: access.rows };
    const misses: string[] = [];
    for (let i = 0; i < EDITS_ON.postgres; i++) {
      const { miss } = await tamper(edit, () =>
        verifyHistory({ snapshot: (look) => look(view) }, reading, ROW_CHECKS),
      );
      if (miss) misses.push(miss);
    }
    await end();
    await service.store.drop();
    assert.equal(
      misses.length,
      0,
      `seed ${random.seed}: ${misses.length} misses\n${misses.slice(0, MISSES_SHOWN).join('\n')}`,
    );
  });
});

for (const engine of ['sqlite', 'postgres'] as const) {
  describe(`honest histories on ${engine}`, () => {
    test(`none of ${HONEST[engine]} is suspected`, async () => {
      for (let i = 0; i < HONEST[engine]; i++) {
        const service = await startHarness(engine);
        try {
          for (let left = i === 0 ? 0 : random.between(0, 15); left > 0; left--) {
            await act(service, random);
            if (random.chance(0.03)) await forgetAnswers(service);
            if (random.chance(0.04)) {
              await service.stop();
              await service.start();
            }
          }
          const load = Promise.all(Array.from({ length: random.between(0, 10) }, () => act(service, random)));
          await Promise.all([service.verify(), load]);
          await service.verify();
        } catch (error) {
          assert.fail(`history ${i}, seed ${random.seed}: ${(error as Error).message}`);
        } finally {
          await service.close();
        }
      }
    });
  });
}
