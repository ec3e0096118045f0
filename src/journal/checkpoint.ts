// Checkpoints, signed statements of how far the history had come: where they lie, and all of them read and checked in order.
import { createPrivateKey } from 'node:crypto';
import { closeSync, createReadStream, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import {
  type Checkpoint,
  type CheckpointKey,
  checkpointFault,
  checkpointKey,
  readPublicKey,
} from './checkpoint-statement.ts';

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
export function privateKeyName(directory: string): string | undefined {
  try {
    return checkpointKey(createPrivateKey(readFileSync(join(directory, PRIVATE_KEY_FILE)))).name;
  } catch {
    return undefined;
  }
}

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
