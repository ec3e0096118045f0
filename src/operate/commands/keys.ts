// counterfoil keys: makes keys of merchants, wherever those stand; a key is printed once, its digest is kept.
import { existsSync, realpathSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { randomId } from '../../lib/ids.ts';
import { type Moments, momentsIn } from '../../lib/moments.ts';
import { newSecret } from '../../lib/secrets.ts';
import { timestampOrNull } from '../../lib/time.ts';
import { issueKey, keyNameFault, OVERLAPS_MS } from '../../merchants/api-keys.ts';
import {
  KEY_PREFIX,
  keyDigest,
  keyId,
  MERCHANT_ID_PREFIX,
  type Merchant,
  type Mode,
} from '../../merchants/merchant.ts';
import { findMerchant } from '../../merchants/queries.ts';
import { type Configuration, configurationFile, readConfiguration } from '../config.ts';
import { environment } from '../environment.ts';
import { addKeyToFile, UNFINISHED } from './key-file.ts';
import { list, revoke, rotate } from './keys-existing.ts';
import { loadDirectory, merchantNamed, nearestMerchant, noSuchMerchant } from './merchant-names.ts';
import { lendAnyStore, OPERATOR, onStore, type Store, type StoreOptions } from './store.ts';
import { canAsk, Failure, print, saysYes, shownPath } from './terminal.ts';
import { addCommands, newCommand, parseExpiry } from './usage.ts';

interface CreateOptions extends StoreOptions {
  merchant: string;
  test?: boolean;
  live?: boolean;
  expires?: number;
  name?: string;
  new?: boolean;
  yes?: boolean;
}

export function command(): Command {
  return addCommands(
    newCommand(
      'keys',
      'API keys of merchants',
      [
        'keys create --merchant "Corner Shop"',
        'keys list --merchant "Corner Shop"',
        'keys rotate key_4be2f08a51c7d936 --overlap 7d',
        'keys revoke key_4be2f08a51c7d936',
      ],
      `Keys of merchants who registered or were imported act on the store at once, a running server included. Keys that are added to
the configuration file are taken over on SIGHUP.`,
    ),
    [
      createCommand(),
      newCommand('list', 'list keys and when they were last used; never the keys themselves', [
        'keys list',
        'keys list --json',
      ])
        .option('--merchant <name>', 'of one merchant alone: business name or id')
        .action(list),
      newCommand(
        'rotate',
        'make a key in the place of another, which works on for a while, and print it once',
        [
          'keys rotate key_4be2f08a51c7d936 --overlap 7d',
          'keys rotate key_4be2f08a51c7d936 --overlap 0    for a key that leaked, then:',
          'keys revoke key_4be2f08a51c7d936 --with-those-it-made',
        ],
      )
        .argument('<id>', 'key_…, as keys list shows it')
        .addOption(
          new Option('--overlap <time>', 'for how long the old key works on')
            .choices(Object.keys(OVERLAPS_MS))
            .default('24h'),
        )
        .option('--name <text>', 'what the new key is for; as the old one when left out')
        .action(onStore(rotate)),
      newCommand('revoke', 'end a key now and for good', [
        'keys revoke key_4be2f08a51c7d936',
        'keys revoke key_4be2f08a51c7d936 --with-those-it-made --yes    for a key that leaked',
      ])
        .argument('<id>', 'key_…, as keys list shows it')
        .option('--yes', 'revoke it although it was used in the last day')
        .option(
          '--with-those-it-made',
          'end the keys that were made with it as well, and those made with them',
        )
        .action(revoke),
    ],
  );
}

function createCommand(): Command {
  return newCommand(
    'create',
    'make a key, print it once, and keep its digest where its merchant stands',
    [
      'keys create --merchant "Corner Shop"',
      'keys create --merchant mer_corner_shop --live --expires 365d --name "Web shop"',
    ],
    `A merchant that stands in the configuration file, imported or not, gets its key there: a running server takes it over on
SIGHUP. Any other merchant of the store gets it in the store: it works at once. A name that neither has makes a merchant in
the file.`,
  )
    .requiredOption('--merchant <name>', 'business name or id; a name that is not there makes a merchant')
    .option('--test', 'a key for test payments (default)')
    .option('--live', 'a key for real payments')
    .option('--expires <when>', 'a moment with an offset, or a time from now: 12h, 90d', parseExpiry)
    .option('--name <text>', 'what the key is for')
    .option('--yes', 'do not ask whether a merchant that is named by its name is the one that is meant')
    .option('--new', 'make a merchant, though one is called almost the same')
    .action(create);
}

async function create(options: CreateOptions, command: Command): Promise<void> {
  if (options.test && options.live) command.error('error: --test and --live exclude one another');
  const mode: Mode = options.live ? 'live' : 'test';
  const fault = options.name === undefined ? undefined : keyNameFault(options.name);
  if (fault) throw new Failure(`--name: ${fault}`);
  const file = realpathSync(existing(configurationFile(options.config)));
  const configuration = readConfiguration(file, environment, UNFINISHED);
  if (mode === 'live' && configuration.environment === 'development') {
    throw new Failure('in development all keys make test payments; a live key needs environment: production');
  }
  const asked = { ...options, words: momentsIn(configuration.time_zone) };
  const inFile = (merchant: Merchant, isNew: boolean) => createInFile(file, merchant, isNew, mode, asked);
  // The file alone is enough for a merchant that it has under this id, whether the store can be reached or not.
  const configured = configuration.merchants.find(({ id }) => id === options.merchant);
  if (configured) return inFile(configured, false);
  return lendAnyStore(configuration, async (store) => {
    const { merchant, isNew } = await chosen(options, configuration, store);
    const isConfigured = configuration.merchants.some(({ id }) => id === merchant.id);
    if (!store || isNew || isConfigured) return inFile(merchant, isNew);
    if (mode === 'live' && !options.yes) await confirm(store, merchant, options.merchant);
    await createInStore(store, merchant, mode, asked);
  });
}

/** Returns `file`. Throws `ConfigurationError`, which says what is missing, if it does not exist. */
function existing(file: string): string {
  if (!existsSync(file)) readConfiguration(file);
  return file;
}

/** Whose key it becomes: a merchant that there is, or a new one of that name, unless that looks like a slip. Throws `Failure`. */
async function chosen(
  { merchant: wanted, new: wantsNew }: CreateOptions,
  configuration: Configuration,
  store: Store | undefined,
): Promise<{ merchant: Merchant; isNew: boolean }> {
  const directory = await loadDirectory(configuration, store?.database);
  const found = merchantNamed(wanted, directory);
  if (found) return { merchant: found, isNew: false };
  if (wanted.startsWith(MERCHANT_ID_PREFIX)) throw noSuchMerchant(wanted, directory);
  const near = wantsNew ? undefined : nearestMerchant(wanted, directory.merchants);
  if (near) {
    const doubt = `${wanted} is new: there is no merchant of that name. Did you mean ${near.name} (${near.id})?`;
    const isNew = canAsk() && (await saysYes(`${doubt}\nMake a new merchant called ${wanted}?`));
    if (!isNew) throw new Failure(`${doubt} No key was made. To make a new merchant all the same, add --new`);
  }
  return { merchant: { id: randomId(MERCHANT_ID_PREFIX, 20), name: wanted }, isNew: true };
}

/**
 * Asks whether a merchant that was found by its name alone is the right one, because a merchant that registers may take the name of
 * another. Throws `Failure` unless the user says yes.
 */
async function confirm(
  { database, configuration }: Store,
  { id, name }: Merchant,
  wanted: string,
): Promise<void> {
  if (wanted === id) return;
  const { email = null, created_at = null } = (await findMerchant(database, id)) ?? {};
  const since =
    created_at === null ? '' : `, registered ${momentsIn(configuration.time_zone).dayOf(created_at)}`;
  const who = `${name} (${id}${email === null ? '' : `, ${email}`}${since})`;
  if (canAsk() && (await saysYes(`A live key for ${who}?`))) return;
  throw new Failure(`this makes a live key for ${who}. No key was made: name it by its id, or add --yes`);
}

type Asked = CreateOptions & { words: Moments };

async function createInFile(
  file: string,
  { id, name }: Merchant,
  isNew: boolean,
  mode: Mode,
  asked: Asked,
): Promise<void> {
  const key = newSecret(KEY_PREFIX[mode]);
  const digest = keyDigest(key);
  const expires_at = timestampOrNull(asked.expires);
  const entry = {
    key_sha256: digest,
    ...(asked.name !== undefined && { name: asked.name }),
    mode,
    ...(expires_at !== null && { expires_at }),
  };
  await addKeyToFile(file, { id, name }, entry);
  const path = shownPath(file);
  printKey(asked, { id, name }, mode, key, {
    ...{ id: keyId(digest), new: isNew, name: asked.name ?? null, expires_at, file },
    before: isNew ? `${name} is a new merchant: ${id}, in ${path}.\n` : '',
    next: `${path} holds its digest.\nNext: restart the server or send it SIGHUP (kill -HUP PID), and it takes the key over.`,
  });
}

async function createInStore(
  { journal }: Store,
  merchant: Merchant,
  mode: Mode,
  asked: Asked,
): Promise<void> {
  const { expires = null, name = null } = asked;
  const wish = { merchantId: merchant.id, mode, name, expires_at: expires };
  const { key, row } = await journal.commit(
    (transaction) => issueKey(transaction, wish, OPERATOR),
    merchant.id,
  );
  const expires_at = timestampOrNull(row.expires_at);
  printKey(asked, merchant, mode, key, {
    ...{ id: row.id, new: false, name: row.name, expires_at, file: null, before: '' },
    next: 'The store holds its digest.\nIt works already, at a running server too.',
  });
}

/** Prints a new key. `before` and `next` are what is said of it besides. */
function printKey(
  { expires, json, words }: Asked,
  merchant: Merchant,
  mode: Mode,
  key: string,
  { id, before, next, ...more }: { id: string; before: string; next: string } & Record<string, unknown>,
): void {
  const until = expires === undefined ? '' : ` until ${words.moment(expires)}`;
  const aside = `${before}Key ${id} of ${merchant.name} (${merchant.id}), for ${mode} payments${until}.
Copy it now: it is shown only this once. ${next}`;
  print({ json }, { json: { key, id, mode, merchant, ...more }, text: key, aside });
}
