// The history as lines of JSON that a third party can check without this program (docs/audit-format.md).

import { createReadStream, readFileSync, statSync } from 'node:fs';
import { jsonOr } from '../lib/text.ts';
import { formatTimestamp } from '../lib/time.ts';
import { tried } from '../lib/tried.ts';
import type { Reader } from '../store/database.ts';
import { canonicalEntry, NO_SEAL, type Seal } from './audit-entry.ts';
import { checkpointFiles, readPublicKey } from './checkpoint.ts';
import { entriesBehind, findSeal, readHeads, sealHolding, sealsAfter } from './queries.ts';

const PAGE = 500;
export const EXPORT_FORMAT = 'counterfoil audit export';
export const EXPORT_VERSION = 1;

/** A state of the checkpoint file: what was appended to it later is not read. */
interface CheckpointFile {
  file: string;
  bytes: number;
  /** PEM; null if the file is missing or is not one public key, so that nothing else ever leaves with an export. */
  public_key: string | null;
}

/** Taken before the view of the database, so that no checkpoint speaks of what is not in it. */
export function markCheckpoints(directory: string): CheckpointFile {
  const { file, publicKeyFile } = checkpointFiles(directory);
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return { file, bytes, public_key: publicKeyIn(publicKeyFile) };
}

function publicKeyIn(file: string): string | null {
  const key = tried(() => readPublicKey(readFileSync(file, 'utf8')));
  return key?.publicKey.export({ type: 'spki', format: 'pem' }).toString() ?? null;
}

interface Exported {
  entries: number;
  seals: number;
  checkpoints: number;
}

/** No seal holds the entry that an export was to begin with. */
export class NoSuchEntry extends Error {
  override readonly name = 'NoSuchEntry';
}

/**
 * Gives the history in `view` from the seal that holds entry `since` on, some lines at a time, each ended by a line feed: as it
 * stands, right or wrong. `now` in milliseconds since 1970. Returns how much that was. Throws `NoSuchEntry`, `DatabaseError`.
 */
export async function* exportHistory(
  view: Reader,
  file: CheckpointFile,
  { since, now, onProgress }: { since: number; now: number; onProgress(done: number, total: number): void },
): AsyncGenerator<string, Exported> {
  const head = (await readHeads(view))[0] ?? { entries: 0, seals: 0 };
  const first = since > 1 ? await sealHolding(view, since) : undefined;
  if (since > 1 && !first) throw new NoSuchEntry(`no seal holds entry ${since}`);
  let last: Seal | undefined = first && (await findSeal(view, first.number - 1));
  yield line({
    format: EXPORT_FORMAT,
    version: EXPORT_VERSION,
    entries: head.entries,
    seals: head.seals,
    first_entry: first?.first_entry ?? 1,
    first_seal: first?.number ?? 1,
    hash_before: last?.hash ?? NO_SEAL,
    exported_at: formatTimestamp(now),
  });

  const begun = (first?.first_entry ?? 1) - 1;
  const done: Exported = { entries: 0, seals: 0, checkpoints: 0 };
  const entries = entriesBehind(view, first && first.first_entry - 1, PAGE);
  let next = await entries.next();
  for (;;) {
    const seals = await sealsAfter(view, last?.number, PAGE);
    for (const seal of seals) {
      const { number, first_entry, last_entry, at, hash } = seal;
      let text = line({ seal: number, first_entry, last_entry, at, hash });
      for (; !next.done && next.value.number <= seal.last_entry; next = await entries.next()) {
        text += canonicalEntry(next.value);
        done.entries++;
      }
      yield text;
      done.seals++;
      onProgress(done.entries, head.entries - begun);
      last = seal;
    }
    if (seals.length < PAGE) break;
  }
  // No entry should follow the last seal. If one does, it is exported too, so that the reader finds it.
  for (; !next.done; next = await entries.next()) yield canonicalEntry(next.value);
  yield line({ public_key: file.public_key });
  for await (const checkpoint of linesOf(file)) {
    yield line({ checkpoint: jsonOr(checkpoint, checkpoint) });
    done.checkpoints++;
  }
  yield line({ checkpoints: done.checkpoints });
  return done;
}

const line = (value: object) => `${JSON.stringify(value)}\n`;

/** The whole lines of the checkpoint file; an end that a crash cut off is none. */
async function* linesOf({ file, bytes }: CheckpointFile): AsyncGenerator<string> {
  if (bytes === 0) return;
  let rest = '';
  for await (const chunk of createReadStream(file, { end: bytes - 1, encoding: 'utf8' })) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
}
