// counterfoil merchants: lists merchants, wherever they stand, suspends them, limits them, and takes them over from the configuration.
import { Argument, type Command } from 'commander';
import { counted } from '../../lib/counted.ts';
import { type Moments, momentsIn } from '../../lib/moments.ts';
import { formatTimestamp, systemClock, timestampOrNull } from '../../lib/time.ts';
import { type ActiveOrNot, MERCHANT_ACTS } from '../../merchants/acts.ts';
import type { Directory, KnownMerchant } from '../../merchants/directory.ts';
import {
  changesOf,
  type Merchant,
  type MerchantLimits,
  type StoredMerchant,
  workingIn,
} from '../../merchants/merchant.ts';
import { findMerchant } from '../../merchants/queries.ts';
import { limitMerchant } from '../../merchants/set-particulars.ts';
import { parseCount } from './arguments.ts';
import { existingMerchant, loadDirectory } from './merchant-names.ts';
import { importMerchants, requireIds } from './merchants-import.ts';
import { setMerchant, withParticulars } from './merchants-set.ts';
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
import { addCommands, newCommand } from './usage.ts';

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
