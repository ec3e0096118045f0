// counterfoil secrets lost: lets a store go on without a lost key. What only that key opens is cleared.
import { Command } from 'commander';
import { dropKey, useKey } from '../../journal/keys/change.ts';
import { isOwnPlace, readSecretKeys } from '../../journal/keys/key-file.ts';
import { missingKeys, ordersOf } from '../../journal/keys/open-ring.ts';
import { type StoredSecretKey, storedSecretKeys } from '../../journal/keys/queries.ts';
import { counted } from '../../lib/counted.ts';
import { clearSecrets, sealedSecrets } from '../checks/sealed-secrets.ts';
import { canAsk, saysYes } from './ask.ts';
import { addKey, placeShown } from './secrets-keys.ts';
import { OPERATOR, type Store, type StoreOptions, withStore } from './store.ts';
import { Failure } from './terminal.ts';
import { CONFIG_OPTION, JSON_OPTION } from './usage.ts';

export function lostCommand(): Command {
  return new Command('lost')
    .description('go on without a key that is lost for good: what only it opens is cleared')
    .option('--yes', 'do not ask')
    .option(...CONFIG_OPTION)
    .option(...JSON_OPTION)
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
