// What a checkpoint says, byte for byte, and whether a line is one: signed with the key that is there, behind the one before.
import { createHash, type KeyObject, verify } from 'node:crypto';

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

/** A name for a public key: the first 16 hexadecimal digits of the SHA-256 of its DER form. */
export function keyName(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16);
}

function isCheckpoint(value: unknown): value is Checkpoint {
  const { seal, last_entry, hash, signed_at, key, signature } = (value ?? {}) as Checkpoint;
  return (
    [seal, last_entry].every(Number.isSafeInteger) &&
    [hash, signed_at, key, signature].every((text) => typeof text === 'string')
  );
}

/** The checkpoint that a line holds, or what is wrong with it. */
export function checkpointFault(
  line: string,
  publicKey: KeyObject,
  previous: Checkpoint | undefined,
): Checkpoint | string {
  try {
    const checkpoint: unknown = JSON.parse(line);
    // Strictly: "7" would read like 7 in what was signed, and vouch for no seal.
    if (!isCheckpoint(checkpoint)) return 'the line is not a checkpoint';
    if (checkpoint.key !== keyName(publicKey)) return 'it is signed with another key';
    const signature = Buffer.from(checkpoint.signature, 'base64url');
    const isPlain = signature.toString('base64url') === checkpoint.signature; // its last digit has bits to spare
    if (!isPlain || !verify(null, statement(checkpoint), publicKey, signature))
      return 'the signature is wrong';
    if (!previous) return checkpoint;
    if (checkpoint.seal < previous.seal) return 'it stands out of order';
    const same = checkpoint.hash === previous.hash && checkpoint.last_entry === previous.last_entry;
    return checkpoint.seal === previous.seal && !same ? 'it contradicts the one before' : checkpoint;
  } catch {
    return 'the line cannot be read';
  }
}
