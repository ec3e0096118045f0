// A payment that somebody changed in the store itself, in the console: before the operator acknowledges it, and afterwards.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { acknowledgeAll } from '../support/acknowledge.ts';
import { pageThatSays } from '../support/console.ts';
import type { Harness } from '../support/harness.ts';
import { approveAs, people, startReview, statusOf, waiting } from './review-stage.ts';

const REASON = 'Edited <by hand>, incident 7';

describe('A payment that was changed outside the service', () => {
  let harness: Harness;
  let who: Awaited<ReturnType<typeof people>>;
  let id: string;
  before(async () => {
    harness = await startReview();
    who = await people(harness);
    id = await waiting(harness);
    await harness.create();
    assert.doesNotMatch((await who.ana.get(`/payments/${id}`)).body, /outside the service/);
    const { database } = harness.service;
    await database.script(`update payments set amount_minor = 1 where id = '${id}'`);
    await database.script(`update payments set description = 'x' where id <> '${id}'`);
  });
  after(() => harness.close());

  test('says so, and nobody can decide it', async () => {
    const page = await pageThatSays(who.ana, `/payments/${id}`, /Changed outside the service/);
    assert.match(page.body, /nobody can act on the payment\. Pay nothing out on it\./);
    const refused = await approveAs(who.ana, id);
    assert.match(refused.body, /The payment was changed outside the service, so nobody can act on it/);
    assert.equal(await statusOf(harness, id), 'requires_review');
    await who.ana.send(await who.ana.get('/audit'), {}, 'Verify now');
    const audit = await pageThatSays(who.ana, '/audit', /Broken at entry/);
    assert.match(audit.body, /is not as entry \d+ left it \(and 1 other row\)\. Keep the files/);
  });

  test('and the operator who acknowledged it says so afterwards, with the reason', async () => {
    assert.equal((await acknowledgeAll(harness, REASON)).length, 2);
    const page = await pageThatSays(who.ana, `/payments/${id}`, /The operator recorded that in entry \d+/);
    assert.ok(page.body.includes(REASON));
    assert.doesNotMatch(page.body, /nobody can act/);
    assert.ok(
      page.body.includes(`The operator recorded that it was changed outside the service: ${REASON}.`),
    );

    await who.ana.send(await who.ana.get('/audit'), {}, 'Verify now');
    const audit = await pageThatSays(who.ana, '/audit', /Verified to entry/);
    assert.match(audit.body, /2 faults acknowledged: see what was changed outside the service/);
    const { pathname, search } = audit.link('see what was changed outside the service');
    const listed = await who.ana.get(pathname.replace('/console', '') + search);
    assert.equal(listed.text.match(/id="entry-\d+"/g)!.length, 2);
    assert.ok(listed.body.includes(REASON));
    assert.match((await who.olga.get('/health')).body, /verified at \S+, with 2 acknowledged faults/);

    const decided = await approveAs(who.ana, id);
    assert.equal(await statusOf(harness, id), 'approved', decided.body);
    await harness.verify();
  });
});
