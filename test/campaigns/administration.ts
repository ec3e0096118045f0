// What administrators bring to a history: they come, sign in and out, get tokens, change, go, suspend merchants, and give and take keys.

import { ROLES } from '../../src/administrators/administrator.ts';
import { recordFailure } from '../../src/administrators/failures.ts';
import { changeRole, createAdministrator, disable, enable, reset } from '../../src/administrators/manage.ts';
import { listAdministrators } from '../../src/administrators/queries.ts';
import { endAllSessions, startSession } from '../../src/administrators/session.ts';
import { completeSetUp } from '../../src/administrators/set-up.ts';
import { createToken, listTokens, revokeToken } from '../../src/administrators/token.ts';
import { OperationalError } from '../../src/lib/errors.ts';
import { changeMerchantState } from '../../src/merchants/change.ts';
import { findMerchant } from '../../src/merchants/queries.ts';
import { approve } from '../../src/review/decide.ts';
import { type Harness, OPERATOR } from '../support/harness.ts';
import { submit } from '../support/payments.ts';
import { principalOf } from '../support/reviewers.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { acknowledgeSome } from './acknowledging.ts';
import { act, forgetAnswers } from './history.ts';
import { manageMerchants, oneOfEachKey } from './merchant-acts.ts';

/** A merchant with whom nothing else is done, so that nobody misses the payments it may not create. */
const SUSPENDED = 'mer_other';
/** How much of a run's acts administrators are. */
const SHARE = 0.3;
/** Minor units. */
const FOUR_EYES_ABOVE = { USD: 1 };

/** Not of a password: hashing is what takes time, and rows are tied to the history whatever they hold. */
const hash = (random: SeededRandom) => `$argon2id$v=19$m=65536,t=3,p=1$c2FsdA$${random.between(1e8, 1e9)}`;

/** Adds an administrator, and most often sets them up: with an app's codes, or with a passkey. */
async function join(service: Harness, random: SeededRandom): Promise<void> {
  const { journal } = service.service;
  const wanted = {
    email: `zoe.${random.between(1, 1e9)}@example.org`,
    name: 'Zoë 𝒵',
    role: random.pick(ROLES),
  };
  const { administrator, link } = await journal.commit((one) => createAdministrator(one, wanted, OPERATOR));
  if (random.chance(0.8)) await setUp(service, random, administrator.id, link);
}

async function setUp(service: Harness, random: SeededRandom, id: string, link: string): Promise<void> {
  const n = random.between(1, 1e9);
  const passkey = { credential_id: `c${n}`, public_key: `k${n}`, counter: 0, transports: '["usb"]' };
  const factor = random.chance(0.5)
    ? { totp: { secret: `JBSWY3DPEHPK3PX${n}`, step: n } }
    : { passkey, name: 'Key' };
  const chosen = { password: hash(random), factor, recoveryDigests: `["${n}"]` };
  await service.service.journal.commit(
    (one) => completeSetUp(one, service.service.ring, link, chosen, 'req_test'),
    id,
  );
}

/** Approves a payment whose amount needs two: mostly the first time, sometimes the second, or refused to whoever was the first. */
async function approveWithAnother(service: Harness, random: SeededRandom): Promise<void> {
  const { database, journal } = service.service;
  const by = random.pick(await listAdministrators(database));
  const [waiting] = await database.query<{ id: string }>(
    "select id from payments where status = 'requires_review' and review is not null order by id limit 1",
  );
  const { id } = waiting ?? (await service.create());
  if (!waiting) await submit(service, id);
  const approval = { note: 'Zoë rang.', bank_reference: null, version: null };
  await journal.commit((one) => approve(one, principalOf(by), id, approval, FOUR_EYES_ABOVE), id);
}

/** One thing that administrators do, or that is done to one. */
export async function administer(service: Harness, random: SeededRandom): Promise<void> {
  const { database, journal } = service.service;
  const everybody = await listAdministrators(database);
  if (everybody.length < 2) return join(service, random);
  const { id, email, role } = random.pick(everybody);
  const tokens = await listTokens(database);
  const isSuspended = (await findMerchant(database, SUSPENDED))?.suspended_at != null;
  const acts = [
    () => join(service, random),
    () => approveWithAnother(service, random),
    () => approveWithAnother(service, random),
    () => journal.commit((one) => startSession(one, id, 'totp', 'req_test'), id),
    () => journal.commit((one) => endAllSessions(one, id, OPERATOR), id),
    () => journal.commit((one) => disable(one, id, OPERATOR), id),
    () => journal.commit((one) => enable(one, id, OPERATOR), id),
    () => journal.commit((one) => changeRole(one, id, random.pick(ROLES), OPERATOR), id),
    async () => {
      const { link } = await journal.commit((one) => reset(one, id, OPERATOR), id);
      if (random.chance(0.8)) await setUp(service, random, id, link);
    },
    () => journal.commit((one) => recordFailure(one, email, 'password', 'req_test')),
    () =>
      journal.commit((one) =>
        createToken(one, { administratorId: id, role, name: 'ERP', days: 9 }, OPERATOR),
      ),
    async () => {
      const token = tokens.length > 0 ? random.pick(tokens).id : undefined;
      if (token) await journal.commit((one) => revokeToken(one, token, OPERATOR), token);
    },
    () =>
      changeMerchantState(
        journal,
        SUSPENDED,
        isSuspended ? 'resumed' : 'suspended',
        { actor: `administrator:${id}`, by: id, request_id: 'req_test' },
        'Zoë asked for it.',
      ),
    () => manageMerchants(service, random),
    () => manageMerchants(service, random),
    () => manageMerchants(service, random),
  ];
  try {
    await random.pick(acts)();
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error; // what was drawn is not open to them as they are
  }
}

/** One thing of either kind. */
export function actOrAdminister(service: Harness, random: SeededRandom): Promise<void> {
  return random.chance(SHARE) ? administer(service, random) : act(service, random);
}

/** A few hundred entries of all kinds over several runs of the service, ended by a stop, which signs the last checkpoint. */
export async function buildHistory(
  service: Harness,
  random: SeededRandom,
  atEachStop: () => void = () => {},
): Promise<void> {
  for (let run = 0; run < 4; run++) {
    for (let i = 0; i < 60; i++) await actOrAdminister(service, random);
    await Promise.all(Array.from({ length: 15 }, () => service.create())); // several entries under one seal
    if (run === 1) await forgetAnswers(service);
    if (run === 2) await acknowledgeSome(service);
    if (run === 3) await oneOfEach(service, random);
    await service.stop();
    atEachStop();
    if (run < 3) await service.start();
  }
}

/** What an intruder needs to find there, whatever was drawn before: somebody disabled, a session, a token, a passkey, a suspended merchant. */
async function oneOfEach(service: Harness, random: SeededRandom): Promise<void> {
  const { database, journal } = service.service;
  const n = random.between(1, 1e9);
  const wanted = { email: `max.${n}@example.org`, name: 'Max', role: 'auditor' } as const;
  const { administrator, link } = await journal.commit((one) => createAdministrator(one, wanted, OPERATOR));
  const { id } = administrator;
  const factor = { totp: { secret: `JBSWY3DPEHPK3PX${n}`, step: n } };
  const chosen = { password: hash(random), factor, recoveryDigests: '[]' };
  await journal.commit((one) => completeSetUp(one, service.service.ring, link, chosen, 'req_test'), id);
  const token = { administratorId: id, role: 'auditor', name: 'ERP', days: 9 } as const;
  await journal.commit((one) => createToken(one, token, OPERATOR));
  await journal.commit((one) => disable(one, id, OPERATOR), id);
  const passkey = { credential_id: `m${n}`, public_key: `m${n}`, counter: 0, transports: '["usb"]' };
  const other = { email: `moritz.${n}@example.org`, name: 'Moritz', role: 'auditor' } as const;
  const { link: second } = await journal.commit((one) => createAdministrator(one, other, OPERATOR));
  const withKey = { ...chosen, factor: { passkey, name: 'Key' } };
  await journal.commit((one) => completeSetUp(one, service.service.ring, second, withKey, 'req_test'));
  await oneOfEachKey(service, random);
  if ((await findMerchant(database, SUSPENDED))?.suspended_at == null) {
    const who = { actor: `administrator:${id}`, by: id, request_id: null };
    await changeMerchantState(journal, SUSPENDED, 'suspended', who, 'For the intruder to lift.');
  }
}
