// What the account that a PostgreSQL is opened with lacks there of what the service does, and the statement that gives it.
import type { Database, Reader } from './database.ts';
import { schemaTables } from './migrate.ts';

/** Tables that are only ever added to. */
const APPENDED = ['audit_entries', 'schema_migrations', 'seals'];
/** Tables that rows are deleted from. A test compares them with the statements of the program. */
export const DELETED_FROM: readonly string[] = [
  'idempotency_keys',
  'letters',
  'passkeys',
  'webhook_attempts',
  'webhook_deliveries',
  'webhook_endpoints',
  'webhook_queues',
];

interface MissingRight {
  /** What the account may not do, as a clause. */
  lack: string;
  fix: string;
  /** Whether the service works without it until the next upgrade. */
  isLater: boolean;
}

interface Rights {
  read_only: string;
  schema: string | null;
  may_create: boolean | null;
  account: string;
  tables: number;
}

interface TableRights {
  name: string;
  lacks: string;
  is_owner: boolean;
  owner: string;
}

const OWN = 'let it own the database (alter database … owner to …), or name one that does';

/** The first right that the service needs and the account lacks; undefined where it has all, and on SQLite. Throws `DatabaseError`. */
export async function missingRight(
  database: Pick<Database, 'engine' | 'query'>,
): Promise<MissingRight | undefined> {
  if (database.engine === 'sqlite') return undefined;
  const names = schemaTables().join(',');
  const [rights] = await database.query<Record<keyof Rights, never>>(
    `select current_setting('transaction_read_only') as read_only, current_schema() as schema, quote_ident(current_user) as account,
            has_schema_privilege(current_schema(), 'create') as may_create,
            (select count(*) from pg_class where relnamespace = to_regnamespace(current_schema()) and relkind = 'r'
               and relname = any (string_to_array(?, ','))) as tables`,
    names,
  );
  const { read_only, schema, may_create, account, tables } = rights as unknown as Rights;
  const now = (lack: string, fix = OWN) => ({ lack, fix, isLater: false });
  if (read_only === 'on') return now('may not write: its transactions are read-only');
  if (schema === null) return now('may use no schema of this database');
  if (tables === 0) return may_create ? undefined : now(`may make no tables in the schema ${schema}`);
  const lacking = await tableRights(database, names);
  const [closed] = lacking.filter(({ lacks }) => lacks !== '');
  if (closed)
    return now(
      `may not ${closed.lacks} in the table ${closed.name}`,
      `run grant ${closed.lacks} on ${closed.name} to ${account}`,
    );
  const [foreign] = lacking;
  return (
    foreign && {
      lack: `does not own the table ${foreign.name}, which an upgrade may have to change`,
      fix: `run alter table ${foreign.name} owner to ${account}, or run counterfoil migrate as ${foreign.owner} at each upgrade`,
      isLater: true,
    }
  );
}

/** Our tables that the account may not use as the service does, or does not own, by their names. */
function tableRights(database: Reader, names: string): Promise<TableRights[]> {
  return database.query<TableRights & Record<string, never>>(
    `select name, lacks, is_owner, owner from (
       select relname::text as name, pg_has_role(relowner, 'usage') as is_owner, pg_get_userbyid(relowner)::text as owner,
              concat_ws(', ', case when not has_table_privilege(oid, 'select') then 'select' end,
                case when not has_table_privilege(oid, 'insert') then 'insert' end,
                case when not has_table_privilege(oid, 'update') and not relname = any (string_to_array(?, ',')) then 'update' end,
                case when not has_table_privilege(oid, 'delete') and relname = any (string_to_array(?, ',')) then 'delete' end) as lacks
         from pg_class where relnamespace = to_regnamespace(current_schema()) and relkind = 'r'
          and relname = any (string_to_array(?, ','))) as ours
      where lacks <> '' or not is_owner order by name`,
    APPENDED.join(','),
    DELETED_FROM.join(','),
    names,
  );
}
