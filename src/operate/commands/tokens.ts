// counterfoil administrators token: what programs call /admin with, in an administrator's name.
import { type Command, Option } from 'commander';
import { lesserRole, ROLES, type Role } from '../../administrators/administrator.ts';
import {
  createToken,
  listTokens,
  revokeToken,
  TOKEN_DAYS,
  TOKEN_DAYS_MAXIMUM,
} from '../../administrators/token.ts';
import { momentsIn } from '../../lib/moments.ts';
import { formatTimestamp, systemClock, timestampOrNull } from '../../lib/time.ts';
import { parseCount, parseEmail } from './arguments.ts';
import { ifMissing, listed, named, OPERATOR, onStore, type Store, type StoreOptions } from './store.ts';
import { addCommands, newCommand } from './usage.ts';

export function tokenCommand(): Command {
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
        .action(onStore(create)),
      newCommand('list', 'list tokens: whose they are, what they may do and until when, never the tokens', [
        'administrators token list --json',
      ]).action(onStore(list)),
      newCommand('revoke', 'end a token now and for good', [
        'administrators token revoke tok_01m7xy90z59x4m4bthzeq11xez7gvadtw35y',
      ])
        .argument('<id>', 'its id: tok_…')
        .action(onStore(revoke)),
    ],
  );
}

interface CreateOptions extends StoreOptions {
  email: string;
  role: Role;
  name: string;
  expiresInDays: number;
}

async function create({ configuration, database, journal }: Store, options: CreateOptions) {
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

async function list({ configuration, database }: Store) {
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

async function revoke({ journal }: Store, id: string) {
  const { name } = await journal
    .commit((transaction) => revokeToken(transaction, id, OPERATOR), id)
    .catch(ifMissing(`there is no token ${id}; counterfoil administrators token list shows all`));
  return { json: { id, revoked: true }, text: `Revoked ${id} (${name}).` };
}
