// The way in while strangers must wait: password with a recovery code or passkey in one form. It helps its owner and no attacker.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inTurn } from '../../src/administrators/password.ts';
import { Authenticator } from '../support/authenticator.ts';
import type { Harness } from '../support/harness.ts';
import { PASSWORD } from '../support/password.ts';
import {
  addPerson,
  change,
  codeAt,
  type GivenFactor,
  givePasskey,
  newChallengeOf,
  onTwoNodes,
  type Parts,
  type Person,
  PLACE,
  refusalOf,
  rowOf,
  type SignInClient,
  STRANGER,
  tryPassword,
  tryToEnter,
} from '../support/people.ts';

const WRONG = 'wrong wrong wrong wrong';
const NEW_BROWSER: SignInClient = { ...STRANGER, network: '203.0.113.9' };

describe('while strangers must wait', () => {
  let harness: Harness;
  let parts: Parts;
  let other: Parts;
  let people = 0;
  onTwoNodes((...nodes) => {
    [harness, parts, other] = nodes;
  });

  /** Somebody for whose address ten wrong passwords came from three networks, the last a moment ago. */
  const attacked = async (): Promise<Person> => {
    const email = `cy${++people}@example.org`;
    const cy = await addPerson(parts, { email });
    for (let i = 0; i < 10; i++) {
      const caller = { ...STRANGER, network: `192.0.2.${i % 3}` };
      assert.equal(await tryPassword(parts, email, WRONG, caller), 'wrong');
    }
    const code = codeAt(cy.totpSecret, parts.clock.now());
    const waiting = await tryToEnter(parts, email, { code }, { caller: NEW_BROWSER });
    assert.equal(refusalOf(waiting), 'throttled', 'a code of an app must wait');
    return cy;
  };
  const enter = async (
    { administrator }: Person,
    password: string,
    factor: GivenFactor,
    { node = parts, caller = NEW_BROWSER } = {},
  ) => {
    const done = await tryToEnter(node, administrator.email, factor, { password, caller });
    return 'refused' in done ? done.refused : done.session.factor;
  };
  const codesLeft = async (cy: Person) => JSON.parse((await rowOf(parts, cy)).recovery_codes!).length;
  const entries = async () =>
    (await parts.database.query<{ n: number }>('select count(*) as n from audit_entries'))[0]!.n;

  test('a recovery code lets its owner in from a new browser, on every node, once', async () => {
    const cy = await attacked();
    const [first, second] = cy.recoveryCodes as [string, string];
    assert.equal(await enter(cy, PASSWORD, { recoveryCode: first.toUpperCase() }), 'recovery_code');
    assert.equal(await enter(cy, PASSWORD, { recoveryCode: first }, { node: other }), 'wrong');
    assert.equal(await enter(cy, PASSWORD, { recoveryCode: second }, { node: other }), 'recovery_code');
    assert.equal(await codesLeft(cy), 8);
  });

  test('it lets them in from the network of the attacker as well', async () => {
    const cy = await attacked();
    for (let i = 0; i < 2; i++) await tryPassword(parts, cy.administrator.email, WRONG, NEW_BROWSER);
    const caller = { ...STRANGER, network: '192.0.2.0' };
    const factor = { recoveryCode: cy.recoveryCodes[0]! };
    assert.equal(await enter(cy, PASSWORD, factor, { caller }), 'recovery_code');
  });

  test('a passkey lets its owner in, once for each challenge and for five minutes', async () => {
    const cy = await attacked();
    const device = new Authenticator();
    await givePasskey(parts, cy, device);
    const signed = () => {
      device.counter = -1; // as many devices, it keeps no count: it says 0
      const { challenge, expires } = newChallengeOf(parts);
      return { response: device.sign({ ...PLACE, challenge }), expires, place: PLACE };
    };
    const [before, one] = [signed(), signed()];
    assert.equal(await enter(cy, PASSWORD, one), 'passkey');
    for (const used of [one, before]) assert.equal(await enter(cy, PASSWORD, used), 'wrong', 'a use ends it');
    harness.clock.advance(1);
    const two = signed();
    assert.equal(await enter(cy, PASSWORD, { ...two, expires: two.expires + 1 }), 'wrong');
    harness.clock.advance(5 * 60_000);
    assert.equal(await enter(cy, PASSWORD, two), 'wrong', 'too old');
    const elsewhere = { ...PLACE, origin: 'https://evil.example' };
    const { challenge, expires } = newChallengeOf(parts);
    const phished = { response: device.sign({ ...elsewhere, challenge }), expires, place: PLACE };
    assert.equal(await enter(cy, PASSWORD, phished), 'wrong');
  });

  test('nothing but a right factor has the password looked at: the answer tells nothing of it', async () => {
    const cy = await attacked();
    const now = parts.clock.now();
    const before = await entries();
    // Nobody has a turn to hash: whose password were looked at would be told so.
    const gate = Promise.withResolvers<void>();
    const busy = [true, false].flatMap((known) =>
      Array.from({ length: 22 }, (_, i) => inTurn({ known, key: `busy ${i}` }, () => gate.promise)),
    );
    for (const one of busy) one.catch(() => {}); // there is no turn for all of them
    for (const recoveryCode of [
      '0000-0000-0000-0000',
      codeAt(cy.totpSecret, now),
      '',
      '{}',
      'x'.repeat(1024),
    ])
      for (const password of [PASSWORD, WRONG])
        assert.equal(await enter(cy, password, { recoveryCode }), 'wrong', recoveryCode);
    gate.resolve();
    await Promise.allSettled(busy);
    assert.equal(await entries(), before, 'nor does a stranger fill the history with it');
  });

  test('whoever holds a right factor has five wrong passwords, and keeps the factor', async () => {
    const cy = await attacked();
    const factor = { recoveryCode: cy.recoveryCodes[0]! };
    for (let i = 0; i < 5; i++) assert.equal(await enter(cy, WRONG, factor), 'wrong');
    assert.equal(await enter(cy, PASSWORD, factor), 'throttled');
    assert.equal(await codesLeft(cy), 10);
    harness.clock.advance(15 * 60_000);
    assert.equal(await enter(cy, PASSWORD, factor), 'recovery_code');
  });

  test('nobody and somebody disabled are answered as a wrong factor is', async () => {
    const cy = await attacked();
    const { id } = cy.administrator;
    const factor = { recoveryCode: cy.recoveryCodes[0]! };
    assert.equal(refusalOf(await tryToEnter(parts, 'nobody@example.org', factor)), 'wrong');
    await change(parts, id, 'disable');
    assert.equal(await enter(cy, PASSWORD, factor), 'wrong');
    await change(parts, id, 'enable');
  });
});
