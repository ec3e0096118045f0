// counterfoil invites: links to register as a merchant, each for one use.
import type { Command } from 'commander';
import { momentsIn } from '../../lib/moments.ts';
import { formatTimestamp, systemClock, timestampOrNull } from '../../lib/time.ts';
import {
  createInvite,
  INVITE_DAYS,
  INVITE_DAYS_MAXIMUM,
  inviteState,
  listInvites,
  revokeInvite,
} from '../../merchants/invite.ts';
import type { Mode } from '../../merchants/merchant.ts';
import type { Configuration } from '../config.ts';
import { placesOf } from '../settings/places.ts';
import { assumed, ifMissing, listed, OPERATOR, onStore, type Store, type StoreOptions } from './store.ts';
import { Failure } from './terminal.ts';
import { addCommands, newCommand, parseCount } from './usage.ts';

export function command(): Command {
  return addCommands(
    newCommand('invites', 'invitations to register as a merchant', [
      'invites create --note "Corner Shop, asked on the phone"',
      'invites list',
    ]),
    [
      newCommand('create', 'make an invitation and print its link once', [
        'invites create --note "Corner Shop"',
        'invites create --live --note "Corner Shop" --expires-in-days 2',
      ])
        .option('--live', 'the key that comes of it makes real payments; without it, test payments')
        .option('--note <text>', 'whom it is for')
        .option(
          '--expires-in-days <days>',
          `at most ${INVITE_DAYS_MAXIMUM}`,
          parseCount(INVITE_DAYS_MAXIMUM),
          INVITE_DAYS,
        )
        .action(onStore(create)),
      newCommand('list', 'list invitations: whom they are for and what became of them, never their links', [
        'invites list --json',
      ]).action(onStore(list)),
      newCommand('revoke', 'end an invitation now and for good', [
        'invites revoke inv_01m7xy90z59x4m4bthzeq11xez7gvadtw35y',
      ])
        .argument('<id>', 'its id: inv_…')
        .action(onStore(revoke)),
    ],
  );
}

interface CreateOptions extends StoreOptions {
  live?: boolean;
  note?: string;
  expiresInDays: number;
}

async function create({ configuration, journal }: Store, options: CreateOptions) {
  const mode: Mode = options.live ? 'live' : 'test';
  if (mode === 'live' && configuration.environment === 'development')
    throw new Failure('in development all keys make test payments; a live key needs environment: production');
  const wanted = { mode, note: options.note ?? null, days: options.expiresInDays };
  const { code, row } = await journal.commit((transaction) => createInvite(transaction, wanted, OPERATOR));
  const { id, note } = row;
  const link = `${placesOf(configuration).baseUrls.public}/register?invite=${code}`;
  const expires_at = formatTimestamp(row.expires_at);
  const hints = assumed(configuration) + remark(configuration);
  return {
    json: { link, code, id, mode, note, expires_at },
    text: link,
    aside: `Invitation ${id} makes one merchant with a ${mode} key, until ${momentsIn(configuration.time_zone).moment(row.expires_at)}.
Copy the link now: it is shown only this once. It works for anyone, so send it by a way that you trust.${hints}
To end it: counterfoil invites revoke ${id}`,
  };
}

/** What keeps an invitation from being of use as things stand. */
function remark({ registration }: Configuration): string {
  if (registration.mode !== 'closed') return '';
  return '\nRegistration is closed: set registration.mode to invite, and restart the server.';
}

async function list({ configuration, database }: Store) {
  const now = systemClock.now();
  const invites = (await listInvites(database)).map((one) => ({
    id: one.id,
    mode: one.mode,
    note: one.note,
    state: inviteState(one, now),
    merchant_id: one.merchant_id,
    created_at: formatTimestamp(one.created_at),
    expires_at: formatTimestamp(one.expires_at),
    used_at: timestampOrNull(one.used_at),
    revoked_at: timestampOrNull(one.revoked_at),
  }));
  const words = momentsIn(configuration.time_zone);
  const at = (instant: string | null) => words.within(instant ?? '');
  const state = (one: (typeof invites)[number]) =>
    ({
      open: `open until ${at(one.expires_at)}`,
      used: `used by ${one.merchant_id} on ${at(one.used_at)}`,
      revoked: `revoked ${at(one.revoked_at)}`,
      expired: `expired ${at(one.expires_at)}`,
    })[one.state];
  const none = 'There are no invitations. Make one: counterfoil invites create --note "Corner Shop"';
  return listed('invites', invites, none, (one) => [one.id, one.mode, one.note ?? '', state(one)]);
}

async function revoke({ journal }: Store, id: string) {
  const { note } = await journal
    .commit((transaction) => revokeInvite(transaction, id, OPERATOR), id)
    .catch(ifMissing(`there is no invitation ${id}; counterfoil invites list shows all`));
  return { json: { id, revoked: true }, text: `Revoked ${id}${note === null ? '' : ` (${note})`}.` };
}
