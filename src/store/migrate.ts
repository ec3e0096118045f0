// Brings a database's schema up to this program's, and refuses a database that rows are being carried into.
import { readdirSync, readFileSync } from 'node:fs';
import { sha256 } from '../lib/secrets.ts';
import { type Database, DatabaseError, type Queryable, type Reader } from './database.ts';

const FOLDER = new URL('./migrations/', import.meta.url);

/** So long a step keeps those waiting who serve beside it; then it lets them go on for the pause, and tries again, for an hour. */
const LOCK_WAIT_MS = 2000;
const LOCK_PAUSE_MS = 3000;
const LOCK_TRIES = 720;

interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** The migrations this program knows, in order: `0001-schema.sql` is version 1. */
export function knownMigrations(): Migration[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({
      version: Number.parseInt(file, 10),
      name: file.replace(/\.sql$/, ''),
      sql: readFileSync(new URL(file, FOLDER), 'utf8'),
    }));
}

/** Comments that open with an engine's name hold what is written for that engine alone: they are uncommented for it. */
function forEngine(sql: string, engine: Database['engine']): string {
  return sql.replace(/\/\*(postgres|sqlite)\s([\s\S]*?)\*\//g, (_, named, text) =>
    named === engine ? text : '',
  );
}

/** An advisory lock on PostgreSQL. A transaction that creates or changes the schema takes it. */
export const MIGRATING_LOCK = 'select pg_advisory_xact_lock(4207849484)';
const MIGRATIONS_TABLE =
  'create table if not exists schema_migrations (version bigint primary key, name text not null, digest text not null)';

/** The statements that make the schema of an empty database: the whole, or as it was when there were `count` migrations. */
export function schemaScript(engine: Database['engine'], count?: number): string {
  const known = knownMigrations().slice(0, count);
  return [MIGRATIONS_TABLE, ...known.map(({ sql }) => forEngine(sql, engine))].join(';\n');
}

/** The statement of the migrations that creates an index or a trigger, or undefined. */
export function creationOf(engine: Database['engine'], name: string): string | undefined {
  const end = engine === 'sqlite' ? '[^;]*;[^;]*end' : '[^;]*';
  const statement = new RegExp(
    `\\bcreate (?:(?:unique )?index ${name}\\b[^;]*|trigger ${name}\\b${end})`,
    'g',
  );
  return schemaScript(engine).match(statement)?.at(-1)?.replace(/\s+/g, ' ').trim();
}

/** The tables that it makes. */
export function schemaTables(): string[] {
  const made = schemaScript('sqlite').matchAll(/\bcreate table (?:if not exists )?(\w+)/g);
  return [...made].map(([, name]) => name!);
}

export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew';
}

/**
 * Applies what is missing and returns the names applied. Several nodes may start at once: they take turns.
 * Throws `SchemaTooNew` when the database was made by a newer program, `CarryUnfinished`, and `DatabaseError`.
 */
export async function migrate(database: Database): Promise<string[]> {
  const migrations = knownMigrations();
  const applied: string[] = [];
  // A step per transaction; each looks afresh at what is there, since another node may have been quicker.
  for (let missing: Migration | undefined = migrations[0]; missing; ) {
    missing = await stepAside(database, async (transaction) => {
      if (database.engine === 'postgres') await database.script(MIGRATING_LOCK);
      await refuseUnfinishedCarry(transaction, database.engine);
      await database.script(MIGRATIONS_TABLE);
      const version = await schemaVersion(transaction);
      const next = migrations[version];
      if (!next) return undefined;
      if (database.engine === 'postgres') await database.script(`set local lock_timeout = ${LOCK_WAIT_MS}`);
      await database.script(forEngine(next.sql, database.engine));
      const row = { version: next.version, name: next.name, digest: sha256(next.sql) };
      await transaction.insert('schema_migrations', [row]);
      applied.push(next.name);
      return migrations[version + 1];
    });
  }
  return applied;
}

/**
 * Runs a transaction again if it waited too long for a lock. On PostgreSQL every session queues behind a waiting `alter table`, and a
 * dump or a verification may hold the table for minutes.
 */
async function stepAside<T>(database: Database, work: (transaction: Queryable) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await database.transaction(work);
    } catch (error) {
      if (!(error instanceof DatabaseError && error.waitedForLock) || tries === LOCK_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOCK_PAUSE_MS));
    }
  }
}

/** How many of the known migrations a database lacks. Changes nothing. Throws `SchemaTooNew`, `CarryUnfinished`, `DatabaseError`. */
export async function missingMigrations(database: Database): Promise<number> {
  await refuseUnfinishedCarry(database, database.engine);
  const version = await schemaVersion(database).catch((error) => {
    if (error instanceof DatabaseError && error.lacksTable) return 0;
    throw error;
  });
  return knownMigrations().length - version;
}

/** The version of a database's schema, 0 if no migration was applied. Throws `SchemaTooNew` and `DatabaseError`. */
async function schemaVersion(database: Reader): Promise<number> {
  const [newest] = await database.query<{ version: number | null }>(
    'select max(version) as version from schema_migrations',
  );
  const version = newest?.version ?? 0;
  const known = knownMigrations().length;
  if (version <= known) return version;
  throw new SchemaTooNew(
    `the database has schema version ${version}, this program knows ${known}: run the newer program`,
  );
}

/**
 * The name of the first migration that a database got with another text than this program's: from an unreleased version, say. Undefined if
 * there is none. Throws as `missingMigrations` does.
 */
export async function otherMigration(database: Database): Promise<string | undefined> {
  if ((await missingMigrations(database)) === knownMigrations().length) return undefined;
  const applied = await database.query<{ version: number; digest: string }>(
    'select version, digest from schema_migrations',
  );
  const digests = new Map(applied.map(({ version, digest }) => [version, digest]));
  return knownMigrations().find(
    ({ version, sql }) => digests.has(version) && digests.get(version) !== sha256(sql),
  )?.name;
}

/** It is there for as long as a move or a restore is unfinished. */
export const UNFINISHED_TABLE = 'unfinished_move';

/** A move or a restore into this store was begun and has not ended: what stands there is part of a store. */
export class CarryUnfinished extends Error {
  override readonly name = 'CarryUnfinished';
}

/** Those of `names` that are tables, or views, of a database. Throws `DatabaseError`. */
export async function tablesAmong(
  view: Reader,
  engine: Database['engine'],
  names: readonly string[],
): Promise<string[]> {
  const sql =
    engine === 'sqlite'
      ? `select name from sqlite_schema where type in ('table', 'view') and instr(',' || ? || ',', ',' || name || ',') > 0`
      : `select told.name from unnest(string_to_array(?::text, ',')) as told (name) where to_regclass(told.name) is not null`;
  return (await view.query<{ name: string }>(sql, names.join(','))).map(({ name }) => name);
}

/** Throws `CarryUnfinished` where a move or a restore into a database has not ended, and `DatabaseError`. */
export async function refuseUnfinishedCarry(view: Reader, engine: Database['engine']): Promise<void> {
  if ((await tablesAmong(view, engine, [UNFINISHED_TABLE])).length === 0) return;
  throw new CarryUnfinished(
    'a move or a restore into this database is unfinished: run the same command again, which begins anew',
  );
}
