// Authenticated encryption: AES-256-GCM (NIST SP 800-38D) with a random nonce of 96 bits and a tag of 128 bits.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface Sealing {
  /** 32 bytes. */
  key: Uint8Array;
  /** From `newNonce`, for this text alone. */
  nonce: Uint8Array;
  /** What is authenticated along with the text, and kept elsewhere. */
  associated: Uint8Array;
}

export function newNonce(): Buffer {
  return randomBytes(NONCE_BYTES);
}

/** Encrypts `text`. Returns the ciphertext with the tag behind it. */
export function encrypt({ key, nonce, associated }: Sealing, text: string): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(associated);
  return Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts what `encrypt` returned. Throws an `Error` if anything differs from what it was encrypted with, or a byte was changed. */
export function decrypt({ key, nonce, associated }: Sealing, bytes: Buffer): string {
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(associated)
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]).toString('utf8');
}
