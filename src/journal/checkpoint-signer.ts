// Signs how far the history has come into a file outside the database, each minute, so that an older copy is caught.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import {
  fstatSync,
  fsyncSync,
  ftruncateSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { placeDurably, syncNow, useFile } from '../lib/durable-files.ts';
import type { Logger } from '../lib/log.ts';
import { type Clock, formatTimestamp, MINUTE_MS } from '../lib/time.ts';
import { tried } from '../lib/tried.ts';
import type { Database } from '../store/database.ts';
import type { Seal } from './audit-entry.ts';
import {
  type Checkpoint,
  type CheckpointKey,
  checkpointFault,
  checkpointFiles,
  checkpointKey,
  OTHER_KEY,
  PRIVATE_KEY_FILE,
  readPublicKey,
  statement,
} from './checkpoint.ts';
import type { Journal } from './journal.ts';
import { findSeal } from './queries.ts';

/** The end of the file that a start looks at; a line is some 300 bytes. */
const TAIL_BYTES = 64 * 1024;

/** The private key is missing, empty or none, and signatures made with it are there: no other may take its place. */
export class CheckpointKeyLost extends Error {
  override readonly name = 'CheckpointKeyLost';
}

/** No checkpoint is signed: the history is not the one that the last vouches for. `failure` gets this into the log. */
class CheckpointRefused extends Error {
  override readonly name = 'CheckpointRefused';
  readonly failure = this.message;
}

const hasContent = (file: string) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** Appends a line, or, where that fails, leaves nothing of it for the next to be glued to. */
function appendDurably(file: string, line: string): void {
  useFile(file, 'a', (descriptor) => {
    const { size } = fstatSync(descriptor);
    try {
      // Its end comes when the rest is on disk: whatever a power cut makes of the rest, it then has no end, and is cut off.
      for (const part of [line, '\n']) {
        writeFileSync(descriptor, part);
        fsyncSync(descriptor);
      }
    } catch (error) {
      ftruncateSync(descriptor, size);
      throw error;
    }
    if (size === 0) syncNow(dirname(file));
  });
}

/** The last whole line. What stands behind it a crash left of a write that was never relied on: it is cut off. */
function lastLine(file: string): string | undefined {
  if (!hasContent(file)) return undefined;
  return useFile(file, 'r+', (descriptor) => {
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

/** What is to be said of a private key that is missing though checkpoints were signed with it; undefined where that is not so. */
export function lostKey(directory: string): string | undefined {
  const privateFile = join(directory, PRIVATE_KEY_FILE);
  const { file } = checkpointFiles(directory);
  if (hasContent(privateFile) || !hasContent(file)) return undefined;
  const name = basename(file);
  const fix = `put the key back (counterfoil secrets restore, if it was saved), or move ${name} away and keep it`;
  return `${privateFile} is missing or empty, but ${name} holds what was signed with it: ${fix}`;
}

const unfit = (file: string, how: string, cause?: unknown) =>
  new CheckpointKeyLost(`${file} ${how}: put the key back (counterfoil secrets restore, if it was saved)`, {
    cause,
  });

/** The directory's private key, made the first time, with its public key beside it. Throws `CheckpointKeyLost`. */
function loadPrivateKey(directory: string): KeyObject {
  const privateFile = join(directory, PRIVATE_KEY_FILE);
  const { publicKeyFile } = checkpointFiles(directory);
  if (!hasContent(privateFile)) {
    const lost = lostKey(directory);
    if (lost) throw new CheckpointKeyLost(lost);
    rmSync(publicKeyFile, { force: true }); // of a start that did not get as far as the private one
    const { privateKey } = generateKeyPairSync('ed25519');
    placeDurably(privateFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  }
  const privateKey = fittingKey(directory);
  if (!hasContent(publicKeyFile))
    placeDurably(publicKeyFile, createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }));
  return privateKey;
}

/** The private key in a directory, which fits the public one where that is there. Throws `CheckpointKeyLost`. */
function fittingKey(directory: string): KeyObject {
  const privateFile = join(directory, PRIVATE_KEY_FILE);
  const { publicKeyFile } = checkpointFiles(directory);
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(readFileSync(privateFile));
  } catch (error) {
    throw unfit(privateFile, 'is not a private key', error);
  }
  if (privateKey.asymmetricKeyType !== 'ed25519') throw unfit(privateFile, 'is no Ed25519 key');
  const pem = () => readFileSync(publicKeyFile, 'utf8');
  const isOther = () => tried(() => readPublicKey(pem()).name) !== checkpointKey(privateKey).name;
  if (hasContent(publicKeyFile) && isOther())
    throw unfit(privateFile, `does not fit ${basename(publicKeyFile)}`);
  return privateKey;
}

/** Why no start signs with the private key in `directory`, or undefined; a key that is yet to be made is none. Changes nothing. */
export function signingKeyFault(directory: string): string | undefined {
  try {
    if (hasContent(join(directory, PRIVATE_KEY_FILE))) fittingKey(directory);
    return lostKey(directory);
  } catch (error) {
    if (error instanceof CheckpointKeyLost) return error.message;
    throw error;
  }
}

interface SealedHistory {
  newest(): Promise<Seal | undefined>;
  numbered(number: number): Promise<Seal | undefined>;
}

/** Signs checkpoints into a storage directory; makes its key there the first time. Throws `CheckpointKeyLost`. */
export class CheckpointSigner {
  readonly #file: string;
  readonly #privateKey: KeyObject;
  readonly #key: CheckpointKey;
  /** The newest checkpoint, or what is wrong with the line in its place. */
  #last: Checkpoint | string | undefined;

  constructor(directory: string) {
    this.#file = checkpointFiles(directory).file;
    this.#privateKey = loadPrivateKey(directory);
    this.#key = checkpointKey(this.#privateKey);
    const line = lastLine(this.#file);
    this.#last = line === undefined ? undefined : checkpointFault(line, this.#key, undefined);
    if (this.#last === OTHER_KEY)
      throw unfit(
        join(directory, PRIVATE_KEY_FILE),
        `did not sign the newest line of ${basename(this.#file)}`,
      );
  }

  /** When the newest checkpoint was signed, in milliseconds since 1970, or undefined. */
  newestAt(): number | undefined {
    return typeof this.#last === 'object' ? Date.parse(this.#last.signed_at) : undefined;
  }

  /**
   * Appends a checkpoint for the history's newest seal unless the last one was for it already. One call at a time. `now` in
   * milliseconds since 1970. Throws `CheckpointRefused` where the history is another than the one the last checkpoint vouches
   * for, however far that one has grown since; `DatabaseError`.
   */
  async sign(history: SealedHistory, now: number): Promise<void> {
    const last = this.#last;
    if (typeof last === 'string')
      throw new CheckpointRefused(`${this.#file} ends in a line that is no checkpoint: ${last}`);
    const newest = await history.newest();
    if (last) {
      const vouched = newest?.number === last.seal ? newest : await history.numbered(last.seal);
      requireVouched(newest, vouched, last);
    }
    if (!newest || newest.number === last?.seal) return;
    const unsigned = {
      seal: newest.number,
      last_entry: newest.last_entry,
      hash: newest.hash,
      signed_at: formatTimestamp(now),
      key: this.#key.name,
    };
    const signature = sign(null, statement(unsigned), this.#privateKey).toString('base64url');
    const checkpoint = { ...unsigned, signature };
    appendDurably(this.#file, JSON.stringify(checkpoint));
    this.#last = checkpoint;
  }
}

/** `vouched`: the seal of the checkpoint's number. Throws `CheckpointRefused`. */
function requireVouched(newest: Seal | undefined, vouched: Seal | undefined, last: Checkpoint): void {
  const isShort = !newest || newest.number < last.seal;
  if (!isShort && vouched?.hash === last.hash && vouched.last_entry === last.last_entry) return;
  throw new CheckpointRefused(
    `the history ${isShort ? 'ends before' : 'contradicts'} the newest checkpoint (seal ${last.seal}, signed at ${last.signed_at}): an older copy was put in its place`,
  );
}

const EVERY_MS = MINUTE_MS;

export interface CheckpointRounds {
  /** When the newest checkpoint was signed, milliseconds since 1970; nothing before the first. */
  newestAt(): number | undefined;
  /** When the last round ended well, whether or not there was anything to sign, milliseconds since 1970. */
  wellAt(): number | undefined;
  /** Signs once more, and no more. */
  stop(): Promise<void>;
}

/**
 * Signs until stopped. A round that fails is logged and tried again by the next. Calls `onSeal` with the newest seal that each round
 * reads. Throws `CheckpointKeyLost` at the start alone.
 */
export function startCheckpoints(
  storage: string,
  database: Database,
  journal: Journal,
  clock: Clock,
  log: Logger,
  onSeal: (seal: Seal) => void = () => {},
): CheckpointRounds {
  const signer = new CheckpointSigner(storage);
  const history = {
    newest: async () => {
      const seal = await journal.newestSeal();
      if (seal) onSeal(seal);
      return seal;
    },
    numbered: (number: number) => findSeal(database, number),
  };
  let wellAt: number | undefined;
  const sign = async () => {
    try {
      await signer.sign(history, clock.now());
      wellAt = clock.now();
    } catch (error) {
      log.error({ err: error }, 'no checkpoint could be signed');
    }
  };
  let signing = Promise.resolve();
  const signNext = () => {
    signing = signing.then(sign); // one after the other, or an older seal could come behind a newer
    return signing;
  };
  const timer = setInterval(signNext, EVERY_MS);
  return {
    newestAt: () => signer.newestAt(),
    wellAt: () => wellAt,
    async stop() {
      clearInterval(timer);
      await signNext();
    },
  };
}
