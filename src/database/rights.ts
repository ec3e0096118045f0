// Whether the account that a PostgreSQL is opened with may do there what the service does.
import type { Database } from './database.ts';

interface Rights {
  read_only: string;
  schema: string | null;
  may_create: boolean | null;
  tables: number;
  closed: string | null;
}

/** What the account may not do that the service needs, as a clause; nothing where it may, and on SQLite. Raises `DatabaseError`. */
export async function missingRight(
  database: Pick<Database, 'engine' | 'query'>,
): Promise<string | undefined> {
  if (database.engine === 'sqlite') return undefined;
  const [rights] = await database.query<Record<keyof Rights, never>>(
    `select current_setting('transaction_read_only') as read_only, current_schema() as schema,
            has_schema_privilege(current_schema(), 'create') as may_create, count(*) as tables,
            min(relname) filter (where not has_table_privilege(oid, 'select') or not has_table_privilege(oid, 'insert')) as closed
       from pg_class where relnamespace = to_regnamespace(current_schema()) and relkind = 'r'`,
  );
  const { read_only, schema, may_create, tables, closed } = rights as unknown as Rights;
  if (read_only === 'on') return 'may not write: its transactions are read-only';
  if (schema === null) return 'may use no schema of this database';
  if (tables === 0 && !may_create) return `may make no tables in the schema ${schema}`;
  return closed === null ? undefined : `may not read and write the table ${closed}`;
}
