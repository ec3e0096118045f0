// The keys of an installation as one text, sealed with a passphrase: Argon2id derives a key, AES-256-GCM encrypts with it.
import { argon2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { z } from 'zod';
import { decrypt, encrypt, newNonce } from '../../lib/cipher.ts';
import { Failure } from './terminal.ts';

const FORMAT = 'counterfoil keys';
const VERSION = 1;
/**
 * Argon2id (RFC 9106): twice the memory that a password gets. Part of version 1: a file names no cost, so that a forged one cannot ask for
 * all memory.
 */
const COST = { memory: 128 * 1024, passes: 3, parallelism: 1, tagLength: 32 };
const SALT_BYTES = 16;

/** A key by what it is for, and by its public id. */
const keyId = z.object({ name: z.string(), id: z.string() });
export type KeyId = z.infer<typeof keyId>;

const headSchema = z.object({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  /** `2026-11-21T04:17:00+00:00` */
  made_at: z.string(),
  /** Which keys are inside. */
  keys: z.array(keyId),
  /** base64url, as the two below. */
  salt: z.string(),
  nonce: z.string(),
});
const sealedSchema = headSchema.extend({ sealed: z.string() });
type Head = z.infer<typeof headSchema>;

interface Keys {
  made_at: string;
  keys: KeyId[];
  /** The content of each key file by its name. */
  files: Record<string, string>;
}

/** Seals keys with a passphrase. Returns a JSON document. */
export async function sealKeys({ made_at, keys, files }: Keys, passphrase: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const nonce = newNonce();
  const head: Head = {
    format: FORMAT,
    version: VERSION,
    made_at,
    keys,
    salt: salt.toString('base64url'),
    nonce: nonce.toString('base64url'),
  };
  const key = await derive(passphrase, salt);
  const sealed = encrypt({ key, nonce, associated: associated(head) }, JSON.stringify(files));
  return `${JSON.stringify({ ...head, sealed: sealed.toString('base64url') }, null, 2)}\n`;
}

/** Opens what `sealKeys` returned. Throws `Failure` if the text is no such document, was changed, or has another passphrase. */
export async function openKeys(text: string, passphrase: string): Promise<Keys> {
  const { sealed, ...head } = parseSealed(text);
  const key = await derive(passphrase, Buffer.from(head.salt, 'base64url'));
  try {
    const sealing = { key, nonce: Buffer.from(head.nonce, 'base64url'), associated: associated(head) };
    const files = JSON.parse(decrypt(sealing, Buffer.from(sealed, 'base64url')));
    return { made_at: head.made_at, keys: head.keys, files };
  } catch {
    throw new Failure('the passphrase is another one, or the file was changed');
  }
}

function parseSealed(text: string): z.infer<typeof sealedSchema> {
  try {
    return sealedSchema.parse(JSON.parse(text));
  } catch {
    throw new Failure('the file is none that counterfoil secrets backup of this version made');
  }
}

/** What is not encrypted is authenticated. */
function associated({ format, version, made_at, keys, salt, nonce }: Head): Buffer {
  const ids = keys.map(({ name, id }) => [name, id]);
  return Buffer.from(JSON.stringify([format, version, made_at, ids, salt, nonce]));
}

async function derive(passphrase: string, nonce: Buffer): Promise<Buffer> {
  return promisify(argon2)('argon2id', { message: passphrase, nonce, ...COST });
}
