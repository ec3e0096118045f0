// Digests, and the form of the secrets that are handed out.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { crc32 } from 'node:zlib';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 43; // log2(62) × 43 = 256 bits
const CHECKSUM_CHARACTERS = 6;
const BLOCK_BYTES = 64;

/** SHA-256 (FIPS 180-4) of UTF-8 text, base64url without padding: 43 characters. */
export function sha256(text: string | Uint8Array): string {
  return hash('sha256', text, 'base64url');
}

/** SHA-256 of UTF-8 text as 64 lower-case hexadecimal digits, as `sha256sum` prints it. */
export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex');
}

/** HMAC with SHA-256 (RFC 2104) of UTF-8 text, base64url without padding: 43 characters. */
export function hmac(key: string | Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** Whether `sent` is `right`, compared in constant time. */
export function isSame(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let i = 0; i < CHECKSUM_CHARACTERS; i++, rest = Math.floor(rest / 62)) text = BASE62[rest % 62] + text;
  return text;
}

/** A new secret: the prefix, 43 random base62 characters (256 bits) and the CRC-32 of all that in 6 more. */
export function newSecret(prefix: string): string {
  return spelled(prefix, () => randomBytes(BLOCK_BYTES));
}

/**
 * A secret of that form which is the same whenever it is made of the same `seed`, and tells nothing of it: HKDF with SHA-256 (RFC 5869).
 * `purpose` keeps it apart from what else is made of the seed. It is as hard to guess as the seed.
 */
export function derivedSecret(prefix: string, seed: Uint8Array, purpose: string): string {
  let block = 0;
  return spelled(
    prefix,
    () => new Uint8Array(hkdfSync('sha256', seed, '', `${purpose} ${prefix} ${block++}`, BLOCK_BYTES)),
  );
}

function spelled(prefix: string, bytes: () => Uint8Array): string {
  let text = prefix;
  while (text.length < prefix.length + RANDOM_CHARACTERS) {
    // 248 is the largest multiple of 62 in a byte: what lies above would make some characters likelier.
    for (const byte of bytes()) {
      if (byte < 248 && text.length < prefix.length + RANDOM_CHARACTERS) text += BASE62[byte % 62];
    }
  }
  return text + checksum(text);
}

/** Whether a secret is whole, judged by its length and checksum alone: tells a cut or mistyped one without a look-up. */
export function isWholeSecret(prefix: string, secret: string): boolean {
  if (!secret.startsWith(prefix) || secret.length !== prefix.length + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS)
    return false;
  const body = secret.slice(0, -CHECKSUM_CHARACTERS);
  return secret === body + checksum(body);
}

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
