// What ties a row to its entries: digests that no value escapes, facts that somebody else wrote, and the document that says how.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { ADMINISTRATORS, PASSKEYS, SESSIONS, TOKENS } from '../../src/administrators/administrator.ts';
import { rowDigest } from '../../src/journal/audit-entry.ts';
import { entryFacts, HistoryBroken } from '../../src/journal/rows.ts';
import { verifyHistory } from '../../src/journal/verify.ts';
import { API_KEYS, INVITES, MERCHANTS } from '../../src/merchants/merchant.ts';
import { keptAnswers, ROW_CHECKS } from '../../src/operate/checks/row-checks.ts';
import { PAYMENTS } from '../../src/payments/payment.ts';
import { KEPT_ANSWERS } from '../../src/payments/queries.ts';
import { sharedHarness } from '../support/harness.ts';
import { editOutside } from '../support/outside.ts';

const IGNORED = { tick() {}, fault() {}, acknowledged() {} };
const ENTRY = { number: 7, at: 0, actor: 'clock', action: 'x', subject: 'answers', request_id: null };

test('an infinite number, which JSON writes as null, is another value than null, and than its negative', () => {
  const digests = [null, Infinity, -Infinity, 0].map((middle) =>
    rowDigest(['a', 'b', 'c'], { a: 1, b: middle, c: 'x' }),
  );
  assert.equal(new Set(digests).size, digests.length);
});

test('the digest of an honest row is the one it always was', () => {
  const row = { a: 1, b: null, c: 'x "y"', d: null };
  assert.equal(rowDigest(['a', 'b', 'c', 'd'], row), 'Fr9RF1H9akPYxLlS2l-B5Rchi046zDhZqubbdv7lTfU');
});

test('facts that are not the JSON of an object are a broken history, with their entry', async () => {
  for (const facts of ['', '{', 'null', '3', '"row"']) {
    const broken = (error: unknown) => error instanceof HistoryBroken && error.entry === 7;
    assert.throws(() => entryFacts({ ...ENTRY, facts }), broken, facts);
    const view = { query: async () => [{ ...ENTRY, facts }] as never };
    await assert.rejects(keptAnswers(view, IGNORED), broken, facts);
  }
  const forgot = { query: async () => [{ ...ENTRY, facts: '{"until":"x"}' }] as never };
  await assert.rejects(keptAnswers(forgot, IGNORED), { name: 'HistoryBroken', entry: 7 });
});

describe('verifying', () => {
  const service = sharedHarness('sqlite');
  before(async () => {
    for (let i = 0; i < 4; i++) await service.create();
  });

  test('SQLite gives others a turn between two pages, such as the signal that ends it', async () => {
    const { database } = service.service;
    let turns = 0;
    const count = () => {
      turns++;
      waiting = setImmediate(count);
    };
    let waiting = setImmediate(count);
    await verifyHistory(database, { checkpoints: [] }, ROW_CHECKS);
    clearImmediate(waiting);
    assert.ok(turns > 10, `${turns} turns`);
  });

  test('--since finds the facts of an old entry forged, whose seal it takes on trust', async () => {
    await editOutside(service.store, 'drop trigger audit_entries_no_update');
    for (const facts of ['x', 'null']) {
      await editOutside(service.store, `update audit_entries set facts = '${facts}' where number = 1`);
      const verifying = verifyHistory(service.service.database, { checkpoints: [] }, ROW_CHECKS, {
        since: 3,
      });
      await assert.rejects(verifying, { name: 'HistoryBroken', entry: 1 }, facts);
    }
  });
});

test('docs/audit-format.md lists the columns that digests cover', () => {
  const text = readFileSync(new URL('../../docs/audit-format.md', import.meta.url), 'utf8');
  const [, payments] = /For a payment \(all its columns\):\n\n([\s\S]*?)\n\n/.exec(text)!;
  assert.deepEqual(payments!.trim().split(/,\s+/), PAYMENTS.columns);
  const others = {
    'stored response': KEPT_ANSWERS,
    administrator: ADMINISTRATORS,
    passkey: PASSKEYS,
    session: SESSIONS,
    token: TOKENS,
    merchant: MERCHANTS,
    'API key': API_KEYS,
    invitation: INVITES,
  };
  for (const [row, { columnList }] of Object.entries(others))
    assert.ok(text.includes(`\n| ${row} | \`${columnList}\` |\n`), row);
});
