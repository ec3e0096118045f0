// Which letters a merchant and an administrator want. What nothing was chosen of is as said here.
import { z } from 'zod';
import { type Administrator, actorOf, recordAdministrator } from '../administrators/administrator.ts';
import { changeAdministrator } from '../administrators/queries.ts';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import type { Transaction } from '../journal/transaction.ts';
import { phrase } from '../lib/phrases.ts';
import type { Directory } from '../merchants/directory.ts';
import type { Profile } from '../merchants/merchant.ts';
import type { Payment } from '../payments/payment.ts';
import type { LetterKind } from './letter.ts';
import { UNREACHABLE } from './message.ts';

/** Whether a merchant wants a letter, to its customers or to itself. Reminders are asked for by `remind_days`. */
export const wants = ({ particulars }: Profile, kind: LetterKind): boolean =>
  kind === 'reminder' ? (particulars?.remind_days ?? 0) > 0 : !particulars?.letters_off?.includes(kind);

/** What decides whether letters about a merchant's payments leave. */
export interface LetterRules {
  directory: Pick<Directory, 'profile' | 'isSuspended' | 'confirmedEmail'>;
  /** Whether letters about test payments go to their customers, as in development. */
  writesOfTests: boolean;
  /** Whether a letter to this address leaves at all. */
  takes(address: string): boolean;
}

/** Why a letter about a payment does not leave to a customer's address; undefined if it does. */
export function whyNot(
  rules: LetterRules,
  kind: LetterKind,
  { merchant_id, mode }: Pick<Payment, 'merchant_id' | 'mode'>,
  to: string,
): string | undefined {
  const { directory } = rules;
  if (!wants(directory.profile(merchant_id), kind))
    return phrase('The merchant has such letters switched off');
  if (directory.isSuspended(merchant_id)) return phrase('The merchant is suspended');
  if (!rules.takes(to)) return UNREACHABLE;
  return mayTell(rules, merchant_id, mode, to) ? undefined : UNCONFIRMED;
}

/**
 * Whether what a merchant does in a mode is told to an address. Anybody can register with the address of another person, and has a test key
 * then. So that they cannot write to strangers, test mode is told to the address that the operator confirmed alone.
 */
export const mayTell = (
  { directory, writesOfTests }: Pick<LetterRules, 'directory' | 'writesOfTests'>,
  merchantId: string,
  mode: string,
  to: string,
): boolean =>
  mode === 'live' ||
  writesOfTests ||
  to.toLowerCase() === directory.confirmedEmail(merchantId)?.toLowerCase();

export const UNCONFIRMED = phrase('Letters about test payments go to a confirmed address alone');

const administratorChoices = z.object({
  /** How often the digest of the queue comes, at most. */
  digest: z.enum(['hour', 'day', 'never']).default('day'),
  /** At which hour of the day, in the time zone of the installation. */
  hour: z.int().min(0).max(23).default(8),
  /** How many payments must wait. */
  least: z.int().min(1).max(10_000).default(1),
  /** Whether alerts about the installation come. */
  alerts: z.boolean().default(true),
  /** The console's language when they last signed in, or made these choices. */
  language: z.string().default('en'),
});
type AdministratorChoices = z.output<typeof administratorChoices>;

export const choicesOf = ({ letters }: Pick<Administrator, 'letters'>): AdministratorChoices =>
  administratorChoices.parse(letters === null ? {} : JSON.parse(letters));

/** Keeps what an administrator chose for themselves. Returns false if there is no such administrator. */
export async function keepChoices(
  transaction: Transaction,
  id: string,
  choices: AdministratorChoices,
  requestId: string,
): Promise<boolean> {
  const letters = JSON.stringify(choices);
  const changed = await changeAdministrator(transaction, id, undefined, { letters });
  if (!changed) return false;
  const act = { actor: actorOf(id), request_id: requestId };
  await recordAdministrator(transaction, act, 'administrator.letters_chosen', changed);
  return true;
}

export const UNSUBSCRIBE_PATH = '/mail/unsubscribe';

const statement = (id: string) => JSON.stringify(['no digest', id]);

export const unsubscribeUrl = (ring: KeyRing, baseUrl: string, id: string): string =>
  `${baseUrl}${UNSUBSCRIBE_PATH}?from=${id}.${ring.mac('unsubscribe', statement(id))}`;

/** The administrator whom the `from` of such an address names; undefined if the token is not ours. */
export function unsubscriber(ring: KeyRing, from: string): string | undefined {
  const [, id, token] = /^(adm_[0-9a-z]{36})\.([\w-]{43})$/.exec(from) ?? [];
  return id !== undefined && ring.isMac('unsubscribe', statement(id), token!) ? id : undefined;
}
