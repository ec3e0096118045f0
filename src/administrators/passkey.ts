// Passkeys (WebAuthn level 3) as a second factor: a key pair on the administrator's device, bound to the console's own address.
import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { MINUTE_MS } from '../lib/time.ts';
import type { Administrator } from './administrator.ts';
import type { Passkey } from './rows.ts';

export type { Passkey };

/** What a browser made, verified, before it has a row. */
export type NewPasskey = Pick<Passkey, 'credential_id' | 'public_key' | 'counter' | 'transports'>;

/** The site that passkeys are made for: a host name, and the origin its pages come from. */
export interface Place {
  rpId: string;
  origin: string;
}

/** Loaded when the first passkey comes: it takes a third of the time in which the service is ready. */
const webauthn = () => import('@simplewebauthn/server');

/** COSE (RFC 9053): EdDSA, ES256, RS256. Named, since asking this runtime for others makes it print warnings. */
const ALGORITHMS = [-8, -7, -257];
/** How long a browser lets its user look for their device. */
const PATIENCE_MS = 5 * MINUTE_MS;

/** The place that a base URL makes; nothing where browsers make no passkeys: at an IP address, and without https. */
export function passkeyPlace(baseUrl: string): Place | undefined {
  const { protocol, hostname, origin } = new URL(baseUrl);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0 || (protocol !== 'https:' && !isLocal)) return undefined;
  return { rpId: hostname, origin };
}

/**
 * The challenge of a passkey that `administrator` is about to add: nobody has to keep it, since the row that it is made of
 * changes when the passkey is added, and with it the challenge. base64url.
 */
export function registrationChallenge({ id, salt, version }: Administrator): string {
  return createHmac('sha256', salt)
    .update(JSON.stringify(['passkey', id, version]))
    .digest('base64url');
}

/** What `navigator.credentials.create` takes (as JSON), for a passkey that is none of those there are. */
export async function registrationOptions(
  place: Place,
  administrator: Administrator,
  existing: readonly Passkey[],
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await webauthn();
  return generateRegistrationOptions({
    rpName: 'Counterfoil',
    rpID: place.rpId,
    userName: administrator.email,
    userDisplayName: administrator.name,
    userID: bytes(administrator.id, 'utf8'),
    challenge: bytes(registrationChallenge(administrator), 'base64url'),
    timeout: PATIENCE_MS,
    attestationType: 'none',
    excludeCredentials: existing.map(credential),
    supportedAlgorithmIDs: ALGORITHMS,
    authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
  });
}

/** The passkey in what a browser sent after `registrationOptions` (its JSON, parsed); nothing where that is not right. */
export async function verifiedRegistration(
  place: Place,
  administrator: Administrator,
  response: unknown,
): Promise<NewPasskey | undefined> {
  const { verifyRegistrationResponse } = await webauthn();
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: response as RegistrationResponseJSON,
      expectedChallenge: registrationChallenge(administrator),
      expectedOrigin: place.origin,
      expectedRPID: place.rpId,
      supportedAlgorithmIDs: ALGORITHMS,
      requireUserVerification: false, // the password has proved who they are; this proves what they hold
    });
    if (!verified) return undefined;
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    return {
      credential_id: id,
      public_key: Buffer.from(publicKey).toString('base64url'),
      counter,
      transports: JSON.stringify(transports.filter((one) => /^[a-z-]{1,20}$/.test(one)).slice(0, 8)),
    };
  } catch {
    return undefined; // whatever is wrong with it, it comes from outside
  }
}

/** What `navigator.credentials.get` takes (as JSON). `challenge` is the ticket's. */
export async function authenticationOptions(
  place: Place,
  passkeys: readonly Passkey[],
  challenge: string,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await webauthn();
  return generateAuthenticationOptions({
    rpID: place.rpId,
    allowCredentials: passkeys.map(credential),
    challenge: bytes(challenge, 'base64url'),
    timeout: PATIENCE_MS,
    userVerification: 'preferred',
  });
}

/** The passkey that signed what a browser sent after `authenticationOptions`, and its new count; nothing where none did. */
export async function verifiedAuthentication(
  place: Place,
  passkeys: readonly Passkey[],
  challenge: string,
  response: unknown,
): Promise<{ passkey: Passkey; counter: number } | undefined> {
  const sent = response as AuthenticationResponseJSON | null;
  const passkey = passkeys.find(({ credential_id }) => credential_id === sent?.id);
  if (!passkey) return undefined;
  const { verifyAuthenticationResponse } = await webauthn();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: sent!,
      expectedChallenge: challenge,
      expectedOrigin: place.origin,
      expectedRPID: place.rpId,
      requireUserVerification: false,
      // A count that does not grow raises: the key may have been copied.
      credential: {
        ...credential(passkey),
        publicKey: bytes(passkey.public_key, 'base64url'),
        counter: passkey.counter,
      },
    });
    return verified ? { passkey, counter: authenticationInfo.newCounter } : undefined;
  } catch {
    return undefined;
  }
}

function credential({ credential_id, transports }: Passkey): { id: string; transports: string[] } {
  return { id: credential_id, transports: JSON.parse(transports) as string[] };
}

function bytes(text: string, encoding: 'utf8' | 'base64url'): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, encoding));
}
