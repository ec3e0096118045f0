// Writes src/store/postgres-schema.txt: what the migrations make on PostgreSQL, for verifying to hold databases against.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Database } from '../src/store/database.ts';
import { migrate } from '../src/store/migrate.ts';
import { openPostgres } from '../src/store/postgres.ts';
import { readSchema, schemaText } from '../src/store/schema.ts';
import { startPostgres } from '../test/support/postgres-server.ts';

const CAPTION =
  '# What the migrations make on PostgreSQL, an object to a line. Written by scripts/write-schema.ts.\n';

/** The file's text, as a database tells it that was just migrated. */
export async function schemaFile(database: Database): Promise<string> {
  return CAPTION + schemaText(await readSchema(database, 'postgres'));
}

if (import.meta.main) {
  const server = await startPostgres();
  const database = await openPostgres(server.url);
  await migrate(database);
  const file = new URL('../src/store/postgres-schema.txt', import.meta.url);
  writeFileSync(file, await schemaFile(database));
  console.log(fileURLToPath(file));
  await database.close();
  await server.stop();
}
