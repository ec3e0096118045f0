// A payment that somebody changed in the store itself, in the console: before the operator acknowledges it, and afterwards.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { acknowledgeAll } from '../../support/acknowledge.ts';
import { pageThatSays } from '../../support/console.ts';
import { open, send, TYPED } from '../../support/customer.ts';
import { editOutside } from '../../support/outside.ts';
import { createAt } from '../../support/shop.ts';
import { approveAs, people, sharedReview, statusOf, waiting } from './review-stage.ts';

const REASON = 'Edited <by hand>, incident 7';

describe('A payment that was changed outside the service', () => {
  const harness = sharedReview('', false);
  let who: Awaited<ReturnType<typeof people>>;
  let id: string;
  before(async () => {
    who = await people(harness);
    id = await waiting(harness);
    await harness.create();
    assert.doesNotMatch((await who.ana.get(`/payments/${id}`)).body, /outside the service/);
    await editOutside(harness.store, `update payments set amount_minor = 1 where id = '${id}'`);
    await editOutside(harness.store, `update payments set description = 'x' where id <> '${id}'`);
  });

  test('says so, and nobody can decide it', async () => {
    const page = await pageThatSays(who.ana, `/payments/${id}`, /Changed outside the service/);
    assert.deepEqual(
      page.forms.map(({ button }) => button).filter((button) => button !== 'Sign out'),
      [],
    );
    assert.doesNotMatch(page.text + (await who.ana.get(`/queue?open=${id}`)).text, /data-key="[are]"/);
    const refused = await who.ana.get(`/payments/${id}/approve`);
    assert.deepEqual([refused.status, refused.h1], [409, 'Nothing was decided']);
    assert.equal(await statusOf(harness, id), 'requires_review');
    await who.ana.send(await who.ana.get('/audit'), {}, 'Verify now');
    const audit = await pageThatSays(who.ana, '/audit', /Broken at entry/);
    assert.match(audit.body, /entry \d+ left it \(and 1 other row\)/);
  });

  test('and the operator who acknowledged it says so afterwards, with the reason', async () => {
    assert.equal((await acknowledgeAll(harness, REASON)).length, 2);
    const page = await pageThatSays(who.ana, `/payments/${id}`, /The operator recorded that in entry \d+/);
    assert.doesNotMatch(page.body, /nothing can be done/);
    assert.ok(
      page.body.includes(`The operator recorded that it was changed outside the service: ${REASON}.`),
    );

    await who.ana.send(await who.ana.get('/audit'), {}, 'Verify now');
    const audit = await pageThatSays(who.ana, '/audit', /Verified to entry/);
    assert.match(audit.body, /2 faults acknowledged:/);
    const { pathname, search } = audit.link('see what was changed outside the service');
    const listed = await who.ana.get(pathname.replace('/console', '') + search);
    assert.equal(listed.text.match(/id="entry-\d+"/g)!.length, 2);
    assert.ok(listed.body.includes(REASON));
    assert.match((await who.olga.get('/health')).body, /verified on [^.]*, with 2 acknowledged/);

    const decided = await approveAs(who.ana, id);
    assert.equal(await statusOf(harness, id), 'approved', decided.body);
    await harness.verify();
  });

  test('cannot be paid before it is acknowledged: neither its page nor its form asks for the changed amount', async () => {
    const { id: pending } = await createAt(harness, 'details');
    const asked = await open(harness, pending);
    assert.equal(asked.status, 200);
    await editOutside(harness.store, `update payments set amount_minor = 1 where id = '${pending}'`);
    harness.service.database.refresh();
    for (const page of [await open(harness, pending), await send(asked, TYPED.details)]) {
      assert.equal(page.status, 403);
      assert.match(page.body, /cannot be made/);
    }
    assert.equal(await statusOf(harness, pending), 'pending');
    assert.deepEqual(
      (await acknowledgeAll(harness, REASON)).map(({ subject }) => subject),
      [pending],
    );
    harness.service.database.refresh();
    assert.equal((await send(await open(harness, pending), TYPED.details)).status, 200);
    assert.equal(await statusOf(harness, pending), 'requires_review');
    await harness.verify();
  });
});
