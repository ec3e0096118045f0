// Imports a file that was sent to the server; the history tells every node what became of one that takes longer.

import { setTimeout as delay } from 'node:timers/promises';
import type { ReadOptions } from '#bank-statements';
import type { Act } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { newestEntriesAbout } from '../journal/queries.ts';
import { entryFacts } from '../journal/rows.ts';
import type { Transaction } from '../journal/transaction.ts';
import { timeOrderedId } from '../lib/ids.ts';
import { MINUTE_MS, SECOND_MS } from '../lib/time.ts';
import type { Offer } from '../payments/methods/offer.ts';
import type { Reader } from '../store/database.ts';
import { prefersAsync } from '../web/headers.ts';
import { type Imported, withoutQuotes } from './import.ts';
import { type CheckedFile, checkFile, type FileFault, importFile, layoutsOf } from './import-file.ts';
import type { ReadFile } from './read-beside.ts';

export const IMPORT_ID_PREFIX = 'imp_';
/** An import of which nothing was heard for so long ended with its node. */
const SILENT_MS = 2 * MINUTE_MS;
/** Statements and faults that are named. */
const NAMED = 100;
const FAULTS_NAMED = 20;

/**
 * `running`; `done`; `refused`: something is wrong with the file, and nothing of it was imported; `failed`: the store or the reader;
 * `stopped`: its node ended. What was not done is seen nowhere, and the same file again goes on where a stopped one ended.
 */
export const IMPORT_STATES = ['running', 'done', 'refused', 'failed', 'stopped'] as const;

export interface ImportStatus {
  id: string;
  state: (typeof IMPORT_STATES)[number];
  /** Lines of the file, once it is read, and those that stand. */
  lines: number | null;
  lines_done: number;
  added: number;
  booked: number;
  known: number;
  /** The ids of statements that are new. */
  statements: string[];
  faults: { line: number; text: string }[];
  updated_at: number;
}

/** An import that writes down how far it is from the moment on when it is told to. */
export class ToldImport {
  readonly #journal: Journal;
  readonly #act: Act;
  #id: string | undefined;
  /** What it came to. */
  #end: { action: string; facts: Record<string, string | number | null> } | undefined;

  constructor(journal: Journal, act: Act) {
    this.#journal = journal;
    this.#act = act;
  }

  /** For `ImportTurns`. */
  readonly onTurn = (transaction: Transaction, done: number, of: number): void => {
    if (this.#id !== undefined) this.#record(transaction, 'statement_import.went_on', { done, lines: of });
  };

  /** Tells from now on. Returns its id. Throws as `Journal.commit` does. */
  async tell(now: number): Promise<string> {
    const id = timeOrderedId(IMPORT_ID_PREFIX, now);
    this.#id = id;
    await this.#journal.commit(async (transaction) =>
      this.#record(transaction, 'statement_import.begun', {}),
    );
    if (this.#end) await this.#write();
    return id;
  }

  async done(imported: readonly Imported[], faults: readonly FileFault[]): Promise<void> {
    const sum = (what: 'added' | 'booked' | 'known') => imported.reduce((all, one) => all + one[what], 0);
    const lines = sum('added') + sum('booked') + sum('known');
    const ids = imported.flatMap(({ id }) => id ?? []).slice(0, NAMED);
    await this.#ended('statement_import.ended', {
      ...{ done: lines, lines, added: sum('added'), booked: sum('booked'), known: sum('known') },
      ...{ statements: ids.join(' '), faults: told(faults) },
    });
  }

  refused(faults: readonly FileFault[]): Promise<void> {
    return this.#ended('statement_import.refused', { faults: told(faults) });
  }

  failed(): Promise<void> {
    return this.#ended('statement_import.failed', {});
  }

  async #ended(action: string, facts: Record<string, string | number | null>): Promise<void> {
    this.#end = { action, facts };
    if (this.#id !== undefined) await this.#write();
  }

  async #write(): Promise<void> {
    const { action, facts } = this.#end!;
    await this.#journal.commit(async (transaction) => this.#record(transaction, action, facts));
  }

  #record(transaction: Transaction, action: string, facts: Record<string, string | number | null>): void {
    transaction.record({ ...this.#act, action, subject: this.#id!, facts });
  }
}

const told = (faults: readonly FileFault[]): string =>
  JSON.stringify(faults.slice(0, FAULTS_NAMED).map(withoutQuotes));

const ENDS: Readonly<Record<string, ImportStatus['state']>> = {
  'statement_import.ended': 'done',
  'statement_import.refused': 'refused',
  'statement_import.failed': 'failed',
};

/** How far an import is; undefined if there is none with this id. Throws `DatabaseError`. */
export async function importStatus(
  database: Reader,
  id: string,
  now: number,
): Promise<ImportStatus | undefined> {
  const [entry] = await newestEntriesAbout(database, id, 1);
  if (!entry) return undefined;
  const facts = entryFacts(entry) as Record<string, string | number | undefined>;
  const number = (name: string) => Number(facts[name] ?? 0);
  const isWhole = facts.lines !== undefined && facts.done === facts.lines;
  const isSilent = now - entry.at > SILENT_MS;
  const state = ENDS[entry.action] ?? (isSilent ? (isWhole ? 'done' : 'stopped') : 'running');
  return {
    ...{ id, state, lines: facts.lines === undefined ? null : number('lines'), lines_done: number('done') },
    ...{ added: number('added'), booked: number('booked'), known: number('known') },
    statements: String(facts.statements ?? '')
      .split(' ')
      .filter((one) => one !== ''),
    faults: JSON.parse(String(facts.faults ?? '[]')),
    updated_at: entry.at,
  };
}

/** A file of more bytes is large: its import is answered sooner with its status. */
const LARGE_BYTES = 1_000_000;

/** How long the import of a large file may take that is answered with what it came to. */
const LARGE_AT_ONCE_MS = 2 * SECOND_MS;
/** So long before the end of an answer's time a small file's import is answered with its status: it meets a store under load. */
const LEFT_MS = 1.5 * SECOND_MS;

/** A request for an import, as far as it says how long it waits. */
interface Asker {
  headers: Parameters<typeof prefersAsync>[0];
  server: { answerMs: number };
}

/** What an import of so many bytes came to; undefined if it takes longer than its asker is to wait, or wants to. It goes on then. */
export async function endedAtOnce<T>(
  ended: Promise<T>,
  bytes: number,
  { headers, server }: Asker,
): Promise<T | undefined> {
  if (prefersAsync(headers)) return undefined;
  const atOnceMs = bytes > LARGE_BYTES ? LARGE_AT_ONCE_MS : server.answerMs - LEFT_MS;
  return Promise.race([ended, delay(atOnceMs, undefined, { ref: false })]);
}

/** How a file is to be read and imported. */
export interface How {
  csv: ReadOptions;
  /** Whether a person has looked how it is read. */
  confirm: boolean;
  despiteFaults: boolean;
}

/** Imports a file that was read. `imported` is undefined if it was refused. Throws as `importFile` does. */
export async function importWhatWasRead(
  { journal, offer }: { journal: Journal; offer: Offer },
  read: ReadFile,
  { csv, confirm, despiteFaults }: How,
  act: Act,
  onTurn: ToldImport['onTurn'],
): Promise<{ checked: CheckedFile; imported: Imported[] | undefined }> {
  const checked = checkFile(read, offer.settings, confirm, csv);
  if (confirm) checked.confirmed?.push(...layoutsOf(read, checked.statements));
  const options = { despiteFaults, dryRun: false, onTurn };
  return { checked, imported: await importFile(journal, checked, act, options) };
}
