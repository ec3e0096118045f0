// The queue over HTTP: what it says when it is empty, what its rows say, its pages and the payment open beside it (filters: ../queue.test.ts).
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Client } from '../../support/console.ts';
import { strictly } from '../../support/markup.ts';
import { createAt } from '../../support/shop.ts';
import { approveAs, listed, manyWaiting, people, recordAs, sharedReview, waiting } from './review-stage.ts';

const harness = sharedReview('', false);
let who: Awaited<ReturnType<typeof people>>;
before(async () => {
  who = await people(harness);
});

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
  all.push(...(await manyWaiting(harness, 60 - all.length)));
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
  const id = await waiting(harness, 'transfer');
  const reviewer = await who.bob.get(`/queue?open=${id}`);
  assert.match(reviewer.text, /data-key="a"/);
  assert.match(reviewer.text, /data-key="r"/);
  assert.ok(reviewer.forms.some(({ button }) => button === 'Claim'));
  const auditor = await who.olga.get(`/queue?open=${id}`);
  assert.doesNotMatch(auditor.text, /data-key="[are]"/);
  assert.deepEqual(auditor.forms.map(({ button }) => button).sort(), ['Search', 'Sign out']);
  assert.match(auditor.body, /GB82 WEST 1234 5698 7654 32/);
});
