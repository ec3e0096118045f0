// Looks for checkpoints in the file where they lie, however long it is: the newest, and the first that vouches for a seal.
import { type FileHandle, open, readFile } from 'node:fs/promises';
import {
  type Checkpoint,
  type CheckpointKey,
  checkpointFiles,
  claimedCheckpoint,
  isSigned,
  orderFault,
  readPublicKey,
} from './checkpoint.ts';

/** So much is read at once: some 15 lines. */
const PIECE_BYTES = 4096;

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
      const lines = await wholeLines(opened, Math.max(0, opened.bytes - PIECE_BYTES), PIECE_BYTES);
      return claimed(lines, opened.key).findLast((one) => isSigned(one, opened.key));
    });
  }

  /** The first for the seal `seal` or a later one, by halving. Throws the system's errors. */
  covering(seal: number): Promise<Checkpoint | undefined> {
    return this.#look(async (opened) => {
      // What is looked for stands behind the first line of piece `low`, and is at the latest that of piece `high`.
      let low = 0;
      let high = Math.ceil(opened.bytes / PIECE_BYTES);
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        const lines = await wholeLines(opened, middle * PIECE_BYTES, PIECE_BYTES);
        const [first] = claimed(lines.slice(0, 1), opened.key);
        if (first && first.seal < seal) low = middle;
        else high = middle;
      }
      const lines = await wholeLines(opened, low * PIECE_BYTES, 2 * PIECE_BYTES);
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
      const key = await readKey(publicKeyFile);
      return key && (await find({ handle, bytes, key }));
    } finally {
      await handle.close();
    }
  }
}

/** Without a public key nothing can be checked, and so nothing is shown. A start makes it again. */
async function readKey(publicKeyFile: string): Promise<CheckpointKey | undefined> {
  try {
    return readPublicKey(await readFile(publicKeyFile, 'utf8'));
  } catch {
    return undefined;
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
