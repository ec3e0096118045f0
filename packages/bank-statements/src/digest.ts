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

const SLOTS_AT_FIRST = 1 << 12;
/** Hexadecimal digits that fit into a small integer of the engine. */
const DIGITS = 7;

/** Counts digests of at least 21 hexadecimal digits in 12 bytes each, where a Map of a million strings takes 100 MB. */
export class DigestCounts {
  /** Three integers for each digest; the first one is 0 in a free slot. */
  #slots = new Int32Array(3 * SLOTS_AT_FIRST);
  #size = 0;
  /** Of digests that were seen more than once. */
  readonly #more = new Map<string, number>();

  /** How often it was seen before. Counts it. */
  add(digest: string): number {
    if (!this.#put(1 + numberIn(digest, 0), numberIn(digest, DIGITS), numberIn(digest, 2 * DIGITS))) {
      const before = this.#more.get(digest) ?? 1;
      this.#more.set(digest, before + 1);
      return before;
    }
    if (++this.#size * 6 > this.#slots.length) this.#grow();
    return 0;
  }

  /** Returns false if it is there. */
  #put(a: number, b: number, c: number): boolean {
    const slots = this.#slots;
    const mask = slots.length / 3 - 1;
    for (let slot = b & mask; ; slot = (slot + 1) & mask) {
      const at = 3 * slot;
      if (slots[at] === 0) {
        slots[at] = a;
        slots[at + 1] = b;
        slots[at + 2] = c;
        return true;
      }
      if (slots[at] === a && slots[at + 1] === b && slots[at + 2] === c) return false;
    }
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(2 * before.length);
    for (let at = 0; at < before.length; at += 3)
      if (before[at] !== 0) this.#put(before[at]!, before[at + 1]!, before[at + 2]!);
  }
}

/** The number that seven lower-case hexadecimal digits are. */
function numberIn(digest: string, from: number): number {
  let number = 0;
  for (let at = from; at < from + DIGITS; at++) {
    const code = digest.charCodeAt(at);
    number = (number << 4) | (code < 0x3a ? code - 0x30 : code - 0x57);
  }
  return number;
}
