// Carries the rows of a store into an empty database of either engine, in pages, and reads every one back before they count.
import { createHash } from 'node:crypto';
import type { Database, Reader, Row } from './database.ts';
import { MIGRATING_LOCK, schemaScript, schemaTables, tablesAmong, UNFINISHED_TABLE } from './migrate.ts';
import { queryFresh } from './sqlite-connection.ts';
import { pagesOf } from './table.ts';

/** Rows read, and written by one transaction, at once. */
const PAGE = 1000;

/** `application_name` of a move's own sessions. */
const APPLICATION_NAME = 'counterfoil-move';
/** A session that was ended a moment ago is still listed. */
const SESSIONS_END_WITHIN_MS = 1000;
const SESSIONS_ASKED_EVERY_MS = 50;

/** The rows were not carried. The message is one line. */
export class CarryRefused extends Error {
  override readonly name = 'CarryRefused';
}

interface Table {
  name: string;
  columns: string[];
  /** The columns of its primary key, in their order. */
  key: string[];
}

/** The tables of the schema as the migrations leave it. What says that the schema is complete stands last. */
export function carriedTables(): Table[] {
  const columns = queryFresh<{ name: string; column: string; place: number }>(
    schemaScript('sqlite'),
    `select t.name as name, c.name as "column", c.pk as place from sqlite_schema t join pragma_table_info(t.name) c
     where t.type = 'table' order by t.name = 'schema_migrations', t.name, c.cid`,
  );
  const tables = Map.groupBy(columns, ({ name }) => name);
  return [...tables].map(([name, of]) => ({
    name,
    columns: of.map(({ column }) => column),
    key: of
      .filter(({ place }) => place > 0)
      .sort((one, other) => one.place - other.place)
      .map(({ column }) => column),
  }));
}

interface Content {
  rows: number;
  sha256: string;
}

/** Hands each page of a table to `each`. Returns what it held. */
async function readTable(
  view: Reader,
  table: Table,
  each: (rows: Row[]) => Promise<unknown> | undefined,
): Promise<Content> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const rows of pagesOf<Row>(view, table, PAGE)) {
    for (const row of rows) hash.update(JSON.stringify(table.columns.map((column) => row[column])));
    count += rows.length;
    await each(rows);
  }
  return { rows: count, sha256: hash.digest('hex') };
}

interface Carrying<T> {
  /** Told the number of rows carried, or read back, of a page. */
  onRows?: (rows: number) => void;
  /** Judges what was carried before it counts; what it throws undoes all. */
  judge: (carried: Reader, rows: Record<string, number>) => Promise<T>;
}

/**
 * Carries all rows that `view` shows into `target`, which must be empty, or hold what an interrupted run has left, which is removed first.
 * Until all are there, were read back and judged, nothing takes the target for a store. Throws `CarryRefused`, `DatabaseError`, and
 * what `judge` throws.
 */
export async function carry<T>(
  view: Reader,
  target: Database,
  { onRows = () => {}, judge }: Carrying<T>,
): Promise<T> {
  await beginCarrying(target);
  const tables = carriedTables();
  const last = tables.at(-1)!;
  const sent = new Map<Table, Content>();
  const send = async (table: Table, insert: (rows: Row[]) => Promise<unknown>) =>
    sent.set(
      table,
      await readTable(view, table, async (rows) => {
        await insert(rows);
        onRows(rows.length);
      }),
    );
  for (const table of tables.slice(0, -1))
    await send(table, (rows) => target.transaction((transaction) => transaction.insert(table.name, rows)));
  return target.transaction(async (transaction) => {
    await send(last, (rows) => transaction.insert(last.name, rows));
    for (const [table, { rows, sha256 }] of sent) {
      const arrived = await readTable(transaction, table, (page) => void onRows(page.length));
      if (arrived.rows !== rows || arrived.sha256 !== sha256)
        throw new CarryRefused(`the table ${table.name} did not arrive as it was, so the target is no store`);
    }
    await endCarrying(target);
    return judge(transaction, Object.fromEntries([...sent].map(([{ name }, { rows }]) => [name, rows])));
  });
}

/** Makes an empty database the target: the schema without rows, and the table that marks an unfinished move. */
async function beginCarrying(target: Database): Promise<void> {
  await target.transaction(async (transaction) => {
    if (target.engine === 'postgres') await target.script(MIGRATING_LOCK);
    const found = await lookAtTarget(transaction, target.engine);
    if (found === 'store')
      throw new CarryRefused(
        'the target holds a store already: only an empty database is filled, and nothing is overwritten',
      );
    if (found === 'unfinished') await target.script(removal(target.engine));
    await target.script(
      `create table ${UNFINISHED_TABLE} (id bigint primary key check (id = 1)); ${schemaScript(target.engine)}`,
    );
    // What migrations put in comes from the source, as everything.
    for (const { name } of carriedTables())
      if ((await transaction.query(`select 1 as one from ${name} limit 1`)).length > 0)
        await transaction.query(`delete from ${name}`);
  });
}

/** The statements that take away what an interrupted run has left, of this version or one before. */
function removal(engine: Database['engine']): string {
  const functions = [...schemaScript(engine).matchAll(/\bcreate function (\w+)/g)].map(([, name]) => name!);
  return [
    ...carriedTables().map(({ name }) => `drop table if exists ${name}`),
    ...functions.map((name) => `drop function if exists ${name}`),
    `drop table ${UNFINISHED_TABLE}`,
  ].join(';\n');
}

/** Makes a store of the target, as soon as its transaction is committed. */
async function endCarrying(target: Database): Promise<void> {
  const names = carriedTables().map(({ name }) => name);
  // PostgreSQL would learn within a minute what its new tables hold; until then it could read them by the wrong index.
  const learning = target.engine === 'postgres' ? `analyze ${names.join(', ')};` : '';
  await target.script(`drop table ${UNFINISHED_TABLE}; ${learning}`);
}

/**
 * What a database holds: nothing, a store (or some of one), or what an interrupted run has left.
 * Throws `CarryRefused` where it is a PostgreSQL database of something else, and `DatabaseError`.
 */
export async function lookAtTarget(
  view: Reader,
  engine: Database['engine'],
): Promise<'nothing' | 'store' | 'unfinished'> {
  const found = await tablesAmong(view, engine, [UNFINISHED_TABLE, ...schemaTables()]);
  if (found.includes(UNFINISHED_TABLE)) return 'unfinished';
  if (found.length > 0) return 'store';
  const strange = engine === 'postgres' && (await strangeTables(view));
  if (strange) throw new CarryRefused(strange);
  return 'nothing';
}

/**
 * Lends one consistent snapshot of a store and blocks its writers meanwhile: they wait, and are refused in the end. Writes nothing.
 * Throws `DatabaseError`.
 */
export function holdStill<T>(database: Database, use: (view: Reader) => Promise<T>): Promise<T> {
  if (database.engine === 'sqlite') return database.transaction(() => database.snapshot(use));
  return database.snapshot(async (view) => {
    // Before the first read, which settles what is seen.
    await view.query(
      `lock table ${carriedTables()
        .map(({ name }) => name)
        .join(', ')} in share mode`,
    );
    await waitIdle(view);
    return use(view);
  });
}

/** Lets a snapshot on PostgreSQL wait for as long as what was carried is verified. Throws `DatabaseError`. */
export async function waitIdle(view: Reader): Promise<void> {
  await view.query("select set_config('idle_in_transaction_session_timeout', '0', true)");
}

/** A connection string whose sessions are known as a move's, whatever name it gives them: of two, the last counts. */
export function asMover(url: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}application_name=${APPLICATION_NAME}`;
}

/**
 * The sessions on a PostgreSQL store that could write to it, without those of a move: `10.0.0.5 (counterfoil)`. Told by what their
 * account may do, not by what they call themselves: that is any connection string's to choose. Throws `DatabaseError`.
 */
export async function sessionsOpen(database: Database): Promise<string[]> {
  if (database.engine === 'sqlite') return [];
  for (let waitedMs = 0; ; waitedMs += SESSIONS_ASKED_EVERY_MS) {
    // Without further rights, PostgreSQL hides the address and the kind of process of another account's session.
    const rows = await database.query<{ session: string }>(
      `select distinct case when backend_type is null then 'an address that it does not tell'
       else coalesce(host(client_addr), 'its own machine') end
       || ' (' || coalesce(nullif(application_name, ''), usename) || ')' as session
       from pg_stat_activity where datname = current_database() and coalesce(backend_type, 'client backend') = 'client backend'
       and application_name <> '${APPLICATION_NAME}' and has_table_privilege(usesysid, 'journal_head', 'update') order by session`,
    );
    if (rows.length === 0 || waitedMs >= SESSIONS_END_WITHIN_MS) return rows.map(({ session }) => session);
    await new Promise((resolve) => setTimeout(resolve, SESSIONS_ASKED_EVERY_MS));
  }
}

/** Maximum number of tables named in the error. */
const NAMED = 3;

/**
 * Tables and views where ours go, without those that an extension brought (`deptype` e). The caller has found none of ours.
 * One more than is named says that there are more.
 */
const STRANGE = `select c.relname::text as name from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = pg_catalog.current_schema()
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and not exists (select 1 from pg_catalog.pg_depend d
    where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objid = c.oid and d.deptype = 'e')
  order by c.relname limit ${NAMED + 1}`;

/** Why a PostgreSQL database without a store is not empty, with what to do; undefined where it is. Throws `DatabaseError`. */
async function strangeTables(view: Reader): Promise<string | undefined> {
  const names = (await view.query<{ name: string }>(STRANGE)).map(({ name }) => name);
  if (names.length === 0) return undefined;
  const named = names.slice(0, NAMED).join(', ') + (names.length > NAMED ? ' …' : '');
  return `the database holds tables of something else (${named}): make an empty one, and name that`;
}
