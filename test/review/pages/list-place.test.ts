// From a list to a payment and back: the queue's search, and the page with its filters that one is back in after a decision.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { ConsolePage } from '../../support/console.ts';
import { createIn } from '../../support/harness.ts';
import { createAt, KEYS } from '../../support/shop.ts';
import { manyWaiting, people, recordAs, sharedReview, waiting } from './review-stage.ts';

const SHOWN = 50;

const harness = sharedReview();
let who: Awaited<ReturnType<typeof people>>;
/** Payments under review, those that wait longest first: two pages of the queue. */
const queued: string[] = [];
before(async () => {
  queued.push(await waiting(harness, 'cash', { amount: 49.9, merchant_reference: 'ORDER-0' }));
  queued.push(await waiting(harness, 'transfer', { amount: 1200 }, { payer_name: 'Grace Hopper' }));
  queued.push(await waiting(harness, 'transfer', { amount: 60 }, { transfer_name: 'Ada Lovelace' }));
  queued.push(...(await manyWaiting(harness, SHOWN + 1)));
  who = await people(harness);
});

const rowsOf = ({ text }: ConsolePage) =>
  [...text.matchAll(/<a href="([^"]*)" data-key-row/g)].map(([, address]) =>
    address!.replaceAll('&amp;', '&'),
  );
const idIn = (address: string) => /(?:open=|payments\/)(pay_\w+)/.exec(address)![1]!;
const parametersOf = ({ url }: ConsolePage) => Object.fromEntries(url.searchParams);

test('A decision leads back to the page of the queue that one came from, with its search and filters.', async () => {
  const page = await who.ana.get((await who.ana.get('/queue?mode=test&q=ada%40example.org')).link('Next'));
  const { after: begins } = parametersOf(page);
  assert.ok(begins);
  const [first, second] = rowsOf(page) as [string, string];
  const open = await who.ana.get(new URL(first, harness.origin));
  const done = await who.ana.send(await who.ana.get(open.link('Approve…')), {}, /^Approve/);
  const kept = { mode: 'test', q: 'ada@example.org', after: begins };
  assert.deepEqual(parametersOf(done), { ...kept, open: idIn(second), done: idIn(first) });
  assert.match(done.body, /Approved by you/);

  // By way of the payment's own page too.
  const own = await who.ana.get(done.link('Full page'));
  assert.deepEqual(parametersOf(await who.ana.get(own.link('Back to the queue'))), kept);
  const claimed = await who.ana.send(own, {}, 'Claim');
  assert.match(claimed.url.pathname, /\/payments\/pay_/);
  const rejecting = await who.ana.get(claimed.link('Reject…'));
  const rejected = await who.ana.send(rejecting, { reason: 'duplicate' }, /^Reject/);
  const [third] = rowsOf(rejected) as [string];
  assert.deepEqual(parametersOf(rejected), { ...kept, open: idIn(third), done: idIn(second) });

  // Nothing waits behind the last of all: the next is the first of the queue, which stands on its first page.
  const last = await who.ana.get(new URL(rowsOf(rejected).at(-1)!, harness.origin));
  const slower = await who.bob.get((await who.bob.get(last.url)).link('Approve…'));
  const wrapped = await who.ana.send(await who.ana.get(last.link('Approve…')), {}, /^Approve/);
  const onFirstPage = {
    mode: 'test',
    q: 'ada@example.org',
    open: rowsOf(await who.ana.get('/queue?mode=test&q=ada%40example.org')).map(idIn)[0],
  };
  assert.deepEqual(parametersOf(wrapped), { ...onFirstPage, done: idIn(rowsOf(rejected).at(-1)!) });

  // Whoever was slower is led to the same payment, and told of no decision.
  const late = await who.bob.send(slower, {}, /^Approve/);
  assert.deepEqual(parametersOf(await who.bob.get(late.link('Next in the queue'))), onFirstPage);
});

test('A decision leads back to the page of the payments that one came from, by way of a note, a claim and recorded money.', async () => {
  const fields = { amount: 49.9, currency: 'EUR' };
  await createIn(harness.service.journal, harness, SHOWN + 2, KEYS.cash, fields);
  const filters = '/payments?merchant=mer_cash&from=2020-01-01';
  const page = await who.bob.get((await who.bob.get(filters)).link('Older'));
  const kept = parametersOf(page);
  assert.deepEqual(Object.keys(kept).sort(), ['before', 'from', 'merchant']);
  const row = rowsOf(page)[0]!;
  const opened = await who.bob.get(new URL(row, harness.origin));
  assert.deepEqual(parametersOf(await who.bob.get(opened.link('Back to the payments'))), kept);
  const asking = await who.bob.get(opened.link('Record money…'));
  assert.equal((await who.bob.get(asking.link('Back'))).url.href, opened.url.href);
  const typed = { amount: '49.90', received_on: '2024-11-20' };
  const recorded = await who.bob.send(asking, typed, /^Record/);
  assert.equal(recorded.url.search, opened.url.search);
  const noted = await who.bob.send(recorded, { note: 'Came in cash' }, /^Add the note/);
  const claimed = await who.bob.send(noted, {}, 'Claim');
  const approving = await who.bob.get(claimed.link('Approve…'));
  assert.equal((await who.bob.get(approving.link('Back to the payment'))).url.search, opened.url.search);
  const rejecting = await who.bob.get(claimed.link('Reject…'));
  const done = await who.bob.send(approving, {}, /^Approve/);
  assert.equal(done.url.pathname, '/console/payments');
  assert.deepEqual(parametersOf(done), { ...kept, done: idIn(row) });
  assert.match(done.body, /^.*Approved by you/);

  const late = await who.bob.send(rejecting, { reason: 'transfer_not_received' }, /^Reject/);
  assert.match(late.body, /You have decided/);
  assert.deepEqual(parametersOf(await who.bob.get(late.link('Go to the payments'))), kept);
});

test('Whatever an address carries, it leads to the queue or the payments alone, and nothing unknown goes along.', async () => {
  const { id } = await createAt(harness, 'cash');
  await recordAs(who.ana, id);
  for (const list of ['https://evil.example/', '//evil.example', '/account', 'constructor', 'payments/..']) {
    const strange = new URLSearchParams({
      list,
      on: list,
      to: 'https://evil.example/',
      next: '//evil.example',
    });
    const page = await who.ana.get(`/payments/${id}?${strange}`);
    assert.equal(page.status, 200);
    const inside = page.text.slice(page.text.indexOf('<main'), page.text.indexOf('</main>'));
    assert.doesNotMatch(inside, /evil|Back to the/, list);
    const claimed = await who.ana.send(page, {}, /^(?:Claim|Release)$/);
    assert.equal(claimed.url.href, `${harness.origin}/console/payments/${id}#main`);
  }
});
