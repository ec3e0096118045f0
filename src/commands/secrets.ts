// counterfoil secrets: saves the keys of an installation, sealed with a passphrase, and puts them back.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { configurationFile, readConfiguration } from '../config.ts';
import { prepareStorage } from '../database/open.ts';
import { PRIVATE_KEY_FILE, privateKeyName } from '../journal/checkpoint.ts';
import { placeDurably, sync, writeDurably } from '../lib/durable-files.ts';
import { formatTimestamp, systemClock } from '../lib/time.ts';
import { parseFile } from './arguments.ts';
import { requireElsewhere } from './backup-folder.ts';
import { givenPassphrase, newPassphrase } from './passphrase.ts';
import { type KeyId, type Keys, openKeys, sealKeys } from './sealed-keys.ts';
import { Failure, shownPath } from './terminal.ts';

interface SecretsOptions {
  passphraseFile?: string;
  config?: string;
  json?: boolean;
}

export function secretsCommand(): Command {
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
  const secrets = new Command('secrets')
    .description('the keys that no backup of the store holds')
    .addHelpText('after', '\nExamples:\n  counterfoil secrets backup /mnt/kept/counterfoil-keys.sealed');
  for (const command of [saving, restoring])
    secrets.addCommand(
      command
        .option('--passphrase-file <file>', 'read the passphrase from its first line; - is standard input')
        .option('--config <file>', 'configuration file')
        .option('--json', 'print one JSON document'),
    );
  return secrets;
}

async function saveKeys(file: string, { passphraseFile, config, json }: SecretsOptions): Promise<void> {
  const { storage } = readConfiguration(configurationFile(config));
  requireElsewhere(file, storage);
  if (existsSync(file)) throw new Failure(`${shownPath(file)} is there already: name a new file`);
  const saved = keysOf(storage);
  if (saved.keys.length === 0)
    throw new Failure(`there is no key in ${shownPath(storage)}: the first start of the server makes them`);
  const passphrase = await newPassphrase(passphraseFile);
  await writeDurably(file, await sealKeys(saved, passphrase));
  await sync(dirname(file));
  await openKeys(readFileSync(file, 'utf8'), passphrase); // as it lies on the disk
  if (json) {
    console.log(JSON.stringify({ saved: file, keys: saved.keys }));
    return;
  }
  console.log(
    `Saved the ${told(saved.keys)} to ${shownPath(file)}, sealed. Keep it on another machine, and its passphrase elsewhere.`,
  );
}

async function restoreKeys(file: string, { passphraseFile, config, json }: SecretsOptions): Promise<void> {
  const { storage } = readConfiguration(configurationFile(config));
  const text = readFileSync(file, 'utf8');
  const { keys, files } = await openKeys(text, await givenPassphrase(passphraseFile));
  prepareStorage(storage);
  const pem = files[PRIVATE_KEY_FILE];
  const there = privateKeyName(storage);
  const saved = keys.find(({ name }) => name === CHECKPOINT_KEY);
  const path = join(storage, PRIVATE_KEY_FILE);
  if (pem === undefined || saved === undefined) throw new Failure('the file holds no key of this version');
  if (there !== undefined && there !== saved.id)
    throw new Failure(
      `${shownPath(path)} is another key, ${there}: move it away and keep it, if ${saved.id} is to take its place`,
    );
  if (there === undefined) placeDurably(path, pem);
  if (json) {
    console.log(JSON.stringify({ storage, keys: [{ ...saved, was_there: there !== undefined }] }));
    return;
  }
  console.log(
    there === undefined
      ? `Put the ${told([saved])} into ${shownPath(storage)}.`
      : `The ${told([saved])} is in ${shownPath(storage)} already.`,
  );
}

const CHECKPOINT_KEY = 'checkpoint key';

const told = (keys: readonly KeyId[]) => keys.map(({ name, id }) => `${name} ${id}`).join(' and the ');

/** The keys in a storage directory. */
function keysOf(storage: string): Keys {
  const made_at = formatTimestamp(systemClock.now());
  const id = privateKeyName(storage);
  if (id === undefined) return { made_at, keys: [], files: {} };
  const pem = readFileSync(join(storage, PRIVATE_KEY_FILE), 'utf8');
  return { made_at, keys: [{ name: CHECKPOINT_KEY, id }], files: { [PRIVATE_KEY_FILE]: pem } };
}
