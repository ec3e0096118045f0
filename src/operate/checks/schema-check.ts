// The check that compares the schema of the store with what the migrations make, and names the statement that puts it right.
import type { Database } from '../../store/database.ts';
import { creationOf, missingMigrations, SchemaTooNew } from '../../store/migrate.ts';
import { type SchemaFault, schemaFaults } from '../../store/schema.ts';
import { type Check, failed, intoStore, ok, skipped, warning } from './check.ts';

/** So many faults are named. */
const NAMED = 3;
/** What another hand may add without changing what the service does. */
const HARMLESS = ['table', 'view', 'column', 'index'];

export const tables: Check = {
  id: 'tables',
  about: 'Tables',
  stage: 'later',
  look: intoStore(async (database) => {
    if (!(await isOurVersion(database)))
      return skipped("The schema is another version's, which is not compared");
    const faults = await schemaFaults(database, database.engine);
    // SQLite stores a table as its create statement, so what changed in it is found by its columns.
    const told = faults.filter(
      ({ kind, is, name }) =>
        !(kind === 'table' && is === 'changed' && faults.some((one) => one.name.startsWith(`${name}.`))),
    );
    if (told.length === 0) return ok('Tables, columns, indexes and triggers are as the program made them');
    const named = told.slice(0, NAMED).map(({ problem }) => problem);
    if (told.length > NAMED) named.push(`${told.length - NAMED} more`);
    const isHarmless = told.every(({ is, kind }) => is === 'added' && HARMLESS.includes(kind));
    const says = `${named[0]![0]!.toUpperCase()}${named.join(', ').slice(1)}`;
    if (isHarmless) return warning(says, 'drop what you do not need: audit verify fails while it is there');
    return failed(says, fixOf(told, database.engine));
  }),
};

async function isOurVersion(database: Database): Promise<boolean> {
  try {
    return (await missingMigrations(database)) === 0;
  } catch (error) {
    if (error instanceof SchemaTooNew) return false;
    throw error;
  }
}

/** How the first fault is put right. */
function fixOf(faults: readonly SchemaFault[], engine: Database['engine']): string {
  const first = faults.find(({ is }) => is !== 'added') ?? faults[0]!;
  const { is, kind, name } = first;
  const [table, column] = name.split('.') as [string, string | undefined];
  if (is === 'added') return `drop the ${kind} ${name}, then run counterfoil audit verify`;
  if (kind === 'column' && is === 'missing') {
    const added = faults.filter((one) => one.kind === 'column' && one.is === 'added');
    const [renamed, ...others] = added.filter((one) => one.name.startsWith(`${table}.`));
    if (renamed && others.length === 0)
      return `rename it back: alter table ${table} rename column ${renamed.name.split('.')[1]} to ${column}`;
  }
  const creation = is === 'missing' ? creationOf(engine, name) : undefined;
  if (creation === undefined)
    return 'undo what was changed; where that is not known, restore the newest backup (counterfoil restore BACKUP --replace)';
  const then =
    kind === 'trigger' ? ', then counterfoil audit verify: rows may have been changed meanwhile' : '';
  return `run ${creation}${then}`;
}
