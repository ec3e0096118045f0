// counterfoil administrators: who may review payments and manage the rest, how they get in, and the tokens of their programs.

import { Argument, Command, Option } from 'commander';
import { type Administrator, lesserRole, ROLES, type Role } from '../../administrators/administrator.ts';
import { changeRole, createAdministrator, disable, enable, reset } from '../../administrators/manage.ts';
import {
  countPasskeys,
  listAdministrators,
  openSessionsOf,
  passkeysOf,
} from '../../administrators/queries.ts';
import { codesLeft } from '../../administrators/recovery-codes.ts';
import { setUpUrl } from '../../administrators/set-up.ts';
import {
  createToken,
  listTokens,
  revokeToken,
  TOKEN_DAYS,
  TOKEN_DAYS_MAXIMUM,
} from '../../administrators/token.ts';
import { type Moments, momentsIn } from '../../lib/moments.ts';
import { counted } from '../../lib/text.ts';
import { formatTimestamp, systemClock, timestampOrNull } from '../../lib/time.ts';
import type { Configuration } from '../config.ts';
import { placesOf } from '../settings/places.ts';
import {
  assumed,
  ifMissing,
  listed,
  named,
  OPERATOR,
  onStore,
  type Store,
  type StoreOptions,
} from './store.ts';
import { addCommands, newCommand, parseCount, parseEmail } from './usage.ts';

export function command(): Command {
  return addCommands(
    new Command('administrators').description('who may review payments and manage the rest').addHelpText(
      'after',
      `
Roles: an administrator may do everything, a reviewer looks and decides, an auditor looks.

Examples:
  counterfoil administrators create --email ana@example.org --name "Ana Example" --role administrator
  counterfoil administrators list
  counterfoil administrators reset ana@example.org

They act on the store at once, a running server included.`,
    ),
    [
      newCommand('create', 'add an administrator, and print the link to set up their account', [
        'administrators create --email ana@example.org --name "Ana Example" --role reviewer',
      ])
        .requiredOption('--email <address>', 'what they sign in with', parseEmail)
        .requiredOption('--name <name>', 'what others see')
        .addOption(new Option('--role <role>', 'what they may do').choices(ROLES).makeOptionMandatory())
        .action(onStore(create)),
      newCommand('list', 'list everybody: what they may do, and how they prove who they are', [
        'administrators list --json',
      ]).action(onStore(list)),
      onePerson('disable', 'lock an administrator out: sessions end, tokens stop').action(
        onStore((store, email: string) => act(store, email, disable, 'is disabled')),
      ),
      onePerson('enable', 'let a disabled administrator in again').action(
        onStore((store, email: string) => act(store, email, enable, 'may sign in again')),
      ),
      onePerson(
        'reset',
        'take away password and second factors, end sessions, and print a new set-up link',
      ).action(onStore(resetOne)),
      onePerson('role', 'change the role of an administrator; their sessions end', ' reviewer')
        .addArgument(new Argument('<role>', 'what they may do').choices(ROLES))
        .action(
          onStore((store, email: string, role: Role) => {
            const work: typeof disable = (transaction, id, by) => changeRole(transaction, id, role, by);
            return act(store, email, work, `has the role ${role} now`);
          }),
        ),
    ],
  ).addCommand(tokenCommand());
}

function onePerson(name: string, description: string, rest = ''): Command {
  return newCommand(name, description, [`administrators ${name} ana@example.org${rest}`]).addArgument(
    new Argument('<email>', 'what they sign in with'),
  );
}

interface CreateOptions extends StoreOptions {
  email: string;
  name: string;
  role: Role;
}

async function create({ configuration, journal }: Store, { email, name, role }: CreateOptions) {
  const made = await journal.commit((transaction) =>
    createAdministrator(transaction, { email, name, role }, OPERATOR),
  );
  return linkPrinted(configuration, made, 'is added');
}

async function resetOne({ configuration, database, journal }: Store, email: string) {
  const { id } = await named(database, email);
  const made = await journal.commit((transaction) => reset(transaction, id, OPERATOR), id);
  const now = systemClock.now();
  const tokens = (await listTokens(database)).filter(
    (one) => one.administrator_id === id && one.revoked_at === null && one.expires_at > now,
  );
  const left =
    tokens.length === 0
      ? ''
      : ` ${counted(tokens.length, 'token')} of theirs goes on: administrators token list.`;
  return linkPrinted(
    configuration,
    made,
    `starts anew; no password, second factor or session is left.${left}`,
  );
}

function linkPrinted(
  configuration: Configuration,
  { administrator, link }: { administrator: Administrator; link: string },
  what: string,
) {
  const { id, email, name, role } = administrator;
  const url = setUpUrl(placesOf(configuration).baseUrls.console, link);
  const setup_expires_at = formatTimestamp(administrator.setup_expires_at!);
  return {
    json: { id, email, name, role, setup_url: url, setup_expires_at },
    text: url,
    aside: `${name} (${email}, ${role}) ${what.endsWith('.') ? what : `${what}.`}
The link works once, until ${momentsIn(configuration.time_zone).moment(administrator.setup_expires_at!)}, and is shown only this once.
Next: open it, or send it to them: it asks for a password and a second factor. If it is too late:
  counterfoil administrators reset ${email}${assumed(configuration)}`,
  };
}

/** Does `work` to an administrator. `what` says how they are then. */
async function act({ database, journal }: Store, address: string, work: typeof disable, what: string) {
  const { id } = await named(database, address);
  const open = (await openSessionsOf(database, id, systemClock.now())).length;
  const changed = await journal.commit((transaction) => work(transaction, id, OPERATOR), id);
  const json = shown(changed, (await passkeysOf(database, id)).length);
  const { name, email } = changed;
  if (work === enable && changed.password === null)
    return {
      json,
      text: `${name} (${email}) is no longer disabled, but was never set up. Next: counterfoil administrators reset ${email}`,
    };
  const ended = open === 0 || work === enable ? '' : ` ${counted(open, 'session')} ended.`;
  return { json, text: `${name} (${email}) ${what}.${ended}` };
}

/** An administrator as these commands tell of them: nothing that proves who they are. */
function shown(administrator: Administrator, passkeys: number) {
  const { id, email, name, role, password, totp_secret, recovery_codes } = administrator;
  return {
    id,
    email,
    name,
    role,
    state: administrator.disabled_at !== null ? 'disabled' : password === null ? 'not set up' : 'active',
    authenticator_app: totp_secret !== null,
    passkeys,
    recovery_codes: codesLeft(recovery_codes),
    setup_expires_at: timestampOrNull(administrator.setup_expires_at),
    disabled_at: timestampOrNull(administrator.disabled_at),
    created_at: formatTimestamp(administrator.created_at),
  };
}

async function list({ configuration, database }: Store) {
  const passkeys = new Map(
    (await countPasskeys(database)).map(({ administrator_id, count }) => [administrator_id, count]),
  );
  const everybody = (await listAdministrators(database)).map((one) => shown(one, passkeys.get(one.id) ?? 0));
  const none =
    'There are no administrators. Add the first:\n  counterfoil administrators create --email you@example.org --name "Your Name" --role administrator';
  const cells = (one: ReturnType<typeof shown>) => [
    one.email,
    one.name,
    one.role,
    one.state,
    toldProofs(one, momentsIn(configuration.time_zone)),
  ];
  return listed('administrators', everybody, none, cells);
}

function toldProofs(one: ReturnType<typeof shown>, words: Moments): string {
  const { state, setup_expires_at } = one;
  if (state === 'not set up') {
    const isOver = setup_expires_at === null || Date.parse(setup_expires_at) <= systemClock.now();
    return isOver
      ? `the link is too old: counterfoil administrators reset ${one.email}`
      : `link until ${words.moment(Date.parse(setup_expires_at))}`;
  }
  const parts = [
    ...(one.authenticator_app ? ['authenticator app'] : []),
    ...(one.passkeys > 0 ? [counted(one.passkeys, 'passkey')] : []),
    counted(one.recovery_codes, 'recovery code'),
  ];
  return parts.join(', ');
}

function tokenCommand(): Command {
  return addCommands(
    newCommand('token', 'tokens that programs call /admin with', [
      'administrators token create --email ana@example.org --role auditor --name "Nightly export"',
      'administrators token list',
    ]),
    [
      newCommand('create', 'make a token and print it once', [
        'administrators token create --email ana@example.org --role auditor --name "Nightly export" --expires-in-days 30',
      ])
        .requiredOption('--email <address>', 'in whose name it acts', parseEmail)
        .addOption(
          new Option('--role <role>', 'what it may do: at most what its administrator may do')
            .choices(ROLES)
            .makeOptionMandatory(),
        )
        .requiredOption('--name <name>', 'what it is for')
        .option(
          '--expires-in-days <days>',
          `at most ${TOKEN_DAYS_MAXIMUM}`,
          parseCount(TOKEN_DAYS_MAXIMUM),
          TOKEN_DAYS,
        )
        .action(onStore(makeToken)),
      newCommand('list', 'list tokens: whose they are, what they may do and until when, never the tokens', [
        'administrators token list --json',
      ]).action(onStore(showTokens)),
      newCommand('revoke', 'end a token now and for good', [
        'administrators token revoke tok_01m7xy90z59x4m4bthzeq11xez7gvadtw35y',
      ])
        .argument('<id>', 'its id: tok_…')
        .action(onStore(endToken)),
    ],
  );
}

interface TokenOptions extends StoreOptions {
  email: string;
  role: Role;
  name: string;
  expiresInDays: number;
}

async function makeToken({ configuration, database, journal }: Store, options: TokenOptions) {
  const owner = await named(database, options.email);
  const { role, name, expiresInDays: days } = options;
  const wanted = { administratorId: owner.id, role, name, days };
  const made = await journal.commit((transaction) => createToken(transaction, wanted, OPERATOR));
  const { id } = made.row;
  const expires_at = formatTimestamp(made.row.expires_at);
  const until = momentsIn(configuration.time_zone).moment(made.row.expires_at);
  return {
    json: { token: made.token, id, email: owner.email, role, name, expires_at },
    text: made.token,
    aside: `Token ${id} acts for ${owner.name} (${owner.email}) as ${role} until ${until}.
Copy it now: it is shown only this once. The store holds its digest.
Next: send it as Authorization: Bearer … to /admin. To end it: counterfoil administrators token revoke ${id}`,
  };
}

async function showTokens({ configuration, database }: Store) {
  const now = systemClock.now();
  const tokens = (await listTokens(database)).map((one) => ({
    id: one.id,
    email: one.email,
    role: lesserRole(one.role, one.owner_role),
    name: one.name,
    state:
      one.revoked_at !== null
        ? 'revoked'
        : one.expires_at <= now
          ? 'expired'
          : one.owner_disabled_at !== null
            ? 'stopped'
            : 'active',
    created_at: formatTimestamp(one.created_at),
    expires_at: formatTimestamp(one.expires_at),
    revoked_at: timestampOrNull(one.revoked_at),
  }));
  const words = momentsIn(configuration.time_zone);
  const at = (instant: string | null) => words.within(instant ?? '');
  const state = (one: (typeof tokens)[number]) =>
    ({
      active: `until ${at(one.expires_at)}`,
      expired: `expired ${at(one.expires_at)}`,
      revoked: `revoked ${at(one.revoked_at)}`,
      stopped: `stopped: ${one.email} is disabled`,
    })[one.state]!;
  const none = 'There are no tokens. Make one: counterfoil administrators token create --help';
  return listed('tokens', tokens, none, (one) => [one.id, one.email, one.role, one.name, state(one)]);
}

async function endToken({ journal }: Store, id: string) {
  const { name } = await journal
    .commit((transaction) => revokeToken(transaction, id, OPERATOR), id)
    .catch(ifMissing(`there is no token ${id}; counterfoil administrators token list shows all`));
  return { json: { id, revoked: true }, text: `Revoked ${id} (${name}).` };
}
