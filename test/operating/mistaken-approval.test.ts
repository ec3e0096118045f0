// The runbook's entry on a payment that was approved by mistake, walked: nothing undoes it, and what the entry says to do can be done.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addNote } from '../../src/review/act.ts';
import { addPerson, post, sentForReview } from '../support/admin.ts';
import { startHarness } from '../support/harness.ts';
import { principalOf } from '../support/reviewers.ts';
import { entry } from './runbook.ts';

const ENTRY = entry('A payment was approved by mistake');

test('a decision is final, takes a note, and the merchant creates a new payment', async () => {
  await using harness = await startHarness('sqlite');
  const ana = await addPerson(harness, 'administrator');
  const reference = { merchant_reference: 'order-7' };
  const id = await sentForReview(harness, reference);
  assert.equal((await post(harness, ana, `/admin/payments/${id}/approve`)).status, 200);

  assert.match(ENTRY, /There is no undo|there is no undo/);
  for (const again of ['reject', 'approve']) {
    const body = again === 'reject' ? { reason: 'other' } : {};
    const answer = await post(harness, ana, `/admin/payments/${id}/${again}`, body);
    assert.deepEqual([answer.status, answer.json.error.code], [409, 'invalid_status'], again);
  }
  const cancelled = await harness.request(`/v1/payments/${id}/cancel`, { method: 'POST', body: {} });
  assert.deepEqual([cancelled.status, cancelled.json.error.code], [409, 'invalid_status']);

  assert.match(ENTRY, /\*\*Add a note\*\*/);
  await harness.service.journal.commit(
    (transaction) => addNote(transaction, principalOf(ana), id, 'Not our money. Told the shop.'),
    id,
  );
  const seen = await harness.request(`/admin/payments/${id}`, { key: ana.token });
  assert.match(seen.text, /Told the shop/);
  const [entries] = await harness.service.database.query<{ count: number }>(
    "select count(*) as count from audit_entries where action = 'payment.noted'",
  );
  assert.equal(Number(entries!.count), 1, 'the note is part of the history');

  assert.notEqual((await harness.create(reference)).id, id);
});

test('an approval that waits for the second person is ended by one rejection', async () => {
  const configuration = 'review: { four_eyes_above: { USD: 10 } }\n';
  await using harness = await startHarness('sqlite', { configuration });
  const ana = await addPerson(harness, 'administrator');
  const ben = await addPerson(harness, 'reviewer', 'Ben Reviewer');
  const id = await sentForReview(harness);
  assert.equal((await post(harness, ana, `/admin/payments/${id}/approve`)).status, 202);
  const rejected = await post(harness, ben, `/admin/payments/${id}/reject`, { reason: 'other' });
  assert.equal(rejected.status, 200, rejected.text);
});
