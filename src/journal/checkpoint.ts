// Signed statements of how far the history had come, kept outside the database, so that one restored to yesterday is caught.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
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
import type { Seal } from './seal.ts';

/** One line of the checkpoint file: the seal it vouches for, when it was signed, and an Ed25519 signature (RFC 8032). */
export interface Checkpoint {
  seal: number;
  last_entry: number;
  hash: string;
  signed_at: string;
  key: string;
  signature: string;
}

const FILE = 'checkpoints.jsonl';
const PRIVATE_KEY_FILE = 'checkpoint-key.pem';
const PUBLIC_KEY_FILE = 'checkpoint-key.pub.pem';
/** The end of the file that a start looks at; a line is some 300 bytes. */
const TAIL_BYTES = 64 * 1024;

/** What is signed: these fields on lines of their own, in this order. */
function statement(checkpoint: Omit<Checkpoint, 'signature'>): Buffer {
  const { seal, last_entry, hash, signed_at, key } = checkpoint;
  return Buffer.from(`counterfoil checkpoint\n${seal}\n${last_entry}\n${hash}\n${signed_at}\n${key}\n`);
}

/** A name for a public key: the first 16 hexadecimal digits of the SHA-256 of its DER form. */
function keyName(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16);
}

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

export type CheckpointReading =
  | { checkpoints: Checkpoint[]; fault?: undefined }
  | { checkpoints: Checkpoint[]; fault: { line: number; problem: string } };

/** Reads a directory's checkpoints in order, each with its signature checked; stops at the first that is not right. */
export function readCheckpoints(directory: string): CheckpointReading {
  const file = join(directory, FILE);
  const publicKeyFile = join(directory, PUBLIC_KEY_FILE);
  if (!existsSync(file)) return { checkpoints: [] };
  let publicKey: KeyObject;
  try {
    publicKey = createPublicKey(readFileSync(publicKeyFile));
  } catch {
    const how = existsSync(publicKeyFile) ? 'is not a public key' : 'is missing';
    return { checkpoints: [], fault: { line: 1, problem: `${publicKeyFile} ${how}` } };
  }
  const checkpoints: Checkpoint[] = [];
  const lines = readFileSync(file, 'utf8').split('\n');
  lines.pop(); // nothing, or a line a crash cut off
  for (const [index, line] of lines.entries()) {
    const problem = checkpointFault(line, publicKey, checkpoints.at(-1));
    if (typeof problem === 'string') return { checkpoints, fault: { line: index + 1, problem } };
    checkpoints.push(problem);
  }
  return { checkpoints };
}

function isCheckpoint(value: unknown): value is Checkpoint {
  const { seal, last_entry, hash, signed_at, key, signature } = (value ?? {}) as Checkpoint;
  return (
    [seal, last_entry].every(Number.isSafeInteger) &&
    [hash, signed_at, key, signature].every((text) => typeof text === 'string')
  );
}

/** The checkpoint that a line holds, or what is wrong with it. */
function checkpointFault(
  line: string,
  publicKey: KeyObject,
  previous: Checkpoint | undefined,
): Checkpoint | string {
  try {
    const checkpoint: unknown = JSON.parse(line);
    // Strictly: "7" would read like 7 in what was signed, and vouch for no seal.
    if (!isCheckpoint(checkpoint)) return 'the line is not a checkpoint';
    if (checkpoint.key !== keyName(publicKey)) return 'it is signed with another key';
    if (!verify(null, statement(checkpoint), publicKey, Buffer.from(checkpoint.signature, 'base64url')))
      return 'the signature is wrong';
    if (!previous) return checkpoint;
    if (checkpoint.seal < previous.seal) return 'it stands out of order';
    const same = checkpoint.hash === previous.hash && checkpoint.last_entry === previous.last_entry;
    return checkpoint.seal === previous.seal && !same ? 'it contradicts the one before' : checkpoint;
  } catch {
    return 'the line cannot be read';
  }
}
