// A stream of wrong passwords from many networks: it leaves a bounded number of entries, and guesses no more for that.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { failuresSince, startFailureTally } from '../../src/administrators/failures.ts';
import { silent } from '../../src/lib/log.ts';
import { sharedHarness } from '../support/harness.ts';
import {
  addPerson,
  type Parts,
  type Person,
  partsOf,
  STRANGER,
  signIn,
  tryPassword,
} from '../support/people.ts';

describe('wrong passwords from many networks', () => {
  const harness = sharedHarness('sqlite', { isVerified: true });
  let parts: Parts;
  let people: Person[];
  let emails: string[];
  before(async () => {
    harness.clock.stop(); // no minute ends between two passwords
    parts = partsOf(harness);
    people = [];
    for (let i = 0; i < 8; i++) people.push(await addPerson(parts, { email: `dee${i}@example.org` }));
    emails = people.map(({ administrator }) => administrator.email);
  });

  const count = async (action: string) => {
    const sql = 'select count(*) as n from audit_entries where action = ?';
    return Number((await parts.database.query<{ n: number }>(sql, action))[0]!.n);
  };
  let networks = 0;
  const fail = async (email: string, times: number) => {
    for (let i = 0; i < times; i++) {
      const caller = { ...STRANGER, network: `192.0.2.${networks++}` };
      assert.equal(await tryPassword(parts, email, 'wrong wrong wrong', caller), 'wrong');
    }
  };
  const outcome = (person: Person) =>
    signIn(parts, person, { ...STRANGER, network: 'new' }).then(
      () => 'let in',
      (error: Error) => error.message,
    );

  test('have thirty entries a minute, and then one with their number; they make strangers wait all the same', async () => {
    const victim = emails[7]!;
    for (const email of emails.slice(0, 7)) await fail(email, 6);
    assert.equal(await count('sign_in.failed'), 30);
    await fail(victim, 9);
    assert.equal(await outcome(people[7]!), 'let in', 'nine are no reason to wait');
    await fail(victim, 1);
    assert.equal(
      await outcome(people[7]!),
      'refused: throttled',
      'ten are, though none of them has an entry',
    );
    assert.deepEqual(
      (({ count, withPassword }) => [count, withPassword])(await failuresSince(parts, victim, 0)),
      [10, 0],
      'their owner is told of them',
    );
    assert.equal(await count('sign_in.failed'), 30);
    assert.equal(await count('sign_in.failures_counted'), 0);
    await parts.tally.write();
    await parts.tally.write();
    const sql = "select subject, facts from audit_entries where action = 'sign_in.failures_counted'";
    const entries = await parts.database.query<{ subject: string; facts: string }>(sql);
    assert.deepEqual(
      entries.map(({ subject, facts }) => [subject, JSON.parse(facts)]),
      [['sign_in', { count: 42 + 10 - 30 }]],
    );
    harness.clock.advance(60_000);
    await fail(emails[0]!, 1);
    assert.equal(await count('sign_in.failed'), 30 + 1, 'the next minute has its own');
  });

  test('are counted in the history when the service stops', async () => {
    harness.clock.advance(60_000);
    const before = await count('sign_in.failures_counted');
    const running = startFailureTally(parts.tally, silent);
    for (let i = 0; i < 30; i++) parts.tally.mayRecord();
    await fail(emails[1]!, 1);
    await running.stop();
    assert.equal(await count('sign_in.failures_counted'), before + 1);
  });
});
