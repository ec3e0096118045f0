// Verifies webhooks that this installation sends to itself, for the inbox of development.
import type { IncomingHttpHeaders } from 'node:http';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import type { Database } from '../store/database.ts';
import { listEndpoints } from './queries.ts';
import { signingSecrets } from './secret.ts';
import { hasValidSignature } from './signing.ts';

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
