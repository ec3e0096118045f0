// Passkeys (WebAuthn level 3) as a second factor: a key pair on the administrator's device, bound to the console's own address.
import { isIP } from 'node:net';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { MINUTE_MS } from '../lib/time.ts';
import type { Administrator, Passkey } from './administrator.ts';
import { verifyAssertion, verifyRegistration } from './webauthn.ts';

export type { Passkey };

/** What a browser made, verified, before it has a row. */
export type NewPasskey = Pick<Passkey, 'credential_id' | 'public_key' | 'counter' | 'transports'>;

/** The site that passkeys are made for: a host name, and the origin its pages come from. */
export interface Place {
  rpId: string;
  origin: string;
}

/** COSE (RFC 9053): EdDSA, ES256, RS256. */
const ALGORITHMS = [-8, -7, -257];
/** Timeout of a browser's passkey dialog. */
const PATIENCE_MS = 5 * MINUTE_MS;

/** The place that a base URL makes; undefined where browsers make no passkeys: at an IP address, and without https. */
export function passkeyPlace(baseUrl: string): Place | undefined {
  const { protocol, hostname, origin } = new URL(baseUrl);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0 || (protocol !== 'https:' && !isLocal)) return undefined;
  return { rpId: hostname, origin };
}

/**
 * The challenge (base64url) of a passkey that `administrator` is about to add. It is not stored: it is made of their row, and changes
 * with the row when the passkey is added.
 */
export function registrationChallenge(ring: KeyRing, { id, version }: Administrator): string {
  return ring.mac('passkey challenge', JSON.stringify(['passkey', id, version]));
}

/** What `navigator.credentials.create` takes (as JSON), for a passkey that is none of those there are. */
export function registrationOptions(
  ring: KeyRing,
  place: Place,
  administrator: Administrator,
  existing: readonly Passkey[],
) {
  const { id, email, name } = administrator;
  return {
    rp: { name: 'Counterfoil', id: place.rpId },
    user: { id: Buffer.from(id).toString('base64url'), name: email, displayName: name },
    challenge: registrationChallenge(ring, administrator),
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: PATIENCE_MS,
    attestation: 'none',
    excludeCredentials: existing.map(descriptor),
    // Required: the sign-in page names no passkeys, so the browser must find them by itself.
    authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
  };
}

/** The passkey in what a browser sent after `registrationOptions` (its JSON, parsed); undefined where that is not right. */
export function verifiedRegistration(
  ring: KeyRing,
  place: Place,
  administrator: Administrator,
  response: unknown,
): NewPasskey | undefined {
  try {
    const challenge = registrationChallenge(ring, administrator);
    const { id, publicKey, counter, transports } = verifyRegistration(response, { ...place, challenge });
    return {
      credential_id: id,
      public_key: publicKey,
      counter,
      transports: JSON.stringify(transports.filter((one) => /^[a-z-]{1,20}$/.test(one)).slice(0, 8)),
    };
  } catch {
    return undefined; // whatever is wrong with it, it comes from outside
  }
}

/** What `navigator.credentials.get` takes (as JSON): the browser offers the passkeys that it finds for this place by itself. */
export function authenticationOptions(place: Place, challenge: string) {
  return {
    rpId: place.rpId,
    allowCredentials: [],
    challenge,
    timeout: PATIENCE_MS,
    // The password has proved who they are. A passkey proves what they hold.
    userVerification: 'preferred',
  };
}

/** The passkey that signed what a browser sent after `authenticationOptions`, and its new count. Undefined if none did. */
export function verifiedAuthentication(
  place: Place,
  passkeys: readonly Passkey[],
  challenge: string,
  response: unknown,
): { passkey: Passkey; counter: number } | undefined {
  const sent = response as { id?: unknown } | null;
  const passkey = passkeys.find(({ credential_id }) => credential_id === sent?.id);
  if (!passkey) return undefined;
  const credential = { publicKey: passkey.public_key, counter: passkey.counter };
  try {
    return { passkey, counter: verifyAssertion(response, { ...place, challenge }, credential) };
  } catch {
    return undefined;
  }
}

function descriptor({ credential_id, transports }: Passkey) {
  return { id: credential_id, transports: JSON.parse(transports) as string[], type: 'public-key' };
}
