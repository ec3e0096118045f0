// SHA-256 (FIPS 180-4), so that browsers compute the same fingerprints as Node without waiting.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

interface NodeCrypto {
  hash?(algorithm: string, text: string, encoding: 'hex'): string;
}
type Builtins = { process?: { getBuiltinModule?(name: string): NodeCrypto | undefined } };

/** Node's own SHA-256 is nine times as fast as one in JavaScript. Browsers have no synchronous one. */
const native = (globalThis as Builtins).process?.getBuiltinModule?.('node:crypto')?.hash;

/** The first bytes of the digest of UTF-8 text, in hexadecimal digits. */
export function sha256Of(text: string, bytes: number): string {
  if (native) return native('sha256', text, 'hex').slice(0, 2 * bytes);
  return bytesToHex(sha256(utf8ToBytes(text)).subarray(0, bytes));
}
