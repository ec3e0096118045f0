// What administrators change of themselves and of one another: who is thrown out by it, and what is refused.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  addPasskey,
  changePassword,
  removePasskey,
  renewRecoveryCodes,
  replaceTotp,
} from '../../src/administrators/account.ts';
import {
  type Administrator,
  type Principal,
  recordAdministrator,
} from '../../src/administrators/administrator.ts';
import { knownDevice, newDevice, recordFailure, sourceOfSession } from '../../src/administrators/failures.ts';
import {
  changeRole,
  createAdministrator,
  developmentSetUp,
  disable,
  enable,
  reset,
} from '../../src/administrators/manage.ts';
import {
  passkeyPlace,
  registrationChallenge,
  registrationOptions,
  verifiedRegistration,
} from '../../src/administrators/passkey.ts';
import { inTurn } from '../../src/administrators/password.ts';
import {
  changeAdministrator,
  findAdministrator,
  listAdministrators,
  passkeysOf,
} from '../../src/administrators/queries.ts';
import { newRecoveryCodes } from '../../src/administrators/recovery-codes.ts';
import { endSession, findPrincipal } from '../../src/administrators/session.ts';
import { completeSetUp, findBySetUpLink, newSetUpLink, SET_UP_MS } from '../../src/administrators/set-up.ts';
import { newChallenge, type Parts } from '../../src/administrators/sign-in.ts';
import { createToken, findTokenPrincipal, revokeToken } from '../../src/administrators/token.ts';
import type { Transaction } from '../../src/journal/transaction.ts';
import type { OperationalError } from '../../src/lib/errors.ts';
import { Authenticator } from '../support/authenticator.ts';
import { type Harness, OPERATOR, startHarness } from '../support/harness.ts';
import { insertOutside } from '../support/outside.ts';
import { PASSWORD, PASSWORD_KEPT } from '../support/password.ts';
import {
  addPerson,
  codeAt,
  otherNode,
  type Person,
  partsOf,
  signIn,
  tryPassword,
  tryToEnter,
} from '../support/people.ts';
import { ENGINES } from '../support/stores.ts';

const PLACE = passkeyPlace('https://pay.example/api')!;
const DAY_MS = 86_400_000;
const at = (place: typeof PLACE, challenge: string) => ({ ...place, challenge });

describe('accounts', () => {
  let harness: Harness;
  let parts: Parts;
  let other: Awaited<ReturnType<typeof otherNode>>;
  let people = 0;
  const person = (role?: Principal['role']) =>
    addPerson(parts, { email: `bo${++people}@example.org`, name: 'Bo', ...(role && { role }) });
  const commit = <T>(work: (transaction: Transaction) => Promise<T> | T, id = '') =>
    parts.journal.commit(work, id);
  const isIn = async (secret: string) =>
    (await findPrincipal(parts.database, secret, parts.clock.now())) !== undefined;
  const asking = ({ principal }: Person) => ({ principal, password: PASSWORD });
  const now = async ({ administrator }: Person) =>
    (await findAdministrator(parts.database, administrator.id)) as Administrator;

  before(async () => {
    harness = await startHarness('postgres');
    parts = partsOf(harness);
    other = await otherNode(harness);
  });
  after(async () => {
    await harness.verify();
    await other.close();
    await harness.close();
  });

  test('nodes of development that start at the same moment make one administrator between them', async () => {
    const journals = [parts.journal, other.journal, parts.journal];
    const links = await Promise.all(journals.map((journal) => developmentSetUp(parts.database, journal)));
    assert.ok(links.some((link) => link !== undefined));
    assert.equal((await listAdministrators(parts.database)).length, 1);
  });

  test('development makes one administrator, with a new link at each start, until somebody is set up', async () => {
    const first = await developmentSetUp(parts.database, parts.journal);
    const second = await developmentSetUp(parts.database, parts.journal);
    assert.ok(first && second && first !== second);
    assert.equal(await findBySetUpLink(parts.database, first, parts.clock.now()), undefined);
    const found = await findBySetUpLink(parts.database, second, parts.clock.now());
    assert.deepEqual([found?.email, found?.role], ['admin@localhost', 'administrator']);
    await person();
    assert.equal(await developmentSetUp(parts.database, parts.journal), undefined);
  });

  test('a set-up link works once, for half an hour, and not while its administrator is disabled', async () => {
    const wanted = { email: 'link@example.org', name: 'Link', role: 'reviewer' } as const;
    const { administrator, link } = await commit((transaction) =>
      createAdministrator(transaction, wanted, OPERATOR),
    );
    const { id } = administrator;
    const opens = async (secret: string) =>
      (await findBySetUpLink(parts.database, secret, parts.clock.now()))?.id === id;
    assert.equal(await opens(link), true);
    assert.equal(await opens(`${link.slice(0, -1)}${link.endsWith('0') ? '1' : '0'}`), false);
    await commit((transaction) => disable(transaction, id, OPERATOR), id);
    assert.equal(await opens(link), false);
    await commit((transaction) => enable(transaction, id, OPERATOR), id);
    const next = await commit((transaction) => newSetUpLink(transaction, administrator, OPERATOR), id);
    assert.deepEqual([await opens(link), await opens(next)], [false, true]);

    const chosen = {
      password: PASSWORD_KEPT,
      factor: { totp: { secret: 'A'.repeat(32), step: 1 } },
      recoveryDigests: newRecoveryCodes().digests,
    };
    const done = await Promise.all(
      [parts, other].map(({ journal }) =>
        journal.commit((transaction) => completeSetUp(transaction, parts.ring, next, chosen, null), id),
      ),
    );
    assert.equal(done.filter((one) => one !== undefined).length, 1, 'of two at once one sets up');
    const late = await commit((transaction) => newSetUpLink(transaction, administrator, OPERATOR), id);
    harness.clock.advance(SET_UP_MS);
    assert.equal(await opens(late), false);
    assert.equal(
      await commit((transaction) => completeSetUp(transaction, parts.ring, late, chosen, null)),
      undefined,
    );
  });

  test('a new password ends every session and begins another; the old password is good for nothing', async () => {
    const bo = await person();
    const done = await changePassword(parts, asking(bo), 'another long enough password');
    assert.ok('secret' in done);
    assert.deepEqual([await isIn(bo.secret), await isIn(done.secret)], [false, true]);
    assert.equal(await tryPassword(parts, bo.administrator.email, PASSWORD), 'wrong');
    const short = changePassword(parts, asking(bo), 'too short');
    await assert.rejects(short, {
      code: 'validation_failed',
      details: { password: 'Must be at least 15 characters.' },
    });
  });

  test('a new password that is easily guessed is refused, once the present one was right', async () => {
    const bo = await person();
    const { version } = await now(bo);
    await assert.rejects(changePassword(parts, asking(bo), 'counterfoilcounterfoil'), (error) => {
      const { code, details } = error as OperationalError;
      assert.equal(code, 'validation_failed');
      return /^Must be harder to guess/.test(details!.password!);
    });
    assert.equal((await now(bo)).version, version);
    const wrong = { ...asking(bo), password: 'not the password of Bo' };
    assert.deepEqual(await changePassword(parts, wrong, 'counterfoilcounterfoil'), { refused: 'wrong' });
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

  test('nothing of an account changes without its password, or by a token', async () => {
    const bo = await person();
    const before = await now(bo);
    const wrong = { ...asking(bo), password: 'not the password of Bo' };
    assert.deepEqual(await changePassword(parts, wrong, 'another long enough password'), {
      refused: 'wrong',
    });
    assert.deepEqual(await renewRecoveryCodes(parts, wrong), { refused: 'wrong' });
    assert.deepEqual(await replaceTotp(parts, wrong, { secret: 'A'.repeat(32), step: 1 }), {
      refused: 'wrong',
    });
    const byToken = { ...asking(bo), principal: { ...bo.principal, session: null, token: 'tok_1' } };
    await assert.rejects(renewRecoveryCodes(parts, byToken), { code: 'forbidden' });
    assert.deepEqual(await now(bo), before);
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
    const options = registrationOptions(parts.ring, PLACE, await now(bo), []);
    assert.deepEqual([options.rp.id, options.attestation], ['pay.example', 'none']);
    assert.equal(options.challenge, registrationChallenge(parts.ring, await now(bo)));
    const response = device.register(at(PLACE, options.challenge));
    const elsewhere = { ...PLACE, origin: 'https://evil.example' };
    assert.equal(verifiedRegistration(parts.ring, elsewhere, await now(bo), response), undefined);
    for (const nonsense of [null, 1, {}, { id: 'x' }])
      assert.equal(verifiedRegistration(parts.ring, PLACE, await now(bo), nonsense), undefined);
    const made = verifiedRegistration(parts.ring, PLACE, await now(bo), response);
    const added = await addPasskey(parts, asking(bo), made!, 'Key on the ring');
    assert.ok('passkey' in added);
    assert.equal(
      verifiedRegistration(parts.ring, PLACE, await now(bo), response),
      undefined,
      'its challenge is used',
    );
    await assert.rejects(addPasskey(parts, asking(bo), made!, 'Again'), { code: 'conflict' });

    const challenge = () => {
      harness.clock.advance(1);
      return newChallenge(parts.ring, parts.clock.now());
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
    const passkey = async () => {
      const row = await now(bo);
      const sent = new Authenticator().register(at(PLACE, registrationChallenge(parts.ring, row)));
      return verifiedRegistration(parts.ring, PLACE, row, sent)!;
    };
    const idOfFirst = async () => (await passkeysOf(parts.database, bo.principal.id))[0]!.id;
    const acts = {
      'a passkey is added': async () => addPasskey(parts, asking(bo), await passkey(), 'Key'),
      'a passkey is removed': async () => removePasskey(parts, asking(bo), await idOfFirst()),
      'the app is replaced': () => replaceTotp(parts, asking(bo), { secret: 'A'.repeat(32), step: 1 }),
      'recovery codes are renewed': () => renewRecoveryCodes(parts, asking(bo)),
    };
    for (const [what, act] of Object.entries(acts)) {
      const row = await now(bo);
      const cookie = newDevice(parts.ring, row, parts.clock.now());
      const isKnown = (who: Administrator, value = cookie) =>
        knownDevice(parts.ring, who, value, parts.clock.now()) !== undefined;
      assert.equal(isKnown(row), true);
      const wrong = { ...asking(bo), password: 'not the right one' };
      assert.deepEqual(await renewRecoveryCodes(parts, wrong), { refused: 'wrong' });
      assert.equal(isKnown(await now(bo)), true, 'a refused change ends nothing');
      const done = await act();
      assert.ok('administrator' in done, what);
      assert.equal(isKnown((await findAdministrator(other.database, bo.principal.id))!), false, what);
      assert.equal(
        isKnown(await now(bo), newDevice(parts.ring, done.administrator, parts.clock.now())),
        true,
      );
      assert.equal(await tryPassword(parts, bo.administrator.email, PASSWORD), 'right');
      harness.clock.advance(15 * 60_000);
    }
  });

  test('the last second factor cannot be removed', async () => {
    const bo = await person();
    const devices = [new Authenticator(), new Authenticator()];
    for (const device of devices) {
      const row = await now(bo);
      const sent = device.register(at(PLACE, registrationChallenge(parts.ring, row)));
      await addPasskey(parts, asking(bo), verifiedRegistration(parts.ring, PLACE, row, sent)!, 'Key');
    }
    // Only the passkeys are left.
    await commit(async (transaction) => {
      const gone = { totp_secret: null, totp_step: null };
      const row = await changeAdministrator(transaction, bo.principal.id, undefined, gone);
      await recordAdministrator(transaction, OPERATOR, 'administrator.totp_removed', row!);
    }, bo.principal.id);
    const [one, two] = await passkeysOf(parts.database, bo.principal.id);
    const both = await Promise.allSettled([
      removePasskey(parts, asking(bo), one!.id),
      removePasskey(other, asking(bo), two!.id),
    ]);
    assert.equal(
      both.filter(({ status }) => status === 'fulfilled').length,
      1,
      'of two at once one is removed',
    );
    const [left] = await passkeysOf(parts.database, bo.principal.id);
    await assert.rejects(removePasskey(parts, asking(bo), left!.id), /only second factor/);
    await assert.rejects(removePasskey(parts, asking(bo), 'psk_none'), { code: 'not_found' });
  });

  test('signing out ends that session and no other', async () => {
    const bo = await person();
    const done = await tryToEnter(parts, bo.administrator.email, { recoveryCode: bo.recoveryCodes[0]! });
    assert.ok('secret' in done);
    await commit((transaction) => endSession(transaction, bo.principal));
    await commit((transaction) => endSession(transaction, bo.principal));
    assert.deepEqual([await isIn(bo.secret), await isIn(done.secret)], [false, true]);
  });

  test('another role ends sessions, and a token falls with its administrator', async () => {
    const bo = await person();
    const { id } = bo.administrator;
    const made = await commit((transaction) =>
      createToken(transaction, { administratorId: id, role: 'reviewer', name: 'Export', days: 2 }, OPERATOR),
    );
    const principal = () =>
      findTokenPrincipal(parts.database, made.token, parts.clock.now()).then((found) => found.principal);
    assert.deepEqual(await principal(), {
      ...bo.principal,
      role: 'reviewer',
      session: null,
      token: made.row.id,
    });
    await commit((transaction) => changeRole(transaction, id, 'auditor', OPERATOR), id);
    assert.deepEqual([await isIn(bo.secret), (await principal())?.role], [false, 'auditor']);
    await commit((transaction) => disable(transaction, id, OPERATOR), id);
    assert.equal(await principal(), undefined);
    await commit((transaction) => enable(transaction, id, OPERATOR), id);
    const more = { administratorId: id, role: 'reviewer', name: 'More', days: 2 } as const;
    await assert.rejects(
      commit((transaction) => createToken(transaction, more, OPERATOR)),
      {
        details: { role: "Must be at most the administrator's own: auditor." },
      },
    );
    harness.clock.advance(2 * DAY_MS);
    assert.equal(await principal(), undefined);
    harness.clock.advance(-2 * DAY_MS);
    assert.ok(await principal());
    await commit((transaction) => revokeToken(transaction, made.row.id, OPERATOR));
    assert.equal(await principal(), undefined);
    assert.deepEqual(await findTokenPrincipal(parts.database, `${made.token}x`, parts.clock.now()), {});
  });

  test('a reset leaves nothing to sign in with but a new link', async () => {
    const bo = await person('reviewer');
    const { id, email } = bo.administrator;
    const device = new Authenticator();
    const row = await now(bo);
    const sent = device.register(at(PLACE, registrationChallenge(parts.ring, row)));
    await addPasskey(parts, asking(bo), verifiedRegistration(parts.ring, PLACE, row, sent)!, 'Key');
    const { link } = await commit((transaction) => reset(transaction, id, OPERATOR), id);
    assert.equal(await isIn(bo.secret), false);
    assert.deepEqual(await passkeysOf(parts.database, id), []);
    assert.equal(await tryPassword(parts, email, PASSWORD), 'wrong');
    const { password, totp_secret, totp_step, recovery_codes } = await now(bo);
    assert.deepEqual([password, totp_secret, totp_step, recovery_codes], [null, null, null, null]);
    assert.equal((await findBySetUpLink(parts.database, link, parts.clock.now()))?.id, id);
    await harness.verify();
  });
});

for (const engine of ENGINES)
  test(`on ${engine} there is always one who can do everything, even if two nodes disable one another's`, async () => {
    const harness = await startHarness(engine);
    const other = await otherNode(harness);
    try {
      const parts = partsOf(harness);
      const journals = [harness.service.journal, other.journal];
      const mistyped = { email: 'nwe@example.org', name: 'New', role: 'administrator' } as const;
      const typo = await parts.journal.commit((transaction) =>
        createAdministrator(transaction, mistyped, OPERATOR),
      );
      await parts.journal.commit((transaction) => disable(transaction, typo.administrator.id, OPERATOR));
      const one = await addPerson(parts, { email: 'one@example.org' });
      const two = await addPerson(parts, { email: 'two@example.org' });
      const reviewer = await addPerson(parts, { email: 'rev@example.org', role: 'reviewer' });
      const invited = { email: 'new@example.org', name: 'New', role: 'administrator' } as const;
      await parts.journal.commit((transaction) => createAdministrator(transaction, invited, OPERATOR));
      const both = await Promise.allSettled(
        [one, two].map(({ administrator: { id } }, i) =>
          journals[i]!.commit((transaction) => disable(transaction, id, OPERATOR), id),
        ),
      );
      const refused = both.filter((outcome) => outcome.status === 'rejected');
      assert.equal(refused.length, 1);
      assert.match(String(refused[0]!.reason), /The last administrator who is set up/);
      const last = both[0]!.status === 'rejected' ? one : two;
      const { id } = last.administrator;
      for (const work of [
        (transaction: Transaction) => disable(transaction, id, OPERATOR),
        (transaction: Transaction) => changeRole(transaction, id, 'reviewer', OPERATOR),
      ])
        await assert.rejects(parts.journal.commit(work, id), { code: 'conflict' });
      await parts.journal.commit((transaction) => disable(transaction, reviewer.administrator.id, OPERATOR));
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
  const device = new Authenticator();
  const sent = device.register(at(PLACE, registrationChallenge(parts.ring, bo.administrator)));
  const made = verifiedRegistration(parts.ring, PLACE, bo.administrator, sent);
  await addPasskey(parts, { principal: bo.principal, password: PASSWORD }, made!, 'Key');
  await parts.journal.commit((transaction) =>
    createToken(transaction, { administratorId: id, role: 'auditor', name: 'T', days: 1 }, OPERATOR),
  );
  assert.equal((await harness.verify()).sessions, 1);
  // By the journal, because a database does one transaction at a time.
  const run = (sql: string) => parts.journal.commit((transaction) => transaction.query(sql));
  for (const [table, change, back] of [
    ['administrators', "role = 'reviewer'", "role = 'administrator'"],
    ['passkeys', "name = 'Mine'", "name = 'Key'"],
    ['sessions', 'expires_at = expires_at + 1', 'expires_at = expires_at - 1'],
    ['administrator_tokens', "role = 'administrator'", "role = 'auditor'"],
  ]) {
    const alter = (set: string) => run(`update ${table} set ${set} returning id`);
    await alter(change!);
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
