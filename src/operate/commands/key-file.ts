// Adds a key to the configuration file; everything else in it stays as it is, comments too.
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { monotonicMs } from '../../lib/time.ts';
import { environment, parseConfiguration } from '../config.ts';
import { Failure, shownPath } from './terminal.ts';

/** For how long another command may write the file, and how often it is looked whether it still does. */
const WAIT_MS = 3_000;
const LOOK_AGAIN_MS = 20;

/** A configuration may lack the very key that is about to be made, or hold the one that it replaces. */
export const UNFINISHED = { unfinished: true };

/**
 * Adds `entry` to the keys of a merchant, and the merchant where the file has none of that id. Waits while another command writes
 * the file. Throws `ConfigurationError` where the file would not be one any more, `Failure` where another command goes on writing.
 */
export async function addKeyToFile(
  file: string,
  merchant: { id: string; name: string },
  entry: object,
): Promise<void> {
  // From here on the file is locked until it is written: two commands at once would each lose the other's key.
  const beside = await openBeside(file);
  try {
    const text = textWith(readFileSync(file, 'utf8'), merchant, entry);
    parseConfiguration(text, file, environment, UNFINISHED);
    replaceFile(file, beside, text);
  } catch (error) {
    rmSync(beside.path, { force: true });
    throw error;
  } finally {
    closeSync(beside.descriptor);
  }
}

/** A file that is about to take another's place. While it is there, no other command writes that one. */
interface Beside {
  path: string;
  descriptor: number;
}

async function openBeside(file: string): Promise<Beside> {
  const path = `${file}.new`;
  const since = monotonicMs();
  for (;;) {
    try {
      return { path, descriptor: openSync(path, 'wx', 0o600) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (monotonicMs() - since > WAIT_MS)
        throw new Failure(
          `${shownPath(path)} is there: another command writes the configuration, or one was killed doing so. No key was made. If none runs, remove that file`,
        );
    }
    await sleep(LOOK_AGAIN_MS);
  }
}

function textWith(before: string, merchant: { id: string; name: string }, entry: object): string {
  const document = parseDocument(before);
  const sequenceAt = (holder: YAMLMap, name: string): YAMLSeq => {
    if (!isSeq(holder.get(name))) holder.set(name, document.createNode([]));
    const sequence = holder.get(name) as YAMLSeq;
    sequence.flow = false;
    return sequence;
  };
  if (!isMap(document.contents))
    document.contents = document.createNode({}) as unknown as typeof document.contents;
  const merchants = sequenceAt(document.contents as unknown as YAMLMap, 'merchants');
  let holder = merchants.items.find((item): item is YAMLMap => isMap(item) && item.get('id') === merchant.id);
  if (!holder) {
    holder = document.createNode({ ...merchant, keys: [] }) as YAMLMap;
    merchants.add(holder);
  }
  sequenceAt(holder, 'keys').add(document.createNode(entry));
  return document.toString({ lineWidth: 0 });
}

/** Writes beside and moves over: a crash leaves the old file or the new one, never half of either. Owner and mode stay. */
function replaceFile(file: string, { path, descriptor }: Beside, text: string): void {
  const { mode, uid, gid } = statSync(file);
  writeFileSync(descriptor, text);
  fchownSync(descriptor, uid, gid);
  fchmodSync(descriptor, mode & 0o777);
  fsyncSync(descriptor);
  renameSync(path, file);
}
