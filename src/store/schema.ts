// Whether a database's schema is the one that the migrations make: every table, column, index and trigger of it, and none besides.
import { readFileSync } from 'node:fs';
import type { Database, Reader } from './database.ts';
import { schemaScript, schemaTables } from './migrate.ts';
import { queryFresh } from './sqlite-connection.ts';

/** What the migrations make on PostgreSQL, a line for each object. Written by scripts/write-schema.ts, held by a test. */
const POSTGRES_FILE = new URL('./postgres-schema.txt', import.meta.url);

/** Excludes the statistics of SQLite: only SQLite itself reads and writes them. */
const SQLITE_SCHEMA = `with ours as (select * from sqlite_schema
  where not (type = 'table' and name in ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat3', 'sqlite_stat4')))
  select type as kind, name, 'on ' || tbl_name || coalesce(': ' || sql, '') as definition from ours
  union all
  select 'column', ours.name || '.' || found.name, concat_ws(' ', found.type, case when found."notnull" then 'not null' end,
    'default ' || found.dflt_value, case when found.pk then 'key ' || found.pk end, case when found.hidden then 'hidden' end)
  from ours join pragma_table_xinfo(ours.name) found where ours.type = 'table'`;

interface SchemaObject {
  kind: string;
  name: string;
  definition: string;
}

export interface SchemaFault {
  /** A clause without its full stop: `index payments_by_status is missing`. */
  problem: string;
  is: 'missing' | 'changed' | 'added';
  kind: string;
  /** Of the object. A column's is `table.column`. */
  name: string;
  /** Whether all it means is that a trigger of ours no longer refuses changes: what is stored may still be right. */
  isGuard: boolean;
}

/** The objects as they are written in a file: `kind name: definition`. */
export function schemaText(objects: readonly SchemaObject[]): string {
  const lines = objects.map(({ kind, name, definition }) => `${kind} ${name}: ${definition}\n`);
  return lines.sort().join('');
}

function readText(text: string): SchemaObject[] {
  return [...text.matchAll(/^(\S+) (\S+): (.*)$/gm)].map(([, kind, name, definition]) => ({
    kind: kind!,
    name: name!,
    definition: definition!,
  }));
}

const read: Record<Database['engine'], () => SchemaObject[]> = {
  sqlite: () => queryFresh<SchemaObject>(schemaScript('sqlite'), SQLITE_SCHEMA),
  postgres: () => readText(readFileSync(POSTGRES_FILE, 'utf8')),
};
const known = new Map<Database['engine'], SchemaObject[]>();

function expectedSchema(engine: Database['engine']): SchemaObject[] {
  if (!known.has(engine)) known.set(engine, read[engine]());
  return known.get(engine)!;
}

/** What is there: in all of a SQLite database, and of our tables on PostgreSQL. Throws `DatabaseError`. */
export function readSchema(view: Reader, engine: Database['engine']): Promise<SchemaObject[]> {
  if (engine === 'sqlite') return view.query<SchemaObject>(SQLITE_SCHEMA);
  return view.query<SchemaObject>(POSTGRES_SCHEMA, schemaTables().join(','));
}

/** Where a schema is not what the migrations make; empty where it is. Throws `DatabaseError`. */
export async function schemaFaults(view: Reader, engine: Database['engine']): Promise<SchemaFault[]> {
  const expected = expectedSchema(engine);
  const found = await readSchema(view, engine);
  // `>>> 0` puts an unknown kind, whose index is -1, last.
  const rank = ({ kind }: SchemaObject) => KINDS.indexOf(kind) >>> 0;
  const inOrder = (objects: SchemaObject[]) => objects.toSorted((one, other) => rank(one) - rank(other));
  return [...missingFrom(found, inOrder(expected)), ...strangeIn(inOrder(found), expected)];
}

/** In this order: if a table is missing, its columns are missing too, and the table is reported first. */
const KINDS = ['table', 'column', 'constraint', 'index', 'trigger'];

const isSame = (one: SchemaObject, other: SchemaObject) => one.kind === other.kind && one.name === other.name;

function missingFrom(found: readonly SchemaObject[], expected: readonly SchemaObject[]): SchemaFault[] {
  const missing = expected.filter((one) => !found.some((other) => isSame(one, other)));
  return missing.map(({ kind, name }) => {
    const other = found.find((one) => one.name === name);
    const problem = other ? `is now a ${other.kind}` : 'is missing';
    return { problem: `${kind} ${name} ${problem}`, is: 'missing', kind, name, isGuard: kind === 'trigger' };
  });
}

function strangeIn(found: readonly SchemaObject[], expected: readonly SchemaObject[]): SchemaFault[] {
  return found.flatMap((one) => {
    const { kind, name, definition } = one;
    const made = expected.find((other) => isSame(one, other));
    if (made?.definition === definition) return [];
    const problem = made ? 'is not as the migrations make it' : 'was added by another hand';
    const isGuard = made?.kind === 'trigger';
    return [{ problem: `${kind} ${name} ${problem}`, is: made ? 'changed' : 'added', kind, name, isGuard }];
  });
}

/**
 * One row for each object: its `kind`, its `name` and a `definition`. The one `?` is the names of our tables with commas between, found
 * as the program's own statements find them. It reads only what every account may read, and only what PostgreSQL 13 to 18 report alike.
 * Other objects of the database are ignored. Names are qualified, so the search path does not matter. 100 is the default collation, on
 * every PostgreSQL.
 */
const POSTGRES_SCHEMA = `
with ours as (
  select c.oid, c.relname::text as name, c.relkind, c.relpersistence, c.relrowsecurity, c.relforcerowsecurity
  from pg_catalog.unnest(pg_catalog.string_to_array(?::text, ',')) as told (name)
  join pg_catalog.pg_class c on c.oid = pg_catalog.to_regclass(told.name)
)
select case relkind when 'r' then 'table' when 'v' then 'view' when 'm' then 'materialized view'
    when 'f' then 'foreign table' when 'p' then 'partitioned table' else relkind::text end as kind,
  name, pg_catalog.concat_ws(' ', case relpersistence when 'p' then 'logged' else 'unlogged' end,
    case when relrowsecurity then 'with row security' end,
    case when relforcerowsecurity then 'with forced row security' end) as definition
from ours
union all
select 'column', ours.name || '.' || a.attname,
  pg_catalog.concat_ws(' ', pg_catalog.format_type(a.atttypid, a.atttypmod),
    'collate ' || nullif(nullif(a.attcollation, 0), 100)::pg_catalog.regcollation::text,
    case when a.attnotnull then 'not null' end, 'default ' || pg_catalog.pg_get_expr(d.adbin, d.adrelid),
    case when a.attgenerated <> '' then 'generated' end, case when a.attidentity <> '' then 'identity' end)
from ours join pg_catalog.pg_attribute a on a.attrelid = ours.oid and a.attnum > 0 and not a.attisdropped
left join pg_catalog.pg_attrdef d on d.adrelid = ours.oid and d.adnum = a.attnum
union all
-- From version 18 on, what is not null is told here too; constraint triggers are among the triggers.
select 'constraint', ours.name || '.' || o.conname, pg_catalog.pg_get_constraintdef(o.oid)
from ours join pg_catalog.pg_constraint o on o.conrelid = ours.oid and o.contype not in ('n', 't')
union all
select 'index', i.relname::text,
  pg_catalog.concat_ws(' ', case when x.indisunique then 'unique' end, 'on', ours.name, m.amname, '(' || (
      select pg_catalog.string_agg(pg_catalog.concat_ws(' ', pg_catalog.pg_get_indexdef(x.indexrelid, n, false),
        (select opcname from pg_catalog.pg_opclass
         where oid = x.indclass[n - 1] and opcnamespace = 'pg_catalog'::pg_catalog.regnamespace),
         'collate ' || nullif(nullif(x.indcollation[n - 1], 0), 100)::pg_catalog.regcollation::text,
        case when x.indoption[n - 1] <> 0 then 'descending' end), ', ' order by n)
      from pg_catalog.generate_series(1, x.indnkeyatts::int) as n) || ')',
    case when x.indnatts <> x.indnkeyatts then 'including more' end,
    'where ' || pg_catalog.pg_get_expr(x.indpred, x.indrelid),
    case when not x.indimmediate then 'deferrable' end,
    case when pg_catalog.to_jsonb(x) ->> 'indnullsnotdistinct' = 'true' then 'nulls not distinct' end,
    case when not (x.indisvalid and x.indisready and x.indislive) then 'invalid' end)
from ours join pg_catalog.pg_index x on x.indrelid = ours.oid
join pg_catalog.pg_class i on i.oid = x.indexrelid join pg_catalog.pg_am m on m.oid = i.relam
union all
-- \`tgtype\` is when it fires, in bits. PostgreSQL's own triggers behind a foreign key are that key's affair.
select 'trigger', t.tgname::text,
  pg_catalog.concat_ws(' ', 'on', ours.name, 'fires', t.tgtype::text,
    case t.tgenabled when 'O' then 'enabled' when 'A' then 'enabled' when 'R' then 'on replicas' else 'disabled' end,
    case when t.tgqual is not null then 'sometimes' end, case when t.tgattr::text <> '' then 'of some columns' end,
    case when t.tgconstraint <> 0 then 'as a constraint' end, 'execute', p.proname, l.lanname, pg_catalog.to_json(p.prosrc)::text)
from ours join pg_catalog.pg_trigger t on t.tgrelid = ours.oid
join pg_catalog.pg_proc p on p.oid = t.tgfoid join pg_catalog.pg_language l on l.oid = p.prolang
where not (t.tgisinternal and p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace)
union all
select 'rule', r.rulename::text, 'on ' || ours.name
from ours join pg_catalog.pg_rewrite r on r.ev_class = ours.oid and ours.relkind in ('r', 'p')
union all
select 'policy', y.polname::text, 'on ' || ours.name from ours join pg_catalog.pg_policy y on y.polrelid = ours.oid
union all
select 'inheritance', child.relname || ' from ' || parent.relname, 'yes'
from pg_catalog.pg_inherits h join pg_catalog.pg_class child on child.oid = h.inhrelid
join pg_catalog.pg_class parent on parent.oid = h.inhparent
where h.inhrelid in (select oid from ours) or h.inhparent in (select oid from ours)`;
