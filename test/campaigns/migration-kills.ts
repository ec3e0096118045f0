// Kills a program in the middle of a migration: between two of its statements, or at any moment from one of them on.
import { start } from '../support/command.ts';
import { writeConfiguration } from '../support/harness.ts';
import type { ProgramCopy } from '../support/program-copy.ts';
import { openPatiently, type Store } from '../support/stores.ts';

/** The program runs a migration as one text; this one does so statement by statement, and is told where to die. */
const WHOLE = 'await database.script(forEngine(next.sql, database.engine));';
const STEPWISE = `
      const [target, part, how] = (process.env.KILLED_AT ?? '').split(' ');
      const pieces = forEngine(next.sql, database.engine).split(/;[ ]*\\n/);
      const statements = [''];
      for (const piece of pieces) { // a function's body, between $$ and $$, is part of one
        statements[statements.length - 1] += piece + ';\\n';
        if (statements.at(-1).split('$$').length % 2 === 1) statements.push('');
      }
      const fatal = Number(target) === next.version ? Math.floor(Number(part) * (statements.length + 1)) : -1;
      const die = async () => {
        if (how === 'now') process.kill(process.pid, 'SIGKILL');
        const { Worker } = await import('node:worker_threads');
        const killer = new Worker('setTimeout(() => process.kill(process.pid, "SIGKILL"), Number(process.env.KILLED_AFTER_MS)); ' +
          'require("node:worker_threads").parentPort.postMessage("armed")', { eval: true });
        await new Promise((resolve) => killer.once('message', resolve));
      };
      for (const [index, statement] of statements.entries()) {
        if (index === fatal) await die();
        await database.script(statement);
      }
      if (fatal === statements.length) await die();`;

export interface Kill {
  /** The migration that is killed, by its number. */
  migration: number;
  /** How far into it, from 0 to 1. */
  part: number;
  /** Between two statements, or so many milliseconds later, wherever that is. */
  how: 'now' | 'later';
  afterMs: number;
}

/** Makes a copy of the program die where it is told. */
export function makeMortal(program: ProgramCopy): void {
  program.change('src/store/migrate.ts', WHOLE, STEPWISE);
}

/** Migrates a store until the kill. Returns whether that fell inside the migration: begun, and not committed. */
export async function killMigration(program: ProgramCopy, store: Store, kill: Kill): Promise<boolean> {
  const { migration, part, how, afterMs } = kill;
  const migrating = start(
    process.execPath,
    [program.command, 'migrate', '--config', writeConfiguration(store)],
    {
      env: {
        ...program.env,
        COUNTERFOIL_STORAGE: store.storage,
        DATABASE_URL: store.database_url ?? '',
        KILLED_AT: `${migration} ${part} ${how}`,
        KILLED_AFTER_MS: String(afterMs),
      },
    },
  );
  const { signal } = await migrating.ended;
  if (how === 'now' && signal !== 'SIGKILL') throw new Error(`it lived: ${migrating.stderr}`);
  return (await schemaVersion(store)) < migration;
}

async function schemaVersion(store: Store): Promise<number> {
  const database = await openPatiently(store);
  try {
    const [found] = await database
      .query<{ version: number | null }>('select max(version) as version from schema_migrations')
      .catch(() => []); // the table comes with the first migration
    return found?.version ?? 0;
  } finally {
    await database.close();
  }
}
