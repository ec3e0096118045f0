// Administrators for tests: added, set up and signed in through the functions that the console and the commands use.
import { after, before } from 'node:test';
import { TOTP } from 'otpauth';
import { addPasskey } from '../../src/administrators/account.ts';
import type { Administrator, Principal, Role } from '../../src/administrators/administrator.ts';
import {
  FailureTally,
  type Parts,
  recordFailure,
  type SignInClient,
  STRANGER,
  sourceOf,
} from '../../src/administrators/failures.ts';
import { changeRole, createAdministrator, disable, enable, reset } from '../../src/administrators/manage.ts';
import {
  passkeyPlace,
  registrationChallenge,
  verifiedRegistration,
} from '../../src/administrators/passkey.ts';
import { findAdministrator } from '../../src/administrators/queries.ts';
import { newRecoveryCodes } from '../../src/administrators/recovery-codes.ts';
import { findPrincipal, type Session } from '../../src/administrators/session.ts';
import { completeSetUp } from '../../src/administrators/set-up.ts';
import {
  type GivenFactor,
  newChallenge,
  type SignedIn,
  type SignInRefusal,
  signIn as signInWith,
} from '../../src/administrators/sign-in.ts';
import { revokeToken } from '../../src/administrators/token.ts';
import { acceptedStep, newTotp } from '../../src/administrators/totp.ts';
import { Authenticator } from './authenticator.ts';
import { type Harness, OPERATOR, startHarness } from './harness.ts';
import { unhurried } from './journal.ts';
import { CHEAP, PASSWORD, PASSWORD_KEPT } from './password.ts';
import { openPatiently } from './stores.ts';

type Node = Pick<Parts, 'journal'>;

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

/**
 * Starts two nodes on one PostgreSQL for the suite that calls this, and hands them over before its first test. After its last the history
 * is verified.
 */
export function onTwoNodes(
  begin: (harness: Harness, parts: Parts, other: Awaited<ReturnType<typeof otherNode>>) => void,
): void {
  let harness: Harness;
  let other: Awaited<ReturnType<typeof otherNode>>;
  before(async () => {
    harness = await startHarness('postgres');
    other = await otherNode(harness);
    begin(harness, partsOf(harness), other);
  });
  after(async () => {
    await harness.verify();
    await other.close();
    await harness.close();
  });
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
  /** Whose passkey is the second factor, instead of an app. */
  device?: Authenticator;
}

/** Adds somebody who may set up their account. Returns the link as well. */
export const addStranger = (
  { journal }: Node,
  { email, name = 'Ana Example', role = 'administrator' }: Wanted,
) => journal.commit((transaction) => createAdministrator(transaction, { email, name, role }, OPERATOR));

/** Sets somebody up by their link, as the form does. What is done is undefined where the link is good for nothing. */
export async function setUp(
  { journal, clock, ring }: Parts,
  { administrator, link }: { administrator: Administrator; link: string },
  { password = PASSWORD_KEPT, device }: Pick<Wanted, 'password' | 'device'> = {},
) {
  const { secret: totpSecret } = newTotp(administrator.email);
  // One step ago, so that the present step's code is still good.
  const before = clock.now() - STEP_MS;
  const step = acceptedStep(totpSecret, codeAt(totpSecret, before), before, null)!;
  const { codes, digests } = newRecoveryCodes();
  const factor = device
    ? { passkey: registered(ring, administrator, device), name: 'Key' }
    : { totp: { secret: totpSecret, step } };
  const done = await journal.commit((transaction) =>
    completeSetUp(transaction, ring, link, { password, factor, recoveryDigests: digests }, 'req_set_up'),
  );
  return { done, totpSecret, recoveryCodes: codes };
}

export async function addPerson(parts: Parts, wanted: Wanted): Promise<Person> {
  const { done, ...kept } = await setUp(parts, await addStranger(parts, wanted), wanted);
  const principal = await principalOf(parts, done!.secret);
  return { ...done!, ...kept, principal: principal! };
}

/** Where the passkeys of tests are made. */
export const PLACE = passkeyPlace('https://pay.example/api')!;

function registered(ring: Parts['ring'], row: Administrator, device: Authenticator) {
  const sent = device.register({ ...PLACE, challenge: registrationChallenge(ring, row) });
  return verifiedRegistration(ring, PLACE, row, sent)!;
}

/** What is kept of somebody. */
export const rowOf = async ({ database }: Pick<Parts, 'database'>, { administrator: { id } }: Person) =>
  (await findAdministrator(database, id))!;

/** Adds a passkey to somebody's account. */
export async function givePasskey(parts: Parts, person: Person, device = new Authenticator()) {
  const made = registered(parts.ring, await rowOf(parts, person), device);
  return addPasskey(parts, { principal: person.principal, password: PASSWORD }, made, 'Key');
}

/** What a sign-in page asks a passkey to sign. */
export const newChallengeOf = ({ ring, clock }: Parts) => newChallenge(ring, clock.now());

export type { GivenFactor, Parts, SignInClient };
export { STRANGER };

const ACTS = { disable, enable, reset, revoke: revokeToken };
/** Has the operator disable, enable or reset somebody, or revoke a token, by its id. */
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
