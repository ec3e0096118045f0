// The queue over HTTP: what is in it, in which order, by which filters, and what it says when it is empty.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Client } from '../../support/console.ts';
import { strictly } from '../../support/markup.ts';
import { createAt } from '../../support/shop.ts';
import { approveAs, people, recordAs, sharedReview, waiting } from './review-stage.ts';

const harness = sharedReview('', false);
let who: Awaited<ReturnType<typeof people>>;
before(async () => {
  who = await people(harness);
});

/** The ids of the payments listed, in their order. */
function listed(text: string): string[] {
  return [...text.matchAll(/<a href="[^"]*open=(pay_\w+)[^"]*" data-key-row/g)].map(([, id]) => id!);
}
const ids = async (client: Client, query = '') => listed((await client.get(`/queue${query}`)).text);

test('An empty queue says so, and after a decision when the last was made and by whom.', async () => {
  const empty = await who.ana.get('/queue');
  assert.match(empty.body, /Nothing to review\./);
  await approveAs(who.ana, await waiting(harness));
  harness.clock.advance(12 * 60_000);
  const page = await who.bob.get('/queue');
  assert.match(page.body, /Nothing to review\.\s*Last decision 12 min ago by Ana\./);
  assert.equal(page.title, 'To review – Counterfoil');
});

test('Payments stand oldest first, with a count in the title, and filters and pages keep to their address.', async () => {
  const first = await waiting(harness, 'transfer', { amount: 10, merchant_reference: 'FIRST' });
  harness.clock.advance(2 * 3_600_000);
  who = await people(harness); // sessions end by themselves
  const second = await waiting(harness, 'cash', { amount: 20, currency: 'USD' });
  const third = await waiting(harness, 'transfer', { amount: 300 });
  assert.deepEqual(await ids(who.ana), [first, second, third]);
  const page = await who.ana.get('/queue');
  assert.match(page.title, /^To review \(3\) –/);
  assert.match(page.body, /Ada Lovelace[^€]*Test ?€10\.00 ?Corner Shop · FIRST ?2 h/);
  assert.deepEqual(await ids(who.ana, '?merchant=mer_cash'), [second]);
  assert.deepEqual(await ids(who.ana, '?method=bank_transfer'), [first, third]);
  assert.deepEqual(await ids(who.ana, '?currency=USD'), [second]);
  for (const typed of ['20,00', '２０．００', '٢٠٫٠٠', '২০'])
    assert.deepEqual(await ids(who.ana, `?minimum=${encodeURIComponent(typed)}`), [second, third], typed);
  for (const nothing of ['0', '٠'])
    assert.doesNotMatch((await who.ana.get(`/queue?minimum=${encodeURIComponent(nothing)}`)).title, /^Error/);
  assert.deepEqual(await ids(who.ana, '?age=1h'), [first]);
  assert.deepEqual(await ids(who.ana, '?mode=live'), []);
  await who.bob.send(await who.bob.get(`/payments/${second}`), {}, 'Claim');
  assert.deepEqual(await ids(who.ana, '?claimed=others'), [second]);
  assert.deepEqual(await ids(who.bob, '?claimed=mine'), [second]);
  assert.deepEqual(await ids(who.ana, '?claimed=available'), [first, third]);
  assert.match((await who.ana.get('/queue')).body, /Bob/);
  assert.match((await who.ana.get('/queue')).body, /All 3 ?Money seen 0 ?Mine 0 ?Not claimed 2/);
  assert.match((await who.bob.get('/queue?claimed=mine')).body, /All 3 ?Money seen 0 ?Mine 1 ?Not claimed 3/);
  const none = await who.ana.get('/queue?mode=live');
  assert.match(none.body, /No payment in the queue matches these filters\./);
  const wrong = await who.ana.get('/queue?minimum=abc');
  assert.match(wrong.title, /^Error: /);
  assert.match(wrong.text, /aria-describedby="filter-minimum-error"/);
  for (const strange of ['?age=constructor', '?claimed=constructor', '?after=x', '?open=pay_x'])
    assert.equal((await who.ana.get(`/queue${strange}`)).status, 200, strange);
});

test('A row says at a glance what was seen of the money and how much to look at, as the open payment says it whole.', async () => {
  const fields = { merchant_reference: 'MARKS', amount: 80, customer: { name: 'Grace Hopper' } };
  const { id } = await createAt(harness, 'transfer', fields);
  await recordAs(who.ana, id, { amount: '75' });
  const { text } = await who.bob.get(`/queue?open=${id}`);
  const [row] = new RegExp(`<a href="[^"]*open=${id}[^"]*" data-key-row[\\s\\S]*?</a>`).exec(text)!;
  assert.match(row, /Money seen:[\s\S]*€5\.00 less/);
  const looks = text.match(/<li class="worth">/g)!.length;
  assert.match(row, new RegExp(`>${looks} to look at<`));
  await who.ana.send(await who.ana.get(`/payments/${id}/reject`), { reason: 'duplicate' }, /^Reject/);
});

test('Sixty payments come in two pages without a gap, and a page of fifty weighs at most 60 KB.', async () => {
  const all: string[] = await ids(who.ana);
  for (let count = all.length; count < 60; count++)
    all.push(await waiting(harness, 'details', { merchant_reference: `ORDER-${count}` }));
  const page = await who.ana.get('/queue');
  const shown = listed(page.text);
  assert.equal(shown.length, 50);
  const rest = listed((await who.ana.get(page.link('Next'))).text);
  assert.deepEqual([...shown, ...rest], all);
  const open = await who.ana.get(`/queue?open=${all[0]}`);
  assert.deepEqual(strictly(open.text).faults, []);
  let bytes = gzipSync(open.text).length;
  for (const [, path] of open.text.matchAll(/(?:href|src)="([^"]*\/assets\/[^"]*)"/g)) {
    const asset = await fetch(new URL(path!, harness.origin));
    bytes += gzipSync(Buffer.from(await asset.arrayBuffer())).length;
  }
  assert.ok(bytes <= 60 * 1024, `${bytes} bytes`);
});

test('A payment that is open beside the list can be decided by reviewers, and only be read by auditors.', async () => {
  const [id] = await ids(who.ana);
  const reviewer = await who.bob.get(`/queue?open=${id}`);
  assert.match(reviewer.text, /data-key="a"/);
  assert.match(reviewer.text, /data-key="r"/);
  assert.ok(reviewer.forms.some(({ button }) => button === 'Claim'));
  const auditor = await who.olga.get(`/queue?open=${id}`);
  assert.doesNotMatch(auditor.text, /data-key="[are]"/);
  assert.deepEqual(auditor.forms.map(({ button }) => button).sort(), ['Search', 'Sign out']);
  assert.match(auditor.body, /GB82 WEST 1234 5698 7654 32/);
});
