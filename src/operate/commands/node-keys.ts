// The keys of a node, which no backup of the store holds: which there are, which a backup needs, and how they are put back.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_KEY_FILE, privateKeyName } from '../../journal/checkpoint.ts';
import { keyLine, keyOfLine, type SecretKey } from '../../journal/keys/key.ts';
import {
  isOwnPlace,
  keyPlaceName,
  readSecretKeys,
  SECRETS_FILE,
  SecretKeysUnfit,
  writeSecretKeys,
} from '../../journal/keys/key-file.ts';
import { placeDurably } from '../../lib/durable-files.ts';
import type { Configuration } from '../config.ts';
import type { BackupList } from './backup-folder.ts';
import type { KeyId } from './sealed-keys.ts';
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
