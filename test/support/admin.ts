// Administrators with tokens, and payments that wait for them: what the tests of /admin begin with.
import type { Principal, Role } from '../../src/administrators/administrator.ts';
import { createAdministrator } from '../../src/administrators/manage.ts';
import { endSession, startSession } from '../../src/administrators/session.ts';
import { createToken, revokeToken } from '../../src/administrators/token.ts';
import { submitPayment } from '../../src/payments/submit.ts';
import { claim } from '../../src/review/act.ts';
import { type Answer, type Harness, OPERATOR, type RequestOptions } from './harness.ts';
import { principalOf } from './reviewers.ts';

export interface Person {
  id: string;
  name: string;
  email: string;
  role: Role;
  /** Of the same role. */
  token: string;
  token_id: string;
}

let people = 0;

/** Adds an administrator with a token. */
export async function addPerson(harness: Harness, role: Role, name = 'Ana Admin'): Promise<Person> {
  const email = `person-${++people}@example.org`;
  const { administrator } = await harness.service.journal.commit((transaction) =>
    createAdministrator(transaction, { email, name, role }, OPERATOR),
  );
  const { token, row } = await addToken(harness, administrator.id, role);
  return { id: administrator.id, name, email, role, token, token_id: row.id };
}

/** Makes a further token for an administrator. */
export function addToken(harness: Harness, administratorId: string, role: Role, days = 90) {
  return harness.service.journal.commit((transaction) =>
    createToken(transaction, { administratorId, role, name: 'Tests', days }, OPERATOR),
  );
}

/** An administrator who acts by a token, until `revoke`. */
export async function byToken(harness: Harness, by: Principal) {
  const { row } = await addToken(harness, by.id, by.role);
  const revoke = () =>
    harness.service.journal.commit((transaction) => revokeToken(transaction, row.id, OPERATOR), row.id);
  return { principal: { ...by, token: row.id }, revoke };
}

/** An administrator who acts in a session, until `end`. */
export async function inSession({ service: { journal } }: Harness, by: Principal) {
  const { session } = await journal.commit((transaction) =>
    startSession(transaction, by.id, 'totp', 'req_test'),
  );
  const principal = { ...by, session: session.id };
  return { principal, end: () => journal.commit((one) => endSession(one, principal), session.id) };
}

/** A payment as /admin shows it to a person. */
export async function paymentAs(harness: Harness, { token }: Pick<Person, 'token'>, id: string) {
  const { json } = await harness.request(`/admin/payments/${id}`, { key: token });
  return json.data;
}

/** Creates a payment and sends what its customer might. Returns its id. */
export async function sentForReview(
  harness: Harness,
  fields: object = {},
  options: RequestOptions = {},
): Promise<string> {
  const { id } = await harness.create(fields, options);
  const submission = {
    method: 'details',
    whole: { method: 'details', type: 'details', payer_name: 'Ada Lovelace', payer_email: 'ada@example.org' },
    masked: {
      method: 'details',
      type: 'details',
      name: null,
      payer_name: 'A…',
      payer_email: 'a…@example.org',
    },
    payer: { name: null, email: 'ada@example.org', account: null },
  };
  await harness.service.journal.commit(
    (transaction) => submitPayment(transaction, id, 'req_customer', submission),
    id,
  );
  return id;
}

/** Has a person take a payment to review it. */
export async function claimAs(harness: Harness, person: Person, payment: string): Promise<void> {
  const principal = principalOf(person);
  await harness.service.journal.commit((transaction) => claim(transaction, principal, payment, {}), payment);
}

/** Posts JSON as a person. */
export function post(
  harness: Harness,
  person: Pick<Person, 'token'>,
  path: string,
  body: unknown = {},
  options: RequestOptions = {},
): Promise<Answer> {
  return harness.request(path, { method: 'POST', key: person.token, body, ...options });
}

/** How many entries the history has: the same before and after whatever changed nothing. */
export async function entryCount(harness: Harness): Promise<number> {
  const rows = await harness.service.database.query<{ count: number }>(
    'select count(*) as count from audit_entries',
  );
  return Number(rows[0]!.count);
}

/** The least that a decision needs to say. */
const BARE = { approve: {}, reject: { reason: 'other' }, record: { amount: 1, received_on: '2024-11-20' } };
export const bare = (act: keyof typeof BARE) => BARE[act];
