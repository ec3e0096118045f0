// What an intruder with the right to change the schema would do: hide a table behind a view, let the database itself edit rows.
import type { Access, Edit } from './intruder.ts';

/** Statements, and the object that they must be found by. */
function statements(subject: string, ...all: string[]): Edit {
  return async (access: Access) => {
    for (const sql of all) await access.rows(sql);
    return { told: all.join('; '), subject };
  };
}

/** A favourite of an intruder's. `on`: the engine that has such a thing; both unless given. */
export interface Crime {
  kind: string;
  edit: Edit;
  on?: Access['engine'];
}

const ON_BOTH: Crime[] = [
  ...['payments', 'administrators', 'journal_head'].map((table) => ({
    kind: `hide ${table} behind a view`,
    edit: statements(
      table,
      `alter table ${table} rename to hidden`,
      `create view ${table} as select * from hidden`,
    ),
  })),
  { kind: 'drop an index', edit: statements('payments_by_status', 'drop index payments_by_status') },
  {
    kind: 'make an index that fits no more than once',
    edit: statements('one_each', 'create unique index one_each on sessions (administrator_id, id)'),
  },
];

const ON_SQLITE: Crime[] = [
  {
    kind: 'add a column',
    edit: statements('administrators', "alter table administrators add column also text default 'x'"),
  },
  {
    kind: 'have a trigger approve payments',
    edit: statements(
      'helper',
      `create trigger helper after update on payments when new.status = 'rejected'
       begin update payments set status = 'approved' where id = new.id; end`,
    ),
  },
  { kind: 'add a table', edit: statements('mine', 'create table mine (id text)') },
  { kind: 'drop a table', edit: statements('passkeys', 'drop table passkeys') },
];

const FUNCTION = `create function helper() returns trigger language plpgsql as $$ begin new.status := 'approved'; return new; end $$`;

const ON_POSTGRES: Crime[] = [
  {
    kind: 'add a column',
    edit: statements('administrators.also', "alter table administrators add column also text default 'x'"),
  },
  {
    kind: 'have a trigger approve payments',
    edit: statements(
      'helper',
      FUNCTION,
      'create trigger helper before update on payments for each row execute function helper()',
    ),
  },
  {
    kind: 'have a trigger run at the end',
    edit: statements(
      'helper',
      FUNCTION,
      'create constraint trigger helper after insert on sessions initially deferred for each row execute function helper()',
    ),
  },
  {
    kind: 'empty the function of the triggers',
    edit: statements(
      'audit_entries_append_only',
      'create or replace function refuse_change() returns trigger language plpgsql as $$ begin return null; end $$',
    ),
  },
  { kind: 'drop a table', edit: statements('passkeys', 'drop table passkeys') },
  {
    kind: 'turn row security on',
    edit: statements('payments', 'alter table payments enable row level security'),
  },
  {
    kind: 'hide rows by a policy',
    edit: statements('hide', 'create policy hide on payments using (amount_minor < 100)'),
  },
  {
    kind: 'have a rule drop what is revoked',
    edit: statements(
      'forgive',
      'create rule forgive as on update to administrator_tokens do instead nothing',
    ),
  },
  {
    kind: 'add rows by inheritance',
    edit: statements('mine from payments', 'create table mine () inherits (payments)'),
  },
  {
    kind: 'give a column a default',
    edit: statements(
      'sessions.ended_at',
      'alter table sessions alter column ended_at set default null::bigint + 1',
    ),
  },
  {
    kind: 'make a column another type',
    edit: statements('passkeys.counter', 'alter table passkeys alter column counter type numeric'),
  },
  {
    kind: 'let a column be null',
    edit: statements('administrators.role', 'alter table administrators alter column role drop not null'),
  },
  {
    kind: 'drop a rule of amounts',
    edit: statements(
      'payments.payments_amount_minor_check',
      'alter table payments drop constraint payments_amount_minor_check',
    ),
  },
  {
    kind: 'let a crash empty a table',
    edit: statements('merchants', 'alter table merchants set unlogged'),
  },
];

export const SCHEMA_CRIMES: readonly Crime[] = [
  ...ON_BOTH,
  ...ON_SQLITE.map((crime): Crime => ({ ...crime, on: 'sqlite' })),
  ...ON_POSTGRES.map((crime): Crime => ({ ...crime, on: 'postgres' })),
];
