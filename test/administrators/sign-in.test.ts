// Signing in, on two nodes of one store: what a password, a ticket and a second factor are good for, how often, and for how long.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { changePassword, endOtherSessions } from '../../src/administrators/account.ts';
import {
  DEVICE_MS,
  knownDevice,
  newDevice,
  recordFailure,
  sourceOf,
  throttledUntil,
} from '../../src/administrators/failures.ts';
import { hashPassword } from '../../src/administrators/password.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/lib/time.ts';
import { countFailures } from '../../src/store/database.ts';
import { processMs } from '../support/awake.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { handedIn, heldUp } from '../support/journal.ts';
import { PASSWORD } from '../support/password.ts';
import {
  addPerson,
  change,
  codeAt,
  fail,
  giveRole,
  onTwoNodes,
  type Parts,
  type Person,
  partsOf,
  principalOf,
  refusalOf,
  type SignInClient,
  STEP_MS,
  STRANGER,
  signIn,
  tryPassword,
  tryToEnter,
} from '../support/people.ts';

/** What a password costs whose time is told from that of everything else. */
const FELT = { memory: 16_384, passes: 2, parallelism: 1 };

describe('signing in', () => {
  let harness: Harness;
  let parts: Parts;
  /** Another node on the same store. */
  let other: Parts;
  let people = 0;
  const person = (role?: Person['principal']['role']) =>
    addPerson(parts, { email: `ana${++people}@example.org`, ...(role && { role }) });
  /** Somebody whose password takes as long as one that was chosen. */
  const costlyPerson = async () =>
    addPerson(parts, {
      email: `ana${++people}@example.org`,
      password: await hashPassword(PASSWORD, undefined, FELT),
    });

  onTwoNodes((...nodes) => {
    [harness, parts, other] = nodes;
  });

  test('a password and a code of the authenticator app begin a session', async () => {
    const ana = await person();
    const { secret, session } = await signIn(parts, ana);
    const { id, email } = ana.administrator;
    assert.deepEqual(await principalOf(parts, secret), {
      id,
      email,
      name: 'Ana Example',
      role: 'administrator',
      actor: `administrator:${id}`,
      session: session.id,
      token: null,
      request_id: null,
    });
    assert.equal(session.factor, 'totp');
    assert.notEqual(secret, ana.secret, 'a sign-in never goes on with a secret from before');
  });

  test('the address is taken in any letter case and with spaces about it', async () => {
    const { administrator } = await person();
    assert.equal(await tryPassword(parts, `  ${administrator.email.toUpperCase()} `, PASSWORD), 'right');
  });

  test('a wrong password, nobody, somebody disabled and somebody not set up are answered alike', async () => {
    const { administrator } = await person('reviewer');
    const { id, email } = administrator;
    const outcome = (typed: string, password: string) => tryPassword(parts, typed, password);
    assert.equal(await outcome(email, `${PASSWORD}!`), 'wrong');
    assert.equal(await outcome('nobody@example.org', PASSWORD), 'wrong');
    await change(parts, id, 'disable');
    assert.equal(await outcome(email, PASSWORD), 'wrong');
    await change(parts, id, 'enable');
    assert.equal(await outcome(email, PASSWORD), 'right');
  });

  test('a code of an app and a recovery code are right in digits of any script', async () => {
    const ana = await person();
    const { email } = ana.administrator;
    const [recovery] = ana.recoveryCodes;
    for (const zero of [0xff10, 0x0660, 0x06f0, 0x0966]) {
      const typed = (code: string) =>
        code.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
      harness.clock.advance(STEP_MS);
      const code = codeAt(ana.totpSecret, parts.clock.now());
      const done = await tryToEnter(parts, email, { code: typed(code) });
      assert.equal('session' in done && done.session.factor, 'totp', typed('0'));
      if (zero !== 0xff10) continue;
      const lost = await tryToEnter(parts, email, { recoveryCode: typed(recovery!) });
      assert.equal('session' in lost && lost.session.factor, 'recovery_code');
    }
  });

  test('a code works once, and those before it not at all', async () => {
    const ana = await person();
    harness.clock.stop(); // no step ends before the code is sent again
    harness.clock.advance(STEP_MS);
    await signIn(parts, ana);
    const now = parts.clock.now();
    for (const at of [now, now - STEP_MS]) {
      const again = await tryToEnter(parts, ana.administrator.email, { code: codeAt(ana.totpSecret, at) });
      assert.equal('refused' in again && again.refused, 'wrong');
    }
    harness.clock.advance(STEP_MS);
    assert.ok(await signIn(parts, ana));
    harness.clock.go();
  });

  test('of two requests with one code on two nodes at once, exactly one wins', async () => {
    const ana = await person();
    for (let round = 0; round < 2; round++) {
      harness.clock.advance(2 * STEP_MS);
      const nodes = [parts, other];
      const code = codeAt(ana.totpSecret, parts.clock.now());
      const done = await Promise.all(
        nodes.map((node) => tryToEnter(node, ana.administrator.email, { code })),
      );
      const told = done.map((one) => ('refused' in one ? one.refused : 'in')).sort();
      assert.deepEqual(told, ['in', 'wrong'], `round ${round}`);
    }
  });

  test('guesses sent side by side are five guesses, on all nodes together', async () => {
    const { email } = (await person()).administrator;
    const outcomes: string[] = [];
    // One caller has two passwords hashed at a time: two come through at once, one on each node.
    for (let round = 0; round < 10; round++)
      outcomes.push(...(await Promise.all([parts, other].map((node) => tryPassword(node, email, PASSWORD)))));
    assert.equal(outcomes.filter((one) => one === 'right').length, 5, 'of which the code was wrong');
    assert.equal(outcomes.filter((one) => one === 'throttled').length, 15);
  });

  test('whoever is disabled, or has another password or none, between their password and their code is not let in', async () => {
    const acts: Record<string, (ana: Person) => Promise<unknown>> = {
      disabled: ({ administrator: { id } }) => change(other, id, 'disable'),
      reset: ({ administrator: { id } }) => change(other, id, 'reset'),
      'another password': ({ principal }) =>
        changePassword(other, { principal, password: PASSWORD }, 'another long enough password'),
      'a role': ({ administrator: { id } }) => giveRole(other, id, 'auditor'),
    };
    for (const [what, act] of Object.entries(acts)) {
      const ana = await person('reviewer');
      const { go } = await heldUp(other.journal);
      const isChanging = handedIn(other.journal);
      const changed = act(ana);
      await isChanging;
      const isWaiting = handedIn(other.journal);
      const code = codeAt(ana.totpSecret, parts.clock.now());
      const entered = tryToEnter(other, ana.administrator.email, { code });
      await isWaiting;
      go();
      await changed;
      assert.equal(refusalOf(await entered), what === 'a role' ? undefined : 'wrong', what);
    }
  });

  test('a recovery code works once, however it is typed', async () => {
    const ana = await person();
    const [code] = ana.recoveryCodes;
    const { email } = ana.administrator;
    const spelled = ` ${code!.toUpperCase().replaceAll('-', ' ')}`;
    const done = await tryToEnter(parts, email, { recoveryCode: spelled });
    assert.ok('session' in done && done.session.factor === 'recovery_code');
    const again = await tryToEnter(parts, email, { recoveryCode: code! });
    assert.equal('refused' in again && again.refused, 'wrong');
    const next = await tryToEnter(parts, email, { recoveryCode: ana.recoveryCodes[1]! });
    assert.ok('session' in next);
  });

  test('after five failures nobody may try until the first of them is a quarter of an hour old', async () => {
    const ana = await person();
    const { email } = ana.administrator;
    const begun = parts.clock.now();
    assert.equal(await tryPassword(parts, email, PASSWORD), 'right', 'second factors count as well');
    const tried = parts.clock.now();
    for (let i = 0; i < 4; i++) {
      harness.clock.advance(MINUTE_MS);
      assert.equal(await tryPassword(parts, email, 'wrong wrong wrong wrong'), 'wrong');
    }
    for (const node of [parts, other]) {
      const code = codeAt(ana.totpSecret, node.clock.now());
      const refused = await tryToEnter(node, email, { code });
      assert.ok('refused' in refused && refused.refused === 'throttled');
      const first = refused.until - 15 * MINUTE_MS;
      assert.ok(first > begun - 1000 && first < tried + 1000, `${first - begun} ms`);
    }
    harness.clock.advance(11 * MINUTE_MS + 5000);
    assert.ok(await signIn(parts, ana));
  });

  /** Failures of strangers with `email`, of as many networks as there are times; oldest first, a second apart. */
  const failedElsewhere = async (email: string, times: number) => {
    for (let i = 0; i < times; i++) {
      const caller = { ...STRANGER, network: `192.0.2.${i}` };
      await fail(parts, email, 1, caller);
      harness.clock.advance(1000);
    }
  };
  const outcomeOf = async (node: Parts, email: string, password: string, caller: SignInClient) =>
    (await tryPassword(node, email, password, caller)).replace('right', 'let in');
  const untilOf = async (email: string, caller: SignInClient) => {
    const now = parts.clock.now();
    const source = sourceOf(parts.ring, email, undefined, caller, now);
    const until = await throttledUntil(parts, email, source, now);
    return until === undefined ? 0 : until - now;
  };

  test('passwords sent side by side are not tried any more once the fifth failure counts', async () => {
    const { email } = (await costlyPerson()).administrator;
    await fail(parts, email, 4);
    let isLetIn = () => {};
    const letIn = new Promise<void>((resolve) => {
      isLetIn = resolve;
    });
    const database: Parts['database'] = {
      ...countFailures(parts.database, () => {}), // the same store, as an object whose verbs can be replaced
      async query(sql, ...values) {
        const rows = await parts.database.query<never>(sql, ...values);
        if (sql.includes('audit_entries')) setImmediate(isLetIn); // its hash is begun by then
        return rows;
      },
    };
    const wrong = outcomeOf({ ...parts, database }, email, 'wrong wrong wrong wrong', STRANGER);
    await letIn;
    const right = outcomeOf(parts, email, PASSWORD, STRANGER);
    assert.deepEqual([await wrong, await right], ['wrong', 'throttled']);
  });

  test('five failures of one network do not keep out whoever comes from another', async () => {
    const { email } = (await person()).administrator;
    await fail(parts, email, 5);
    assert.equal(await outcomeOf(parts, email, PASSWORD, STRANGER), 'throttled');
    assert.equal(await outcomeOf(parts, email, PASSWORD, { ...STRANGER, network: 'b' }), 'let in');
  });

  test('strangers wait for longer and longer, wherever they come from, at most a quarter of an hour', async () => {
    const { email } = (await person()).administrator;
    const fresh = { ...STRANGER, network: 'nobody has failed from here' };
    await failedElsewhere(email, 9);
    assert.equal(await untilOf(email, fresh), 0);
    const waits: number[] = [];
    for (let i = 0; i < 6; i++) {
      await failedElsewhere(email, 1);
      waits.push(Math.round((1000 + (await untilOf(email, fresh))) / MINUTE_MS));
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 15, 15]);
    assert.equal(await outcomeOf(parts, email, PASSWORD, fresh), 'throttled');
    harness.clock.advance(24 * 60 * MINUTE_MS);
    assert.equal(await untilOf(email, fresh), 0, 'a day later all is forgotten');
    await failedElsewhere(email, 1);
    assert.equal(await untilOf(email, fresh), 0);
  });

  test('no failure of strangers keeps out a browser with which its owner has signed in', async () => {
    const ana = await person();
    const { email } = ana.administrator;
    const { administrator } = await signIn(parts, ana);
    const device = newDevice(parts.ring, administrator, parts.clock.now());
    await failedElsewhere(email, 12);
    assert.equal(await outcomeOf(parts, email, PASSWORD, STRANGER), 'throttled');
    harness.clock.advance(STEP_MS);
    assert.ok('secret' in (await signIn(other, ana, { ...STRANGER, device })), 'on every node');
  });

  test('a known browser is kept out by its own five failures, and by no other browser’s', async () => {
    const ana = await person();
    const { administrator } = ana;
    const { email } = administrator;
    const now = parts.clock.now();
    const [one, two] = [
      newDevice(parts.ring, administrator, now),
      newDevice(parts.ring, administrator, now),
    ].map((device) => ({
      ...STRANGER,
      device,
    }));
    const source = sourceOf(parts.ring, email, administrator, one!, now);
    await parts.journal.commit((transaction) => {
      for (let i = 0; i < 12; i++) recordFailure(transaction, email, 'second_factor', null, source);
    });
    assert.equal(await outcomeOf(parts, email, PASSWORD, one!), 'throttled');
    assert.equal(await outcomeOf(parts, email, PASSWORD, two!), 'let in');
    assert.equal(
      await outcomeOf(parts, email, PASSWORD, STRANGER),
      'let in',
      'nor does it count for strangers',
    );
  });

  test('a device cookie is good for its owner alone, for 180 days, until their password changes', async () => {
    const { administrator } = await person();
    const { administrator: another } = await person();
    const now = parts.clock.now();
    const cookie = newDevice(parts.ring, administrator, now);
    const known = (who: Person['administrator'], value: string | undefined, at = now) =>
      knownDevice(parts.ring, who, value, at) !== undefined;
    assert.equal(known(administrator, cookie), true);
    assert.equal(known(administrator, cookie, now + DEVICE_MS - 1), true);
    assert.equal(known(administrator, cookie, now + DEVICE_MS), false);
    assert.equal(known(another, cookie), false);
    assert.equal(known({ ...administrator, password: `${administrator.password}x` }, cookie), false);
    assert.equal(known({ ...administrator, password: null }, cookie), false);
    assert.equal(
      known(
        { ...administrator, password: null },
        newDevice(parts.ring, { ...administrator, password: null }, now),
      ),
      false,
    );
    const pieces = cookie.split('.');
    for (const [i, piece] of pieces.entries()) {
      const forged = piece.slice(0, -2) + (piece.at(-2) === '1' ? '2' : '1') + piece.at(-1);
      assert.equal(known(administrator, pieces.with(i, forged).join('.')), false, `part ${i}`);
    }
    for (const nonsense of [undefined, '', `${cookie}a`, cookie.slice(1), pieces.slice(0, 3).join('.')])
      assert.equal(known(administrator, nonsense), false);
  });

  test('whoever signs in before all other sessions are ended is thrown out', async () => {
    const ana = await person();
    const { go } = await heldUp(other.journal);
    const isWaiting = handedIn(other.journal);
    const entered = signIn(other, ana);
    await isWaiting;
    const ended = endOtherSessions(other, ana.principal);
    go();
    const done = await entered;
    await ended;
    assert.equal(await principalOf(parts, done.secret), undefined);
    assert.ok(await principalOf(parts, ana.secret));
  });

  test('a sign-in that another node has not committed yet is waited for, and thrown out', async () => {
    const ana = await person();
    const before = await heldUp(other.journal);
    const isWaiting = handedIn(other.journal);
    const entered = signIn(other, ana);
    await isWaiting;
    // Behind the sign-in in one batch, which stays open.
    const behind = heldUp(other.journal, 'zzz');
    before.go();
    const { go } = await behind;
    const ended = endOtherSessions(parts, ana.principal);
    setTimeout(go, 200);
    await ended;
    const done = await entered;
    assert.equal(await principalOf(parts, done.secret), undefined);
  });

  test('an unknown address is throttled like a known one', async () => {
    await fail(parts, 'stranger@example.org', 5);
    assert.equal(await tryPassword(parts, 'Stranger@example.org', PASSWORD), 'throttled');
  });

  test('a session ends on every node when its administrator is disabled, and after eight hours', async () => {
    const ana = await person('reviewer');
    const { secret } = await signIn(parts, ana);
    const found = async (node: Parts) => (await principalOf(node, secret))?.id;
    const { id } = ana.administrator;
    assert.equal(await found(parts), id);
    await change(parts, id, 'disable');
    assert.deepEqual([await found(parts), await found(other)], [undefined, undefined]);
    await change(parts, id, 'enable');
    assert.equal(await found(parts), undefined, 'enabling brings no session back');
    assert.equal(await principalOf(parts, 'A'.repeat(43)), undefined);

    const again = await signIn(parts, { ...ana, totpSecret: ana.totpSecret }).catch(async () => {
      harness.clock.advance(STEP_MS);
      return signIn(parts, ana);
    });
    const end = again.session.created_at + 8 * HOUR_MS;
    assert.ok(await principalOf(parts, again.secret, end - 1));
    for (const late of [end, end + 1]) assert.equal(await principalOf(parts, again.secret, late), undefined);
  });

  test('the history tells each sign-in and failure, and nothing of whom', async () => {
    const entries = await parts.database.query<{ action: string; subject: string; facts: string }>(
      "select action, subject, facts from audit_entries where action like 'administrator.%' or action like 'sign_in.%' or action like 'session.%'",
    );
    const actions = new Set(entries.map(({ action }) => action));
    for (const action of ['administrator.signed_in', 'sign_in.failed', 'session.started', 'session.ended'])
      assert.ok(actions.has(action), action);
    const text = JSON.stringify(entries);
    assert.doesNotMatch(text, /@|example|Ana Admin/i);
    for (const { action, subject } of entries)
      if (action === 'sign_in.failed') assert.match(subject, /^sign_in:[0-9a-f]{4}$/);
  });
});

test('an address that nobody has takes as long as one that somebody has', async () => {
  await using harness = await startHarness('sqlite');
  const parts = partsOf(harness);
  const somebody = 'ana@example.org';
  await addPerson(parts, { email: somebody, password: await hashPassword(PASSWORD, undefined, FELT) });
  // In time of a processor, which a hash takes nearly all of: whatever else the machine does meanwhile is not counted.
  const took = async (email: string) => {
    const begun = processMs();
    await tryPassword({ ...parts, passwordCost: FELT }, email, 'not the password at all');
    return processMs() - begun;
  };
  const known = Math.min(await took(somebody), await took(somebody));
  const unknown = Math.min(await took('who1@example.org'), await took('who2@example.org'));
  assert.ok(unknown > known / 2 && known > unknown / 2, `${unknown} ms against ${known} ms`);
});
