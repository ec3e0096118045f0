// Makes a store one that is reviewed: payments that wait, payments that were decided, and an administrator who is signed in.
import type { Principal } from '../src/administrators/administrator.ts';
import { createAdministrator } from '../src/administrators/manage.ts';
import { setCookie } from '../src/administrators/pages/cookies.ts';
import { hashPassword } from '../src/administrators/password.ts';
import { cookieValue } from '../src/administrators/session.ts';
import { completeSetUp } from '../src/administrators/set-up.ts';
import { Journal } from '../src/journal/journal.ts';
import type { KeyRing } from '../src/journal/keys/key-ring.ts';
import { openRing } from '../src/journal/keys/open-ring.ts';
import { systemClock } from '../src/lib/time.ts';
import { submitPayment } from '../src/payments/submit.ts';
import { approve } from '../src/review/decide.ts';
import { openDatabase } from '../src/store/open.ts';

const BATCH = 256;
/** For so many that wait, one was decided: facts about amounts have something to rest on. */
const WAITING_FOR_ONE_DECIDED = 5;
const OPERATOR = { actor: 'operator', request_id: null };
const REQUEST = 'req_0123456789abcdef';
const AT = 'http://127.0.0.1';

export interface Reviewed {
  /** The ids of payments that wait, spread over all. */
  waiting: string[];
  /** The Cookie header of the administrator's session, as good as just used. */
  cookie(): string;
}

/** Sends `count` of the pending payments in `storage` for review, evenly spread, and decides some more. */
export async function seedReview(storage: string, count: number): Promise<Reviewed> {
  const database = await openDatabase({ storage, database_url: null }, (error) => {
    throw error;
  });
  const journal = new Journal(database, systemClock);
  const place = { storage, secrets_key_file: null, secrets_keys: null };
  const ring = await openRing(database, place, systemClock);
  const { principal, secret } = await addAdministrator(journal, ring);
  const pending = await database.query<{ id: string }>(
    "select id from payments where status = 'pending' order by id",
  );
  const wanted = count + Math.floor(count / WAITING_FOR_ONE_DECIDED);
  const ids = Array.from(
    { length: wanted },
    (_, i) => pending[Math.floor((i * pending.length) / wanted)]!.id,
  );
  await inBatches(ids, (id, i) =>
    journal.commit((one) => submitPayment(one, id, REQUEST, submission(i)), id),
  );
  const isDecided = (_: string, i: number) => i % (WAITING_FOR_ONE_DECIDED + 1) === WAITING_FOR_ONE_DECIDED;
  const approval = { note: null, bank_reference: null, version: null };
  await inBatches(ids.filter(isDecided), (id) =>
    journal.commit((one) => approve(one, principal, id, approval, {}), id),
  );
  await database.close();
  return {
    waiting: ids.filter((id, i) => !isDecided(id, i)),
    cookie: () => setCookie('session', cookieValue(ring, secret, systemClock.now()), AT).split(';')[0]!,
  };
}

interface SignedIn {
  principal: Principal;
  secret: string;
}

/** An administrator who was just set up, and so is signed in. */
async function addAdministrator(journal: Journal, ring: KeyRing): Promise<SignedIn> {
  const wanted = { email: 'ana@shop.example', name: 'Ana Silva', role: 'administrator' } as const;
  const { link, administrator } = await journal.commit((one) => createAdministrator(one, wanted, OPERATOR));
  const set = {
    password: await hashPassword('violet anchor drifts uphill'),
    factor: { totp: { secret: 'JBSWY3DPEHPK3PXP', step: 0 } },
    recoveryDigests: '[]',
  };
  const signedIn = await journal.commit(
    (one) => completeSetUp(one, ring, link, set, REQUEST),
    administrator.id,
  );
  const { id, name, email, role } = administrator;
  const { secret, session } = signedIn!;
  const actor = `administrator:${id}`;
  return {
    principal: { id, name, email, role, actor, session: session.id, token: null, request_id: null },
    secret,
  };
}

/** What a customer sends by bank transfer, most of them once, a few again and again. */
function submission(i: number) {
  const customer = i % 10 === 0 ? i % 100 : i;
  const account = `DE${String(10 ** 19 + customer).slice(0, 20)}`;
  const head = { method: 'bank_transfer', type: 'bank_transfer', name: 'Bank transfer' };
  const masked = { ...head, transfer_name: 'Ana Silva', transfer_account: `•••• ${account.slice(-4)}` };
  return {
    method: head.method,
    whole: { ...masked, language: 'en', transfer_account: account },
    masked,
    payer: { name: null, email: `ana${customer}@example.com`, account },
  };
}

async function inBatches(ids: readonly string[], work: (id: string, i: number) => Promise<unknown>) {
  for (let done = 0; done < ids.length; done += BATCH)
    await Promise.all(ids.slice(done, done + BATCH).map((id, i) => work(id, done + i)));
}
