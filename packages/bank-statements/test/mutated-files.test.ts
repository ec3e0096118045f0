// Files of the corpus with bytes changed, taken out and doubled: each gives statements or faults, and nothing is thrown.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { readStatements } from '../src/read.ts';
import { corpusFiles, damaged } from './support/damage.ts';

/** Damaged files. */
const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 600;

test('a damaged file never throws, and no line of it has an impossible amount or day', () => {
  const { seed } = new SeededRandom();
  fc.assert(
    fc.property(damaged(corpusFiles()), ([, bytes]) => {
      const { statements, faults } = readStatements(bytes, 'file');
      assert.ok(statements.length + faults.length > 0);
      for (const line of statements.flatMap(({ lines }) => lines)) {
        assert.ok(Number.isSafeInteger(line.amountMinor) && line.amountMinor >= 0);
        assert.match(line.currency, /^[A-Z]{3}$/);
        for (const day of [line.bookingDay, line.valueDay])
          assert.ok(day === undefined || /^\d{4}-\d\d-\d\d$/.test(day));
      }
    }),
    { numRuns: RUNS, seed },
  );
});
