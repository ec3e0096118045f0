// Rows that were edited in the store itself: no ordinary act afterwards records them, so that verifying finds each.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { readCheckpoints } from '../../src/journal/checkpoint.ts';
import { verifyHistory } from '../../src/journal/verify.ts';
import { ROW_CHECKS } from '../../src/operate/checks/row-checks.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { betweenWrites } from '../support/outside.ts';
import { haveReviewers } from '../support/reviewers.ts';
import { type Kind, recordedKinds } from './recorded-kinds.ts';

/** Of the columns of a table each act meets one in three, and each column is met by one act in three. */
const STRIDE = 3;

describe('a row that was edited in the store itself', () => {
  let service: Harness;
  let raw: DatabaseSync;
  let kinds: Kind[];
  let copies = 0;
  before(async () => {
    service = await startHarness('sqlite');
    await haveReviewers(service.service);
    raw = new DatabaseSync(join(service.store.storage, 'counterfoil.sqlite'), { timeout: 0 });
    kinds = recordedKinds(service);
  });
  after(async () => {
    raw.close();
    await service.close();
  });

  /** Edits a value. Returns whether the schema lets it stand. */
  async function edit({ table, key }: Kind, id: string, column: string, type: string): Promise<boolean> {
    const value = type === 'bigint' ? `coalesce(${column}, 0) + 1` : `coalesce(${column}, '') || 'x'`;
    try {
      const statement = raw.prepare(`update ${table} set ${column} = ${value} where ${key} = ?`);
      await betweenWrites(() => statement.run(id));
      return true;
    } catch {
      return false;
    }
  }

  /** Copies a row under another name, as somebody does who wants one for themselves. */
  async function copy({ table, key, nameOfCopy }: Kind, id: string): Promise<string | undefined> {
    const row = raw.prepare(`select * from ${table} where ${key} = ?`).get(id)!;
    const name = nameOfCopy?.() ?? `${id.slice(0, -4)}${String(++copies).padStart(4, 'z')}`;
    const copied = { ...row, [key]: name };
    const others = {
      email: 'x@y.example',
      digest: 'd',
      setup_digest: 'd',
      credential_id: 'c',
      fingerprint: 'f',
      shape: 's',
    };
    for (const [column, value] of Object.entries(others))
      if (column in copied) copied[column] = `${value}${id}`;
    if (table === 'webhook_endpoints') copied.place = 9;
    const columns = Object.keys(copied);
    const sql = `insert into ${table} (${columns}) values (${columns.map(() => '?')})`;
    await betweenWrites(() => raw.prepare(sql).run(...Object.values(copied)));
    return copied[key] as string;
  }

  /** The subjects of all rows that verifying finds at fault. */
  async function atFault(): Promise<Set<string>> {
    const found = new Set<string>();
    const { database } = service.service;
    database.refresh();
    const reading = readCheckpoints(service.store.storage);
    await verifyHistory(database, reading, ROW_CHECKS, {
      onFault: ({ subject }) => found.add(subject),
    }).catch((error) => assert.ok(found.size > 0, error));
    return found;
  }

  test('is found after every ordinary act on it, whichever value was edited', async () => {
    const edited: { what: string; subject: string }[] = [];
    for (const kind of kinds) {
      const columns = raw.prepare(`select name, type from pragma_table_info('${kind.table}')`).all();
      const acts = Object.entries(kind.acts);
      for (const [a, [act, run]] of acts.entries())
        for (const [c, { name, type }] of columns.entries()) {
          if (name === kind.key || (a + c) % Math.min(STRIDE, acts.length) !== 0) continue;
          const id = await kind.make();
          if (!(await edit(kind, id, String(name), String(type)))) continue;
          await attempt(() => run(id));
          edited.push({ what: `${kind.table}.${name}, then it ${act}`, subject: kind.prefix + id });
        }
    }
    assert.ok(edited.length >= 200, `${edited.length} edits`);
    const found = await atFault();
    const washed = edited.filter(({ subject }) => !found.has(subject)).map(({ what }) => what);
    assert.deepEqual(washed, []);
  });

  test('is found after every ordinary act on it, where the whole row was put there', async () => {
    const edited: { what: string; subject: string }[] = [];
    for (const kind of kinds)
      for (const [act, run] of Object.entries(kind.acts)) {
        const id = await kind.make();
        const copied = (await copy(kind, id))!;
        await attempt(() => run(copied));
        edited.push({ what: `${kind.table}, then it ${act}`, subject: kind.prefix + copied });
      }
    const found = await atFault();
    const washed = edited.filter(({ subject }) => !found.has(subject)).map(({ what }) => what);
    assert.deepEqual(washed, []);
  });

  test('no table that is verified is left out', async () => {
    const verified: Record<string, number> = {};
    const deaf = { tick: () => {}, fault: () => {}, acknowledged: () => {} };
    for (const check of ROW_CHECKS) Object.assign(verified, await check(service.service.database, deaf));
    const tables = Object.keys(verified).map((name) => name.replace('kept_answers', 'idempotency_keys'));
    assert.deepEqual([...new Set(kinds.map(({ table }) => table))].sort(), tables.sort());
  });

  test('every act is open to a row that nobody edited', async () => {
    const refused: string[] = [];
    const faults = await atFault();
    for (const kind of kinds)
      for (const [act, run] of Object.entries(kind.acts)) {
        const id = await kind.make();
        const failure = await attempt(() => run(id));
        if (failure && !EXPECTED.has(act)) refused.push(`${kind.table}: ${act}: ${failure}`);
        faults.delete(kind.prefix + id);
      }
    assert.deepEqual(refused, []);
  });

  /** Runs an act. Returns the message of its error; an edited value may make any. */
  async function attempt(run: () => unknown): Promise<string | undefined> {
    service.service.database.refresh();
    try {
      await run();
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }
});

/** Acts that a row in its first state is not open to. They stand here for rows whose state was edited. */
const EXPECTED = new Set(['goes on', 'is asked for anew']);
