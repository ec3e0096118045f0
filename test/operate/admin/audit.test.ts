// The history under /admin: every entry by its number, and the seal and checkpoint that vouch for it.
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { canonicalEntry } from '../../../src/journal/audit-entry.ts';
import { checkpointFiles } from '../../../src/journal/checkpoint.ts';
import { entriesAfter } from '../../../src/journal/queries.ts';
import { addPerson, entryCount, type Person, sentForReview } from '../../support/admin.ts';
import { sharedHarness, startHarness } from '../../support/harness.ts';

describe('the history at /admin', () => {
  const service = sharedHarness('sqlite');
  let auditor: Person;

  before(async () => {
    auditor = await addPerson(service, 'auditor');
    for (let i = 0; i < 12; i++) await sentForReview(service);
  });

  const get = (path: string) => service.request(`/admin/audit/${path}`, { key: auditor.token });

  test('entries come by number, as they are sealed.', async () => {
    const kept = await entriesAfter(service.service.database, undefined, 1000);
    const found = [];
    for (let after: number | null = 0; after !== null; ) {
      const answer = await get(`entries?after=${after}&limit=5`);
      assert.equal(answer.status, 200, answer.text);
      assert.ok(answer.json.data.length <= 5);
      assert.equal(answer.json.has_more, answer.json.next_after !== null);
      found.push(...answer.json.data);
      after = answer.json.next_after;
    }
    assert.equal(found.length, await entryCount(service));
    const bytes = found.map(({ at: _, at_ms, facts, ...entry }) =>
      canonicalEntry({ ...entry, at: at_ms, facts: JSON.stringify(facts) }),
    );
    assert.deepEqual(bytes, kept.map(canonicalEntry));
    assert.equal((await get('entries')).json.data.length, found.length);
    assert.deepEqual((await get(`entries?after=${found.length}`)).json, {
      data: [],
      has_more: false,
      next_after: null,
    });
  });

  test('bad parameters are refused, all at once; a thousand entries are the most.', async () => {
    assert.deepEqual((await get('entries?after=-1&limit=1001')).json.error.details, {
      after: 'Must be a whole number from 0 to 9007199254740991.',
      limit: 'Must be a whole number from 1 to 1000.',
    });
    assert.equal((await get('entries?limit=0')).status, 422);
    assert.equal((await get('entries?after=1&after=2')).status, 422);
    assert.equal((await get('entries?limit=1000&unknown=1')).status, 200);
  });

  test('one entry comes with its seal; a number there is not is not found.', async () => {
    const { data } = (await get('entries/3')).json;
    assert.equal(data.number, 3);
    assert.ok(data.seal.first_entry <= 3 && data.seal.last_entry >= 3);
    assert.match(data.seal.hash, /^[\w-]{43}$/);
    const unknown = String((await entryCount(service)) + 1);
    const texts = new Set<string>();
    for (const number of [unknown, '0', '-1', '01', '1.0', 'x', '9'.repeat(15), '9'.repeat(30)]) {
      const answer = await get(`entries/${number}`);
      assert.equal(answer.status, 404, number);
      texts.add(answer.text);
    }
    assert.equal(texts.size, 1);
  });

  test('the newest seal closes the newest entry.', async () => {
    const { data } = (await get('seal')).json;
    assert.equal(data.last_entry, await entryCount(service));
  });

  test('the newest checkpoint can be checked with the public key alone.', async () => {
    await service.stop(); // signs the last
    await service.start();
    const { data } = (await get('checkpoint')).json;
    const { file, publicKeyFile } = checkpointFiles(service.store.storage);
    assert.equal(data.line, readFileSync(file, 'utf8').trimEnd().split('\n').at(-1));
    assert.equal(data.last_entry, await entryCount(service));
    const key = createPublicKey(readFileSync(publicKeyFile));
    const signature = Buffer.from(data.signature, 'base64url');
    assert.ok(verify(null, Buffer.from(data.statement), key, signature));
  });

  test('reading the history writes nothing.', async () => {
    const entries = await entryCount(service);
    for (const path of ['entries', 'entries/1', 'seal', 'checkpoint']) await get(path);
    assert.equal(await entryCount(service), entries);
  });

  test('entries whose facts were written over can still be read.', async () => {
    await using tampered = await startHarness('sqlite');
    const { token } = await addPerson(tampered, 'auditor');
    const id = await sentForReview(tampered);
    const edited = ['x', '7', 'null', '{"row"'];
    await tampered.service.journal.commit(async (transaction) => {
      await transaction.query('drop trigger audit_entries_no_update');
      for (const facts of edited)
        await transaction.query(
          "update audit_entries set facts = ? where number = (select min(number) from audit_entries where subject = ? and facts like '{\"%}')",
          ...[facts, id],
        );
    });
    const { status, json } = await tampered.request('/admin/audit/entries', { key: token });
    assert.equal(status, 200);
    const told = json.data.flatMap(({ facts }: { facts: { unreadable?: string } }) => facts.unreadable ?? []);
    assert.deepEqual(told, edited.slice(0, told.length));
    assert.ok(told.length > 1);
  });
});
