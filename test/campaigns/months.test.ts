// Months made by chance: what is proposed as certain for a bank line is right in every case. COUNTERFOIL_RUNS: how many months.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { propose } from '../../src/statements/matching/propose.ts';
import { MATCHING } from '../support/camt.ts';
import { startHarness } from '../support/harness.ts';
import { judged, MONTH_END, month, storePayments } from '../support/months.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const MONTHS = Number(process.env.COUNTERFOIL_RUNS) || 8;
const SIZE = 2000;

test(`${MONTHS} months: nothing certain is wrong`, async () => {
  const random = new SeededRandom();
  console.log(`months: seed ${random.seed} (COUNTERFOIL_SEED), ${MONTHS} months (COUNTERFOIL_RUNS)`);
  await using harness = await startHarness('sqlite');
  const { database, journal } = harness.service;
  const sum = { lines: 0, referenced: 0, certain: 0, others: 0, right: 0 };
  for (let n = 0; n < MONTHS; n++) {
    const seed = random.between(1, 2 ** 31 - 1);
    const { payments, lines } = month(new SeededRandom(seed), SIZE);
    await storePayments(journal, payments);
    database.refresh();
    const given = lines.map(({ line }) => line);
    const { wrong, referenced, others } = judged(
      lines,
      await propose(database, given, { ...MATCHING, now: MONTH_END }),
    );
    assert.deepEqual(wrong, [], `the month of seed ${seed}`);
    sum.lines += lines.length;
    sum.referenced += referenced.all;
    sum.certain += referenced.certain;
    sum.others += others.all;
    sum.right += others.right;
  }
  console.log(`months: ${JSON.stringify(sum)}`);
  assert.ok(sum.certain >= 0.98 * sum.referenced, 'of what has a reference');
  assert.ok(sum.right >= 0.9 * sum.others, 'of the rest, the right payment first');
});
