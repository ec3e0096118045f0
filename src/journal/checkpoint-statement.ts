// What a checkpoint says, byte for byte, and whether a line is one: signed with the key that is there, behind the one before.
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

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
export function claimedCheckpoint(line: string, { name }: CheckpointKey): Checkpoint | string {
  let claimed: unknown;
  try {
    claimed = JSON.parse(line);
  } catch {
    return 'the line cannot be read';
  }
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
export function orderFault(checkpoint: Checkpoint, previous: Checkpoint | undefined): string | undefined {
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
