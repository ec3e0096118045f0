// Webhooks as they come in: signatures by Standard Webhooks 1.0.0, HMAC-SHA256 by Web Crypto.

import { WebhookVerificationError } from './errors.ts';
import type { Event, TestEvent } from './schemas.ts';

const TOLERANCE_S = 300;
const SECRET_BYTES_MINIMUM = 24;

/** Headers as frameworks hand them over: of Fetch, or an object with names in any case. */
type IncomingHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a webhook and returns its event. `body` is what came, byte for byte: not parsed, not written again. `secret` is the
 * endpoint's `whsec_…`, or several while one replaces another. The timestamp may be `toleranceS` seconds away, 300 by default. An
 * event may come twice: ignore an `id` that you have handled. Throws `WebhookVerificationError` for what no secret signed, and
 * `TypeError` for arguments with which nothing could be verified.
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: IncomingHeaders,
  secret: string | readonly string[],
  { toleranceS = TOLERANCE_S }: { toleranceS?: number } = {},
): Promise<Event | TestEvent> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array) && !(body instanceof ArrayBuffer))
    throw new TypeError(
      'body is the request as it came, a string or bytes: what was parsed cannot be verified',
    );
  const keys = await Promise.all([secret].flat().map(importedKey));
  if (keys.length === 0) throw new TypeError('no webhook secret is given');
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    headerOf(headers, `webhook-${name}`),
  );
  if (!id || !timestamp || !signatures)
    throw new WebhookVerificationError('a header of the webhook is missing');
  if (!/^\d{1,12}$/.test(timestamp) || !(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceS))
    throw new WebhookVerificationError('the webhook is too old, or from the future: check the clock');
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body);
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  for (const one of signatures.split(' ')) {
    const given = one.startsWith('v1,') ? fromBase64(one.slice(3)) : undefined;
    // Web Crypto compares in constant time.
    for (const key of given ? keys : [])
      if (await crypto.subtle.verify('HMAC', key, given!, signed))
        return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Event | TestEvent;
  }
  throw new WebhookVerificationError('the webhook is not signed with this secret');
}

/** The key of a secret. Throws `TypeError` for one that is not set, with which everybody could sign. */
async function importedKey(secret: unknown) {
  const bytes = typeof secret === 'string' ? fromBase64(secret.replace(/^whsec_/, '')) : undefined;
  if (!bytes || bytes.length < SECRET_BYTES_MINIMUM)
    throw new TypeError('the webhook secret is not set, or is no whsec_… of an endpoint');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function headerOf(headers: IncomingHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : undefined;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}
