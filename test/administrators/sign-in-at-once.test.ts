// The way in while strangers must wait: password with a recovery code or passkey in one form. It helps its owner and no attacker.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { addPasskey } from '../../src/administrators/account.ts';
import { type SignInClient, STRANGER } from '../../src/administrators/failures.ts';
import { disable, enable } from '../../src/administrators/manage.ts';
import {
  passkeyPlace,
  registrationChallenge,
  verifiedRegistration,
} from '../../src/administrators/passkey.ts';
import { hashPassword } from '../../src/administrators/password.ts';
import { findAdministrator, findAdministratorByEmail } from '../../src/administrators/queries.ts';
import { codesLeft } from '../../src/administrators/recovery-codes.ts';
import { checkPassword, type Parts } from '../../src/administrators/sign-in.ts';
import { newChallenge, type StrongFactor, signInAtOnce } from '../../src/administrators/sign-in-at-once.ts';
import { processMs } from '../support/awake.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { PASSWORD } from '../support/password.ts';
import { Authenticator } from './authenticator.ts';
import { addPerson, codeAt, OPERATOR, otherNode, type Person, partsOf, refusalOf } from './people.ts';

const PLACE = passkeyPlace('https://pay.example')!;
const WRONG = 'wrong wrong wrong wrong';
const NEW_BROWSER: SignInClient = { ...STRANGER, network: '203.0.113.9' };

describe('while strangers must wait', () => {
  let harness: Harness;
  let parts: Parts;
  let other: Awaited<ReturnType<typeof otherNode>>;
  let people = 0;
  before(async () => {
    harness = await startHarness('sqlite');
    parts = partsOf(harness);
    other = await otherNode(harness);
  });
  after(async () => {
    await harness.verify();
    await other.close();
    await harness.close();
  });

  /** Somebody for whose address ten wrong passwords came from three networks, the last a moment ago. */
  const attacked = async (password?: string): Promise<Person> => {
    const email = `cy${++people}@example.org`;
    const cy = await addPerson(parts, { email, ...(password && { password }) });
    for (let i = 0; i < 10; i++) {
      const caller = { ...STRANGER, network: `192.0.2.${i % 3}` };
      assert.equal(refusalOf(await checkPassword(parts, email, WRONG, null, caller)), 'wrong');
    }
    const checked = await checkPassword(parts, email, PASSWORD, null, NEW_BROWSER);
    assert.equal(refusalOf(checked), 'throttled', 'the password alone must wait');
    return cy;
  };
  const enter = async (
    { administrator }: Person,
    password: string,
    factor: StrongFactor,
    { node = parts, caller = NEW_BROWSER } = {},
  ) => {
    const whole = { email: administrator.email, password, factor };
    const done = await signInAtOnce(node, whole, 'req_at_once', caller);
    return 'refused' in done ? done.refused : done.session.factor;
  };
  const challengeFor = async (email: string, now = parts.clock.now()) =>
    newChallenge(parts.ring, email, await findAdministratorByEmail(parts.database, email), now);
  const rowOf = async ({ administrator }: Person) =>
    (await findAdministrator(parts.database, administrator.id))!;
  const entries = async () =>
    (await parts.database.query<{ n: number }>('select count(*) as n from audit_entries'))[0]!.n;

  test('a recovery code lets its owner in from a new browser, on every node, once', async () => {
    const cy = await attacked();
    const [first, second] = cy.recoveryCodes as [string, string];
    assert.equal(await enter(cy, PASSWORD, { recoveryCode: first.toUpperCase() }), 'recovery_code');
    await new Promise((resolve) => setTimeout(resolve, 120)); // on SQLite the other node sees it a moment later
    assert.equal(await enter(cy, PASSWORD, { recoveryCode: first }, { node: other }), 'wrong');
    assert.equal(await enter(cy, PASSWORD, { recoveryCode: second }, { node: other }), 'recovery_code');
    await new Promise((resolve) => setTimeout(resolve, 120));
    assert.equal(codesLeft((await rowOf(cy)).recovery_codes), 8);
  });

  test('it lets them in from the network of the attacker as well', async () => {
    const cy = await attacked();
    for (let i = 0; i < 2; i++) await checkPassword(parts, cy.administrator.email, WRONG, null, NEW_BROWSER);
    const caller = { ...STRANGER, network: '192.0.2.0' };
    const factor = { recoveryCode: cy.recoveryCodes[0]! };
    assert.equal(await enter(cy, PASSWORD, factor, { caller }), 'recovery_code');
  });

  test('a passkey lets its owner in, once for each challenge and for five minutes', async () => {
    const cy = await attacked();
    const device = new Authenticator();
    const made = verifiedRegistration(
      parts.ring,
      PLACE,
      await rowOf(cy),
      device.register({ ...PLACE, challenge: registrationChallenge(parts.ring, await rowOf(cy)) }),
    );
    const asking = { principal: cy.principal, password: PASSWORD, requestId: null };
    await addPasskey(parts, asking, made!, 'Key');
    const signed = async () => {
      const { challenge, expires } = await challengeFor(cy.administrator.email);
      return { response: device.sign({ ...PLACE, challenge }), expires, place: PLACE };
    };
    const one = await signed();
    assert.equal(await enter(cy, PASSWORD, one), 'passkey');
    assert.equal(await enter(cy, PASSWORD, one), 'wrong', 'its challenge is used');
    const two = await signed();
    assert.equal(await enter(cy, PASSWORD, { ...two, expires: two.expires + 1 }), 'wrong');
    harness.clock.advance(5 * 60_000);
    assert.equal(await enter(cy, PASSWORD, two), 'wrong', 'too old');
    const elsewhere = { ...PLACE, origin: 'https://evil.example' };
    const { challenge, expires } = await challengeFor(cy.administrator.email);
    const phished = { response: device.sign({ ...elsewhere, challenge }), expires, place: PLACE };
    assert.equal(await enter(cy, PASSWORD, phished), 'wrong');
  });

  test('nothing but a right factor has the password looked at: the answer tells nothing of it', async () => {
    const cy = await attacked(await hashPassword(PASSWORD));
    const now = parts.clock.now();
    const before = await entries();
    const begun = processMs();
    for (const recoveryCode of [
      '0000-0000-0000-0000',
      codeAt(cy.totpSecret, now),
      '',
      '{}',
      'x'.repeat(1024),
    ])
      for (const password of [PASSWORD, WRONG])
        assert.equal(await enter(cy, password, { recoveryCode }), 'wrong', recoveryCode);
    const tookMs = processMs() - begun;
    assert.ok(tookMs < 100, `no password was hashed: ${tookMs} ms`);
    assert.equal(await entries(), before, 'nor does a stranger fill the history with it');
  });

  test('whoever holds a right factor has five wrong passwords, and keeps the factor', async () => {
    const cy = await attacked();
    const factor = { recoveryCode: cy.recoveryCodes[0]! };
    for (let i = 0; i < 5; i++) assert.equal(await enter(cy, WRONG, factor), 'wrong');
    assert.equal(await enter(cy, PASSWORD, factor), 'throttled');
    assert.equal(codesLeft((await rowOf(cy)).recovery_codes), 10);
    harness.clock.advance(15 * 60_000);
    assert.equal(await enter(cy, PASSWORD, factor), 'recovery_code');
  });

  test('two challenges of one moment are as alike for an unknown address as for a known one', async () => {
    const cy = await addPerson(parts, { email: `cy${++people}@example.org` });
    const now = parts.clock.now();
    const twice = async (email: string) => {
      const [one, two] = [await challengeFor(email, now), await challengeFor(email, now)];
      return one.challenge === two.challenge;
    };
    assert.equal(await twice('unknown@example.org'), await twice(cy.administrator.email));
  });

  test('nobody and somebody disabled are answered as a wrong factor is', async () => {
    const cy = await attacked();
    const { id } = cy.administrator;
    const factor = { recoveryCode: cy.recoveryCodes[0]! };
    const unknown = { email: 'nobody@example.org', password: PASSWORD, factor };
    assert.equal(refusalOf(await signInAtOnce(parts, unknown, null, NEW_BROWSER)), 'wrong');
    const shape = /^[\w-]{43}$/;
    for (const email of [cy.administrator.email, 'nobody@example.org'])
      assert.match((await challengeFor(email)).challenge, shape);
    await parts.journal.commit((transaction) => disable(transaction, id, OPERATOR), id);
    assert.equal(await enter(cy, PASSWORD, factor), 'wrong');
    await parts.journal.commit((transaction) => enable(transaction, id, OPERATOR), id);
  });
});
