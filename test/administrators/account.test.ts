// What administrators change of themselves and of one another: who is thrown out by it, and what is refused. Forms are `pages/account`.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  addPasskey,
  changePassword,
  removePasskey,
  renewRecoveryCodes,
  replaceTotp,
} from '../../src/administrators/account.ts';
import { knownDevice, newDevice, recordFailure, sourceOfSession } from '../../src/administrators/failures.ts';
import { developmentSetUp, reset } from '../../src/administrators/manage.ts';
import {
  registrationChallenge,
  registrationOptions,
  verifiedRegistration,
} from '../../src/administrators/passkey.ts';
import { inTurn } from '../../src/administrators/password.ts';
import type { Transaction } from '../../src/journal/transaction.ts';
import { addToken } from '../support/admin.ts';
import { Authenticator } from '../support/authenticator.ts';
import { newClient } from '../support/console.ts';
import { type Harness, OPERATOR, startHarness } from '../support/harness.ts';
import { insertOutside } from '../support/outside.ts';
import { PASSWORD } from '../support/password.ts';
import {
  addPerson,
  addStranger,
  change,
  codeAt,
  givePasskey,
  giveRole,
  newChallengeOf,
  onTwoNodes,
  otherNode,
  type Parts,
  type Person,
  PLACE,
  partsOf,
  principalOf,
  rowOf,
  setUp,
  signIn,
  tryPassword,
  tryToEnter,
} from '../support/people.ts';
import { ENGINES } from '../support/stores.ts';

const at = (place: typeof PLACE, challenge: string) => ({ ...place, challenge });
const asking = ({ principal }: Person) => ({ principal, password: PASSWORD });

describe('accounts', () => {
  let harness: Harness;
  let parts: Parts;
  /** Another node on the same store. */
  let other: Parts;
  let people = 0;
  const person = (wanted: Partial<Parameters<typeof addPerson>[1]> = {}) =>
    addPerson(parts, { email: `bo${++people}@example.org`, name: 'Bo', ...wanted });
  const commit = <T>(work: (transaction: Transaction) => Promise<T> | T, id = '') =>
    parts.journal.commit(work, id);
  const isIn = async (secret: string) => (await principalOf(parts, secret)) !== undefined;
  /** Whether a link opens the page on which one sets up an account. */
  const opens = async (link: string) => {
    const { status } = await newClient(harness).get(`/set-up?link=${link}`);
    return status === 200;
  };
  const passkeysOf = async ({ administrator: { id } }: Person) => {
    const sql = 'select id from passkeys where administrator_id = ?';
    return (await parts.database.query<{ id: string }>(sql, id)).map((row) => row.id);
  };

  onTwoNodes((...nodes) => {
    [harness, parts, other] = nodes;
  });

  test('development makes one administrator between its nodes, with a new link at each start, until somebody is set up', async () => {
    const journals = [parts.journal, other.journal, parts.journal];
    const links = await Promise.all(journals.map((journal) => developmentSetUp(parts.database, journal)));
    assert.ok(links.some((link) => link !== undefined));
    const rows = await parts.database.query<{ email: string; role: string }>(
      'select email, role from administrators',
    );
    assert.deepEqual(
      rows.map(({ email, role }) => [email, role]),
      [['admin@localhost', 'administrator']],
    );
    const first = (await developmentSetUp(parts.database, parts.journal))!;
    const second = (await developmentSetUp(parts.database, parts.journal))!;
    assert.deepEqual([await opens(first), await opens(second)], [false, true]);
    await person();
    assert.equal(await developmentSetUp(parts.database, parts.journal), undefined);
  });

  test('a set-up link works once, the newest alone, and not while its administrator is disabled', async () => {
    const wanted = { email: 'link@example.org', name: 'Link', role: 'reviewer' } as const;
    const added = await addStranger(parts, wanted);
    const { administrator, link } = added;
    const { id } = administrator;
    assert.equal(await opens(link), true);
    assert.equal(await opens(`${link.slice(0, -1)}${link.endsWith('0') ? '1' : '0'}`), false);
    await change(parts, id, 'disable');
    assert.equal(await opens(link), false);
    assert.equal((await setUp(parts, added)).done, undefined);
    await change(parts, id, 'enable');
    const next = await commit((transaction) => reset(transaction, id, OPERATOR), id);
    assert.deepEqual([await opens(link), await opens(next.link)], [false, true]);
    const done = await Promise.all([parts, other].map((node) => setUp(node, { ...added, link: next.link })));
    assert.equal(done.filter((one) => one.done !== undefined).length, 1, 'of two at once one sets up');
  });

  test('nothing of an account changes by a token', async () => {
    const bo = await person();
    const byToken = { ...asking(bo), principal: { ...bo.principal, session: null, token: 'tok_1' } };
    await assert.rejects(renewRecoveryCodes(parts, byToken), { code: 'forbidden' });
  });

  test('no hash is made for whoever gives the wrong password too often, however many ask', async () => {
    const bo = await person();
    const source = sourceOfSession(bo.principal);
    await commit((transaction) => {
      for (let i = 0; i < 5; i++)
        recordFailure(transaction, bo.administrator.email, 'password', null, source);
    });
    let letGo = () => {};
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const full = Array.from({ length: 22 }, (_, i) => inTurn({ known: true, key: `busy ${i}` }, () => gate));
    const refused = await changePassword(parts, asking(bo), 'another long enough password').finally(letGo);
    assert.equal('refused' in refused && refused.refused, 'throttled');
    await Promise.all(full);
    assert.ok(await signIn(parts, bo), 'nor does it keep them from signing in');
  });

  test('another authenticator app takes the place of the one before; other sessions end', async () => {
    const bo = await person();
    const elsewhere = await tryToEnter(parts, bo.administrator.email, {
      recoveryCode: bo.recoveryCodes[0]!,
    });
    assert.ok('secret' in elsewhere);
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
    assert.ok('administrator' in (await replaceTotp(parts, asking(bo), { secret, step: 1 })));
    assert.deepEqual([await isIn(bo.secret), await isIn(elsewhere.secret)], [true, false]);
    const { codes } = (await renewRecoveryCodes(parts, asking(bo))) as { codes: string[] };
    for (const [code, outcome] of [
      [bo.recoveryCodes[1]!, 'refused'],
      [codeAt(bo.totpSecret, parts.clock.now()), 'refused'],
      [codes[0]!, 'session'],
      [codeAt(secret, parts.clock.now()), 'session'],
    ] as const) {
      const factor = /^\d{6}$/.test(code) ? { code } : { recoveryCode: code };
      assert.ok(outcome in (await tryToEnter(parts, bo.administrator.email, factor)), code);
    }
  });

  test('a passkey signs in, once for each challenge, at its own place, and only while its count grows', async () => {
    const bo = await person();
    const { email } = bo.administrator;
    const device = new Authenticator();
    const options = registrationOptions(parts.ring, PLACE, await rowOf(parts, bo), []);
    assert.deepEqual([options.rp.id, options.attestation], ['pay.example', 'none']);
    assert.equal(options.challenge, registrationChallenge(parts.ring, await rowOf(parts, bo)));
    const response = device.register(at(PLACE, options.challenge));
    const elsewhere = { ...PLACE, origin: 'https://evil.example' };
    assert.equal(verifiedRegistration(parts.ring, elsewhere, await rowOf(parts, bo), response), undefined);
    for (const nonsense of [null, 1, {}, { id: 'x' }])
      assert.equal(verifiedRegistration(parts.ring, PLACE, await rowOf(parts, bo), nonsense), undefined);
    const made = verifiedRegistration(parts.ring, PLACE, await rowOf(parts, bo), response);
    const added = await addPasskey(parts, asking(bo), made!, 'Key on the ring');
    assert.ok('passkey' in added);
    assert.equal(
      verifiedRegistration(parts.ring, PLACE, await rowOf(parts, bo), response),
      undefined,
      'its challenge is used',
    );
    await assert.rejects(addPasskey(parts, asking(bo), made!, 'Again'), { code: 'conflict' });

    const challenge = () => {
      harness.clock.advance(1);
      return newChallengeOf(parts);
    };
    const complete = async ({ expires }: { expires: number }, response: unknown) => {
      const done = await tryToEnter(parts, email, { response, expires, place: PLACE });
      return 'refused' in done ? done.refused : done.session.factor;
    };
    const first = challenge();
    const signed = device.sign(at(PLACE, first.challenge));
    assert.equal(await complete(first, signed), 'passkey');
    assert.equal(await complete(first, signed), 'wrong');
    assert.equal(await complete(challenge(), device.sign(at(PLACE, first.challenge))), 'wrong');
    const third = challenge();
    assert.equal(await complete(third, device.sign(at(elsewhere, third.challenge))), 'wrong');
    device.counter = 0; // a copy that was made before
    const fourth = challenge();
    assert.equal(await complete(fourth, device.sign(at(PLACE, fourth.challenge))), 'wrong');
    device.counter = 10;
    const fifth = challenge();
    const foreign = {
      ...(new Authenticator().sign(at(PLACE, fifth.challenge)) as object),
      id: device.credentialId,
    };
    assert.equal(await complete(fifth, foreign), 'wrong');
    const last = challenge();
    assert.equal(await complete(last, device.sign(at(PLACE, last.challenge))), 'passkey');
  });

  test('every change of a second factor ends device cookies on every node', async () => {
    const bo = await person();
    const idOfFirst = async () => (await passkeysOf(bo))[0]!;
    const acts = {
      'a passkey is added': () => givePasskey(parts, bo),
      'a passkey is removed': async () => removePasskey(parts, asking(bo), await idOfFirst()),
      'the app is replaced': () => replaceTotp(parts, asking(bo), { secret: 'A'.repeat(32), step: 1 }),
      'recovery codes are renewed': () => renewRecoveryCodes(parts, asking(bo)),
    };
    for (const [what, act] of Object.entries(acts)) {
      const row = await rowOf(parts, bo);
      const cookie = newDevice(parts.ring, row, parts.clock.now());
      const isKnown = (who: Person['administrator'], value = cookie) =>
        knownDevice(parts.ring, who, value, parts.clock.now()) !== undefined;
      assert.equal(isKnown(row), true);
      const wrong = { ...asking(bo), password: 'not the right one' };
      assert.deepEqual(await renewRecoveryCodes(parts, wrong), { refused: 'wrong' });
      assert.equal(isKnown(await rowOf(parts, bo)), true, 'a refused change ends nothing');
      const done = await act();
      assert.ok('administrator' in done, what);
      assert.equal(isKnown(await rowOf(other, bo)), false, what);
      assert.equal(
        isKnown(await rowOf(parts, bo), newDevice(parts.ring, done.administrator, parts.clock.now())),
        true,
      );
      assert.equal(await tryPassword(parts, bo.administrator.email, PASSWORD), 'right');
      harness.clock.advance(15 * 60_000);
    }
  });

  test('the last second factor cannot be removed', async () => {
    const bo = await person({ device: new Authenticator() });
    await givePasskey(parts, bo);
    const [one, two] = (await passkeysOf(bo)) as [string, string];
    const both = await Promise.allSettled([
      removePasskey(parts, asking(bo), one),
      removePasskey(other, asking(bo), two),
    ]);
    assert.equal(
      both.filter(({ status }) => status === 'fulfilled').length,
      1,
      'of two at once one is removed',
    );
    const [left] = await passkeysOf(bo);
    await assert.rejects(removePasskey(parts, asking(bo), left!), { code: 'conflict' });
    await assert.rejects(removePasskey(parts, asking(bo), 'psk_none'), { code: 'not_found' });
  });

  test('another role ends sessions, and a token may no more than its owner', async () => {
    const bo = await person();
    const { id } = bo.administrator;
    await giveRole(parts, id, 'auditor');
    assert.equal(await isIn(bo.secret), false);
    const { details } = await addToken(harness, id, 'reviewer').catch((error) => error);
    assert.deepEqual(Object.keys(details), ['role']);
  });

  test('a reset leaves nothing to sign in with but a new link', async () => {
    const bo = await person({ role: 'reviewer' });
    const { id, email } = bo.administrator;
    await givePasskey(parts, bo);
    const { link } = await commit((transaction) => reset(transaction, id, OPERATOR), id);
    assert.equal(await isIn(bo.secret), false);
    assert.deepEqual(await passkeysOf(bo), []);
    assert.equal(await tryPassword(parts, email, PASSWORD), 'wrong');
    const { password, totp_secret, totp_step, recovery_codes } = await rowOf(parts, bo);
    assert.deepEqual([password, totp_secret, totp_step, recovery_codes], [null, null, null, null]);
    assert.equal(await opens(link), true);
    await harness.verify();
  });
});

for (const engine of ENGINES)
  test(`on ${engine} there is always one who can do everything, even if two nodes disable one another's`, async () => {
    const harness = await startHarness(engine);
    const other = await otherNode(harness);
    try {
      const parts = partsOf(harness);
      const typo = await addStranger(parts, { email: 'nwe@example.org' });
      await change(parts, typo.administrator.id, 'disable');
      const one = await addPerson(parts, { email: 'one@example.org' });
      const two = await addPerson(parts, { email: 'two@example.org' });
      const reviewer = await addPerson(parts, { email: 'rev@example.org', role: 'reviewer' });
      await addStranger(parts, { email: 'new@example.org' });
      const both = await Promise.allSettled([
        change(parts, one.administrator.id, 'disable'),
        change(other, two.administrator.id, 'disable'),
      ]);
      const refused = both.filter((outcome) => outcome.status === 'rejected');
      assert.deepEqual(
        refused.map(({ reason }) => reason.code),
        ['conflict'],
      );
      const last = both[0]!.status === 'rejected' ? one : two;
      const { id } = last.administrator;
      await assert.rejects(change(parts, id, 'disable'), { code: 'conflict' });
      await assert.rejects(giveRole(parts, id, 'reviewer'), { code: 'conflict' });
      await change(parts, reviewer.administrator.id, 'disable');
      await harness.verify();
    } finally {
      await other.close();
      await harness.close();
    }
  });

test('verifying finds a row of each kind that was changed by another hand', async () => {
  await using harness = await startHarness('sqlite');
  const parts = partsOf(harness);
  const bo = await addPerson(parts, { email: 'bo@example.org' });
  const { id } = bo.administrator;
  await givePasskey(parts, bo);
  await addToken(harness, id, 'auditor');
  assert.equal((await harness.verify()).sessions, 1);
  // By the journal, because a database does one transaction at a time.
  const run = (sql: string) => parts.journal.commit((transaction) => transaction.query(sql));
  for (const [table, edit, back] of [
    ['administrators', "role = 'reviewer'", "role = 'administrator'"],
    ['passkeys', "name = 'Mine'", "name = 'Key'"],
    ['sessions', 'expires_at = expires_at + 1', 'expires_at = expires_at - 1'],
    ['administrator_tokens', "role = 'administrator'", "role = 'auditor'"],
  ]) {
    const alter = (set: string) => run(`update ${table} set ${set} returning id`);
    await alter(edit!);
    await assert.rejects(harness.verify(), /is not as entry \d+ left it/, table);
    await alter(back!);
    await harness.verify();
  }
  for (const table of ['administrators', 'passkeys', 'sessions', 'administrator_tokens']) {
    const rows = await harness.service.database.query(`select * from ${table}`);
    await run(`delete from ${table} returning id`);
    await assert.rejects(harness.verify(), /is missing/, table);
    for (const row of rows) await insertOutside(harness.store, table, row);
  }
});
