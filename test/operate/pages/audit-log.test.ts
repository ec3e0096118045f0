// The audit log in the console: entries found and paged, their seals, and the history verified from there.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { findEntries } from '../../../src/journal/search.ts';
import { pageThatSays, signIn } from '../../support/console.ts';
import { sharedHarness } from '../../support/harness.ts';
import { strictly } from '../../support/markup.ts';

describe('the audit log', () => {
  const harness = sharedHarness('sqlite');
  let auditor: Awaited<ReturnType<typeof signIn>>;
  before(async () => {
    auditor = await signIn(harness, 'auditor', 'Olga Auditor');
    for (let i = 0; i < 6; i++) await Promise.all(Array.from({ length: 20 }, () => harness.create()));
  });

  test('Entries come newest first, page by page, each with its seal and a name to link to.', async () => {
    const numbers: number[] = [];
    let page = await auditor.get('/audit');
    assert.deepEqual(strictly(page.text).faults, []);
    assert.match(page.body, /Olga Auditor|merchant:mer_development/);
    for (let more = true; more; ) {
      for (const [, number] of page.text.matchAll(/<tr id="entry-(\d+)"/g)) numbers.push(Number(number));
      assert.doesNotMatch(page.text, /data-label="Seal">None/);
      more = page.body.includes('Older');
      if (more) page = await auditor.get(page.link('Older'));
    }
    assert.deepEqual(
      numbers,
      Array.from(numbers, (_, i) => numbers[0]! - i),
    );
    assert.equal(numbers.at(-1), 1);
    const newer = await auditor.get(page.link('Newer'));
    assert.ok(newer.text.includes(`id="entry-${Number(/entry-(\d+)/.exec(page.text)![1]) + 1}"`));
  });

  test('Filters narrow to who, what, on what and when.', async () => {
    const { id } = await harness.create();
    const one = await auditor.get(`/audit?subject=${id}`);
    assert.equal(one.text.match(/<tr id="entry-/g)?.length, 1);
    const signed = await auditor.get('/audit?action=administrator.');
    assert.match(signed.body, /administrator\.signed_in/);
    assert.doesNotMatch(signed.text, /data-label="What"><span[^>]*>payment\./);
    assert.match((await auditor.get('/audit?actor=nobody')).body, /No entry matches\./);
    assert.match((await auditor.get('/audit?to=2020-01-01')).body, /No entry matches\./);
    assert.match((await auditor.get('/audit?from=2020-01-01&subject=payments')).body, /No entry matches\./);
    const { database } = harness.service;
    const all = await findEntries(database, { actor: 'merchant:' }, {}, 1000);
    assert.equal(all.entries.length, 121);
    const below = await findEntries(database, { actor: 'merchant:' }, { before: all.entries[5]!.number }, 2);
    assert.deepEqual(below.entries, all.entries.slice(6, 8));
    const above = await findEntries(database, { actor: 'merchant:' }, { after: all.entries[5]!.number }, 2);
    assert.deepEqual(above.entries, all.entries.slice(3, 5));
  });

  test('Verify now verifies on this node and says how far.', async () => {
    assert.match((await auditor.get('/audit')).body, /Not verified since this server started\./);
    await auditor.send(await auditor.get('/audit'), {}, 'Verify now');
    const page = await pageThatSays(auditor, '/audit', /Verified to entry/);
    const newest = /entry-(\d+)/.exec(page.text)![1];
    assert.match(page.body, new RegExp(`Verified to entry ${newest}`));
  });

  test('A row that somebody changed is named.', async () => {
    const { id } = await harness.create();
    await harness.service.database.script(`update payments set amount_minor = 1 where id = '${id}'`);
    await auditor.send(await auditor.get('/audit'), {}, 'Verify now');
    const page = await pageThatSays(auditor, '/audit', /Broken/);
    assert.ok(page.body.includes(`payment ${id} is not as entry`), page.body);
    assert.match((await auditor.get('')).body, /history was changed/, 'the first page says so');
  });

  test('Checkpoints and the public key can be taken along.', async () => {
    await harness.stop();
    await harness.start();
    const cookie = [...auditor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    for (const [path, file] of [
      ['checkpoints', 'checkpoints.jsonl'],
      ['key', 'checkpoint-key.pub.pem'],
    ]) {
      const answer = await fetch(`${harness.origin}/console/audit/${path}`, { headers: { cookie } });
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get('content-disposition')!, new RegExp(`attachment; filename="?${file}`));
      assert.equal(await answer.text(), readFileSync(join(harness.store.storage, file!), 'utf8'));
    }
  });
});
