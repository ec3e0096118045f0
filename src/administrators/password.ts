// Passwords: which may be chosen, which guessers try first, and how they are hashed.
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { unavailable } from '../lib/errors.ts';

export const PASSWORD_MINIMUM = 15;
const PASSWORD_MAXIMUM = 128;

/** The parameters of Argon2: KiB, passes over them, and lanes. */
export interface Cost {
  memory: number;
  passes: number;
  parallelism: number;
}
/** Argon2id (RFC 9106) at more than OWASP's minimum: 64 MiB, three passes, some 140 ms. Tests alone go by another. */
const COST: Cost = { memory: 64 * 1024, passes: 3, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;
const PRODUCT = 'counterfoil';

const NOBODY_IN_PARTICULAR: Turn = { known: true, key: undefined };

const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w+/]{11,64})\$([\w+/]{22,86})$/;

/**
 * The sentence that says why `password` cannot be the one of the administrator with this e-mail address, or undefined. Length
 * counts, composition does not (NIST SP 800-63B-4, 3.1.1.2); it is taken as it was typed.
 */
export function passwordFault(password: string, email: string): string | undefined {
  const characters = [...password];
  if (characters.length < PASSWORD_MINIMUM) return `Must be at least ${PASSWORD_MINIMUM} characters.`;
  if (characters.length > PASSWORD_MAXIMUM) return `Must be at most ${PASSWORD_MAXIMUM} characters.`;
  if (!password.isWellFormed()) return 'Must be well-formed Unicode.';
  if (password.trim().toLowerCase() === email.toLowerCase()) return 'Must not be your email address.';
  if (new Set(characters).size < 5) return 'Must not repeat the same few characters.';
  return undefined;
}

/**
 * The sentence that says why `password`, which has no fault of those above, is too easily guessed, or undefined (NIST SP
 * 800-63B-4, 3.1.1.2: a blocklist of what is common, expected or of this very service). Throws the system's errors.
 */
export async function weakness(
  password: string,
  { email, name }: { email: string; name: string },
): Promise<string | undefined> {
  return (await isGuessable(password, [PRODUCT, email, name])) ? EASY : undefined;
}

const EASY = [
  'Must be harder to guess.',
  'Leaked passwords, repeats, your name and that of this service are tried first; put together a few words that only you would.',
].join(' ');

/** What is kept of a password: a PHC string. Throws `unavailable` where too many are being hashed. */
export async function hashPassword(
  password: string,
  turn: Turn = NOBODY_IN_PARTICULAR,
  cost: Cost = COST,
): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return phc(cost, salt, await derive(password, salt, cost, TAG_BYTES, turn));
}

function phc({ memory, passes, parallelism }: Cost, salt: Buffer, tag: Buffer): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

/** A hash of no password. Comparing with it takes as long as with a real one. */
const nobodys = (cost: Cost) => phc(cost, Buffer.alloc(SALT_BYTES), Buffer.alloc(TAG_BYTES));

/**
 * Whether `password` is the one that `stored` was made of. Without `stored` it is false, after the same time. Throws `unavailable` if too
 * many are being hashed.
 */
export async function isRightPassword(
  stored: string | null,
  password: string,
  turn: Turn = NOBODY_IN_PARTICULAR,
  usual: Cost = COST,
): Promise<boolean> {
  const kept = PHC.exec(stored ?? nobodys(usual));
  if (!kept) throw new Error('a password is not kept in the form that this program writes');
  const [, memory, passes, parallelism, salt, tag] = kept;
  const expected = Buffer.from(tag!, 'base64');
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const actual = await derive(password, Buffer.from(salt!, 'base64'), cost, expected.length, turn);
  return timingSafeEqual(actual, expected) && stored !== null;
}

function derive(password: string, nonce: Buffer, cost: Cost, tagLength: number, turn: Turn): Promise<Buffer> {
  return inTurn(
    turn,
    () =>
      new Promise((resolve, reject) => {
        argon2('argon2id', { message: password, nonce, ...cost, tagLength }, (error, tag) =>
          error ? reject(error) : resolve(tag),
        );
      }),
  );
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

/** Hashes at a time, each with its memory and a processor; of these, at most so many for strangers. */
const AT_ONCE = 2;
const STRANGERS_AT_ONCE = 1;
/** Hashes waiting, of strangers and of the others each; beyond it the answer is 503 at once. */
const LONGEST_QUEUE = 20;
/** Hashes under way or waiting for one caller. */
const EACH = 2;

/** The caller of a hash: `key` tells one caller from others of the kind; `undefined` is a caller without a name. */
export interface Turn {
  known: boolean;
  key: string | undefined;
}

interface Lane {
  running: number;
  waiting: (() => void)[];
}

const known: Lane = { running: 0, waiting: [] };
const strangers: Lane = { running: 0, waiting: [] };
const held = new Map<string, number>();

/** Does `work` when its turn has come. Throws `unavailable` where too many are waiting, or too much of this caller's. */
export async function inTurn<T>(turn: Turn, work: () => Promise<T>): Promise<T> {
  const lane = turn.known ? known : strangers;
  const key = turn.key === undefined ? undefined : `${turn.known} ${turn.key}`;
  const mine = key === undefined ? 0 : (held.get(key) ?? 0);
  if (mine >= EACH) throw unavailable();
  const isFree = known.running + strangers.running < AT_ONCE;
  const mustWait = !isFree || (lane === strangers && strangers.running >= STRANGERS_AT_ONCE);
  if (mustWait && lane.waiting.length >= LONGEST_QUEUE) throw unavailable();
  if (key !== undefined) held.set(key, mine + 1);
  try {
    if (mustWait) await new Promise<void>((resolve) => lane.waiting.push(resolve));
    else lane.running++;
    try {
      return await work();
    } finally {
      lane.running--;
      next();
    }
  } finally {
    if (key !== undefined) letGo(key);
  }
}

/** Gives a free place to a stranger where they have none, else to one of the others. */
function next(): void {
  const lane = strangers.running < STRANGERS_AT_ONCE && strangers.waiting.length > 0 ? strangers : known;
  const begin = lane.waiting.shift();
  if (!begin) return;
  lane.running++;
  begin();
}

function letGo(key: string): void {
  const left = held.get(key)! - 1;
  if (left > 0) held.set(key, left);
  else held.delete(key);
}

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
