// Passkeys: what browsers are asked for, and what they send verified (Web Authentication, level 3).

import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isIP } from 'node:net';
import { decodeCBOR, decodePartialCBOR } from '@levischuck/tiny-cbor';
import { z } from 'zod';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { MINUTE_MS } from '../lib/time.ts';
import type { Administrator, Passkey } from './administrator.ts';

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

// WebAuthn level 3, sections 7.1 and 7.2, without attestation: no page asks for it, so its statement proves nothing.

/** What this site expects: the challenge of its request (base64url), the origin of its page, and its host name. */
interface Expected {
  challenge: string;
  origin: string;
  rpId: string;
}

/** A new credential: id and COSE public key as base64url. */
export interface Credential {
  id: string;
  publicKey: string;
  counter: number;
  transports: string[];
}

const sent = { id: z.string().min(1), rawId: z.string(), type: z.literal('public-key') };
const REGISTRATION = z.object({
  ...sent,
  response: z.object({
    clientDataJSON: z.string(),
    attestationObject: z.string(),
    transports: z.array(z.string()).optional(),
  }),
});
const ASSERTION = z.object({
  ...sent,
  response: z.object({ clientDataJSON: z.string(), authenticatorData: z.string(), signature: z.string() }),
});
const CLIENT_DATA = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.literal(false).optional(),
  topOrigin: z.undefined().optional(),
});

/** Bits of the authenticator data's flags. */
const [PRESENT, ELIGIBLE, BACKED_UP, HAS_CREDENTIAL, HAS_EXTENSIONS] = [0x01, 0x08, 0x10, 0x40, 0x80];
/** Where the authenticator data's parts begin, in bytes: behind the hash of the host name, and behind the counter. */
const [FLAGS_AT, COUNTER_AT, CREDENTIAL_AT] = [32, 33, 37];
const AAGUID_BYTES = 16;
const LONGEST_ID_BYTES = 1023;
const LEAST_RSA_BITS = 2048;

/** The credential in the answer to `navigator.credentials.create` (its JSON, parsed). Throws an `Error` if it is not right. */
export function verifyRegistration(answer: unknown, expected: Expected): Credential {
  const { id, rawId, response } = REGISTRATION.parse(answer);
  if (id !== rawId) throw new Error('The ids differ.');
  checkClientData(bytes(response.clientDataJSON), 'webauthn.create', expected);
  const attestation = readMap(bytes(response.attestationObject));
  const data = Buffer.from(asBytes(attestation.get('authData')));
  const { credential, counter } = readAuthenticatorData(data, expected.rpId);
  if (!credential) throw new Error('There is no credential.');
  readKey(credential.publicKey);
  return {
    id: credential.id.toString('base64url'),
    publicKey: credential.publicKey.toString('base64url'),
    counter,
    transports: response.transports ?? [],
  };
}

/**
 * The new counter in the answer to `navigator.credentials.get` (its JSON, parsed). Throws an `Error` if the answer is invalid or not
 * signed by `credential`, or if its counter does not grow: the key may have been copied.
 */
export function verifyAssertion(
  answer: unknown,
  expected: Expected,
  credential: Pick<Credential, 'publicKey' | 'counter'>,
): number {
  const { id, rawId, response } = ASSERTION.parse(answer);
  if (id !== rawId) throw new Error('The ids differ.');
  const client = bytes(response.clientDataJSON);
  checkClientData(client, 'webauthn.get', expected);
  const data = bytes(response.authenticatorData);
  const { counter } = readAuthenticatorData(data, expected.rpId);
  const { hash, key } = readKey(bytes(credential.publicKey));
  if (!verify(hash, Buffer.concat([data, sha256(client)]), key, bytes(response.signature)))
    throw new Error('The signature is wrong.');
  if ((counter > 0 || credential.counter > 0) && counter <= credential.counter)
    throw new Error('The counter did not grow.');
  return counter;
}

function checkClientData(json: Buffer, type: string, { challenge, origin }: Expected): void {
  const data = CLIENT_DATA.parse(JSON.parse(json.toString()));
  if (data.type !== type || data.challenge !== challenge || data.origin !== origin)
    throw new Error('It is for another request or another site.');
}

/** Reads authenticator data (section 6.1) to its last byte, and checks its host name and flags. */
function readAuthenticatorData(data: Buffer, rpId: string) {
  if (!data.subarray(0, FLAGS_AT).equals(sha256(rpId))) throw new Error('It is for another host name.');
  const flags = data.readUInt8(FLAGS_AT);
  if (!(flags & PRESENT)) throw new Error('The user was not present.');
  if (flags & BACKED_UP && !(flags & ELIGIBLE)) throw new Error('The backup flags contradict each other.');
  let end = CREDENTIAL_AT;
  let credential: { id: Buffer; publicKey: Buffer } | undefined;
  if (flags & HAS_CREDENTIAL) {
    const idAt = end + AAGUID_BYTES + 2;
    const idBytes = data.readUInt16BE(end + AAGUID_BYTES);
    if (idBytes === 0 || idBytes > LONGEST_ID_BYTES) throw new Error('The id is too long or empty.');
    end = afterCbor(data, idAt + idBytes);
    credential = {
      id: data.subarray(idAt, idAt + idBytes),
      publicKey: data.subarray(idAt + idBytes, end),
    };
  }
  if (flags & HAS_EXTENSIONS) end = afterCbor(data, end);
  if (end !== data.length) throw new Error('The authenticator data has another length.');
  return { counter: data.readUInt32BE(COUNTER_AT), credential };
}

/** Where the CBOR item that begins at `start` ends. */
function afterCbor(data: Buffer, start: number): number {
  return start + decodePartialCBOR(copied(data.subarray(start)), 0)[1];
}

/** Throws an `Error` if the bytes are not one CBOR map. */
function readMap(data: Buffer): Map<unknown, unknown> {
  const value = decodeCBOR(copied(data));
  if (!(value instanceof Map)) throw new Error('A CBOR map is missing.');
  return value;
}

/** The bytes as a plain array: the CBOR decoder takes no `Buffer`. */
function copied(data: Buffer): Uint8Array {
  return Uint8Array.from(data);
}

/** A public key in COSE form (RFC 9053): ES256, EdDSA with Ed25519, or RS256; and the hash its signatures are made with. */
function readKey(cose: Buffer): { hash: 'sha256' | null; key: KeyObject } {
  const fields = readMap(cose);
  const part = (label: number) => Buffer.from(asBytes(fields.get(label))).toString('base64url');
  const kind = [1, 3, -1].map((label) =>
    typeof fields.get(label) === 'number' ? fields.get(label) : 'bytes',
  );
  switch (kind.join(' ')) {
    case '2 -7 1':
      return keyOf('sha256', { kty: 'EC', crv: 'P-256', x: part(-2), y: part(-3) });
    case '1 -8 6':
      return keyOf(null, { kty: 'OKP', crv: 'Ed25519', x: part(-2) });
    case '3 -257 bytes':
      return keyOf('sha256', { kty: 'RSA', n: part(-1), e: part(-2) });
    default:
      throw new Error('The key is of another kind.');
  }
}

function keyOf(hash: 'sha256' | null, jwk: Record<string, string>) {
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const { modulusLength = LEAST_RSA_BITS } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < LEAST_RSA_BITS) throw new Error('The RSA key is too short.');
  return { hash, key };
}

function asBytes(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new Error('A CBOR byte string is missing.');
  return value;
}

function bytes(base64url: string): Buffer {
  return Buffer.from(base64url, 'base64url');
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}
