// What a form of registration carries: proof that it is ours, and what the key is made of that it asks for.
import { boundCookie, boundName, valueIn } from '../../lib/cookie.ts';
import { derivedSecret, sha256Hex } from '../../lib/secrets.ts';
import { holdsToken, isRandom, newRandom, tokenOf } from '../../web/pages/form-token.ts';
import { KEY_PREFIX } from '../merchant.ts';
import type { KeyByMode } from '../register.ts';
import type { Registration } from '../registration.ts';

const COOKIE = 'counterfoil_registration';
const statement = (seed: string) => `registration form ${seed}`;

/** The browser's own secret, out of a Cookie header; no page holds it, and no other site can read or send it. */
export function browserSecret(header: string | undefined, baseUrl: string): string | undefined {
  const found = valueIn(header, boundName(COOKIE, baseUrl));
  return isRandom(found) ? found : undefined;
}

/** A new secret for a browser, and the Set-Cookie line that gives it to it for as long as it is open. */
export function newBrowserSecret(baseUrl: string): { secret: string; cookie: string } {
  const secret = newRandom();
  return { secret, cookie: boundCookie(COOKIE, secret, baseUrl) };
}

/** The hidden fields of a new form: a seed, and the token that proves that the seed is ours and was given to this browser. */
export function formSeed(secret: string): { seed: string; token: string } {
  const seed = newRandom();
  return { seed, token: tokenOf(secret, statement(seed)) };
}

/** The seed of a form that is ours and this browser's; nothing for any other. */
export function seedOf(sent: URLSearchParams, secret: string): string | undefined {
  const seed = sent.get('seed');
  return isRandom(seed) && holdsToken(sent, secret, statement(seed)) ? seed : undefined;
}

/**
 * The keys that a form comes to. The same form from the same browser comes to the same key each time it is sent, so that neither a
 * second click nor a reload makes a second merchant; a form that says anything else comes to another. They are made of two times
 * 256 bits, one in the page and one in the cookie: neither alone tells the key, and the store keeps nothing of either.
 */
export function keysOf(secret: string, seed: string, wanted: Registration): KeyByMode {
  const { business_name, email, website, invite } = wanted;
  const said = sha256Hex(JSON.stringify([business_name, email, website, invite]));
  const bits = Buffer.concat([Buffer.from(secret, 'base64url'), Buffer.from(seed, 'base64url')]);
  const keyOf = (prefix: string) => derivedSecret(prefix, bits, `counterfoil registration ${said}`);
  return { live: keyOf(KEY_PREFIX.live), test: keyOf(KEY_PREFIX.test) };
}
