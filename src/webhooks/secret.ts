// The secrets of a webhook endpoint, sealed by the key ring for its own row and column.

import type { IncomingHttpHeaders } from 'node:http';
import { SecretKeysUnfit } from '../journal/keys/key-file.ts';
import type { Cell, KeyRing } from '../journal/keys/key-ring.ts';
import { holdStoredKey } from '../journal/keys/queries.ts';
import type { Transaction } from '../journal/transaction.ts';
import { unavailable } from '../lib/errors.ts';
import type { Database } from '../store/database.ts';
import { ENDPOINTS, type Endpoint } from './endpoint.ts';
import { listEndpoints } from './queries.ts';
import { hasValidSignature } from './signing.ts';

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

interface Received {
  headers: IncomingHttpHeaders;
  /** The bytes that came. */
  body: Uint8Array;
  /** Milliseconds since 1970. */
  now: number;
}

/** Whether an endpoint whose URL has the path `path` signed a webhook. Throws `DatabaseError`. */
export async function isSignedFor(
  { database, ring }: { database: Database; ring: KeyRing },
  path: string,
  { headers, body, now }: Received,
): Promise<boolean> {
  const endpoints = (await listEndpoints(database)).filter(({ url }) => new URL(url).pathname === path);
  return endpoints.some((endpoint) => {
    const secrets = signingSecrets(ring, endpoint, now);
    return secrets.length > 0 && hasValidSignature({ secrets, headers, body, now });
  });
}
