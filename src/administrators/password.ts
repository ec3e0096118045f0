// Passwords: which may be chosen, and how they are kept so that whoever reads the store has years of work for each.
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { unavailable } from '../lib/errors.ts';

export const PASSWORD_MINIMUM = 15;
export const PASSWORD_MAXIMUM = 128;

/** Argon2id (RFC 9106) at more than OWASP's minimum: 64 MiB, three passes, some 140 ms. */
const MEMORY_KIB = 64 * 1024;
const PASSES = 3;
const LANES = 1;
const SALT_BYTES = 16;
const TAG_BYTES = 32;
/** Hashes at a time, each with its memory and a processor, and hashes waiting; beyond it the answer is 503 at once. */
const AT_ONCE = 2;
const LONGEST_QUEUE = 20;

const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w+/]{11,64})\$([\w+/]{22,86})$/;

/**
 * The sentence that says why `password` cannot be the one of the administrator with this e-mail address, or nothing. Length
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

/** What is kept of a password: a PHC string. Raises `unavailable` where too many are being hashed. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const tag = await derive(
    password,
    salt,
    { memory: MEMORY_KIB, passes: PASSES, parallelism: LANES },
    TAG_BYTES,
  );
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${unpadded(salt)}$${unpadded(tag)}`;
}

/** What nobody's password is kept as; trying one against it takes as long as against any other. */
const NOBODYS = `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${unpadded(Buffer.alloc(SALT_BYTES))}$${unpadded(Buffer.alloc(TAG_BYTES))}`;

/**
 * Whether `password` is the one that `stored` was made of; never, but after the same time, where there is none. Raises
 * `unavailable` where too many are being hashed.
 */
export async function isRightPassword(stored: string | null, password: string): Promise<boolean> {
  const kept = PHC.exec(stored ?? NOBODYS);
  if (!kept) throw new Error('a password is not kept in the form that this program writes');
  const [, memory, passes, parallelism, salt, tag] = kept;
  const expected = Buffer.from(tag!, 'base64');
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const actual = await derive(password, Buffer.from(salt!, 'base64'), cost, expected.length);
  return timingSafeEqual(actual, expected) && stored !== null;
}

interface Cost {
  memory: number;
  passes: number;
  parallelism: number;
}

let running = 0;
const waiting: (() => void)[] = [];

async function derive(password: string, nonce: Buffer, cost: Cost, tagLength: number): Promise<Buffer> {
  if (running < AT_ONCE) running++;
  else if (waiting.length < LONGEST_QUEUE) await new Promise<void>((resolve) => waiting.push(resolve));
  else throw unavailable();
  try {
    return await new Promise((resolve, reject) => {
      argon2('argon2id', { message: password, nonce, ...cost, tagLength }, (error, tag) =>
        error ? reject(error) : resolve(tag),
      );
    });
  } finally {
    const next = waiting.shift();
    if (next)
      next(); // it takes over the place
    else running--;
  }
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
