// The keys for secrets at rest: 256 random bits as a line of text, in secrets.key, another file or a variable.

import { hkdfSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { placeDurably } from '../../lib/durable-files.ts';
import { sha256Hex } from '../../lib/secrets.ts';

/**
 * The file in the storage directory, mode 0600. One key a line, oldest first; a line that begins with `#` is a comment. A backup of
 * the store must not hold this file. A backup of keys must hold all of it: an older key opens what is not sealed anew yet, and
 * backups of the store that were made before a rotation.
 */
export const SECRETS_FILE = 'secrets.key';

const HEADING =
  '# Counterfoil: keys for secrets in the store. Every node needs this file. Keep a copy apart from backups of the store.';

/** What says where the keys are. Paths are absolute. */
export interface KeyPlace {
  /** The storage directory. */
  storage: string;
  /** A file that holds the keys instead of `secrets.key`, such as a container's secret. The program never writes it. */
  secrets_key_file: string | null;
  /** The keys themselves, from `COUNTERFOIL_SECRETS_KEY`; separated by white space. Goes before both files. */
  secrets_keys: string | null;
}

/** The keys cannot be read, or are not those that the store needs. The message says what, where and how to fix it. */
export class SecretKeysUnfit extends Error {
  override readonly name = 'SecretKeysUnfit';
}

/** Where the keys are, in words: a path or the name of the variable. */
export function keyPlaceName({ storage, secrets_key_file, secrets_keys }: KeyPlace): string {
  if (secrets_keys !== null) return 'COUNTERFOIL_SECRETS_KEY in the environment';
  return secrets_key_file ?? join(storage, SECRETS_FILE);
}

/** Whether the program may write the keys: only the file in storage is its own. */
export function isOwnPlace({ secrets_key_file, secrets_keys }: KeyPlace): boolean {
  return secrets_keys === null && secrets_key_file === null;
}

/**
 * Reads the keys, oldest first. Returns none where `secrets.key` does not exist. Throws `SecretKeysUnfit` for a named file that
 * cannot be read and for a line that is no key.
 */
export function readSecretKeys(place: KeyPlace): SecretKey[] {
  const name = keyPlaceName(place);
  const keys: SecretKey[] = [];
  for (const line of textOf(place).split('\n')) {
    for (const word of line.startsWith('#') ? [] : line.split(/\s+/).filter((one) => one !== '')) {
      const key = keyOfLine(word);
      if (!key)
        throw new SecretKeysUnfit(
          `${name}: one of its lines is no whole key: put the keys back (counterfoil secrets restore, if they were saved)`,
        );
      if (!keys.some(({ id }) => id === key.id)) keys.push(key);
    }
  }
  return keys;
}

/** Makes a key and adds it to `secrets.key`, which it makes if needed. Returns the new key. Throws `SecretKeysUnfit`. */
export function addSecretKey(place: KeyPlace): SecretKey {
  const key = newSecretKey();
  writeSecretKeys(place, [...readSecretKeys(place), key]);
  return key;
}

/** Replaces the keys in `secrets.key`, whole or not at all. Throws `SecretKeysUnfit` for another place. */
export function writeSecretKeys(place: KeyPlace, keys: readonly SecretKey[]): void {
  if (!isOwnPlace(place))
    throw new SecretKeysUnfit(`${keyPlaceName(place)}: the program does not write there: change it yourself`);
  placeDurably(keyPlaceName(place), [HEADING, ...keys.map(keyLine), ''].join('\n'));
}

function textOf(place: KeyPlace): string {
  if (place.secrets_keys !== null) return place.secrets_keys;
  const file = keyPlaceName(place);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && isOwnPlace(place)) return '';
    throw new SecretKeysUnfit(`${file}: cannot be read (${code}): name another with secrets_key_file`);
  }
}

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
