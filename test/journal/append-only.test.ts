// The triggers that refuse to change entries and seals: that they do, and that verifying misses one that is gone, disabled or another.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { HistoryBroken } from '../../src/journal/verify.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { betweenWrites } from '../support/outside.ts';
import { ENGINES } from '../support/stores.ts';

const WITHOUT_EFFECT = `create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  return null;
end $$`;
/** What an intruder does to the triggers, and whose absence is then told. */
const ATTACKS = {
  sqlite: [
    ...['audit_entries_no_update', 'audit_entries_no_delete', 'seals_no_update', 'seals_no_delete'].map(
      (name): [string, string] => [`drop trigger ${name}`, name],
    ),
    [
      `drop trigger seals_no_update;
       create trigger seals_no_update before update on seals when 1 = 0 begin select raise(abort, 'seals are append-only'); end`,
      'seals_no_update',
    ],
    [
      `drop trigger seals_no_delete;
       create trigger seals_no_delete before delete on audit_entries begin select raise(abort, 'seals are append-only'); end`,
      'seals_no_delete',
    ],
  ],
  postgres: [
    ...['audit_entries', 'seals'].flatMap((table): [string, string][] => [
      [`drop trigger ${table}_append_only on ${table}`, `${table}_append_only`],
      [`alter table ${table} disable trigger ${table}_append_only`, `${table}_append_only`],
      [`alter table ${table} enable replica trigger ${table}_append_only`, `${table}_append_only`],
      [`alter table ${table} disable trigger all`, `${table}_append_only`],
      [
        `create or replace trigger ${table}_append_only before update on ${table} for each statement execute function refuse_change()`,
        `${table}_append_only`,
      ],
      [
        `create or replace trigger ${table}_append_only before update or delete or truncate on ${table} for each statement when (false) execute function refuse_change()`,
        `${table}_append_only`,
      ],
    ]),
    [WITHOUT_EFFECT, 'audit_entries_append_only'],
  ],
} as Record<'sqlite' | 'postgres', [string, string][]>;

for (const engine of ENGINES) {
  describe(`on ${engine}`, () => {
    let service: Harness;
    /** Runs statements as somebody who owns the tables. */
    let run: (sql: string) => Promise<unknown>;
    let end: () => unknown;
    before(async () => {
      service = await startHarness(engine);
      await service.create();
      const { storage, database_url } = service.store;
      if (database_url === null) {
        const raw = new DatabaseSync(`${storage}/counterfoil.sqlite`, { timeout: 0 });
        run = (sql) => betweenWrites(() => raw.exec(sql));
        end = () => raw.close();
      } else {
        const client = new pg.Client(database_url);
        await client.connect();
        run = (sql) => client.query(sql);
        end = () => client.end();
      }
    });
    after(async () => {
      await end();
      await service.close();
    });

    test('entries and seals are refused any change', async () => {
      for (const table of ['audit_entries', 'seals']) {
        for (const change of [`update ${table} set at = 0`, `delete from ${table}`]) {
          await assert.rejects(run(change), /append-only/, change);
        }
        if (engine === 'postgres') await assert.rejects(run(`truncate ${table}`), /append-only/);
      }
      await service.verify();
    });

    test('a trigger that is gone, disabled or another is named', async () => {
      const made = await triggers();
      for (const [attack, name] of ATTACKS[engine]) {
        await run(attack);
        await assert.rejects(
          service.verify(),
          (error) => error instanceof HistoryBroken && error.subject === name,
          attack,
        );
        await fix(made);
        await service.verify();
      }
    });

    test('what was changed without it is told rather than the trigger', async () => {
      const [drop] = ATTACKS[engine][0]!;
      await run(drop);
      await run("update audit_entries set actor = 'somebody' where number = 1");
      await assert.rejects(service.verify(), { message: 'seal 1 does not match entries 1 to 1', entry: 1 });
    });

    /** The statements that make the triggers, as the engine tells them. */
    async function triggers(): Promise<string[]> {
      const { database } = service.service;
      const sql =
        engine === 'sqlite'
          ? "select sql as text from sqlite_schema where type = 'trigger'"
          : `select pg_get_functiondef('refuse_change'::regproc) as text union all
             select pg_get_triggerdef(oid) from pg_trigger where tgfoid = 'refuse_change'::regproc`;
      return (await database.query<{ text: string }>(sql)).map(({ text }) => text);
    }

    async function fix(made: readonly string[]): Promise<void> {
      for (const text of made) {
        const name = /TRIGGER (\w+)/.exec(text)?.[1];
        const table = name?.replace('_append_only', '');
        if (name) await run(`drop trigger if exists ${name}${engine === 'sqlite' ? '' : ` on ${table}`}`);
        await run(text);
      }
    }
  });
}
