// Stores as versions before this one left them: the schema of so many migrations, and what of today's rows it had a place for.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Row } from '../../src/store/database.ts';
import { knownMigrations } from '../../src/store/migrate.ts';
import { openDatabase } from '../../src/store/open.ts';
import { run } from '../support/command.ts';
import { createAccount } from '../support/console.ts';
import { startHarness } from '../support/harness.ts';
import { copyProgram } from '../support/program-copy.ts';
import { type Engine, type Store, temporaryStore } from '../support/stores.ts';

/** How many payments they hold, where there were payments. */
export const PAST_PAYMENTS = 30;

/** From this schema on there are administrators and suspended merchants. */
const ADMINISTERED = 4;

export interface Past {
  /** A store with the schema of `version` migrations, and rows where it had tables for them. */
  store(engine: Engine, version: number): Promise<Store>;
  remove(): Promise<void>;
}

type Migrate = typeof import('../../src/store/migrate.ts');

/** Makes a history, and programs that know as many migrations as each version before. */
export async function pastStores(): Promise<Past> {
  const plain = await history(false);
  const administered = await history(true);
  const programs = knownMigrations().map((_, version) => programOf(version));
  const columns = await Promise.all(programs.map(columnsOf));
  return {
    async store(engine, version) {
      const store = await temporaryStore(engine);
      const database = await openDatabase(store, () => {});
      const { migrate } = await programs[version]!.load();
      await migrate(database);
      const from = version < ADMINISTERED ? plain : administered;
      // A history of payments has no place before there are any.
      const tables = version < 2 ? [] : [...columns[version]!];
      await database.transaction(async (transaction) => {
        if (tables.length > 0) await transaction.query('delete from journal_head returning id');
        for (const [table, names] of tables) await transaction.insert(table, rowsOf(from, table, names));
      });
      await database.close();
      return store;
    },
    async remove() {
      for (const program of programs) program.remove();
      await plain.drop();
      await administered.drop();
    },
  };
}

interface Program {
  load(): Promise<Migrate>;
  remove(): void;
}

function programOf(version: number): Program {
  const { command, remove } = copyProgram();
  const folder = join(dirname(dirname(command)), 'src/store');
  for (const { name } of knownMigrations().slice(version)) rmSync(join(folder, 'migrations', `${name}.sql`));
  return { load: () => import(join(folder, 'migrate.ts')), remove };
}

/** The tables of a version, and the columns of each. */
async function columnsOf(program: Program): Promise<Map<string, string[]>> {
  const store = await temporaryStore('sqlite');
  const database = await openDatabase(store, () => {});
  const { migrate, schemaTables } = await program.load();
  await migrate(database);
  const found = new Map<string, string[]>();
  for (const table of schemaTables().filter((one) => one !== 'schema_migrations')) {
    const rows = await database.query<{ name: string }>(`select name from pragma_table_info('${table}')`);
    if (rows.length === 0) continue; // a later migration dropped it
    found.set(
      table,
      rows.map(({ name }) => name),
    );
  }
  await database.close();
  await store.drop();
  return found;
}

/** What a table of the past is called today, where it is not called the same, and its columns. */
const RENAMED: Record<string, { table: string; columns: Record<string, string> }> = {
  merchant_states: { table: 'merchants', columns: { merchant_id: 'id', reason: 'changes' } },
};

function rowsOf(from: Store, table: string, names: readonly string[]): Row[] {
  const now = RENAMED[table] ?? { table, columns: {} };
  const selected = names.map((name) => `${now.columns[name] ?? name} as ${name}`);
  const database = new DatabaseSync(join(from.storage, 'counterfoil.sqlite'), { readOnly: true });
  try {
    return database.prepare(`select ${selected.join(', ')} from ${now.table}`).all() as Row[];
  } finally {
    database.close();
  }
}

/** A store of today: payments, some of them cancelled, with stored responses; with an administrator and a suspended merchant, too. */
async function history(isAdministered: boolean): Promise<Store> {
  const harness = await startHarness('sqlite');
  for (let i = 0; i < PAST_PAYMENTS; i++) {
    const { id } = await harness.create({}, { headers: { 'idempotency-key': `key-${i}` } });
    if (i % 3 === 0) await harness.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
  }
  if (isAdministered) {
    await createAccount(harness);
    const { storage } = harness.store;
    const env = { COUNTERFOIL_CONFIG: join(storage, 'counterfoil.yaml'), COUNTERFOIL_STORAGE: storage };
    const { code, stderr } = await run(['merchants', 'suspend', 'Other Shop', '--reason', 'Asked to'], {
      env,
    });
    if (code !== 0) throw new Error(stderr);
  }
  await harness.stop();
  return harness.store;
}
