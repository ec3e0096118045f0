// Identifiers that cannot be guessed: the time first if an index needs locality, then random characters.
import { createHash, randomFillSync } from 'node:crypto';

/** Crockford's base 32, lower case: no i, l, o or u to misread. Five bits a character. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10; // 50 bits: milliseconds until the year 37,000
const RANDOM_CHARACTERS = 26; // 130 bits

const pool = Buffer.alloc(8192);
let used = pool.length;

function randomBase32(characters: number): string {
  if (used + characters > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let text = '';
  for (let end = used + characters; used < end; used++) text += ALPHABET[pool[used]! & 31];
  return text;
}

let encodedMs = -1;
let encodedTime = '';

function timeBase32(ms: number): string {
  if (ms === encodedMs) return encodedTime;
  encodedMs = ms;
  encodedTime = '';
  for (let i = 0, rest = ms; i < TIME_CHARACTERS; i++, rest = Math.floor(rest / 32)) {
    encodedTime = ALPHABET[rest % 32] + encodedTime;
  }
  return encodedTime;
}

/** An identifier that sorts by the moment it was made (milliseconds since 1970), with 130 random bits behind. */
export function timeOrderedId(prefix: string, ms: number): string {
  return prefix + timeBase32(ms) + randomBase32(RANDOM_CHARACTERS);
}

/** An identifier that sorts by the moment it was made, and that `isOfText` recognises as that of `text`. */
export const timeOrderedIdOf = (prefix: string, ms: number, text: string): string =>
  prefix + timeBase32(ms) + base32Digest(text, RANDOM_CHARACTERS);

/** Whether an identifier was made by `timeOrderedIdOf` with this text, at any moment. */
export const isOfText = (id: string, text: string): boolean =>
  id.endsWith(base32Digest(text, RANDOM_CHARACTERS));

/** An identifier without a meaning: `characters` × 5 random bits. */
export function randomId(prefix: string, characters = RANDOM_CHARACTERS): string {
  return prefix + randomBase32(characters);
}

/** The identifier that belongs to `text`: that of the time 0, with 130 bits of the text's SHA-256 behind. */
export function derivedId(prefix: string, text: string): string {
  return prefix + timeBase32(0) + base32Digest(text, RANDOM_CHARACTERS);
}

/** The first `characters` × 5 bits of a text's SHA-256, a character for each byte; 32 characters at most. */
export function base32Digest(text: string, characters: number): string {
  const digest = createHash('sha256').update(text).digest();
  return [...digest.subarray(0, characters)].map((byte) => ALPHABET[byte & 31]).join('');
}

export const isDerivedId = (prefix: string, id: string): boolean => id.startsWith(prefix + timeBase32(0));

/** Whether `text` has the shape of what `timeOrderedId(prefix, …)` makes. */
export function isTimeOrderedId(prefix: string, text: string): boolean {
  return (
    text.length === prefix.length + TIME_CHARACTERS + RANDOM_CHARACTERS &&
    text.startsWith(prefix) &&
    /^[0-9a-hjkmnp-tv-z]+$/.test(text.slice(prefix.length))
  );
}

/** What no id made by `timeOrderedId(prefix, …)` at `ms` (milliseconds since 1970) or later sorts before. */
export function timeOrderedFloor(prefix: string, ms: number): string {
  return prefix + timeBase32(ms);
}
