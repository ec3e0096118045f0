// Signed statements of how far the history had come, kept outside the database, so that one restored to yesterday is caught.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { formatTimestamp } from '../lib/time.ts';
import { type Checkpoint, checkpointFault, keyName, statement } from './checkpoint-statement.ts';
import type { Seal } from './seal.ts';

const FILE = 'checkpoints.jsonl';
const PRIVATE_KEY_FILE = 'checkpoint-key.pem';
const PUBLIC_KEY_FILE = 'checkpoint-key.pub.pem';
/** The end of the file that a start looks at; a line is some 300 bytes. */
const TAIL_BYTES = 64 * 1024;

/** The private key is missing, empty or none, and signatures made with it are there: no other may take its place. */
export class CheckpointKeyLost extends Error {
  override readonly name = 'CheckpointKeyLost';
}

/** No checkpoint is signed: the history is not the one that the last vouches for. `failure` gets this into the log. */
export class CheckpointRefused extends Error {
  override readonly name = 'CheckpointRefused';
  readonly failure = this.message;
}

const hasContent = (file: string) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;

function withFile<T>(file: string, flags: string, use: (descriptor: number) => T): T {
  const descriptor = openSync(file, flags, 0o600);
  try {
    return use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const syncDirectory = (file: string) => withFile(dirname(file), 'r', fsyncSync);

/** Puts a whole file in place, or none: a crash leaves no half of it. */
function placeDurably(file: string, content: string | Buffer): void {
  const unfinished = `${file}.new`;
  withFile(unfinished, 'w', (descriptor) => {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  });
  renameSync(unfinished, file);
  syncDirectory(file);
}

/** Appends a line, or, where that fails, leaves nothing of it for the next to be glued to. */
function appendDurably(file: string, line: string): void {
  withFile(file, 'a', (descriptor) => {
    const { size } = fstatSync(descriptor);
    try {
      writeFileSync(descriptor, line);
      fsyncSync(descriptor);
    } catch (error) {
      ftruncateSync(descriptor, size);
      throw error;
    }
    if (size === 0) syncDirectory(file);
  });
}

/** The last whole line. What stands behind it a crash left of a write that was never relied on: it is cut off. */
function lastLine(file: string): string | undefined {
  if (!hasContent(file)) return undefined;
  return withFile(file, 'r+', (descriptor) => {
    const { size } = fstatSync(descriptor);
    const start = Math.max(0, size - TAIL_BYTES);
    const tail = Buffer.alloc(size - start);
    readSync(descriptor, tail, 0, tail.length, start);
    const end = tail.lastIndexOf('\n') + 1;
    if (end === 0 && start > 0) return ''; // nothing that a crash of ours leaves
    if (end < tail.length) ftruncateSync(descriptor, start + end);
    return end === 0 ? undefined : tail.toString('utf8', 0, end).split('\n').at(-2);
  });
}

/** The directory's private key, made the first time, with its public key beside it. Raises `CheckpointKeyLost`. */
function loadPrivateKey(directory: string): KeyObject {
  const privateFile = join(directory, PRIVATE_KEY_FILE);
  const publicFile = join(directory, PUBLIC_KEY_FILE);
  if (!hasContent(privateFile)) {
    if (hasContent(join(directory, FILE)))
      throw new CheckpointKeyLost(
        `${privateFile} is missing or empty, but ${FILE} holds what was signed with it: put the key back, or move ${FILE} away and keep it`,
      );
    rmSync(publicFile, { force: true }); // of a start that did not get as far as the private one
    const { privateKey } = generateKeyPairSync('ed25519');
    placeDurably(privateFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  }
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(readFileSync(privateFile));
  } catch (error) {
    throw new CheckpointKeyLost(`${privateFile} is not a private key: put the key back`, { cause: error });
  }
  if (!hasContent(publicFile))
    placeDurably(publicFile, createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }));
  return privateKey;
}

/** Signs checkpoints into a storage directory; makes its key there the first time. Raises `CheckpointKeyLost`. */
export class CheckpointSigner {
  readonly #file: string;
  readonly #privateKey: KeyObject;
  readonly #key: string;
  /** The newest checkpoint, or what is wrong with the line in its place. */
  #last: Checkpoint | string | undefined;

  constructor(directory: string) {
    this.#file = join(directory, FILE);
    this.#privateKey = loadPrivateKey(directory);
    const publicKey = createPublicKey(this.#privateKey);
    this.#key = keyName(publicKey);
    const line = lastLine(this.#file);
    this.#last = line === undefined ? undefined : checkpointFault(line, publicKey, undefined);
  }

  /**
   * Appends a checkpoint for the history's newest seal unless the last one was for it already. `now` in milliseconds
   * since 1970. Raises `CheckpointRefused` where the history is another than the one the last checkpoint vouches for.
   */
  sign(seal: Seal | undefined, now: number): void {
    const last = this.#last;
    if (typeof last === 'string')
      throw new CheckpointRefused(`${this.#file} ends in a line that is no checkpoint: ${last}`);
    const contradicts = seal?.hash !== last?.hash || seal?.last_entry !== last?.last_entry;
    if (last && (!seal || seal.number < last.seal || (seal.number === last.seal && contradicts))) {
      throw new CheckpointRefused(
        `the history ${seal?.number === last.seal ? 'contradicts' : 'ends before'} the newest checkpoint (seal ${last.seal}, signed at ${last.signed_at}): an older copy was put in its place`,
      );
    }
    if (!seal || seal.number === last?.seal) return;
    const unsigned = {
      seal: seal.number,
      last_entry: seal.last_entry,
      hash: seal.hash,
      signed_at: formatTimestamp(now),
      key: this.#key,
    };
    const signature = sign(null, statement(unsigned), this.#privateKey).toString('base64url');
    const checkpoint = { ...unsigned, signature };
    appendDurably(this.#file, `${JSON.stringify(checkpoint)}\n`);
    this.#last = checkpoint;
  }
}

export interface CheckpointReading {
  checkpoints: Checkpoint[];
  /** The first line that is not right, where there is one; nothing behind it was read. */
  fault?: { line: number; problem: string };
  /** The name of the public key they are signed with, where one is there. */
  key?: string;
}

/** Where a directory's checkpoints stand, and the public key to check them with. */
export function checkpointFiles(directory: string): { file: string; publicKeyFile: string } {
  return { file: join(directory, FILE), publicKeyFile: join(directory, PUBLIC_KEY_FILE) };
}

/** Reads a directory's checkpoints in order, each with its signature checked; stops at the first that is not right. */
export function readCheckpoints(directory: string): CheckpointReading {
  const { file, publicKeyFile } = checkpointFiles(directory);
  return readCheckpointFile(file, publicKeyFile);
}

/** The same for a copy kept elsewhere. A file that is not there holds none. Raises the system's errors. */
export function readCheckpointFile(file: string, publicKeyFile: string): CheckpointReading {
  const isThere = existsSync(file);
  let publicKey: KeyObject;
  try {
    publicKey = createPublicKey(readFileSync(publicKeyFile));
  } catch {
    if (!isThere) return { checkpoints: [] };
    const how = existsSync(publicKeyFile) ? 'is not a public key' : 'is missing';
    return { checkpoints: [], fault: { line: 1, problem: `${publicKeyFile} ${how}` } };
  }
  const checkpoints: Checkpoint[] = [];
  const key = keyName(publicKey);
  if (!isThere) return { checkpoints, key };
  const lines = readFileSync(file, 'utf8').split('\n');
  lines.pop(); // nothing, or a line a crash cut off
  for (const [index, line] of lines.entries()) {
    const problem = checkpointFault(line, publicKey, checkpoints.at(-1));
    if (typeof problem === 'string') return { checkpoints, key, fault: { line: index + 1, problem } };
    checkpoints.push(problem);
  }
  return { checkpoints, key };
}
