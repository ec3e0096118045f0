// A generated month of 2,000 payments: what is called certain is right in every case, and the right payment comes first.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { propose } from '../../../src/statements/matching/propose.ts';
import { MATCHING } from '../../support/camt.ts';
import { isWhole } from '../../support/extent.ts';
import { startHarness } from '../../support/harness.ts';
import { judged, MONTH_END, month, storePayments } from '../../support/months.ts';
import { SeededRandom } from '../../support/seeded-random.ts';

test('certain proposals of a month are right', async () => {
  await using harness = await startHarness('sqlite');
  const { database, journal } = harness.service;
  const { payments, lines } = month(new SeededRandom(2026), isWhole ? 2000 : 1000);
  await storePayments(journal, payments);
  database.refresh();
  const given = lines.map(({ line }) => line);
  const { wrong, referenced, others } = judged(
    lines,
    await propose(database, given, { ...MATCHING, now: MONTH_END }),
  );
  assert.deepEqual(wrong, []);
  assert.ok(
    referenced.all > payments.length / 2 && others.all > payments.length / 5,
    'there is enough of both',
  );
  assert.ok(referenced.certain >= 0.98 * referenced.all, JSON.stringify(referenced));
  assert.ok(others.right >= 0.9 * others.all, JSON.stringify(others));
});
