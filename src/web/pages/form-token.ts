// Tokens that show a form to be ours: made with a secret that only its browser has, in a cookie.
import { randomBytes } from 'node:crypto';
import { hmac, isSame } from '../../lib/secrets.ts';

/** 256 random bits in base64url. */
const RANDOM = /^[\w-]{43}$/;

export const newRandom = (): string => randomBytes(32).toString('base64url');

/** Whether `text` may have come from `newRandom`. */
export const isRandom = (text: string | null | undefined): text is string => RANDOM.test(text ?? '');

/** The token of a form: `statement` says which form it is. */
export const tokenOf = (secret: string, statement: string): string => hmac(secret, statement);

/** Whether a form holds the token of `statement`, whose secret no page and no other site can read. */
export function holdsToken(form: URLSearchParams, secret: string, statement: string): boolean {
  return isSame(form.get('token') ?? '', tokenOf(secret, statement));
}
