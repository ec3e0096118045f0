// The one definition of a table: its columns and their types. The type of a row, statements and digests follow from it.
import type { Database, Reader, Row, Value } from './database.ts';

/** The largest limit of a query on PostgreSQL, which takes a sum of limits for an `integer`. */
export const NO_LIMIT = 2 ** 31 - 1;

interface Column<Value> {
  mayBeNull: boolean;
  /** For the compiler alone: no column has it. */
  value?: Value;
}

/** `T` narrows the values: `text<'live' | 'test'>()`. */
export const text = <T extends string = string>(): Column<T> => ({ mayBeNull: false });
export const textOrNull = <T extends string = string>(): Column<T | null> => ({ mayBeNull: true });
/** A count, an amount in minor units, or a time in milliseconds since 1970. */
export const integer = (): Column<number> => ({ mayBeNull: false });
export const integerOrNull = (): Column<number | null> => ({ mayBeNull: true });

type Columns = Record<string, Column<Row[string]>>;
type ValueOf<C> = C extends Column<infer Value> ? Value : never;
type RowWith<C> = { [Name in keyof C]: ValueOf<C[Name]> };
type NullsOf<C> = { [Name in keyof C as null extends ValueOf<C[Name]> ? Name : never]: null };

export interface Table<R extends object = object, Nulls = object> {
  name: string;
  /** All columns. Digests in the history cover them in this order, so new ones come last. */
  columns: readonly string[];
  /** The columns as a statement lists them. */
  columnList: string;
  /** Null in each column that may be null: what a new row begins with. */
  nulls: Nulls;
  /** For the compiler alone: no table has it. */
  row?: R;
}

/** A row of a table: `type Payment = RowOf<typeof PAYMENTS>`. */
export type RowOf<T> = T extends Table<infer R, infer _> ? R : never;

/** Defines a table. The migrations hold the same columns; a new column needs a migration that adds it. */
export function table<C extends Columns>(name: string, columns: C): Table<RowWith<C>, NullsOf<C>> {
  const names = Object.keys(columns);
  const nullable = names.filter((column) => columns[column]!.mayBeNull);
  return {
    name,
    columns: names,
    columnList: names.join(', '),
    nulls: Object.fromEntries(nullable.map((column) => [column, null])) as NullsOf<C>,
  };
}

/** As many placeholders as there are values, for `in (…)`. */
export const marks = (values: readonly unknown[]) => values.map(() => '?').join(', ');

/** The statement that adds rows to a table, and its values. Rows whose keys are taken are left out where `how` says so. */
export function insertion<R extends object>(
  { name, columns, columnList }: Table<R>,
  rows: readonly R[],
  how = '',
): [sql: string, ...values: Value[]] {
  const row = `(${marks(columns)})`;
  const values = rows.flatMap((one) => columns.map((column) => (one as Row)[column]!));
  return [`insert into ${name} (${columnList}) values ${rows.map(() => row).join(', ')} ${how}`, ...values];
}

/** Conditions, each with one `?`, joined by `and`, and their values. Those whose value is undefined are left out. */
export function where(conditions: Readonly<Record<string, Value | undefined>>): {
  sql: string;
  values: Value[];
} {
  const held = Object.entries(conditions).filter((one): one is [string, Value] => one[1] !== undefined);
  return { sql: held.map(([sql]) => sql).join(' and '), values: held.map(([, value]) => value) };
}

/** All rows of a table in the order of the columns `key`, up to `limit` at once. */
export async function* pagesOf<R extends object>(
  view: Reader,
  { name, columns, key }: { name: string; columns: readonly string[]; key: readonly string[] },
  limit: number,
): AsyncGenerator<R[]> {
  for (let last: R | undefined; ; ) {
    const behind = last ? `where (${key.join(', ')}) > (${marks(key)})` : '';
    const rows: R[] = await view.query<R>(
      `select ${columns.join(', ')} from ${name} ${behind} order by ${key.join(', ')} limit ? + 0`,
      ...(last ? key.map((column) => (last as Row)[column]!) : []),
      limit,
    );
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    last = rows.at(-1);
  }
}

/** The row of a table with this id. */
export async function rowWithId<R extends object>(
  database: Reader,
  { name, columnList }: Table<R>,
  id: string,
): Promise<R | undefined> {
  return (await database.query<R>(`select ${columnList} from ${name} where id = ?`, id))[0];
}

/** The rows of a table with these ids, as many as there are, in any order. */
export async function rowsWithIds<R extends object>(
  database: Reader,
  { name, columnList }: Table<R>,
  ids: readonly string[],
): Promise<R[]> {
  if (ids.length === 0) return [];
  return database.query<R>(`select ${columnList} from ${name} where id in (${marks(ids)})`, ...ids);
}

/**
 * Returns those of `rows` whose own columns hold the values of `looked`. Every credential (token, key, session, passkey, link) is looked
 * up by this function or by `heldRow`. Because: an attacker who can write to the database's files can change an index and leave the
 * rows unchanged. `rows` must have those columns. SQLite reads a column from the index that it searches, so the statement looks up the
 * id by the index, and the row by its id.
 */
export function heldRows<R extends object>(rows: readonly R[], looked: Partial<NoInfer<R>>): R[] {
  const names = Object.keys(looked) as (keyof R)[];
  return rows.filter((row) => names.every((name) => row[name] === looked[name]));
}

/** The row with a value in one column that is unique, `{ digest }`, looked up as `heldRows` says. Undefined if there is none. */
export async function heldRow<R extends object>(
  database: Reader,
  { name, columnList }: Table<R>,
  looked: Partial<NoInfer<R>>,
): Promise<R | undefined> {
  const [column, value] = Object.entries(looked)[0] as [string, Row[string]];
  const sql = `select ${columnList} from ${name} where id = (select id from ${name} where ${column} = ?)`;
  return heldRows(await database.query<R>(sql, value), looked)[0];
}

/** A store outside a transaction, or a transaction, which sees the present state anyway. */
export type Seen = Reader & Partial<Pick<Database, 'refresh'>>;

/** Returns what `find` finds; where that is undefined, what it finds in the state that the store has now. Throws what `find` does. */
export async function findNow<R>(
  database: Seen,
  find: (database: Seen) => Promise<R | undefined>,
): Promise<R | undefined> {
  const found = await find(database);
  if (found !== undefined || !database.refresh) return found;
  database.refresh();
  return find(database);
}
