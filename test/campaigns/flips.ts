// Flips one byte of a SQLite store at a time, and judges what the verification says by everything that SQLite reads in the file.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readCheckpoints } from '../../src/journal/checkpoint.ts';
import { HistoryBroken, verifyHistory } from '../../src/journal/verify.ts';
import { withDatabase } from '../../src/operate/commands/store.ts';
import { Failure } from '../../src/operate/commands/terminal.ts';
import { readConfiguration } from '../../src/operate/config.ts';
import { DatabaseError } from '../../src/store/database.ts';
import { ROW_CHECKS } from '../support/read-only-store.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

/** The first bytes of the file, which describe it. */
const HEADER_BYTES = 100;
/** The first bytes of a page: its own header, and where its cells lie. The last ones: the cells, which fill a page from its end. */
const PAGE_HEAD_BYTES = 64;
const PAGE_TAIL_BYTES = 512;
/** How many flips take any byte of the file. The others are aimed at one kind of page, each kind as often. */
const ANYWHERE = 0.25;
/** Tables whose rows no entry tells: `audit verify` cannot find a changed value there. docs/audit.md names them. */
const UNTOLD_TABLES = [
  'api_key_uses',
  'payment_stretches',
  'webhook_queues',
  'webhook_deliveries',
  'webhook_attempts',
];
/** Between two columns of an index, not between the arguments of a function. */
const COMMA = /,(?![^(]*\))/;
/** More than fits into one page, so that free pages are used again. */
const FREE_PAGES_BYTES = 60_000;

export interface Flip {
  /** Where the byte lies in the file. */
  offset: number;
  /** The bits that are turned. */
  bits: number;
  /** Of its page. */
  kind: string;
  place: string;
}

/**
 * `found`: the verification names a fault. `refused`: SQLite or the command does not read or write the file. `harmless`: all tables
 * and indexes hold what they held, before and after a write. `untold`: a changed value of `UNTOLD_TABLES`. `missed`: anything else.
 */
export interface Verdict {
  is: 'found' | 'refused' | 'harmless' | 'untold' | 'missed';
  says: string;
}

/** A page, from its first byte up to, not including, `end`; the file's header stands as one of its own. */
interface Page {
  start: number;
  end: number;
  /** What it counts under: `header`, `free`, `leaf of indexes`. */
  kind: string;
  /** The kind and what the page belongs to: `leaf of index payments_waiting`. */
  place: string;
}

/** The pages of a database file, by SQLite's own account. What it does not account for is free. */
export function pagesOf(file: string): Page[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database
      .prepare(
        `select pageno, pagetype, pgsize, dbstat.name, coalesce(type, 'table') as type
         from dbstat left join sqlite_schema on sqlite_schema.name = dbstat.name`,
      )
      .all() as { pageno: number; pagetype: string; pgsize: number; name: string; type: string }[];
    const known = new Map(rows.map((row) => [row.pageno, row]));
    const { page_count, page_size: size } = database
      .prepare('select page_count, page_size from pragma_page_count, pragma_page_size')
      .get() as { page_count: number; page_size: number };
    const pages = Array.from({ length: page_count }, (_, index): Page => {
      const at = { start: index * size, end: (index + 1) * size };
      const row = known.get(index + 1);
      if (!row) return { ...at, kind: 'free', place: 'free' };
      const { pagetype, type, name } = row;
      return {
        ...at,
        kind: `${pagetype} of ${type === 'index' ? 'indexes' : 'tables'}`,
        place: `${pagetype} of ${type} ${name}`,
      };
    });
    pages[0]!.start = HEADER_BYTES;
    return [{ start: 0, end: HEADER_BYTES, kind: 'header', place: 'header' }, ...pages];
  } finally {
    database.close();
  }
}

export function drawFlip(pages: readonly Page[], random: SeededRandom): Flip {
  const bits = random.chance(0.5) ? 1 << random.between(0, 7) : random.between(1, 255);
  if (random.chance(ANYWHERE)) {
    const offset = random.between(0, pages.at(-1)!.end - 1);
    const { kind, place } = pages.find(({ end }) => offset < end)!;
    return { offset, bits, kind, place };
  }
  const kind = random.pick([...new Set(pages.map((page) => page.kind))]);
  const { start, end, place } = random.pick(pages.filter((page) => page.kind === kind));
  const [from, until] = random.pick([
    [start, end],
    [start, Math.min(end, start + PAGE_HEAD_BYTES)],
    [Math.max(start, end - PAGE_TAIL_BYTES), end],
  ]);
  return { offset: random.between(from!, until! - 1), bits, kind, place };
}

interface SchemaRow {
  type: string;
  name: string;
  tbl_name: string;
  sql: string | null;
}

/** The values of each table, read without an index, and of each index, read from it alone, by name. Throws SQLite's errors. */
function contentsOf(database: DatabaseSync): Map<string, string> {
  const contents = new Map<string, string>();
  const read = (name: string, columns: readonly string[], source: string) => {
    const exact = columns.map((column) => `typeof(${column}), hex(${column})`).join(', ');
    const statement = database.prepare(`select ${exact} from ${source}`);
    statement.setReturnArrays(true);
    contents.set(name, JSON.stringify(statement.all()));
  };
  const named = (pragma: string, name: string) =>
    database
      .prepare(`select name from ${pragma}(?)`)
      .all(name)
      .map((column) => String(column.name));
  read('sqlite_schema', ['type', 'name', 'tbl_name', 'rootpage', 'sql'], 'sqlite_schema');
  const objects = database.prepare('select * from sqlite_schema').all() as unknown as SchemaRow[];
  for (const { type, name, tbl_name, sql } of objects) {
    if (type === 'table') read(name, named('pragma_table_info', name), `${name} not indexed`);
    if (type !== 'index') continue;
    // The index of a unique constraint has no text, and no expressions.
    const [, list, where = ''] = /^[^(]*\(([\s\S]*)\)\s*(where [\s\S]*)?$/i.exec(sql ?? '') ?? [];
    const columns = list ? list.split(COMMA) : named('pragma_index_info', name);
    read(name, columns, `${tbl_name} indexed by ${name} ${where}`);
  }
  return contents;
}

/** A store that is put back before each flip. */
export class FlippedStore {
  readonly #storage: string;
  readonly file: string;
  readonly #configurationFile: string;
  readonly #honest: Buffer;
  readonly #contents: Map<string, string>;

  /** Takes the folder of a store that nobody serves, and its configuration file. */
  constructor(storage: string, configurationFile: string) {
    this.#storage = storage;
    this.file = join(storage, 'counterfoil.sqlite');
    this.#configurationFile = configurationFile;
    this.#honest = readFileSync(this.file);
    this.#contents = this.#read();
  }

  /** Flips the byte in the honest file, and nothing without one, and judges. */
  async judge(flip?: Flip): Promise<Verdict> {
    this.#write(flip);
    const told = await this.#verify();
    if (told) return told;
    // Verifying opened the file as a server does, and may have written to its header.
    this.#write(flip);
    return this.#compare();
  }

  #write(flip: Flip | undefined): void {
    const bytes = Buffer.from(this.#honest);
    if (flip) bytes[flip.offset]! ^= flip.bits;
    for (const beside of ['-wal', '-shm', '-journal']) rmSync(this.file + beside, { force: true });
    writeFileSync(this.file, bytes);
  }

  #read(): Map<string, string> {
    const database = new DatabaseSync(this.file, { readOnly: true });
    try {
      return contentsOf(database);
    } finally {
      database.close();
    }
  }

  /** What `counterfoil audit verify` finds; undefined where it finds the store right. */
  async #verify(): Promise<Verdict | undefined> {
    const configuration = readConfiguration(this.#configurationFile, { COUNTERFOIL_STORAGE: this.#storage });
    try {
      const reading = readCheckpoints(this.#storage);
      await withDatabase(configuration, (database) => verifyHistory(database, reading, ROW_CHECKS));
      return undefined;
    } catch (error) {
      const says = (error as Error).message;
      if (error instanceof HistoryBroken) return { is: 'found', says };
      if (error instanceof DatabaseError || error instanceof Failure || 'errcode' in (error as Error))
        return { is: 'refused', says };
      return { is: 'missed', says: `the verification fell over: ${(error as Error).stack}` };
    }
  }

  #compare(): Verdict {
    const changed = this.#changed();
    if (changed.length > 0) {
      const isUntold = changed.every((name) => UNTOLD_TABLES.includes(name));
      return { is: isUntold ? 'untold' : 'missed', says: `other contents: ${changed.join(', ')}` };
    }
    try {
      this.#use();
    } catch (error) {
      return { is: 'refused', says: `a write: ${(error as Error).message}` };
    }
    const after = this.#changed();
    return after.length > 0
      ? { is: 'missed', says: `other contents after a write: ${after.join(', ')}` }
      : { is: 'harmless', says: 'all tables and indexes hold what they held' };
  }

  #changed(): string[] {
    const found = this.#read();
    const names = [...new Set([...this.#contents.keys(), ...found.keys()])];
    return names.filter((name) => this.#contents.get(name) !== found.get(name));
  }

  /** Writes as a server does, also into free pages, and takes that back. Throws SQLite's errors, and where the file is then damaged. */
  #use(): void {
    const database = new DatabaseSync(this.file);
    try {
      database.exec(`pragma journal_mode = wal; pragma synchronous = off;
        create table flip (value); insert into flip values (zeroblob(${FREE_PAGES_BYTES}));
        insert into api_key_uses values ('flip', 1);
        delete from api_key_uses where key_id = 'flip'; drop table flip;`);
      const { integrity_check } = database.prepare('pragma integrity_check').get() as {
        integrity_check: string;
      };
      if (integrity_check !== 'ok') throw new Error(`the file is damaged then: ${integrity_check}`);
    } finally {
      database.close();
    }
  }
}
