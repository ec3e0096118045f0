// counterfoil merchants: lists merchants, wherever they stand, suspends them, limits them, and takes them over from the configuration.
import { readFileSync } from 'node:fs';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { type Moments, momentsIn } from '../../lib/moments.ts';
import { counted } from '../../lib/text.ts';
import { formatTimestamp, systemClock, timestampOrNull } from '../../lib/time.ts';
import { type ActiveOrNot, MERCHANT_ACTS } from '../../merchants/acts.ts';
import { limitMerchant, setParticulars } from '../../merchants/change.ts';
import type { Directory, KnownMerchant } from '../../merchants/directory.ts';
import {
  changesOf,
  type Merchant,
  type MerchantLimits,
  type StoredMerchant,
  workingIn,
} from '../../merchants/merchant.ts';
import { logoFrom, type Particulars } from '../../merchants/particulars.ts';
import { findMerchant } from '../../merchants/queries.ts';
import { merchantSchema } from '../settings/merchants.ts';
import { existingMerchant, loadDirectory } from './merchant-names.ts';
import { importMerchants, requireIds } from './merchants-import.ts';
import {
  actCommands,
  listed,
  OPERATOR,
  onStore,
  type Store,
  type StoreOptions,
  type ThingsOfCommand,
} from './store.ts';
import { columns, Failure } from './terminal.ts';
import { addCommands, newCommand, parseCount } from './usage.ts';

/** A limit of requests in a second. */
const perSecond = parseCount(1_000_000);

export function command(): Command {
  return addCommands(
    newCommand(
      'merchants',
      'merchants: those of the configuration file, and those who registered',
      [
        'merchants list',
        'merchants suspend "Corner Shop" --reason "Chargebacks under inquiry"',
        'merchants import --all',
      ],
      `They act on the store at once, a running server included.`,
    ),
    [
      newCommand('list', 'list merchants: their keys, where they stand, whether they are suspended', [
        'merchants list',
        'merchants list --json',
      ]).action(onStore(list)),
      oneMerchant('show', 'show one merchant: how to reach it, its limits, why it is suspended').action(
        onStore(show),
      ),
      ...actCommands(MERCHANT_ACTS, MERCHANT),
      oneMerchant('limit', 'give a merchant of the store limits of its own', ' --writes 200')
        .option(
          '--writes <n>',
          'requests other than GET and HEAD in a second, for each of its keys',
          perSecond,
        )
        .option('--reads <n>', 'GET and HEAD in a second, for each of its keys', perSecond)
        .option('--default', 'remove its own limits: rate_limits of the configuration hold again')
        .hook('preAction', (one) => requireLimits(one.opts(), one))
        .action(onStore(limit)),
      withParticulars(
        oneMerchant(
          'set',
          'say what a merchant of the store has on receipts and in letters',
          ' --legal-name "Corner Shop GmbH" --tax-id DE123456789',
        ),
      ).action(onStore(setMerchant)),
      newCommand(
        'import',
        'take merchants with their keys over from the configuration file into the store',
        ['merchants import mer_corner_shop', 'merchants import --all'],
        `Their keys go on working as they are. From then on they are managed without the file: their lines may be removed from it.`,
      )
        .addArgument(new Argument('[ids...]', 'mer_…'))
        .option('--all', 'all merchants of the file')
        .hook('preAction', requireIds)
        .action(onStore(importMerchants)),
    ],
  );
}

const ARGUMENT = ['<merchant>', 'business name or id'] as const;

const MERCHANT: ThingsOfCommand<ActiveOrNot> = {
  argument: ARGUMENT,
  example: '"Corner Shop"',
  async find({ configuration, database }, wanted) {
    const directory = await loadDirectory(configuration, database);
    const found = existingMerchant(wanted, directory);
    return { ...found, isSuspended: directory.isSuspended(found.id) };
  },
};

function oneMerchant(name: string, description: string, rest = ''): Command {
  return newCommand(name, description, [`merchants ${name} "Corner Shop"${rest}`]).argument(...ARGUMENT);
}

function described(merchant: KnownMerchant, directory: Directory) {
  const { id, name, keys, isConfigured } = merchant;
  const now = systemClock.now();
  return {
    id,
    name,
    status: directory.isSuspended(id) ? ('suspended' as const) : ('active' as const),
    live_keys: workingIn(keys, 'live', now),
    test_keys: workingIn(keys, 'test', now),
    configured: isConfigured,
  };
}

async function list({ configuration, database }: Store) {
  const directory = await loadDirectory(configuration, database);
  const merchants = directory.merchants.map(({ id }) => described(directory.merchant(id)!, directory));
  const none = 'There are no merchants. Make one: counterfoil keys create --merchant "Corner Shop"';
  return listed('merchants', merchants, none, (one) => [
    one.id,
    one.name,
    `${counted(one.live_keys, 'live key')}, ${one.test_keys} for tests`,
    !one.configured ? 'in the store' : directory.isStored(one.id) ? 'in both' : 'in the configuration',
    one.status,
  ]);
}

async function show({ configuration, database }: Store, wanted: string) {
  const directory = await loadDirectory(configuration, database);
  const { id, name } = existingMerchant(wanted, directory);
  const stored = await findMerchant(database, id);
  const merchant = toldOf({ id, name }, directory, stored);
  return {
    json: { merchant },
    text: sheetOf(merchant, stored, momentsIn(configuration.time_zone)).join('\n'),
  };
}

/** One merchant, which may have left the configuration. */
function toldOf({ id, name }: Merchant, directory: Directory, stored: StoredMerchant | undefined) {
  const known = directory.merchant(id);
  const left = { id, name, status: 'suspended' as const, live_keys: undefined, configured: false };
  return {
    ...(known ? described(known, directory) : left),
    email: known?.email ?? stored?.email ?? null,
    website: known?.website ?? null,
    support: known?.support ?? null,
    created_at: timestampOrNull(stored?.created_at),
    limits: known?.limits ?? {},
    ...known?.particulars,
    suspensions: changesOf(stored).map(({ at, ...rest }) => ({ ...rest, at: formatTimestamp(at) })),
  };
}

/** One merchant in lines; what has nothing to say is left out. */
function sheetOf(
  told: ReturnType<typeof toldOf>,
  stored: StoredMerchant | undefined,
  words: Moments,
): string[] {
  const { writes_per_second: writes, reads_per_second: reads } = told.limits;
  const facts: [string, string | null | undefined | false][] = [
    ['id', told.id],
    ['name', told.name],
    ['state', told.status],
    ['keys', told.live_keys !== undefined && `${told.live_keys} live, ${told.test_keys} for tests`],
    ['stands', told.configured ? 'in the configuration' : 'in the store'],
    ['e-mail', told.email],
    ['website', told.website],
    ['support', told.support],
    ['legal name', told.legal_name],
    ['address', told.address?.replaceAll('\n', ', ')],
    ['tax id', told.tax_id],
    ['language', told.language],
    ['letters off', told.letters_off?.join(', ')],
    [
      'reminds',
      told.remind_days !== undefined && `${counted(told.remind_days, 'day')} before the day to pay by`,
    ],
    [
      stored?.email ? 'registered' : 'in the store since',
      told.created_at && words.moment(Date.parse(told.created_at)),
    ],
    [
      'limits',
      [writes && `${writes} writes a second`, reads && `${reads} reads a second`].filter(Boolean).join(', '),
    ],
  ];
  const lines = facts.flatMap(([term, value]) => (value ? [[term, value]] : []));
  const changes = changesOf(stored).map(
    ({ act, by, at, reason }) => `${words.moment(at)}  ${act} by ${by}: ${reason.replaceAll('\n', ' ')}`,
  );
  return [columns(lines), ...(changes.length > 0 ? ['', ...changes] : [])];
}

interface LimitOptions extends StoreOptions {
  writes?: number;
  reads?: number;
  default?: boolean;
}

async function limit(store: Store, wanted: string, options: LimitOptions) {
  const { writes, reads } = options;
  const isSaid = writes !== undefined || reads !== undefined;
  const limits: MerchantLimits = {
    ...(writes !== undefined && { writes_per_second: writes }),
    ...(reads !== undefined && { reads_per_second: reads }),
  };
  const directory = await loadDirectory(store.configuration, store.database);
  const { id, name } = existingMerchant(wanted, directory);
  if (directory.merchant(id)?.isConfigured)
    throw new Failure(
      `${name} (${id}) stands in the configuration file: set its rate_limits there, or import it first`,
    );
  await limitMerchant(store.journal, id, limits, OPERATOR);
  return {
    json: { id, name, limits },
    text: isSaid
      ? `${name} (${id}) has limits of its own from now on; what was not said is as for all.`
      : `${name} (${id}) has no limits of its own any more: rate_limits of the configuration hold.`,
  };
}

/** Ends the command, before it opens the store, if the options do not go together. */
function requireLimits({ writes, reads, default: usual }: LimitOptions, command: Command): void {
  const isSaid = writes !== undefined || reads !== undefined;
  if (isSaid && usual) command.error('error: --default excludes --writes and --reads');
  if (!isSaid && !usual)
    command.error('error: give --writes, --reads or both, or --default for the limits of all');
}

type Name = Extract<keyof typeof merchantSchema.shape, keyof Particulars | 'support' | 'email'>;
type Value = string | number | readonly string[];

/** Each option with how its text is read. */
const OPTIONS: readonly [name: Name, flags: string, about: string, read?: (text: string) => Value][] = [
  ['legal_name', '--legal-name <name>', 'the name that receipts are issued under'],
  [
    'address',
    '--address <lines>',
    'its postal address on receipts; \\n parts lines',
    (text) => text.replaceAll('\\n', '\n'),
  ],
  ['tax_id', '--tax-id <number>', 'its tax number on receipts'],
  ['logo', '--logo <file>', 'its logo, a PNG or JPEG file of at most 16 KB', logoIn],
  ['support', '--support <contact>', 'where customers get help: an e-mail address, a phone number or a URL'],
  ['email', '--email <address>', 'where letters to the merchant go'],
  ['language', '--language <tag>', 'the language of letters to the merchant'],
  [
    'letters_off',
    '--letters-off <names>',
    'letters that are not sent, with commas between: reminder is not among them (docs/mail.md)',
    (text) => text.split(',').map((one) => one.trim()),
  ],
  [
    'remind_days',
    '--remind-days <n>',
    'how many days before the day to pay by customers are reminded',
    Number,
  ],
];

/** The logo in a file. Throws `InvalidArgumentError`. */
function logoIn(file: string): string {
  try {
    return logoFrom(readFileSync(file));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new InvalidArgumentError(
      code === undefined ? `It ${message}.` : `It names a file that cannot be read (${code}).`,
    );
  }
}

const NAMES = OPTIONS.map(([name]) => name);

/** Adds the options, which are checked before the store is opened. */
function withParticulars(command: Command): Command {
  for (const [name, flags, about, read] of OPTIONS)
    command.option(flags, about, (text) => checked(name, text, read));
  command.option(
    '--unset <names>',
    `what is no longer said, with commas between: ${NAMES.join(', ')}`,
    unset,
  );
  return command.hook('preAction', (one) => {
    const said = one.opts();
    const isSaid = said.unset || OPTIONS.some(([name]) => said[optionOf(name)] !== undefined);
    if (!isSaid) one.error('error: give at least one option');
  });
}

/** Names of what is taken away. Throws `InvalidArgumentError`. */
function unset(text: string): string[] {
  const names = text.split(',').map((one) => one.trim());
  if (!names.every((one) => (NAMES as string[]).includes(one)))
    throw new InvalidArgumentError(`It must be some of ${NAMES.join(', ')}.`);
  return names;
}

const optionOf = (name: Name): string => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** The value of an option. Throws `InvalidArgumentError`. */
function checked(name: Name, text: string, read: (text: string) => Value = (one) => one): Value {
  const parsed = merchantSchema.shape[name].safeParse(read(text));
  if (!parsed.success) throw new InvalidArgumentError(`It ${parsed.error.issues[0]!.message}.`);
  return parsed.data as Value;
}

async function setMerchant(
  { configuration, database, journal }: Store,
  wanted: string,
  options: StoreOptions & { unset?: string[] } & Record<string, unknown>,
) {
  const directory = await loadDirectory(configuration, database);
  const { id, name } = existingMerchant(wanted, directory);
  if (directory.merchant(id)?.isConfigured)
    throw new Failure(
      `${name} (${id}) stands in the configuration file: set this there, or import the merchant first`,
    );
  const said = Object.fromEntries(
    NAMES.map((one) => [one, options.unset?.includes(one) ? null : options[optionOf(one)]]),
  );
  const stored = await setParticulars(journal, id, said, OPERATOR);
  const particulars = JSON.parse(stored.particulars ?? '{}');
  return {
    json: { merchant: { id, name, email: stored.email, support: stored.support, ...particulars } },
    text: `${name} (${id}) is described anew: within a second receipts and letters say so.`,
  };
}
