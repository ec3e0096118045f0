// Proves each index of our tables on PostgreSQL by its table: with amcheck where the role may call it, else by a scan of both.
import { DatabaseError } from './database.ts';
import { schemaTables } from './migrate.ts';
import type { Connection } from './postgres-connection.ts';

/** No deadline: the longest that a timer takes. `signal` ends a check, and so does the end of the connection. */
const NO_DEADLINE_MS = 2 ** 31 - 1;
const FAULTS_MAXIMUM = 10;

/** Each second the server checks whether the client is still connected. */
const SESSION = `set statement_timeout = 0; set idle_in_transaction_session_timeout = 0;
  set client_connection_check_interval = '1s'`;

const INDEXES = `
select x.indexrelid::pg_catalog.regclass::text as name, x.indrelid::pg_catalog.regclass::text as "table",
  (select pg_catalog.string_agg(pg_catalog.pg_get_indexdef(x.indexrelid, n, false), ', ' order by n)
   from pg_catalog.generate_series(1, x.indnkeyatts::int) as n) as keys,
  coalesce(pg_catalog.pg_get_expr(x.indpred, x.indrelid), 'true') as condition
from pg_catalog.unnest(pg_catalog.string_to_array(?::text, ',')) as told (name)
join pg_catalog.pg_index x on x.indrelid = pg_catalog.to_regclass(told.name)
order by 1`;

/** The function of amcheck that this role may call, with its schema. */
const AMCHECK = `
select p.oid::pg_catalog.regproc::text as name from pg_catalog.pg_extension e
join pg_catalog.pg_proc p on p.pronamespace = e.extnamespace and p.proname = 'bt_index_check' and p.pronargs = 2
where e.extname = 'amcheck' and pg_catalog.has_function_privilege(p.oid, 'execute')`;

interface Index {
  name: string;
  table: string;
  /** Key columns and expressions, with commas between. */
  keys: string;
  /** Of a partial index; `true` for any other. */
  condition: string;
}

/**
 * Returns what is wrong with the indexes, a clause each, ten at most. Takes a connection of its own, which it leaves in another
 * state than it was. `signal` closes that. Throws `DatabaseError`, and the signal's reason.
 */
export async function postgresIndexFaults(connection: Connection, signal?: AbortSignal): Promise<string[]> {
  const end = () => connection.discard();
  signal?.addEventListener('abort', end);
  try {
    signal?.throwIfAborted();
    await connection.script(SESSION, NO_DEADLINE_MS);
    const { rows: indexes } = await connection.run(INDEXES, [schemaTables().join(',')], NO_DEADLINE_MS);
    const { rows: callable } = await connection.run(AMCHECK, [], NO_DEADLINE_MS);
    const amcheck = (callable[0] as { name: string } | undefined)?.name;
    const faults: string[] = [];
    for (const index of indexes as Index[]) {
      const fault = amcheck
        ? await faultByAmcheck(connection, amcheck, index)
        : await faultByScan(connection, index);
      if (fault) faults.push(fault);
      if (faults.length === FAULTS_MAXIMUM) break;
    }
    return faults;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', end);
  }
}

async function faultByAmcheck(
  connection: Connection,
  amcheck: string,
  { name }: Index,
): Promise<string | undefined> {
  try {
    await connection.run(`select ${amcheck}(?::text::pg_catalog.regclass, true)`, [name], NO_DEADLINE_MS);
    return undefined;
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return `index ${name}: ${error.message}`;
  }
}

/** PostgreSQL's class XX: internal errors, of which XX001 is damaged data and XX002 a damaged index. */
function isCorruption(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && /^XX/.test((error.cause as { code?: string }).code ?? '');
}

const WALK_TABLE = `set local enable_seqscan = on; set local enable_indexscan = off; set local enable_indexonlyscan = off;
  set local enable_bitmapscan = off; set local max_parallel_workers_per_gather = 0; set local jit = off`;
const WALK_INDEX = `set local enable_seqscan = off; set local enable_indexscan = on;
  set local enable_sort = off; set local enable_incremental_sort = off`;

/**
 * Walks the table and then the index in one state, and compares: as many rows, none twice, and in the order of what the rows
 * themselves hold. A key that leads to another row stands out of order.
 */
async function faultByScan(
  connection: Connection,
  { name, table, keys, condition }: Index,
): Promise<string | undefined> {
  const run = async <R>(sql: string) => (await connection.script(sql, NO_DEADLINE_MS)).rows as R[];
  const part = `from only ${table} where ${condition}`;
  const walk = `select count(*) as found, count(distinct place) as places, count(*) filter (where held < before) as misplaced
    from (select ctid as place, row(${keys}) as held, lag(row(${keys})) over (order by ${keys}) as before ${part}) as walked`;
  try {
    await run(`begin isolation level repeatable read read only; ${WALK_TABLE}`);
    const [there] = await run<{ rows: number }>(`select count(*) as rows ${part}`);
    await run(WALK_INDEX);
    const plan = (await run<Record<string, string>>(`explain (costs off) ${walk}`)).map(
      (row) => row['QUERY PLAN'],
    );
    if (!plan.some((line) => line?.includes(` using ${name.split('.').at(-1)} `)))
      return `index ${name} is not used by PostgreSQL`;
    const [led] = await run<{ found: number; places: number; misplaced: number }>(walk);
    if (led!.found !== there!.rows || led!.places !== there!.rows)
      return `index ${name} leads to ${led!.places} rows of ${table}, which has ${there!.rows} for it`;
    return led!.misplaced > 0 ? `index ${name} leads to rows of ${table} that hold other keys` : undefined;
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return `index ${name}: ${error.message}`;
  } finally {
    await connection.script('rollback', NO_DEADLINE_MS).catch(() => connection.discard());
  }
}
