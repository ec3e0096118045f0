// The first page over HTTP: what waits, what was decided, links asked anew, and what to look after.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { DAY_MS } from '../../../src/lib/time.ts';
import { strictly } from '../../support/markup.ts';
import { eventually } from '../../support/waiting.ts';
import { approveAs, people, rejectAs, sharedReview, waiting } from './review-stage.ts';

const harness = sharedReview('', false);
let who: Awaited<ReturnType<typeof people>>;
before(async () => {
  const { clock } = harness;
  clock.advance(DAY_MS - (clock.now() % DAY_MS)); // so that what is decided "today" is so some minutes later too
  who = await people(harness);
});

test('It counts what waits with sums and the oldest, what was decided today, and draws thirty days with their table.', async () => {
  await approveAs(who.ana, await waiting(harness));
  await approveAs(who.ana, await waiting(harness));
  await rejectAs(who.ana, await waiting(harness));
  await waiting(harness, 'transfer', { amount: 49.9 });
  await waiting(harness, 'transfer', { amount: 0.1 });
  await waiting(harness, 'transfer', { amount: 7, currency: 'USD' });
  harness.clock.advance(5 * 60_000);
  const page = await who.ana.get('/');
  assert.match(page.body, /To review 3 €50.00 in 2 test payments ?\$7.00 USD in 1 test payment/);
  assert.match(page.body, /oldest has waited 5 min/);
  assert.match(page.body, /Decided today 3 2 approved ?1 rejected Last decision 5 min ago by you/);
  assert.match(
    page.text,
    /aria-label="Decided in the last 30 days: 2 approved, 1 rejected\. The most on \d+ \w+ \d{4}: 3\."/,
  );
  assert.equal(page.text.match(/<tr><th scope="row">/g)?.length, 30);
  assert.match(page.text, /<td class="number">2<\/td><td class="number">1<\/td>/);
  assert.equal(page.text.match(/<rect class="(approved|rejected)"/g)?.length, 2);
  assert.deepEqual(strictly(page.text).faults, []);
});

test('It warns where the end of the history is long unsigned, and that no https is spoken.', async () => {
  await waiting(harness);
  const fresh = await who.ana.get('/');
  assert.match(fresh.body, /reached without HTTPS/);
  assert.doesNotMatch(fresh.body, /no checkpoint vouches/);
  const unsigned = /made 6 min ago and no checkpoint vouches/;
  await eventually(async () => {
    harness.clock.advance(6 * 60_000);
    if (unsigned.test((await who.ana.get('/')).body)) return true;
    await waiting(harness); // a checkpoint came between
    return false;
  });
});
