// counterfoil move: carries the store over whole, from SQLite to PostgreSQL or back.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { readCheckpoints } from '../../journal/checkpoint.ts';
import { lostKey } from '../../journal/checkpoint-signer.ts';
import { type Moved, moveStore, requireUnused } from '../../journal/move.ts';
import { withKnown } from '../../journal/rows.ts';
import { counted } from '../../lib/text.ts';
import { asMover, lookAtTarget } from '../../store/carry.ts';
import { hostsFault } from '../../store/connection-string.ts';
import { type Database, DatabaseError } from '../../store/database.ts';
import { holdStore, openDatabase, SQLITE_FILE, type StoreSettings, storeExists } from '../../store/open.ts';
import { missingRight } from '../../store/rights.ts';
import { ROW_CHECKS } from '../checks/row-checks.ts';
import { type Configuration, configurationFile, readConfiguration } from '../config.ts';
import { environment } from '../environment.ts';
import { requireSchema, type StoreOptions } from './store.ts';
import { atEnd, Failure, shownPath, tellInterrupted, withProgressBar } from './terminal.ts';
import { CONFIG_OPTION } from './usage.ts';

interface MoveOptions extends StoreOptions {
  to: string;
}

const NAMES = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

export function command(): Command {
  return new Command('move')
    .description('carry the store over whole, from SQLite to PostgreSQL or back, while nothing serves it')
    .requiredOption(
      '--to <where>',
      'postgres: into the empty database that database_url or DATABASE_URL names, or the address of one without a password; sqlite: from there into the storage directory',
    )
    .option(...CONFIG_OPTION)
    .option('--json', 'print one JSON document at the end')
    .addHelpText(
      'after',
      `
Examples:
  counterfoil move --to postgres                     SQLite in storage → PostgreSQL of database_url in the configuration
  read -rs DATABASE_URL && export DATABASE_URL && counterfoil move --to postgres
  counterfoil move --to 'postgres://pay@db.internal/counterfoil?sslmode=verify-full'
  counterfoil move --to sqlite                       PostgreSQL of database_url → SQLite in storage

A password on a command line is seen by everybody on the machine: leave it to the configuration or to DATABASE_URL. The source
stays as it is. Cut in the middle, the same command begins anew; until it has ended, nothing takes the target for a store.`,
    )
    .action(move);
}

async function move(options: MoveOptions, command: Command): Promise<void> {
  // Told without repeating it: a mistyped address may hold a password.
  const fault = ['sqlite', 'postgres'].includes(options.to) ? undefined : hostsFault(options.to);
  if (fault) command.error(`error: --to must be postgres, sqlite, or an address, which ${fault}`);
  const configuration = readConfiguration(configurationFile(options.config));
  const url = urlOf(options.to, configuration);
  await using _held = atEnd(hold(configuration));
  const moved = await tellInterrupted(
    'the same command begins anew; until it has ended, nothing takes the target for a store',
    () => between(configuration, url, options),
  );
  console.log(options.json ? JSON.stringify(document(options, moved)) : told(options, configuration, moved));
  const lost = lostKey(configuration.storage);
  if (lost) console.error(`counterfoil: no server will start on what was moved: ${lost}`);
}

function urlOf(to: string, { database_url: configured }: Configuration): string {
  const isAddress = to !== 'sqlite' && to !== 'postgres';
  if (isAddress && configured !== null && configured !== to)
    throw new Failure(
      'database_url is set, to another address than --to: a move goes between SQLite and PostgreSQL; take it out, or say --to postgres',
    );
  const url = isAddress ? to : configured;
  if (url !== null) return url;
  throw new Failure(
    to === 'sqlite'
      ? 'there is no database_url: the store is on SQLite already'
      : 'there is no database_url: name the empty database by it in the configuration, or by DATABASE_URL in the environment',
  );
}

/** Keeps servers and other moves off the storage directory. Throws `Failure` where one is at work. */
function hold(configuration: Configuration): () => void {
  return holdStore({ ...configuration, database_url: null });
}

/** Opens both sides, looks at them, and moves. Throws `Failure`, `CarryUnfinished`, `DatabaseError`. */
async function between({ storage }: Configuration, url: string, options: MoveOptions): Promise<Moved> {
  const { to } = options;
  const sqlite = { storage, database_url: null };
  const postgres = { storage, database_url: asMover(url) };
  const [from, into] = to === 'sqlite' ? [postgres, sqlite] : [sqlite, postgres];
  const file = join(storage, SQLITE_FILE);
  const makesFile = into === sqlite && !existsSync(file);
  if (!storeExists(from)) throw new Failure(`there is no ${SQLITE_FILE} in ${shownPath(storage)} to move`);
  const opened: Database[] = [];
  const open = async (side: typeof sqlite | typeof postgres) => {
    const database = await openDatabase(side, (error) => {
      throw error;
    });
    opened.push(database);
    return database;
  };
  try {
    const source = await open(from);
    await requireSource(source, from);
    const target = await open(into);
    await requireTarget(target);
    return await withProgressBar('moving', (told) =>
      moveStore({
        source,
        target,
        reading: readCheckpoints(storage),
        rowChecks: ROW_CHECKS,
        onProgress: (stage, done, total) => told(done, total, stage),
      }).catch((error) => {
        throw cutOff(error);
      }),
    );
  } finally {
    const target = makesFile ? opened[1] : undefined;
    const found = target && (await lookAtTarget(target, 'sqlite').catch(() => 'what cannot be read'));
    for (const database of opened) await database.close();
    if (found === 'nothing' || found === 'unfinished')
      for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
  }
}

/** Says what to do where PostgreSQL was lost in the middle of a move. Returns other errors unchanged. */
function cutOff(error: unknown): unknown {
  if (!(error instanceof DatabaseError && ['unavailable', 'unknown'].includes(error.failure))) return error;
  return new Failure(
    `the move is unfinished, because a database was lost (${error.message}): see that it runs and has room; then the same command begins anew`,
  );
}

async function requireSource(source: Database, from: StoreSettings): Promise<void> {
  const outdated = "the source's schema is not up to date: run counterfoil migrate on it first";
  await requireSchema(source, from, outdated);
  await requireUnused(source);
}

async function requireTarget(target: Database): Promise<void> {
  const right = await missingRight(target);
  if (right && !right.isLater) throw new Failure(`the account of the target ${right.lack}: ${right.fix}`);
}

const engines = ({ to }: MoveOptions) =>
  to === 'sqlite' ? (['postgres', 'sqlite'] as const) : (['sqlite', 'postgres'] as const);

function document(options: MoveOptions, { rows, verification }: Moved): object {
  const [from, to] = engines(options);
  return { moved: true, from, to, rows, verification };
}

function told(options: MoveOptions, configuration: Configuration, moved: Moved): string {
  const { rows, verification } = moved;
  const [from, to] = engines(options);
  const all = Object.values(rows).reduce((sum, count) => sum + count, 0);
  const { entries, seals, payments, checkpoints, acknowledged } = verification;
  const amount = `${counted(all, 'row')} of ${counted(Object.keys(rows).length, 'table')}`;
  const held = [
    `${counted(entries, 'entry', 'entries')} under ${counted(seals, 'seal')}`,
    counted(payments ?? 0, 'payment'),
    counted(checkpoints, 'checkpoint'),
  ];
  const way = `from ${NAMES[from]} to ${NAMES[to]}`;
  return `Moved ${amount} ${way}, every one read back.
Verified on both sides: ${held.join(', ')}${withKnown(acknowledged)}.

Next:
${(to === 'postgres' ? stepsUp(configuration) : stepsDown(configuration)).map((step, i) => `  ${i + 1}. ${step}`).join('\n')}`;
}

function stepsUp({ file, storage, database_url }: Configuration): string[] {
  const isWritten = database_url !== null && !environment.DATABASE_URL;
  return [
    isWritten
      ? `database_url stands in ${shownPath(file)} already`
      : `write database_url into ${shownPath(file)}, which only its owner may read`,
    `start, and run counterfoil doctor and counterfoil audit verify`,
    `leave ${shownPath(storage)} where it is: its checkpoint key and checkpoints.jsonl go on. Move ${SQLITE_FILE} out of it, keep it until PostgreSQL has its first backup, then delete it: personal data that is erased later still stands in it`,
  ];
}

function stepsDown({ file, storage }: Configuration): string[] {
  return [
    `take database_url out of ${shownPath(file)}${environment.DATABASE_URL ? ' and of the environment' : ''}, and set nodes to 1 where it is set`,
    `start, and run counterfoil doctor and counterfoil audit verify`,
    `leave ${shownPath(storage)} where it is: its checkpoint key and checkpoints.jsonl go on. Keep the PostgreSQL database until SQLite has its first backup, then drop it: personal data that is erased later still stands in it`,
  ];
}
