// Whether a password is among those that guessers try first: leaked ones, repeats, and words about its owner.
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';

/** Passwords of ten characters and more that were leaked most often. Written by scripts/write-known-passwords.ts. */
const LEAKED = new URL('known-passwords.br', import.meta.url);
/** Minimum number of letters and digits in a password besides words about its owner. */
const REST_MINIMUM = 8;
/** Shorter words are part of too many others. */
const WORD_MINIMUM = 3;
/** The longest part whose repetition is no password. */
const REPEATED_MAXIMUM = 14;

const lettersAndDigits = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');

/**
 * Whether `password` was leaked (with whatever digits and signs around it), repeats one part, or is hardly more than words of `about`:
 * names, addresses and products that an attacker who knows the owner would try (NIST SP 800-63B-4, 3.1.1.2). Throws the system's errors.
 */
export async function isGuessable(password: string, about: readonly string[]): Promise<boolean> {
  const plain = lettersAndDigits(password);
  const words = about.flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)]).map(lettersAndDigits);
  const rest = words
    .filter((word) => word.length >= WORD_MINIMUM)
    .sort((one, other) => other.length - one.length)
    .reduce((text, word) => text.replaceAll(word, ''), plain);
  if (rest.length < REST_MINIMUM || isRepeated(plain)) return true;
  const leaked = `\n${await promisify(brotliDecompress)(await readFile(LEAKED))}\n`;
  const forms = [password.toLowerCase(), plain, plain.replace(/^\P{L}+|\P{L}+$/gu, '')];
  return forms.some((form) => leaked.includes(`\n${form}\n`));
}

/** Whether `text` is one part again and again. */
function isRepeated(text: string): boolean {
  const doubled = (text + text).indexOf(text, 1);
  return doubled <= Math.min(REPEATED_MAXIMUM, text.length - 1);
}
