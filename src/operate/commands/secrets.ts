// Secrets of an installation: saves its keys sealed with a passphrase, puts them back, replaces them, and goes on without a lost one.
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { Command } from 'commander';
import { isGuessable } from '../../administrators/password.ts';
import { isOwnPlace, keyLine, newSecretKey, readSecretKeys } from '../../journal/keys/key-file.ts';
import {
  dropKey,
  missingKeys,
  ordersOf,
  type StoredSecretKey,
  storedSecretKeys,
  useKey,
} from '../../journal/keys/open-ring.ts';
import { counted } from '../../lib/counted.ts';
import { sync, writeDurably } from '../../lib/durable-files.ts';
import { formatTimestamp, systemClock } from '../../lib/time.ts';
import { prepareStorage } from '../../store/open.ts';
import { clearSecrets, sealedSecrets } from '../checks/sealed-secrets.ts';
import { configurationFile, readConfiguration } from '../config.ts';
import { parseFile } from './arguments.ts';
import { requireElsewhere } from './backup-folder.ts';
import { type KeyId, openKeys, putBack, readKeys, sealKeys } from './node-keys.ts';
import { addKey, keyCommands, placeShown } from './secrets-keys.ts';
import { OPERATOR, type Store, type StoreOptions, withStore } from './store.ts';
import { canAsk, Failure, print, saysYes, shownPath } from './terminal.ts';
import { newCommand } from './usage.ts';

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
  for (const command of [making, ...keyCommands(), lostCommand()]) secrets.addCommand(command);
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

function lostCommand(): Command {
  return new Command('lost')
    .description('go on without a key that is lost for good: what only it opens is cleared')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `
A key that another node or a saved file has is not lost: copy it, or use counterfoil secrets restore. What a lost key sealed is gone, above
all the authenticator apps of administrators. They sign in with a passkey or a recovery code and add an app again; who has neither needs
counterfoil administrators reset. A webhook endpoint without its secret is disabled until its merchant makes a new one. Passwords, payments
and API keys stay. Where secrets_key_file or COUNTERFOIL_SECRETS_KEY names the keys, put a new one
there first (counterfoil secrets new). If it is interrupted, run it again.

Examples:
  counterfoil secrets lost
  counterfoil secrets lost --yes --json`,
    )
    .action(lost);
}

async function lost({ yes, ...options }: StoreOptions & { yes?: boolean }): Promise<void> {
  await withStore(options, async (store) => {
    const { configuration, database, journal } = store;
    const stored = await storedSecretKeys(database);
    const missing = missingKeys(stored, configuration).map(({ id }) => id);
    if (missing.length === 0) throw new Failure(`no key is missing from ${placeShown(configuration)}`);
    const sealed = (await sealedSecrets(database)).filter(({ key }) => key !== null && missing.includes(key));
    if (!yes) await confirm(missing, sealed.length);
    const current = missing.includes(ordersOf(stored).current)
      ? await newCurrent(store, stored)
      : ordersOf(stored).current;
    const { apps, endpoints, left } = await clearSecrets(database, journal, missing);
    for (const id of missing)
      await journal.commit((transaction) => dropKey(transaction, OPERATOR, 'secrets.key_lost', id));
    if (left.length > 0) process.exitCode = 1;
    if (options.json)
      return console.log(
        JSON.stringify({ lost: missing, current, cleared: apps, disabled_endpoints: endpoints, left }),
      );
    console.log(`The store goes on without ${missing.join(', ')}. The current key is ${current}.`);
    for (const email of apps)
      console.log(`${email}: no authenticator app any more. A passkey or a recovery code signs in.`);
    for (const id of endpoints) console.log(`${id}: no secret any more. Its merchant makes a new one.`);
    if (left.length > 0)
      console.error(
        `${left.join(', ')}: changed in the store itself, and left: run counterfoil audit verify`,
      );
    console.error(`
Next: start the service, and save the keys (counterfoil secrets backup FILE).
For an administrator who has neither passkey nor recovery code:
  counterfoil administrators reset EMAIL`);
  });
}

/** Makes a key current that the store does not know: one that was put there, or a new one in this node's own file. Throws `Failure`. */
async function newCurrent(store: Store, stored: readonly StoredSecretKey[]): Promise<string> {
  const { configuration, journal } = store;
  const isUnused = ({ id }: { id: string }) => !stored.some((one) => one.id === id);
  const held = readSecretKeys(configuration).findLast(isUnused);
  if (!held && !isOwnPlace(configuration))
    throw new Failure(
      `${placeShown(configuration)} holds no new key: put there, on every node, what counterfoil secrets new prints`,
    );
  const { id } = held ?? (await addKey(store));
  await journal.commit((transaction) => useKey(transaction, OPERATOR, id));
  return id;
}

/** Asks at a terminal. Throws `Failure` without a terminal, or if the answer is no. */
async function confirm(missing: readonly string[], sealed: number): Promise<void> {
  const what = `${counted(sealed, 'secret')} of authenticator apps and webhook endpoints cannot be used without ${missing.join(', ')}`;
  if (!canAsk())
    throw new Failure(`${what}: if no node and no saved file has the key, add --yes to clear them for good`);
  if (!(await saysYes(`${what}. Clear them for good?`))) throw new Failure('nothing was changed');
}
