// Whether a PostgreSQL database that is to be filled holds tables of something else.
import type { Reader } from './database.ts';

/** Of what is found, this much is named. */
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
export async function strangeTables(view: Reader): Promise<string | undefined> {
  const names = (await view.query<{ name: string }>(STRANGE)).map(({ name }) => name);
  if (names.length === 0) return undefined;
  const named = names.slice(0, NAMED).join(', ') + (names.length > NAMED ? ' …' : '');
  return `the database holds tables of something else (${named}): make an empty one, and name that`;
}
