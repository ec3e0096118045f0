// SHA-256 (FIPS 180-4) in plain JavaScript, so that browsers compute the same fingerprints without waiting.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** The first bytes of the digest of UTF-8 text, in hexadecimal digits. */
export function sha256Of(text: string, bytes: number): string {
  return bytesToHex(sha256(utf8ToBytes(text)).subarray(0, bytes));
}
