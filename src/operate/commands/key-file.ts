// Adds a key to the configuration file, and finds one: everything else in it stays as it is, comments too.
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
import { isDeepStrictEqual } from 'node:util';
import {
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  stringify,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { keyDigest } from '../../merchants/merchant.ts';
import { parseConfiguration } from '../config.ts';
import { environment } from '../environment.ts';
import { Failure, shownPath } from './terminal.ts';

/** How many times it is looked whether one other command still writes the file, and how long after each. */
const LOOKS = 150;
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
  let writer = '';
  for (let looks = 1; ; looks++) {
    try {
      return { path, descriptor: openSync(path, 'wx', 0o600) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const { ino, ctimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
      if (writer !== `${ino} ${ctimeMs}`) [writer, looks] = [`${ino} ${ctimeMs}`, 1];
      if (looks > LOOKS)
        throw new Failure(
          `${shownPath(path)} is there: another command writes the configuration, or one was killed doing so. No key was made. If none runs, remove that file`,
        );
    }
    await sleep(LOOK_AGAIN_MS);
  }
}

/** The line of the file, counted from 1, that holds a key or its digest. */
export function lineOfKey(file: string, digest: string): number | undefined {
  const counter = new LineCounter();
  const document = parseDocument(readFileSync(file, 'utf8'), { lineCounter: counter });
  let line: number | undefined;
  visit(document, {
    Scalar(_, { value, range }) {
      if (value === digest || (typeof value === 'string' && keyDigest(value) === digest))
        line ??= counter.linePos(range![0]).line;
    },
  });
  return line;
}

/** The text with the key inserted and no other character changed. Throws `Failure` where the file is written in another way. */
function textWith(before: string, merchant: { id: string; name: string }, entry: object): string {
  const document = parseDocument(before, { keepSourceTokens: true });
  const { contents } = document;
  const merchants: unknown = isMap(contents) ? contents.get('merchants') : undefined;
  const holder = isSeq<unknown>(merchants)
    ? merchants.items.find((item): item is YAMLMap => isMap(item) && item.get('id') === merchant.id)
    : undefined;
  const added = holder
    ? inMap(before, holder, 'keys', linesOf(entry))
    : inMap(before, contents, 'merchants', [...linesOf(merchant), 'keys:', ...asItem(2, linesOf(entry))]);
  const after = added === undefined ? undefined : parseDocument(added);
  if (
    after?.errors.length !== 0 ||
    !isDeepStrictEqual(after.toJS(), valueWith(document.toJS(), merchant, entry))
  )
    throw new Failure(
      `add the key by hand, the merchants of the file are written in a way of their own: ${flow(entry)}`,
    );
  return added!;
}

function valueWith(before: unknown, merchant: { id: string; name: string }, entry: object): object {
  const { merchants, ...rest } = (before ?? {}) as { merchants?: { id: string; keys?: object[] | null }[] };
  const all = merchants ?? [];
  const isThere = all.some(({ id }) => id === merchant.id);
  const withKey = all.map((one) =>
    one.id === merchant.id ? { ...one, keys: [...(one.keys ?? []), entry] } : one,
  );
  return { ...rest, merchants: isThere ? withKey : [...all, { ...merchant, keys: [entry] }] };
}

const flow = (value: unknown): string => stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();

const linesOf = (entry: object): string[] =>
  Object.entries(entry).map(([name, value]) => `${name}: ${flow(value)}`);

/** `text` with an item at the end of the list `name` of a map; `item` is its lines. Undefined where the list is none. */
function inMap(text: string, map: unknown, name: string, item: readonly string[]): string | undefined {
  if (map !== null && !isMap(map)) return undefined;
  const indent = isMap(map) && !map.flow ? columnOf(map) : 0;
  const pair = map?.items.find(({ key }) => isScalar(key) && key.value === name);
  if (pair === undefined) {
    if (map?.flow) return inFlow(text, map, `${name}: [${inline(item)}]`);
    const end = name === 'merchants' ? text.length : endOf(map);
    return linesAt(text, end, [`${' '.repeat(indent)}${name}:`, ...asItem(indent + 2, item)]);
  }
  const { key, value } = pair as { key: Node; value: Node | null };
  if (isSeq(value) && !value.flow) return linesAt(text, endOf(value), asItem(columnOf(value), item));
  if (isSeq(value)) {
    const [from, to] = value.range!;
    if (map!.flow || !/^\[\s*\]$/.test(text.slice(from, to))) return inFlow(text, value, inline(item));
    return linesAt(text.slice(0, from).trimEnd() + text.slice(to), key.range![1], asItem(indent + 2, item));
  }
  if (value !== null && !(isScalar(value) && value.value === null)) return undefined;
  return linesAt(text, key.range![1], asItem(indent + 2, item));
}

const inline = (item: readonly string[]): string => flow(parseDocument(item.join('\n')).toJS());

const asItem = (indent: number, item: readonly string[]): string[] =>
  item.map((line, at) => `${' '.repeat(indent)}${at === 0 ? '- ' : '  '}${line}`);

/** `text` with one more item before the end of a list or map in flow style. */
function inFlow(text: string, collection: YAMLMap | YAMLSeq, item: string): string {
  const close = collection.range![1] - 1;
  const last = collection.items.at(-1);
  if (last === undefined) return `${text.slice(0, close)}${item}${text.slice(close)}`;
  const end = endOf(last);
  const between = text.slice(end, close);
  const comma = between.trimStart().startsWith(',') ? '' : ',';
  return `${text.slice(0, end)}${comma}${between || ' '}${item}${text.slice(close)}`;
}

/** The column at which the items of a list or map in block style begin. */
const columnOf = (collection: YAMLMap | YAMLSeq): number =>
  (collection.srcToken as { indent: number } | undefined)?.indent ?? 0;

/** Where the last character of a node stands, behind it. */
function endOf(node: unknown): number {
  if (isPair(node)) return endOf(node.value ?? node.key);
  if (isCollection(node) && !node.flow && node.items.length > 0) return endOf(node.items.at(-1));
  return isNode(node) ? node.range![1] : 0;
}

/** `text` with lines behind the line in which `offset` is, with the line ends that the text has. */
function linesAt(text: string, offset: number, lines: readonly string[]): string {
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
  const isBehindLine = offset > 0 && text[offset - 1] === '\n';
  const next = isBehindLine ? offset : text.indexOf('\n', offset) + 1;
  const at = next === 0 ? text.length : next;
  const head = text.slice(0, at);
  const missing = head === '' || head.endsWith('\n') ? '' : lineEnd;
  return `${head}${missing}${lines.map((line) => `${line}${lineEnd}`).join('')}${text.slice(at)}`;
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
