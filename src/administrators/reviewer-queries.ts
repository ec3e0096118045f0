// The SQL about administrators as reviewers: their names, and who may not decide any more.
import type { Reader } from '../database/database.ts';
import { marks } from '../database/table.ts';

/** Administrators' names by their ids (`adm_…`); those that are not there are left out. */
export async function namesOf(
  database: Reader,
  administrators: readonly string[],
): Promise<Map<string, string>> {
  const ids = [...new Set(administrators)];
  if (ids.length === 0) return new Map();
  const rows = await database.query<{ id: string; name: string }>(
    `select id, name from administrators where id in (${marks(ids)})`,
    ...ids,
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Those of `administrators` (`adm_…`) who may not decide any more: they are disabled, or auditors by now. */
export async function barredAmong(database: Reader, administrators: readonly string[]): Promise<Set<string>> {
  if (administrators.length === 0) return new Set();
  const rows = await database.query<{ id: string }>(
    `select id from administrators where id in (${marks(administrators)})
     and (disabled_at is not null or role = 'auditor')`,
    ...administrators,
  );
  return new Set(rows.map(({ id }) => id));
}
