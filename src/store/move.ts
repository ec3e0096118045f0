// What a move reads and writes, whatever tables there are: pages in the order of primary keys, and a target made for them.
import type { Database, Reader, Row } from './database.ts';
import { knownMigrations, MIGRATING_LOCK, schemaScript, schemaTables } from './migrate.ts';
import { queryFresh } from './sqlite-connection.ts';
import { strangeTables } from './strange-tables.ts';
import { MOVE_TABLE, tablesAmong } from './unfinished-move.ts';

type View = Reader;

/** Rows read, and written by one transaction, at once. */
export const PAGE = 1000;

/** `application_name` of a move's own sessions. */
const APPLICATION_NAME = 'counterfoil-move';
/** A session that was ended a moment ago is still listed. */
const SESSIONS_END_WITHIN_MS = 1000;
const SESSIONS_ASKED_EVERY_MS = 50;

/** What a move does not do, in a line. */
export class MoveRefused extends Error {
  override readonly name = 'MoveRefused';
}

export interface Table {
  name: string;
  columns: string[];
  /** The columns of its primary key, in their order. */
  key: string[];
}

/** The state of a store: its schema, and the head of its history. */
export interface StoreState {
  /** The version of the schema. */
  schema: number;
  entries: number;
  seals: number;
  /** The hash of the newest seal. */
  hash: string | null;
}

/** The tables of the schema as the migrations leave it. What says that the schema is complete stands last. */
export function movedTables(): Table[] {
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

/** The rows behind `after` in the order of the primary key, or from the first row if `after` is undefined. */
export function pageAfter(view: View, table: Table, after: Row | undefined): Promise<Row[]> {
  const { name, columns, key } = table;
  const behind = after ? `where (${key.join(', ')}) > (${key.map(() => '?').join(', ')})` : '';
  return view.query(
    `select ${columns.join(', ')} from ${name} ${behind} order by ${key.join(', ')} limit ? + 0`,
    ...(after ? key.map((column) => after[column]!) : []),
    PAGE,
  );
}

/** The row with the highest primary key. */
export async function lastRow(view: View, { name, columns, key }: Table): Promise<Row | undefined> {
  const order = key.map((column) => `${column} desc`).join(', ');
  return (await view.query(`select ${columns.join(', ')} from ${name} order by ${order} limit 1`))[0];
}

/**
 * Lends one consistent snapshot of a store and blocks its writers meanwhile: they wait, and are refused in the end. Writes nothing.
 * Throws `DatabaseError`.
 */
export function holdStill<T>(database: Database, use: (view: View) => Promise<T>): Promise<T> {
  if (database.engine === 'sqlite') return database.transaction(() => database.snapshot(use));
  return database.snapshot(async (view) => {
    // Before the first read, which settles what is seen.
    const names = movedTables().map(({ name }) => name);
    await view.query(`lock table ${names.join(', ')} in share mode`);
    // Nothing is asked of it while the target is verified, which takes as long as it takes.
    await view.query("select set_config('idle_in_transaction_session_timeout', '0', true)");
    return use(view);
  });
}

/** The version of the schema that this program moves. */
export function movedSchema(): number {
  return knownMigrations().length;
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

/**
 * What a move finds at its target: nothing, a store (or some of one), or what an unfinished move of a source in some state has left.
 * Throws `MoveRefused` where it is a PostgreSQL database of something else, and `DatabaseError`.
 */
export async function lookAtTarget(
  view: View,
  engine: Database['engine'],
): Promise<'nothing' | 'store' | StoreState> {
  const found = await tablesAmong(view, engine, [MOVE_TABLE, ...schemaTables()]);
  if (found.length === 0) {
    const strange = engine === 'postgres' && (await strangeTables(view));
    if (strange) throw new MoveRefused(strange);
    return 'nothing';
  }
  if (!found.includes(MOVE_TABLE)) return 'store';
  const [state] = await view.query<StoreState>(`select schema, entries, seals, hash from ${MOVE_TABLE}`);
  return state!;
}

/** Makes an empty database the target of a move: the schema without a row in it, and what says that it is no store yet. */
export async function beginMove(target: Database, state: StoreState): Promise<void> {
  await target.transaction(async (transaction) => {
    if (target.engine === 'postgres') await target.script(MIGRATING_LOCK);
    if ((await lookAtTarget(transaction, target.engine)) !== 'nothing')
      throw new MoveRefused('another process has just begun to use the target');
    await target.script(
      `create table ${MOVE_TABLE} (id bigint primary key check (id = 1), schema bigint not null, entries bigint not null,
         seals bigint not null, hash text);
       ${schemaScript(target.engine)}`,
    );
    // What migrations put in comes from the source, as everything.
    for (const table of movedTables())
      if (await lastRow(transaction, table)) await transaction.query(`delete from ${table.name}`);
    await transaction.insert(MOVE_TABLE, [{ id: 1, ...state }]);
  });
}

/**
 * Takes away all that an unfinished move has put there, of this version or one before, which had not yet all these tables. Only
 * for where `lookAtTarget` gives the state of a source.
 */
export async function undoMove(target: Database): Promise<void> {
  const script = schemaScript(target.engine);
  const functions = [...script.matchAll(/\bcreate function (\w+)/g)].map(([, name]) => name!);
  const drops = [
    ...movedTables().map(({ name }) => `drop table if exists ${name}`),
    ...functions.map((name) => `drop function if exists ${name}`),
    `drop table ${MOVE_TABLE}`,
  ];
  await target.transaction(() => target.script(drops.join(';\n')));
}

/** Makes a store of the target, as soon as its transaction is committed. */
export async function endMove(target: Database): Promise<void> {
  const names = movedTables().map(({ name }) => name);
  // PostgreSQL would learn within a minute what its new tables hold; until then it could read them by the wrong index.
  const learning = target.engine === 'postgres' ? `analyze ${names.join(', ')};` : '';
  await target.script(`drop table ${MOVE_TABLE}; ${learning}`);
}
