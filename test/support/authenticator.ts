// A security key in software: makes credentials and signs as a browser would send it, with whatever a test wants to be wrong.
import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  type webcrypto,
} from 'node:crypto';

const b64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const digest = (data: string | Buffer) => createHash('sha256').update(data).digest();

/** CBOR (RFC 8949) of what an attestation is made of. */
function cbor(value: number | string | Buffer | Map<unknown, unknown>): Buffer {
  const head = (major: number, n: number) =>
    n < 24
      ? Buffer.from([(major << 5) | n])
      : n < 256
        ? Buffer.from([(major << 5) | 24, n])
        : Buffer.from([(major << 5) | 25, n >> 8, n & 255]);
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const pairs = [...value].flatMap(([key, one]) => [cbor(key as number), cbor(one as number)]);
  return Buffer.concat([head(5, value.size), ...pairs]);
}

/** The kinds of key that passkeys have: COSE algorithm, key pair, public key in COSE form, and hash of signatures. */
const KINDS = {
  ES256: {
    pair: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    cose: ({ x, y }: webcrypto.JsonWebKey) => [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, part(x)],
      [-3, part(y)],
    ],
    hash: 'sha256',
  },
  EdDSA: {
    pair: () => generateKeyPairSync('ed25519'),
    cose: ({ x }: webcrypto.JsonWebKey) => [
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, part(x)],
    ],
    hash: null,
  },
  RS256: {
    pair: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    cose: ({ n, e }: webcrypto.JsonWebKey) => [
      [1, 3],
      [3, -257],
      [-1, part(n)],
      [-2, part(e)],
    ],
    hash: 'sha256',
  },
};
export type Kind = keyof typeof KINDS;
export const KEY_KINDS = Object.keys(KINDS) as Kind[];

const part = (text = '') => Buffer.from(text, 'base64url');

export class Authenticator {
  readonly #kind: Kind;
  readonly #key: { publicKey: KeyObject; privateKey: KeyObject };
  readonly #id = randomBytes(32);
  counter = 0;

  constructor(kind: Kind = 'ES256') {
    this.#kind = kind;
    this.#key = KINDS[kind].pair();
  }

  get credentialId(): string {
    return b64(this.#id);
  }

  #data(rpId: string, attested: Buffer = Buffer.alloc(0)): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    const flags = 0x05 | (attested.length > 0 ? 0x40 : 0); // present and verified
    return Buffer.concat([digest(rpId), Buffer.from([flags]), counter, attested]);
  }

  #client(type: string, challenge: string, origin: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  }

  #credential(response: object): unknown {
    const id = this.credentialId;
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }

  /** What a browser sends after `navigator.credentials.create`. */
  register({ challenge, rpId, origin }: { challenge: string; rpId: string; origin: string }): unknown {
    const jwk = this.#key.publicKey.export({ format: 'jwk' });
    const cose = cbor(new Map(KINDS[this.#kind].cose(jwk) as [number, unknown][]));
    const length = Buffer.from([0, this.#id.length]);
    const authData = this.#data(rpId, Buffer.concat([Buffer.alloc(16), length, this.#id, cose]));
    const attestationObject = cbor(
      new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]),
    );
    return this.#credential({
      clientDataJSON: b64(this.#client('webauthn.create', challenge, origin)),
      attestationObject: b64(attestationObject),
      transports: ['usb'],
    });
  }

  /** What a browser sends after `navigator.credentials.get`; counts one use. */
  sign({ challenge, rpId, origin }: { challenge: string; rpId: string; origin: string }): unknown {
    this.counter++;
    const authenticatorData = this.#data(rpId);
    const client = this.#client('webauthn.get', challenge, origin);
    const signed = Buffer.concat([authenticatorData, digest(client)]);
    return this.#credential({
      clientDataJSON: b64(client),
      authenticatorData: b64(authenticatorData),
      signature: b64(sign(KINDS[this.#kind].hash, signed, this.#key.privateKey)),
    });
  }
}
