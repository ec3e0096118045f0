// SHA-256 (FIPS 180-4) in plain JavaScript, so that browsers compute the same fingerprints without waiting.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** 64 hexadecimal digits of UTF-8 text. */
export function sha256Of(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}
