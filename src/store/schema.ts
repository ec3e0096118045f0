// Whether a database's schema is the one that the migrations make: every table, column, index and trigger of it, and none besides.
import { readFileSync } from 'node:fs';
import type { Database, Reader } from './database.ts';
import { schemaScript, schemaTables } from './migrate.ts';
import { POSTGRES_SCHEMA } from './postgres-schema.ts';
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

/** An object of a schema. `definition` is all that makes it what it is, in one text. */
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

/** What the migrations make. */
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
  // What is none of them comes last.
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
