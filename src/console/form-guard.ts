// Tells a form of the console from a forged one: where the browser says it comes from, and a token that only our page holds.
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Html, html } from '../lib/html.ts';
import { hmac, isSame } from '../lib/secrets.ts';

/** Random bytes in base64url, as the form cookie holds them. */
const FORM_SECRET = /^[\w-]{43}$/;

export function newFormSecret(): string {
  return randomBytes(32).toString('base64url');
}

export function isFormSecret(text: string | undefined): text is string {
  return text !== undefined && FORM_SECRET.test(text);
}

/** What a token is made with: a session's secret, or before there is one the random bytes in the form cookie. */
export interface FormKey {
  kind: 'session' | 'form';
  secret: string;
}

function tokenOf({ kind, secret }: FormKey): string {
  return hmac(secret, `console ${kind}`);
}

export function tokenField(key: FormKey): Html {
  return html`<input type="hidden" name="token" value="${tokenOf(key)}">`;
}

/** Whether a form holds the token of `key`, whose secret no page and no other site can read. */
export function hasToken(form: URLSearchParams, key: FormKey): boolean {
  return isSame(form.get('token') ?? '', tokenOf(key));
}

/**
 * Whether a browser says that a POST comes from a page of ours: by Fetch Metadata where it sends that, else by Origin (OWASP,
 * Cross-Site Request Forgery Prevention). What says neither is refused: every browser that can sign in here says one of them, since
 * the console's pages are sent with a referrer policy under which Origin is told to ourselves.
 */
export function isFromOurPage(headers: IncomingHttpHeaders, origin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return headers.origin === origin;
}
