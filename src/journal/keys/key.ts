// A key for secrets at rest: 256 random bits, written as one line of text that carries its id.
import { hkdfSync, randomBytes } from 'node:crypto';
import { sha256Hex } from '../../lib/secrets.ts';

const KEY_BYTES = 32;
const ID_DIGITS = 16;
const LINE = /^cfs_([0-9a-f]{16})_([\w-]{43})$/;

/** A key for secrets at rest. Every use has a key of its own, derived from `bytes` with `subkey`. */
export interface SecretKey {
  /** The first 16 hexadecimal digits of a SHA-256 of the key. Public: it stands in the store, in the history and in messages. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** Makes a key. */
export function newSecretKey(): SecretKey {
  return keyOf(randomBytes(KEY_BYTES));
}

/** The key as it is kept: `cfs_<id>_<key in base64url>`. */
export function keyLine({ id, bytes }: SecretKey): string {
  return `cfs_${id}_${Buffer.from(bytes).toString('base64url')}`;
}

/** The key of a line. Returns undefined for a line that is cut or mistyped: its id does not match its key. */
export function keyOfLine(line: string): SecretKey | undefined {
  const [, id, text] = LINE.exec(line) ?? [];
  const key = text === undefined ? undefined : keyOf(Buffer.from(text, 'base64url'));
  return key?.id === id ? key : undefined;
}

/** The key of 32 bytes for one use of a key (HKDF with SHA-256, RFC 5869). */
export function subkey({ bytes }: SecretKey, use: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', bytes, '', `counterfoil ${use}`, KEY_BYTES));
}

function keyOf(bytes: Uint8Array): SecretKey {
  const text = Buffer.from(bytes).toString('base64url');
  return { id: sha256Hex(`counterfoil secrets key ${text}`).slice(0, ID_DIGITS), bytes };
}
