// Imports a file that was sent to the server, and waits for it as long as the caller is to wait.
import { setTimeout as delay } from 'node:timers/promises';
import type { ReadOptions } from '#bank-statements';
import type { Act } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { SECOND_MS } from '../lib/time.ts';
import type { Offer } from '../payments/methods/offer.ts';
import type { Imported } from './import.ts';
import { type CheckedFile, checkFile, importFile, layoutsOf } from './import-file.ts';
import type { ToldImport } from './import-status.ts';
import type { ReadFile } from './read-beside.ts';

/** A file of more bytes is large: its import is answered sooner with its status. */
const LARGE_BYTES = 1_000_000;

/** How long an import may take that is answered with what it came to. A small file that takes longer meets a store under load. */
const atOnceMs = (bytes: number): number => (bytes > LARGE_BYTES ? 2 : 7) * SECOND_MS;

/** What an import of so many bytes came to; undefined if it takes longer than its asker is to wait. It goes on then. */
export const endedAtOnce = <T>(ended: Promise<T>, bytes: number): Promise<T | undefined> =>
  Promise.race([ended, delay(atOnceMs(bytes), undefined, { ref: false })]);

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
