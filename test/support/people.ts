// Administrators for tests: added, set up and signed in through the functions that the console and the commands use.
import { TOTP } from 'otpauth';
import type { Administrator, Principal, Role } from '../../src/administrators/administrator.ts';
import {
  FailureTally,
  type Parts,
  recordFailure,
  type SignInClient,
  STRANGER,
  sourceOf,
} from '../../src/administrators/failures.ts';
import { changeRole, createAdministrator, disable, enable } from '../../src/administrators/manage.ts';
import { newRecoveryCodes } from '../../src/administrators/recovery-codes.ts';
import { findPrincipal, type Session } from '../../src/administrators/session.ts';
import { completeSetUp } from '../../src/administrators/set-up.ts';
import {
  type GivenFactor,
  type SignedIn,
  type SignInRefusal,
  signIn as signInWith,
} from '../../src/administrators/sign-in.ts';
import { revokeToken } from '../../src/administrators/token.ts';
import { acceptedStep, newTotp } from '../../src/administrators/totp.ts';
import { type Harness, OPERATOR } from './harness.ts';
import { unhurried } from './journal.ts';
import { CHEAP, PASSWORD, PASSWORD_KEPT } from './password.ts';
import { openPatiently } from './stores.ts';

export const STEP_MS = 30_000;

export interface Person {
  administrator: Administrator;
  totpSecret: string;
  recoveryCodes: string[];
  /** Of the session that setting up began. */
  secret: string;
  session: Session;
  principal: Principal;
}

export function partsOf({ service, clock }: Harness): Parts {
  const { database, journal, ring } = service;
  return { database, journal, clock, ring, passwordCost: CHEAP, tally: new FailureTally(journal, clock) };
}

/** Another node on the store of `harness`, with connections of its own. */
export async function otherNode({
  store,
  clock,
  service,
}: Harness): Promise<Parts & { close(): Promise<void> }> {
  const database = await openPatiently(store);
  const journal = unhurried(database, clock);
  return {
    database,
    journal,
    clock,
    tally: new FailureTally(journal, clock),
    ring: service.ring,
    passwordCost: CHEAP,
    async close() {
      await journal.close();
      await database.close();
    },
  };
}

/** The code that an authenticator app shows at a moment. */
export function codeAt(secret: string, ms: number): string {
  return new TOTP({ secret, algorithm: 'SHA1', digits: 6, period: 30 }).generate({ timestamp: ms });
}

/** What somebody is added with; `password` is what is kept of PASSWORD, at the least cost unless its time matters. */
interface Wanted {
  email: string;
  name?: string;
  role?: Role;
  password?: string;
}

export async function addPerson(
  parts: Parts,
  { email, name = 'Ana Example', role = 'administrator', password = PASSWORD_KEPT }: Wanted,
): Promise<Person> {
  const { journal, clock, database } = parts;
  const { link } = await journal.commit((transaction) =>
    createAdministrator(transaction, { email, name, role }, OPERATOR),
  );
  const { secret: totpSecret } = newTotp(email);
  // One step ago, so that the present step's code is still good.
  const before = clock.now() - STEP_MS;
  const step = acceptedStep(totpSecret, codeAt(totpSecret, before), before, null)!;
  const { codes, digests } = newRecoveryCodes();
  const done = await journal.commit((transaction) =>
    completeSetUp(
      transaction,
      parts.ring,
      link,
      { password, factor: { totp: { secret: totpSecret, step } }, recoveryDigests: digests },
      'req_set_up',
    ),
  );
  const principal = await findPrincipal(database, done!.secret, clock.now());
  return { ...done!, totpSecret, recoveryCodes: codes, principal: principal! };
}

export type { Parts, SignInClient };
export { STRANGER };

const ACTS = { disable, enable, revoke: revokeToken };
type Node = Pick<Parts, 'journal'>;

/** Has the operator disable or enable somebody, or revoke a token, by its id. */
export async function change({ journal }: Node, id: string, act: keyof typeof ACTS): Promise<void> {
  await journal.commit<unknown>((transaction) => ACTS[act](transaction, id, OPERATOR), id);
}

/** Has the operator give somebody another role. */
export const giveRole = ({ journal }: Node, id: string, role: Role) =>
  journal.commit((transaction) => changeRole(transaction, id, role, OPERATOR), id);

/** Whose session has a secret, and may go on now. */
export const principalOf = ({ database, clock }: Parts, secret: string, now = clock.now()) =>
  findPrincipal(database, secret, now);

/** Wrong passwords for an address, as many and from whom is said, without trying any. */
export async function fail(parts: Parts, email: string, times: number, caller?: SignInClient): Promise<void> {
  const source = caller && sourceOf(parts.ring, email, undefined, caller, parts.clock.now());
  await parts.journal.commit((transaction) => {
    for (let i = 0; i < times; i++) recordFailure(transaction, email, 'password', null, source);
  });
}

/** Why something was refused; undefined if it was not. */
export const refusalOf = (outcome: object) => ('refused' in outcome ? outcome.refused : undefined);

/** Tries to sign in, with PASSWORD unless another is given. */
export function tryToEnter(
  parts: Parts,
  email: string,
  factor: GivenFactor,
  { password = PASSWORD, caller = STRANGER }: { password?: string; caller?: SignInClient } = {},
): Promise<SignedIn | SignInRefusal> {
  return signInWith(parts, { email, password, factor }, 'req_sign_in', caller);
}

/** What is made of a password that comes with a code which no app shows: that is a failure, too, where the password is right. */
export async function tryPassword(
  parts: Parts,
  email: string,
  password: string,
  caller: SignInClient = STRANGER,
): Promise<'right' | 'wrong' | 'throttled'> {
  const done = await tryToEnter(parts, email, { code: 'none' }, { password, caller });
  if (!('refused' in done)) throw new Error('let in with no code');
  if (done.refused === 'throttled') return 'throttled';
  return done.proof === 'second_factor' ? 'right' : 'wrong';
}

/** Signs somebody in with the code of this moment. */
export async function signIn(
  parts: Parts,
  { administrator, totpSecret }: Pick<Person, 'administrator' | 'totpSecret'>,
  caller: SignInClient = STRANGER,
): Promise<SignedIn> {
  const code = codeAt(totpSecret, parts.clock.now());
  const done = await tryToEnter(parts, administrator.email, { code }, { caller });
  if ('refused' in done) throw new Error(`refused: ${done.refused}`);
  return done;
}
