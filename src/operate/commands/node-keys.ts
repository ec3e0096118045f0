// The keys of a node, which no backup of the store holds: which there are, how they are sealed, and how they are put back.

import { argon2, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { PRIVATE_KEY_FILE, privateKeyName } from '../../journal/checkpoint.ts';
import {
  isOwnPlace,
  keyLine,
  keyOfLine,
  keyPlaceName,
  readSecretKeys,
  SECRETS_FILE,
  type SecretKey,
  SecretKeysUnfit,
  writeSecretKeys,
} from '../../journal/keys/key-file.ts';
import { placeDurably } from '../../lib/durable-files.ts';
import { decrypt, encrypt, newNonce } from '../../lib/secrets.ts';
import type { Configuration } from '../config.ts';
import type { BackupList } from './backup-folder.ts';
import { Failure, shownPath } from './terminal.ts';

export const CHECKPOINT_KEY = 'checkpoint key';
export const SECRETS_KEY = 'key for secrets';

/** The ids of a node's keys for secrets. None if they cannot be read: a start says why, and a backup needs none to be made. */
export function secretsKeyIds(configuration: Configuration): string[] {
  try {
    return readSecretKeys(configuration).map(({ id }) => id);
  } catch (error) {
    if (error instanceof SecretKeysUnfit) return [];
    throw error;
  }
}

/** A key that a store needs, and whether this node has it. */
export interface NeededKey extends KeyId {
  is_there: boolean;
}

/** The keys without which no server starts on a backup. Empty for a backup that holds its keys itself. */
export function neededKeys({ keys }: BackupList, configuration: Configuration): NeededKey[] {
  const own = secretsKeyIds(configuration);
  return [
    ...(keys?.checkpoint == null ? [] : [checkpointKey(keys.checkpoint, configuration)]),
    ...(keys?.secrets ?? []).map((id) => ({ name: SECRETS_KEY, id, is_there: own.includes(id) })),
  ];
}

function checkpointKey(id: string, { storage }: Configuration): NeededKey {
  return { name: CHECKPOINT_KEY, id, is_there: privateKeyName(storage) === id };
}

/** The keys of this node and the content of their files, by the files' names. Throws `SecretKeysUnfit`, the system's errors. */
export function readKeys(configuration: Configuration): { keys: KeyId[]; files: Record<string, string> } {
  const { storage } = configuration;
  const keys: KeyId[] = [];
  const files: Record<string, string> = {};
  const id = privateKeyName(storage);
  if (id !== undefined) {
    keys.push({ name: CHECKPOINT_KEY, id });
    files[PRIVATE_KEY_FILE] = readFileSync(join(storage, PRIVATE_KEY_FILE), 'utf8');
  }
  const secrets = readSecretKeys(configuration);
  if (secrets.length > 0) files[SECRETS_FILE] = secrets.map(keyLine).join('\n');
  for (const secret of secrets) keys.push({ name: SECRETS_KEY, id: secret.id });
  return { keys, files };
}

interface PutBack extends KeyId {
  was_there: boolean;
}

/**
 * Puts keys back where they are missing, and replaces none. Throws `Failure` before anything is written if another checkpoint key
 * is there or the program may not write the keys for secrets; `SecretKeysUnfit`, the system's errors.
 */
export function putBack(
  { keys, files }: { keys: readonly KeyId[]; files: Readonly<Record<string, string>> },
  configuration: Configuration,
): PutBack[] {
  const place = configuration;
  const path = join(configuration.storage, PRIVATE_KEY_FILE);
  const own = privateKeyName(configuration.storage);
  const saved = keys.find(({ name }) => name === CHECKPOINT_KEY);
  if (saved && own !== undefined && own !== saved.id)
    throw new Failure(
      `${shownPath(path)} is another key, ${own}: move it away and keep it, if ${saved.id} is to take its place`,
    );
  const secrets = (files[SECRETS_FILE] ?? '').split('\n').flatMap((line) => keyOfLine(line) ?? []);
  const there = readSecretKeys(place);
  const has = (some: readonly SecretKey[], { id }: { id: string }) => some.some((one) => one.id === id);
  const isMissing = secrets.some((one) => !has(there, one));
  if (isMissing && !isOwnPlace(place))
    throw new Failure(
      `${keyPlaceName(place)} lacks saved keys, and the program does not write there: run this without that setting, and take the keys from ${SECRETS_FILE} in storage`,
    );
  if (saved && own === undefined) placeDurably(path, files[PRIVATE_KEY_FILE]!);
  if (isMissing) writeSecretKeys(place, [...secrets, ...there.filter((one) => !has(secrets, one))]);
  return keys.map((key) => ({
    ...key,
    was_there: key.name === CHECKPOINT_KEY ? own !== undefined : has(there, key),
  }));
}

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
