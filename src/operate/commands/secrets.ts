// The keys of a node, which no backup of the store holds: saves them sealed with a passphrase, and puts them back.

import { argon2, randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { z } from 'zod';
import { isGuessable } from '../../administrators/password.ts';
import { PRIVATE_KEY_FILE, privateKeyName } from '../../journal/checkpoint.ts';
import {
  isOwnPlace,
  keyLine,
  keyOfLine,
  keyPlaceName,
  newSecretKey,
  readSecretKeys,
  SECRETS_FILE,
  type SecretKey,
  SecretKeysUnfit,
  writeSecretKeys,
} from '../../journal/keys/key-file.ts';
import { placeDurably, sync, writeDurably } from '../../lib/durable-files.ts';
import { decrypt, encrypt, newNonce } from '../../lib/secrets.ts';
import { formatTimestamp, systemClock } from '../../lib/time.ts';
import { prepareStorage } from '../../store/open.ts';
import { type Configuration, configurationFile, readConfiguration } from '../config.ts';
import { type BackupList, requireElsewhere } from './backup-folder.ts';
import { keyCommands } from './secrets-keys.ts';
import type { StoreOptions } from './store.ts';
import { canAsk, Failure, print, shownPath } from './terminal.ts';
import { newCommand, parseFile } from './usage.ts';

interface SecretsOptions extends StoreOptions {
  passphraseFile?: string;
}

export function command(): Command {
  const saving = new Command('backup')
    .description('save the keys of this node in a new file, sealed with a passphrase')
    .argument('<file>', 'the file to make, outside storage', parseFile)
    .addHelpText(
      'after',
      `
The passphrase is asked for twice. Keep it apart from the file: the file alone opens nothing, and without the passphrase it is lost.
On several nodes run it on each: every node has a checkpoint key of its own.

Examples:
  counterfoil secrets backup /mnt/kept/counterfoil-keys.sealed
  counterfoil secrets backup /mnt/kept/counterfoil-keys.sealed --passphrase-file /run/secrets/passphrase`,
    )
    .action(saveKeys);
  const restoring = new Command('restore')
    .description('put saved keys back into storage; one that is there already is never replaced')
    .argument('<file>', 'a file that counterfoil secrets backup made', parseFile)
    .addHelpText(
      'after',
      '\nExamples:\n  counterfoil secrets restore /mnt/kept/counterfoil-keys.sealed\n  pass counterfoil | counterfoil secrets restore /mnt/kept/counterfoil-keys.sealed --passphrase-file -',
    )
    .action(restoreKeys);
  const making = newCommand(
    'new',
    'print a new key for a file that several nodes share; nothing is kept of it',
    ['secrets new | install -m 0600 -o counterfoil -g counterfoil /dev/stdin /etc/counterfoil/secrets.key'],
  ).action(() => console.log(keyLine(newSecretKey())));
  const secrets = newCommand('secrets', 'the keys that no backup of the store holds', [
    'secrets backup /mnt/kept/counterfoil-keys.sealed',
    'secrets rotate',
  ]);
  for (const command of [saving, restoring])
    secrets.addCommand(
      command.option(
        '--passphrase-file <file>',
        'read the passphrase from its first line; - is standard input',
      ),
    );
  for (const command of [making, ...keyCommands()]) secrets.addCommand(command);
  return secrets;
}

async function saveKeys(file: string, { passphraseFile, config, json }: SecretsOptions): Promise<void> {
  const configuration = readConfiguration(configurationFile(config));
  requireElsewhere(file, configuration.storage);
  if (existsSync(file)) throw new Failure(`${shownPath(file)} is there already: name a new file`);
  accessSync(dirname(resolve(file)), constants.W_OK | constants.X_OK); // before a passphrase is asked for
  const { keys, files } = readKeys(configuration);
  if (keys.length === 0)
    throw new Failure(
      `there is no key in ${shownPath(configuration.storage)}: the first start of the server makes them`,
    );
  const passphrase = await newPassphrase(passphraseFile);
  const made_at = formatTimestamp(systemClock.now());
  await writeDurably(file, await sealKeys({ made_at, keys, files }, passphrase));
  await sync(dirname(file));
  await openKeys(readFileSync(file, 'utf8'), passphrase); // as it lies on the disk
  const text = `Saved the ${told(keys)} to ${shownPath(file)}, sealed. Keep it on another machine, and its passphrase elsewhere.`;
  print({ json }, { json: { saved: file, keys }, text });
}

async function restoreKeys(file: string, { passphraseFile, config, json }: SecretsOptions): Promise<void> {
  const configuration = readConfiguration(configurationFile(config));
  const { storage } = configuration;
  const saved = await openKeys(readFileSync(file, 'utf8'), await givenPassphrase(passphraseFile));
  prepareStorage(storage);
  const keys = putBack(saved, configuration);
  if (json) return console.log(JSON.stringify({ storage, keys }));
  const [there, missing] = [true, false].map((was) => keys.filter(({ was_there }) => was_there === was));
  if (missing!.length > 0) console.log(`Put the ${told(missing!)} into ${shownPath(storage)}.`);
  if (there!.length > 0) console.log(`Already in ${shownPath(storage)}: the ${told(there!)}.`);
}

const told = (keys: readonly KeyId[]) => keys.map(({ name, id }) => `${name} ${id}`).join(' and the ');

const MINIMUM = 15;
const STANDARD_INPUT = '-';

/**
 * A passphrase for something new: from `file` (`-` is standard input), or asked for twice. Throws `Failure` if it is short, easily
 * guessed or not typed twice the same, or there is no terminal to ask on.
 */
async function newPassphrase(file: string | undefined): Promise<string> {
  const passphrase = file === undefined ? await ask('New passphrase: ') : readPassphrase(file);
  if ([...passphrase].length < MINIMUM)
    throw new Failure(`the passphrase must have at least ${MINIMUM} characters`);
  if (await isGuessable(passphrase, ['counterfoil', hostname()]))
    throw new Failure(
      'the passphrase is easily guessed: put together words that only you would, or let a program make one',
    );
  if (file === undefined && (await ask('The same again: ')) !== passphrase)
    throw new Failure('the two passphrases differ; nothing was written');
  return passphrase;
}

/** The passphrase of something that is there: from `file`, or asked for once. Throws `Failure` if there is no terminal. */
async function givenPassphrase(file: string | undefined): Promise<string> {
  return file === undefined ? ask('Passphrase: ') : readPassphrase(file);
}

/** The first line of a file. Throws `Failure` if it is empty, the system's errors. */
function readPassphrase(file: string): string {
  const [line] = readFileSync(file === STANDARD_INPUT ? 0 : file, 'utf8').split(/\r?\n/, 1);
  if (!line) throw new Failure(`${file === STANDARD_INPUT ? 'standard input' : file} holds no passphrase`);
  return line;
}

async function ask(question: string): Promise<string> {
  if (!canAsk())
    throw new Failure(
      'there is no terminal to ask for the passphrase on: name a file that holds it with --passphrase-file, or - for standard input',
    );
  // A terminal of readline's echoes what is typed to its output, which is thrown away here.
  const output = new Writable({ write: (_bytes, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  process.stderr.write(question);
  try {
    const closed = new Promise<undefined>((resolve) => {
      terminal.once('close', () => resolve(undefined));
      terminal.once('SIGINT', () => resolve(undefined));
    });
    const answer = await Promise.race([terminal.question('').catch(() => undefined), closed]);
    if (answer === undefined) throw new Failure('no passphrase was given; nothing was written');
    return answer;
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}

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
function readKeys(configuration: Configuration): { keys: KeyId[]; files: Record<string, string> } {
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
function putBack(
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
type KeyId = z.infer<typeof keyId>;

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
async function openKeys(text: string, passphrase: string): Promise<Keys> {
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
