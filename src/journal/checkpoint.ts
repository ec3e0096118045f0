// Checkpoints, signed statements of how far the history had come: what one says, how all are read, and how one is looked up.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { closeSync, createReadStream, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { jsonOr } from '../lib/text.ts';
import { tried } from '../lib/tried.ts';

const FILE = 'checkpoints.jsonl';
const PUBLIC_KEY_FILE = 'checkpoint-key.pub.pem';
export const PRIVATE_KEY_FILE = 'checkpoint-key.pem';
/** What vouches for a history, without the private key. Copied in this order, checkpoints never lack their public key. */
export const CHECKPOINT_FILES = [FILE, PUBLIC_KEY_FILE] as const;
/** So much is read, and checked, at once: some 30 checkpoints in some 3 ms. */
const PIECE_BYTES = 8 * 1024;
/** No line of ours is nearly as long. */
const LONGEST_LINE = 64 * 1024;

export interface CheckpointReading {
  checkpoints: Checkpoint[];
  /** The first line that is invalid, if any. Nothing behind it was read. */
  fault?: { line: number; problem: string };
  /** The name of the public key they are signed with, where one is there. */
  key?: string;
}

/** Where a directory's checkpoints stand, and the public key to check them with. */
export function checkpointFiles(directory: string): { file: string; publicKeyFile: string } {
  return { file: join(directory, FILE), publicKeyFile: join(directory, PUBLIC_KEY_FILE) };
}

/** The name of a directory's private key; undefined if there is none, or none that can be read. */
export const privateKeyName = (directory: string): string | undefined =>
  tried(() => checkpointKey(createPrivateKey(readFileSync(join(directory, PRIVATE_KEY_FILE)))).name);

/** A checkpoint file as far as it was taken: each line with its signature checked, up to the first that is not right. */
class Reading implements CheckpointReading {
  readonly checkpoints: Checkpoint[] = [];
  readonly key: string;
  fault?: { line: number; problem: string };
  readonly #key: CheckpointKey;
  readonly #decoder = new StringDecoder('utf8');
  /** The beginning of a line: in the end nothing, or a line a crash cut off. */
  #rest = '';

  constructor(key: CheckpointKey) {
    this.#key = key;
    this.key = key.name;
  }

  take(piece: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(piece)).split('\n');
    this.#rest = lines.pop()!;
    if (this.#rest.length > LONGEST_LINE) lines.push(this.#rest);
    for (const line of lines) {
      const checkpoint = checkpointFault(line, this.#key, this.checkpoints.at(-1));
      if (typeof checkpoint === 'string') {
        this.fault = { line: this.checkpoints.length + 1, problem: checkpoint };
        return;
      }
      this.checkpoints.push(checkpoint);
    }
  }
}

/** The file to write, or what is known without it. */
function beginReading(file: string, publicKeyFile: string): Reading | CheckpointReading {
  const isThere = existsSync(file);
  try {
    const key = readPublicKey(readFileSync(publicKeyFile, 'utf8'));
    return isThere ? new Reading(key) : { checkpoints: [], key: key.name };
  } catch {
    if (!isThere) return { checkpoints: [] };
    const how = existsSync(publicKeyFile) ? 'is not one Ed25519 public key' : 'is missing';
    return { checkpoints: [], fault: { line: 1, problem: `${publicKeyFile} ${how}` } };
  }
}

/** Reads a directory's checkpoints in order, without giving up the event loop. Throws the system's errors. */
export function readCheckpoints(directory: string): CheckpointReading {
  const { file, publicKeyFile } = checkpointFiles(directory);
  return readCheckpointFile(file, publicKeyFile);
}

/** The same for a copy kept elsewhere. A file that is not there holds none. Throws the system's errors. */
export function readCheckpointFile(file: string, publicKeyFile: string): CheckpointReading {
  const reading = beginReading(file, publicKeyFile);
  if (!(reading instanceof Reading)) return reading;
  const descriptor = openSync(file, 'r');
  try {
    const piece = Buffer.alloc(PIECE_BYTES);
    for (let bytes = 1; bytes > 0 && !reading.fault; ) {
      bytes = readSync(descriptor, piece);
      reading.take(piece.subarray(0, bytes));
    }
    return reading;
  } finally {
    closeSync(descriptor);
  }
}

/** The same as `readCheckpoints` for a service that runs: `rest` is waited for every few milliseconds. Throws what it throws. */
export async function readCheckpointsPatiently(
  directory: string,
  rest: () => Promise<void>,
): Promise<CheckpointReading> {
  const { file, publicKeyFile } = checkpointFiles(directory);
  const reading = beginReading(file, publicKeyFile);
  if (!(reading instanceof Reading)) return reading;
  for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES })) {
    await rest();
    reading.take(piece);
    if (reading.fault) break;
  }
  return reading;
}

/** One line of the checkpoint file: the seal it vouches for, when it was signed, and an Ed25519 signature (RFC 8032). */
export interface Checkpoint {
  seal: number;
  last_entry: number;
  hash: string;
  signed_at: string;
  key: string;
  signature: string;
}

/** What is signed: these fields on lines of their own, in this order. */
export function statement(checkpoint: Omit<Checkpoint, 'signature'>): Buffer {
  const { seal, last_entry, hash, signed_at, key } = checkpoint;
  return Buffer.from(`counterfoil checkpoint\n${seal}\n${last_entry}\n${hash}\n${signed_at}\n${key}\n`);
}

/** A public key, and the name that checkpoints call it by. */
export interface CheckpointKey {
  publicKey: KeyObject;
  /** The first 16 hexadecimal digits of the SHA-256 of its DER form. */
  name: string;
}

/** The one Ed25519 public key in a PEM text. Throws an error if it is none, or there is more, such as a private key. */
export function readPublicKey(pem: string): CheckpointKey {
  const key = createPublicKey(pem);
  const written = key.export({ type: 'spki', format: 'pem' }).toString();
  if (key.asymmetricKeyType !== 'ed25519' || written.trim() !== pem.replaceAll('\r\n', '\n').trim())
    throw new Error('it is not one Ed25519 public key');
  return checkpointKey(key);
}

/** `key`: a public key, or a private one whose public one is meant. */
export function checkpointKey(key: KeyObject): CheckpointKey {
  const publicKey = key.type === 'public' ? key : createPublicKey(key);
  const name = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
  return { publicKey, name: name.slice(0, 16) };
}

/** What is wrong with a line that another key signed. */
export const OTHER_KEY = 'it is signed with another key';

/** The checkpoint that a line claims to be, its signature not checked, or what is wrong with it. */
function claimedCheckpoint(line: string, { name }: CheckpointKey): Checkpoint | string {
  const claimed: unknown = jsonOr(line);
  if (claimed === undefined) return 'the line cannot be read';
  const { seal, last_entry, hash, signed_at, key, signature } = (claimed ?? {}) as Checkpoint;
  // Strictly: "7" would read like 7 in what was signed, and vouch for no seal.
  const isOne =
    [seal, last_entry].every(Number.isSafeInteger) &&
    [hash, signed_at, key, signature].every((text) => typeof text === 'string');
  if (!isOne) return 'the line is not a checkpoint';
  if (key !== name) return OTHER_KEY;
  return { seal, last_entry, hash, signed_at, key: name, signature }; // one text for the key of all
}

export function isSigned(checkpoint: Checkpoint, { publicKey }: CheckpointKey): boolean {
  const signature = Buffer.from(checkpoint.signature, 'base64url');
  const isPlain = signature.toString('base64url') === checkpoint.signature; // its last digit has bits to spare
  return isPlain && verify(null, statement(checkpoint), publicKey, signature);
}

/** What is wrong with a checkpoint behind `previous`. */
function orderFault(checkpoint: Checkpoint, previous: Checkpoint | undefined): string | undefined {
  if (!previous || checkpoint.seal > previous.seal) return undefined;
  if (checkpoint.seal < previous.seal) return 'it stands out of order';
  const same = checkpoint.hash === previous.hash && checkpoint.last_entry === previous.last_entry;
  return same ? undefined : 'it contradicts the one before';
}

/** The checkpoint that a line holds, its signature checked, or what is wrong with it. */
export function checkpointFault(
  line: string,
  key: CheckpointKey,
  previous: Checkpoint | undefined,
): Checkpoint | string {
  const claimed = claimedCheckpoint(line, key);
  if (typeof claimed === 'string') return claimed;
  if (!isSigned(claimed, key)) return 'the signature is wrong';
  return orderFault(claimed, previous) ?? claimed;
}

/** So much is read at once: some 15 lines. */
const LOOKUP_BYTES = 4096;

interface Opened {
  handle: FileHandle;
  bytes: number;
  key: CheckpointKey;
}

/**
 * The checkpoints of one storage directory. Nothing of them is kept: each time some of the file is read as it is by then.
 * What is given has the right signature. Lines that were passed on the way to it were not checked for theirs, and not all
 * were passed: only `readCheckpoints` tells whether the whole file is right.
 */
export class CheckpointLookup {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The newest. Throws the system's errors. */
  newest(): Promise<Checkpoint | undefined> {
    return this.#look(async (opened) => {
      const lines = await wholeLines(opened, Math.max(0, opened.bytes - LOOKUP_BYTES), LOOKUP_BYTES);
      return claimed(lines, opened.key).findLast((one) => isSigned(one, opened.key));
    });
  }

  /** The first for the seal `seal` or a later one, by halving. Throws the system's errors. */
  covering(seal: number): Promise<Checkpoint | undefined> {
    return this.#look(async (opened) => {
      // What is looked for stands behind the first line of piece `low`, and is at the latest that of piece `high`.
      let low = 0;
      let high = Math.ceil(opened.bytes / LOOKUP_BYTES);
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        const lines = await wholeLines(opened, middle * LOOKUP_BYTES, LOOKUP_BYTES);
        const [first] = claimed(lines.slice(0, 1), opened.key);
        if (first && first.seal < seal) low = middle;
        else high = middle;
      }
      const lines = await wholeLines(opened, low * LOOKUP_BYTES, 2 * LOOKUP_BYTES);
      const found = claimed(lines, opened.key).find((one) => one.seal >= seal);
      return found && isSigned(found, opened.key) ? found : undefined;
    });
  }

  async #look(find: (opened: Opened) => Promise<Checkpoint | undefined>): Promise<Checkpoint | undefined> {
    const { file, publicKeyFile } = checkpointFiles(this.#directory);
    let handle: FileHandle;
    try {
      handle = await open(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    try {
      const { size: bytes } = await handle.stat();
      if (bytes === 0) return undefined;
      // Without a public key nothing can be checked, and so nothing is shown. A start makes it again.
      const pem = await readFile(publicKeyFile, 'utf8').catch(() => '');
      const key = tried(() => readPublicKey(pem));
      return key && (await find({ handle, bytes, key }));
    } finally {
      await handle.close();
    }
  }
}

/** The lines that begin behind `from`, or at the start of the file, and end within some bytes; what has no end yet is none. */
async function wholeLines({ handle }: Opened, from: number, bytes: number): Promise<string[]> {
  const piece = Buffer.alloc(bytes);
  const { bytesRead } = await handle.read(piece, 0, bytes, from);
  const lines = piece.toString('utf8', 0, bytesRead).split('\n');
  lines.pop();
  if (from > 0) lines.shift(); // the rest of a line that begins before the part that was read
  return lines;
}

/** What lines claim to be, up to the first that is none or stands out of order. */
function claimed(lines: readonly string[], key: CheckpointKey): Checkpoint[] {
  const found: Checkpoint[] = [];
  for (const line of lines) {
    const one = claimedCheckpoint(line, key);
    if (typeof one === 'string' || orderFault(one, found.at(-1))) break;
    found.push(one);
  }
  return found;
}
