// Signatures of webhooks (Standard Webhooks 1.0.0, HMAC-SHA256): secrets, the header that is sent, and its verification.
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SecretKeysUnfit } from '../journal/keys/key-file.ts';
import type { Cell, KeyRing } from '../journal/keys/key-ring.ts';
import { holdStoredKey } from '../journal/keys/open-ring.ts';
import type { Transaction } from '../journal/transaction.ts';
import { unavailable } from '../lib/errors.ts';
import { isSame } from '../lib/secrets.ts';
import { SECOND_MS } from '../lib/time.ts';
import { VERSION } from '../lib/version.ts';
import type { Database } from '../store/database.ts';
import { ENDPOINTS, type Endpoint } from './endpoint.ts';
import { listEndpoints } from './queries.ts';

const SECRET_BYTES = 32;
const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
/** The lengths that the standard allows. */
const [LEAST_BYTES, MOST_BYTES] = [24, 64];
const TOLERANCE_S = 300;

/** Returns a new secret: `whsec_` and the base64 of 32 random bytes. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** The key inside a secret; undefined if the text does not have the form of one. */
function keyIn(secret: string): Buffer | undefined {
  const key = Buffer.from(SECRET.exec(secret)?.[1] ?? '', 'base64');
  return key.length >= LEAST_BYTES && key.length <= MOST_BYTES ? key : undefined;
}

/** Whether a text has the form of a secret. */
export const isWebhookSecret = (text: string): boolean => keyIn(text) !== undefined;

/** The key inside a secret. A secret of another form is a defect of the caller. */
function keyOf(secret: string): Buffer {
  const key = keyIn(secret);
  assert(key, 'a webhook secret is whsec_ and 24 to 64 bytes in base64');
  return key;
}

function signature(secret: string, id: string, timestamp: string, body: string | Uint8Array): string {
  const hmac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body);
  return `v1,${hmac.digest('base64')}`;
}

/**
 * Returns the value of `webhook-signature`: one signature for each secret, separated by spaces. `id` is that of the event, `atSeconds` the
 * time of the attempt in seconds since 1970, `body` exactly what is sent.
 */
export function signatureHeader(
  secrets: readonly string[],
  id: string,
  atSeconds: number,
  body: string,
): string {
  assert(secrets.length > 0 && Number.isSafeInteger(atSeconds));
  assert(/^[\w-]+$/.test(id), 'a dot in the id would let one message be read as another');
  return secrets.map((secret) => signature(secret, id, String(atSeconds), body)).join(' ');
}

/** A webhook that is to be sent. */
export interface Signed {
  /** The event's id, the same at each attempt: `webhook-id`. */
  id: string;
  body: string;
  /** The endpoint's secrets, each of which signs: two of them while one is replaced. */
  secrets: readonly string[];
  /** When the attempt is made, in milliseconds since 1970: `webhook-timestamp`. */
  at: number;
}

/** The headers of a webhook beside those of every request. */
export function webhookHeaders({ id, body, secrets, at }: Signed): Record<string, string> {
  const atSeconds = Math.floor(at / SECOND_MS);
  return {
    'content-type': 'application/json',
    'user-agent': `Counterfoil/${VERSION}`,
    'webhook-id': id,
    'webhook-timestamp': String(atSeconds),
    'webhook-signature': signatureHeader(secrets, id, atSeconds, body),
  };
}

/** A request that says it is a webhook. `body` is what came, byte for byte; `now` is in milliseconds since 1970. */
interface ReceivedWebhook {
  secrets: readonly string[];
  headers: IncomingHttpHeaders;
  body: string | Uint8Array;
  now: number;
}

/**
 * Whether one of the secrets signed this request within the last 5 minutes. Stricter than the standard's libraries: the timestamp is a
 * plain decimal number, and signatures are compared as text, so each has one spelling.
 */
export function hasValidSignature({ secrets, headers, body, now }: ReceivedWebhook): boolean {
  const [id, timestamp, given] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name) => headers[name],
  );
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof given !== 'string') return false;
  if (!/^[\w-]+$/.test(id) || !/^[1-9]\d{0,11}$/.test(timestamp)) return false;
  if (Math.abs(Math.floor(now / SECOND_MS) - Number(timestamp)) > TOLERANCE_S) return false;
  const right = secrets.map((secret) => signature(secret, id, timestamp, body));
  return given.split(' ').some((one) => right.some((signed) => isSame(one, signed)));
}

type SecretColumn = 'secret' | 'old_secret';
type Holder = Pick<Endpoint, 'id' | SecretColumn>;

const cellOf = (row: string, column: SecretColumn): Cell => ({ table: ENDPOINTS.name, row, column });

/**
 * Seals a secret for an endpoint's row, in the transaction that writes it. Throws `unavailable` if the key of this node's ring was
 * removed: the node has not heard of its successor yet.
 */
export async function sealSecret(
  transaction: Transaction,
  ring: KeyRing,
  id: string,
  column: SecretColumn,
  secret: string,
): Promise<string> {
  if (!(await holdStoredKey(transaction, ring.current))) throw unavailable();
  return ring.seal(cellOf(id, column), secret);
}

/**
 * A secret in plain text; undefined if the column is empty. Throws `unavailable` if this node lacks the key, and `Error` if the text was
 * changed or belongs to another row.
 */
export function openSecret(ring: KeyRing, endpoint: Holder, column: SecretColumn): string | undefined {
  const sealed = endpoint[column];
  if (sealed === null) return undefined;
  try {
    return ring.open(cellOf(endpoint.id, column), sealed);
  } catch (error) {
    throw error instanceof SecretKeysUnfit ? Object.assign(unavailable(), { cause: error }) : error;
  }
}

/** The secrets that sign at `now`: the newest first, then the one before while it signs along. Throws as `openSecret` does. */
export function signingSecrets(
  ring: KeyRing,
  endpoint: Holder & Pick<Endpoint, 'old_secret_until'>,
  now: number,
): string[] {
  const newest = openSecret(ring, endpoint, 'secret');
  const isOldUsed = endpoint.old_secret_until !== null && now < endpoint.old_secret_until;
  const old = isOldUsed ? openSecret(ring, endpoint, 'old_secret') : undefined;
  return [newest, old].filter((secret) => secret !== undefined);
}

/** Whether an endpoint whose URL has the path `path` signed a webhook. Throws `DatabaseError`. */
export async function isSignedFor(
  { database, ring }: { database: Database; ring: KeyRing },
  path: string,
  received: Omit<ReceivedWebhook, 'secrets'>,
): Promise<boolean> {
  const endpoints = (await listEndpoints(database)).filter(({ url }) => new URL(url).pathname === path);
  return endpoints.some((endpoint) => {
    const secrets = signingSecrets(ring, endpoint, received.now);
    return secrets.length > 0 && hasValidSignature({ secrets, ...received });
  });
}
