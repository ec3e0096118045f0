// A thousand edits of a database behind the service's back, each found; a hundred honest histories, none suspected.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { Row, Value } from '../../src/database/database.ts';
import { openSqlite } from '../../src/database/sqlite.ts';
import { readCheckpoints } from '../../src/journal/checkpoint.ts';
import { HistoryBroken, verifyHistory } from '../../src/journal/verify.ts';
import { DAY_MS, SECOND_MS } from '../../src/lib/time.ts';
import { expireDuePayments } from '../../src/payments/expire.ts';
import { forgetOldAnswers } from '../../src/payments/idempotency.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { ROW_CHECKS } from '../support/read-only-store.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type Access, DRAWN_EDITS } from './intruder.ts';

const EDITS_ON = { sqlite: Number(process.env.COUNTERFOIL_RUNS) || 1000, postgres: 100 };
const HONEST = { sqlite: 90, postgres: 10 };
/** How often the whole database is put back to what it was at an earlier stop. */
const RESTORE = 0.05;
const LIFE_S = 300;
const MISSES_SHOWN = 5;

const random = new SeededRandom();

/** One thing that a day at the service brings. */
async function act(service: Harness): Promise<void> {
  const pending = async () => {
    const { json } = await service.request('/v1/payments?status=pending&limit=5');
    return json.data.length > 0 ? (random.pick(json.data) as { id: string }).id : (await service.create()).id;
  };
  const key = () => ({ headers: { 'idempotency-key': `key-${random.between(1, 1_000_000)}` } });
  const acts = [
    () =>
      service.create({
        amount: random.between(1, 99_999) / 100,
        merchant_reference: `T-${random.between(1, 9)}`,
      }),
    () => service.create({ customer: { name: 'Zoë 𝒵' }, metadata: { order: random.between(1, 999) } }, key()),
    () => service.create({ expires_in: LIFE_S, description: 'Two\tcoffees\n' }),
    async () => service.request(`/v1/payments/${await pending()}/cancel`, { method: 'POST' }),
    async () => service.request(`/v1/payments/${await pending()}/cancel`, { method: 'POST', ...key() }),
    async () => {
      service.clock.advance(LIFE_S * SECOND_MS);
      await expireDuePayments(service.service.journal);
    },
  ];
  await random.pick(acts)();
}

async function forgetAnswers(service: Harness): Promise<void> {
  service.clock.advance(8 * DAY_MS);
  await forgetOldAnswers(service.service.journal);
}

/** A few hundred entries over several runs of the service, ended by a stop, which signs the last checkpoint. */
async function buildHistory(service: Harness, atEachStop: () => void): Promise<void> {
  for (let run = 0; run < 4; run++) {
    for (let i = 0; i < 50; i++) await act(service);
    await Promise.all(Array.from({ length: 20 }, () => service.create())); // several entries under one seal
    if (run === 1) await forgetAnswers(service);
    await service.stop();
    atEachStop();
    if (run < 3) await service.start();
  }
}

/** Edits until one took effect, has it looked for, and tells what stayed unseen. */
async function tamper(
  access: Access,
  attempt: <T>(edit: () => Promise<T>) => Promise<T | undefined>,
  verify: () => Promise<unknown>,
): Promise<{ kind: string; miss: string | undefined }> {
  for (;;) {
    const { kind, edit } = random.pick(DRAWN_EDITS);
    const edited = await attempt(() => edit(access, random));
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
    await buildHistory(service, () => {
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
        outcome = await tamperCopy(honest, edited);
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

  async function tamperCopy(honest: string, edited: string) {
    let raw: DatabaseSync | undefined;
    const access: Access = {
      engine: 'sqlite',
      rows: async <R = Row>(sql: string, ...values: Value[]) => raw!.prepare(sql).all(...values) as R[],
    };
    return tamper(
      access,
      async (edit) => {
        for (const end of ['', '-wal', '-shm']) rmSync(edited + end, { force: true });
        copyFileSync(honest, edited);
        raw = new DatabaseSync(edited);
        try {
          raw.exec('pragma ignore_check_constraints = on; pragma synchronous = off');
          const triggers = await access.rows<{ name: string }>(
            "select name from sqlite_master where type = 'trigger'",
          );
          for (const { name } of triggers) raw.exec(`drop trigger ${name}`);
          return await edit();
        } catch {
          return undefined; // a unique key or a type stood against it
        } finally {
          raw.close();
        }
      },
      () => verifyFile(edited),
    );
  }
});

describe('tampering on postgres', () => {
  test(`each of ${EDITS_ON.postgres} edits is found, and its place named`, async () => {
    const service = await startHarness('postgres');
    await buildHistory(service, () => {});
    const client = new pg.Client({
      connectionString: service.store.database_url!,
      types: { getTypeParser: (oid, format) => (oid === 20 ? Number : pg.types.getTypeParser(oid, format)) },
    });
    await client.connect();
    const access: Access = {
      engine: 'postgres',
      async rows<R = Row>(sql: string, ...values: Value[]) {
        let position = 0;
        const sent = values.map((value) => (typeof value === 'number' ? BigInt(value).toString() : value));
        return (
          await client.query(
            sql.replaceAll('?', () => `$${++position}`),
            sent,
          )
        ).rows as R[];
      },
    };
    const reading = readCheckpoints(service.store.storage);
    const view = { query: access.rows };
    const misses: string[] = [];
    for (let i = 0; i < EDITS_ON.postgres; i++) {
      const { miss } = await tamper(
        access,
        async (edit) => {
          await client.query('rollback; begin; set local session_replication_role = replica'); // no trigger fires
          return edit().catch(() => undefined);
        },
        () => verifyHistory({ snapshot: (look) => look(view) }, reading, ROW_CHECKS),
      );
      if (miss) misses.push(miss);
    }
    await client.end();
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
            await act(service);
            if (random.chance(0.03)) await forgetAnswers(service);
            if (random.chance(0.04)) {
              await service.stop();
              await service.start();
            }
          }
          const load = Promise.all(Array.from({ length: random.between(0, 10) }, () => act(service)));
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
