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
import { isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { environment, parseConfiguration } from '../config.ts';

/** A configuration may lack the very key that is about to be made, or hold the one that it replaces. */
export const UNFINISHED = { unfinished: true };

/**
 * Adds `entry` to the keys of a merchant, and the merchant where the file has none of that id. `note` becomes a comment above it.
 * Raises `ConfigurationError` where the file would not be one any more.
 */
export function addKeyToFile(
  file: string,
  merchant: { id: string; name: string },
  entry: object,
  note: string | null,
): void {
  const document = parseDocument(readFileSync(file, 'utf8'));
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
  const node = document.createNode(entry);
  if (note !== null) node.commentBefore = ` ${note}`;
  sequenceAt(holder, 'keys').add(node);
  const text = document.toString({ lineWidth: 0 });
  parseConfiguration(text, file, environment, UNFINISHED);
  replaceFile(file, text);
}

/** Writes beside and moves over: a crash leaves the old file or the new one, never half of either. Owner and mode stay. */
function replaceFile(file: string, text: string): void {
  const { mode, uid, gid } = statSync(file);
  const beside = `${file}.new`;
  rmSync(beside, { force: true });
  const descriptor = openSync(beside, 'wx', 0o600);
  try {
    writeFileSync(descriptor, text);
    fchownSync(descriptor, uid, gid);
    fchmodSync(descriptor, mode & 0o777);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  renameSync(beside, file);
}
