// counterfoil secrets rotate, list, remove and lost: replaces keys for secrets while servers run, and goes on without a lost one.
import { setTimeout as delay } from 'node:timers/promises';
import { Argument, Command } from 'commander';
import {
  addSecretKey,
  isOwnPlace,
  keyLine,
  keyPlaceName,
  newSecretKey,
  readSecretKeys,
} from '../../journal/keys/key-file.ts';
import {
  announceKey,
  dropKey,
  lockKeys,
  missingKeys,
  ordersOf,
  ringOf,
  type StoredSecretKey,
  storedSecretKeys,
  useKey,
} from '../../journal/keys/open-ring.ts';
import { counted } from '../../lib/text.ts';
import { SECOND_MS, timestampOrNull } from '../../lib/time.ts';
import { clearSecrets, resealSecrets, sealedSecrets } from '../checks/sealed-secrets.ts';
import type { Configuration } from '../config.ts';
import { listed, OPERATOR, onStore, type Store } from './store.ts';
import { confirm, Failure, type Printed, shownPath } from './terminal.ts';
import { newCommand } from './usage.ts';

/** Four times what a node needs to hear of an entry. */
const HEARD_MS = 2 * SECOND_MS;

export function keyCommands(): Command[] {
  const commands = [
    new Command('rotate')
      .description('seal all secrets with a new key; the old keys still open what they sealed')
      .option('--to <id>', 'use this key, which every node has, in place of a new one')
      .addHelpText(
        'after',
        `
Servers may run. One node that keeps its keys in storage needs this one command. Where several nodes have the key, or the key comes from
secrets_key_file or COUNTERFOIL_SECRETS_KEY, the first run makes a key and says where to put it. The second run, with --to, uses it.
Run it as the account and with the environment that the service has. If it is interrupted, run it again with --to.

Examples:
  counterfoil secrets rotate
  counterfoil secrets rotate --to 0123456789abcdef
  counterfoil secrets list`,
      )
      .action(onStore(rotate)),
    newCommand(
      'list',
      'list the keys for secrets: since when, how many secrets each has sealed, whether this node has it',
      ['secrets list --json'],
    ).action(onStore(list)),
    newCommand('remove', 'end an old key on every node; refused while a secret is sealed with it', [
      'secrets remove 0123456789abcdef',
    ])
      .addArgument(new Argument('<id>', 'the id of the key, from secrets list'))
      .action(onStore(remove)),
  ];
  return [...commands, lostCommand()];
}

async function rotate(store: Store, { to }: { to?: string }): Promise<Printed> {
  const { configuration, database } = store;
  const before = (await ringIn(store)).current;
  const isAlone = isOwnPlace(configuration) && (database.engine === 'sqlite' || configuration.nodes === 1);
  if (to === undefined && !isAlone) return prepare(store);
  const key = to ?? (await addKey(store)).id;
  if (!readSecretKeys(configuration).some(({ id }) => id === key))
    throw new Failure(`${placeShown(configuration)} holds no key ${key}: counterfoil secrets list shows all`);
  const { sealed, left } = await switchTo(store, key);
  const [was, it] = left.length === 1 ? ['was', 'it is'] : ['were', 'they are'];
  const faults = `${left.join(', ')} ${was} changed in the store itself and left as ${it}: run counterfoil audit verify`;
  const next = `Next: save the keys again (counterfoil secrets backup FILE).
After 15 minutes every session in use has moved to the new key. Then:
  counterfoil secrets remove ${before}`;
  return {
    json: { current: key, before, sealed, left },
    text: `${key} is the current key. ${counted(sealed, 'secret')} sealed with it.`,
    aside: [...(left.length > 0 ? [faults] : []), ...(before === key ? [] : [next])].join('\n\n'),
    hasFailed: left.length > 0,
  };
}

/** Makes a key that the operator must put on every node before it can be used. */
async function prepare(store: Store): Promise<Printed> {
  const { configuration } = store;
  const isOwn = isOwnPlace(configuration);
  const key = isOwn ? await addKey(store) : newSecretKey();
  const place = placeShown(configuration);
  const restart = configuration.secrets_keys === null ? '' : ', and restart the nodes one after the other';
  const what = isOwn
    ? `The new key ${key.id} is in ${place}. Nothing is sealed with it yet.
Next: copy that file to every other node (mode 0600, same owner)`
    : `This is the new key ${key.id}. It is kept nowhere, and shown only this once.
Next: add the line to ${place} on every node. Keep the lines that are there${restart}`;
  const line = isOwn ? null : keyLine(key);
  return {
    json: { prepared: key.id, line, place: keyPlaceName(configuration) },
    text: line ?? '',
    aside: `${what}. Then, on one node:\n  counterfoil secrets rotate --to ${key.id}`,
  };
}

/** Adds a key to this node's own file. Throws `SecretKeysUnfit` for keys that are kept elsewhere. */
function addKey({ configuration, database }: Pick<Store, 'configuration' | 'database'>) {
  return database.transaction(async (transaction) => {
    await lockKeys(transaction, database.engine);
    return addSecretKey(configuration);
  });
}

/** Makes `key` the current one and seals every secret with it, until no node seals with another. Throws `Failure`. */
async function switchTo(store: Store, key: string): ReturnType<typeof resealSecrets> {
  const { database, journal } = store;
  const ring = await ringIn(store);
  if (ring.current !== key) {
    if ((await storedSecretKeys(database)).some(({ id }) => id === key))
      throw new Failure(`the key ${key} was used before: counterfoil secrets rotate makes a new one`);
    await journal.commit((transaction) => announceKey(transaction, OPERATOR, key));
    await delay(HEARD_MS);
    await journal.commit((transaction) => useKey(transaction, OPERATOR, key));
    ring.use(ordersOf(await storedSecretKeys(database)));
    await delay(HEARD_MS);
  }
  let sealed = 0;
  for (;;) {
    const done = await resealSecrets(database, journal, ring);
    sealed += done.sealed;
    if (done.sealed === 0) return { sealed, left: done.left };
  }
}

/** The ring of a store that was served. Throws `Failure`, and `SecretKeysUnfit` if a key is missing. */
async function ringIn({ configuration, database }: Store) {
  const stored = await storedSecretKeys(database);
  if (stored.length === 0)
    throw new Failure('the store has no key for secrets yet: the first start of the server makes it');
  return ringOf(stored, configuration);
}

/** Where the keys of this node are, as its operator knows it. */
function placeShown(configuration: Configuration): string {
  const name = keyPlaceName(configuration);
  return configuration.secrets_keys === null ? shownPath(name) : name;
}

async function list({ configuration, database }: Store): Promise<Printed> {
  const held = readSecretKeys(configuration).map(({ id }) => id);
  const stored = await storedSecretKeys(database);
  const { current } = ordersOf(stored);
  const secrets = await sealedSecrets(database);
  const ids = new Set([...stored.map(({ id }) => id), ...held, ...secrets.flatMap(({ key }) => key ?? [])]);
  const keys = [...ids].map((id) => {
    const row = stored.find((one) => one.id === id);
    return {
      id,
      created_at: timestampOrNull(row?.created_at),
      removed_at: timestampOrNull(row?.removed_at),
      state: !row ? 'unused' : row.removed_at !== null ? 'removed' : id === current ? 'current' : 'old',
      sealed_secrets: secrets.filter(({ key }) => key === id).length,
      held_in: held.includes(id) ? keyPlaceName(configuration) : null,
    };
  });
  return listed('keys', keys, '', (one) => [
    one.id,
    one.created_at ?? '-',
    one.state,
    counted(one.sealed_secrets, 'secret'),
    one.held_in === null ? 'missing on this node' : `in ${placeShown(configuration)}`,
  ]);
}

async function remove({ configuration, database, journal }: Store, id: string): Promise<Printed> {
  const stored = await storedSecretKeys(database);
  if (!stored.some((one) => one.id === id))
    throw new Failure(`the store has no key ${id}: counterfoil secrets list shows all`);
  // First: the one key of a store has no entry yet, so an act on it would be refused as on a row that was changed outside.
  if (ordersOf(stored).current === id)
    throw new Failure(`${id} is the current key: counterfoil secrets rotate puts another in its place`);
  await journal.commit(async (transaction) => {
    // The row is locked before the secrets are counted: no node seals with the key from here on.
    await dropKey(transaction, OPERATOR, 'secrets.key_removed', id);
    const { current } = ordersOf(await storedSecretKeys(transaction));
    const needing = (await sealedSecrets(transaction)).filter(({ key }) => key === id);
    if (needing.length > 0)
      throw new Failure(
        `${counted(needing.length, 'secret')} still sealed with ${id} (${[...new Set(needing.map(({ holder }) => holder))].join(', ')}): run counterfoil secrets rotate --to ${current}`,
      );
  });
  return {
    json: { removed: id },
    text: `No node takes the key ${id} for anything within a second.`,
    ...(readSecretKeys(configuration).some((one) => one.id === id) && {
      aside: `Its line stays in ${placeShown(configuration)}: backups from before need it. Take it out when they are gone, or if the key was stolen.`,
    }),
  };
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
    .action(onStore(lost));
}

async function lost(store: Store, { yes }: { yes?: boolean }): Promise<Printed> {
  const { configuration, database, journal } = store;
  const stored = await storedSecretKeys(database);
  const missing = missingKeys(stored, configuration).map(({ id }) => id);
  if (missing.length === 0) throw new Failure(`no key is missing from ${placeShown(configuration)}`);
  const sealed = (await sealedSecrets(database)).filter(({ key }) => key !== null && missing.includes(key));
  if (!yes)
    await confirm(
      `${counted(sealed.length, 'secret')} of authenticator apps and webhook endpoints cannot be used without ${missing.join(', ')}`,
      {
        question: 'Clear them for good?',
        orElse: 'if no node and no saved file has the key, add --yes to clear them for good',
        none: 'nothing was changed',
      },
    );
  const current = missing.includes(ordersOf(stored).current)
    ? await newCurrent(store, stored)
    : ordersOf(stored).current;
  const { apps, endpoints, left } = await clearSecrets(database, journal, missing);
  for (const id of missing)
    await journal.commit((transaction) => dropKey(transaction, OPERATOR, 'secrets.key_lost', id));
  const faults = `${left.join(', ')}: changed in the store itself, and left: run counterfoil audit verify\n\n`;
  return {
    json: { lost: missing, current, cleared: apps, disabled_endpoints: endpoints, left },
    text: [
      `The store goes on without ${missing.join(', ')}. The current key is ${current}.`,
      ...apps.map((one) => `${one}: no authenticator app any more. A passkey or a recovery code signs in.`),
      ...endpoints.map((id) => `${id}: no secret any more. Its merchant makes a new one.`),
    ].join('\n'),
    aside: `${left.length > 0 ? faults : ''}Next: start the service, and save the keys (counterfoil secrets backup FILE).
For an administrator who has neither passkey nor recovery code:
  counterfoil administrators reset EMAIL`,
    hasFailed: left.length > 0,
  };
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
