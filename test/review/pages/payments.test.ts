// The list of payments in the console: searched, filtered, paged, and downloaded, which the history tells of.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { entriesOf } from '../../../src/journal/queries.ts';
import { type Client, newClient, signIn } from '../../support/console.ts';
import { readCsvRows } from '../../support/csv.ts';
import { open, send } from '../../support/customer.ts';
import { createIn, type Harness, OTHER_KEY, sharedHarness } from '../../support/harness.ts';
import { strictly } from '../../support/markup.ts';

/** A download as the browser of `client` gets it. */
async function download(harness: Harness, client: Client, path: string): Promise<Response> {
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return fetch(`${harness.origin}/console${path}`, { headers: { cookie }, redirect: 'manual' });
}

describe('the list of payments', () => {
  const harness = sharedHarness('sqlite');
  let auditor: Awaited<ReturnType<typeof signIn>>;
  before(async () => {
    auditor = await signIn(harness, 'auditor');
  });

  test('One search finds a payment by its number, reference, e-mail address or amount.', async () => {
    assert.match((await auditor.get('/payments')).body, /There are no payments yet\./);
    const { id } = await harness.create({
      amount: 71.25,
      merchant_reference: 'R-1',
      customer: { email: 'Ada@Example.org' },
    });
    assert.match(
      (await auditor.get('/payments?q=ada@example.org')).body,
      /No payment matches\./,
      'not sent yet',
    );
    assert.equal((await send(await open(harness, id), { 'payer-name': 'Ada King' })).status, 200);
    await harness.create({ amount: 8, merchant_reference: '71.26' });
    await harness.create({ amount: 71.26, currency: 'EUR', merchant_reference: 'OTHER' });
    const large = await harness.create({ amount: 1_203_480.5, currency: 'CHF' });
    for (const q of ['CHF 1,203,480.50', '1203480,50', '1,203,480.5 CHF'])
      assert.ok((await auditor.get(`/payments?${new URLSearchParams({ q })}`)).text.includes(large.id), q);
    for (const q of [
      id,
      `http://x.test/payment.php?payment_id=${id}`,
      'R-1',
      'ada@EXAMPLE.org',
      '71.25',
      '71,25',
      '٧١٫٢٥',
      '７１．２５',
      'ＵＳＤ ७१.२५',
      'USD 71.25',
      'US$71.25',
    ]) {
      const page = await auditor.get(`/payments?${new URLSearchParams({ q })}`);
      assert.ok(page.text.includes(`/console/payments/${id}`), q);
      assert.equal(page.text.match(/data-key-row/g)?.length, 1, q);
    }
    const both = await auditor.get('/payments?q=71.26');
    assert.match(both.body, /US\$8|\$8/, 'a reference that looks like an amount is a reference');
    assert.doesNotMatch(both.body, /OTHER/);
    assert.match((await auditor.get('/payments?q=nothing')).body, /No payment matches\./);
    assert.match((await auditor.get('/payments?status=approved')).body, /No payment matches\./);
    assert.equal((await auditor.get('/payments?from=2026-02-31')).status, 422);
    assert.deepEqual(strictly(both.text).faults, []);
  });

  test('A text with NUL, which PostgreSQL does not take, is refused by every page alike.', async () => {
    for (const path of [
      '/payments?q=%00',
      '/payments.csv?merchant=a%00',
      '/queue?method=%00',
      '/audit?subject=%00',
      '/merchants/a%00',
    ])
      assert.equal((await auditor.get(path)).status, 400, path);
    const stranger = newClient(harness);
    const form = await stranger.get('/sign-in');
    const refused = await stranger.send(form, { email: 'a\0@b.example', password: 'x'.repeat(15) });
    assert.equal(refused.status, 400);
  });

  test('Pages lead to older payments and back, each payment on one page.', async () => {
    await createIn(harness.service.journal, harness, 120, OTHER_KEY);
    const seen: string[] = [];
    let page = await auditor.get('/payments?merchant=mer_other');
    const first = page.body;
    for (let more = true; more; ) {
      seen.push(...(page.text.match(/payments\/pay_\w+/g) ?? []));
      more = page.body.includes('Older');
      if (more) page = await auditor.get(page.link('Older'));
    }
    assert.equal(seen.length, 120);
    assert.equal(new Set(seen).size, 120);
    assert.deepEqual(seen, [...seen].sort().reverse());
    page = await auditor.get(page.link('Newer'));
    page = await auditor.get(page.link('Newest'));
    assert.equal(page.body, first);
  });

  test('A download holds what the search found, and the history who took it, without what was searched for.', async () => {
    const { id } = await harness.create({
      amount: 5,
      customer: { name: '=1+1', email: 'secret@example.org' },
    });
    assert.equal((await send(await open(harness, id), {})).status, 200);
    const answer = await download(harness, auditor, '/payments.csv?q=secret%40example.org');
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type')!, /^text\/csv; charset=utf-8/);
    assert.match(
      answer.headers.get('content-disposition')!,
      /^attachment; filename="?payments-\d{4}-\d\d-\d\d\.csv/,
    );
    const rows = readCsvRows(await answer.text());
    assert.deepEqual(
      rows.map((row) => [row.id, row.amount, row.customer_name]),
      [[id, '5.00', "'=1+1"]],
    );
    const lines = (await (await download(harness, auditor, '/payments.ndjson?merchant=mer_other')).text())
      .trim()
      .split('\n');
    assert.equal(lines.length, 120);
    const entries = await harness.service.database.query<{ actor: string; facts: string }>(
      "select actor, facts from audit_entries where action = 'payments.exported' order by number",
    );
    assert.equal(entries.length, 2);
    assert.equal(entries[0]!.actor, `administrator:${auditor.account.administrator.id}`);
    assert.equal(JSON.parse(entries[0]!.facts).searched, 'email');
    assert.equal(JSON.parse(entries[1]!.facts).merchant, 'mer_other');
    assert.equal((await download(harness, auditor, '/payments.csv?merchant=ada%40example.org')).status, 422);
    await (await download(harness, auditor, '/payments.csv?merchant=mer_ada%40example.org')).text();
    const { facts } = (await entriesOf(harness.service.database, 'payments')).at(-1)!;
    assert.equal(JSON.parse(facts).merchant, 'unknown', 'what was typed may name a person');
    const cookie = [...auditor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const head = await fetch(`${harness.origin}/console/payments.csv`, {
      method: 'HEAD',
      headers: { cookie },
    });
    assert.equal(head.status, 404);
    assert.doesNotMatch(JSON.stringify(entries), /secret/);
    await harness.verify();
  });
});
