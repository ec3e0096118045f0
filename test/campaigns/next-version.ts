// The program as its next version might be: ours, with one more migration such as versions bring.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { knownMigrations } from '../../src/store/migrate.ts';
import { schemaText } from '../../src/store/schema.ts';
import { copyProgram, type ProgramCopy } from '../support/program-copy.ts';
import { openPatiently, temporaryStore } from '../support/stores.ts';

/** The rules of docs/style.md kept: what the version before reads and writes goes on working. */
const MIGRATION = `-- Money that has arrived, told by the bank.

alter table payments add column settled_at bigint;
create index payments_settled on payments (settled_at, id) where settled_at is not null;
create table settlements (
  id text /*postgres collate "C" */ primary key,
  payment_id text /*postgres collate "C" */ not null,
  amount_minor bigint not null check (amount_minor > 0),
  created_at bigint not null
) /*sqlite without rowid */;
create index settlements_by_payment on settlements (payment_id, id);
`;

/** The name of its migration. */
export const NEXT_MIGRATION = `${String(knownMigrations().length + 1).padStart(4, '0')}-settlements`;

/** Makes the next version. */
export async function nextVersion(): Promise<ProgramCopy> {
  const program = copyProgram();
  const database = join(dirname(dirname(program.command)), 'src/store');
  writeFileSync(join(database, 'migrations', `${NEXT_MIGRATION}.sql`), MIGRATION);
  await writePostgresSchema(database);
  return program;
}

/** What scripts/write-schema.ts does for a version. `folder`: its `src/store`. */
async function writePostgresSchema(folder: string): Promise<void> {
  const file = join(folder, 'postgres-schema.txt');
  const [caption] = readFileSync(file, 'utf8').split('\n');
  const { migrate } = (await import(
    join(folder, 'migrate.ts')
  )) as typeof import('../../src/store/migrate.ts');
  const { readSchema } = (await import(
    join(folder, 'schema.ts')
  )) as typeof import('../../src/store/schema.ts');
  const store = await temporaryStore('postgres');
  const database = await openPatiently(store);
  try {
    await migrate(database);
    writeFileSync(file, `${caption}\n${schemaText(await readSchema(database, 'postgres'))}`);
  } finally {
    await database.close();
    await store.drop();
  }
}
