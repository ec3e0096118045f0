// What another process made a moment ago lets somebody in at once, although reads of SQLite share a view for a tenth of a second.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findBySetUpLink, newSetUpLink } from '../../src/administrators/set-up.ts';
import { createToken } from '../../src/administrators/token.ts';
import { createInvite, findUsableInvite } from '../../src/merchants/invite.ts';
import { addPerson, type Person } from '../support/admin.ts';
import { type Harness, OPERATOR, startHarness } from '../support/harness.ts';
import { otherNode } from '../support/people.ts';

let harness: Harness;
let person: Person;
let other: Awaited<ReturnType<typeof otherNode>>;
before(async () => {
  harness = await startHarness('sqlite');
  person = await addPerson(harness, 'administrator');
  other = await otherNode(harness);
});
after(async () => {
  await other.close();
  await harness.close();
});

/** Has the server's reads share the view that they have now. */
const takeView = () => harness.service.database.query('select 1');

test('a token, a set-up link and an invitation', async () => {
  const { database } = harness.service;
  const wanted = { administratorId: person.id, role: 'auditor', name: 'Nightly', days: 1 } as const;
  for (let time = 0; time < 5; time++) {
    await takeView();
    const { token } = await other.journal.commit((work) => createToken(work, wanted, OPERATOR));
    assert.equal((await harness.request('/admin/payments', { key: token })).status, 200);
    await takeView();
    const link = await other.journal.commit((work) => newSetUpLink(work, person, OPERATOR));
    assert.equal((await findBySetUpLink(database, link, harness.clock.now()))?.id, person.id);
    await takeView();
    const { code } = await other.journal.commit(async (work) =>
      createInvite(work, { mode: 'test', note: null, days: 1 }, OPERATOR),
    );
    assert.ok(await findUsableInvite(database, code));
  }
});
