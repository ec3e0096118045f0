// Files of the corpus with bytes changed, taken out and doubled: each gives statements or faults, and nothing is thrown.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { readStatements } from '../../src/statements/read.ts';
import { SeededRandom } from '../support/seeded-random.ts';

/** Damaged files. */
const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 600;
const folder = join(import.meta.dirname, 'corpus');
const files = globSync('*.{xml,sta,ofx,csv,zip}', { cwd: folder }).map((file) =>
  readFileSync(join(folder, file)),
);

const edit = fc.record({
  place: fc.double({ min: 0, max: 0.999, noNaN: true }),
  removed: fc.integer({ min: 0, max: 40 }),
  added: fc.oneof(
    fc.uint8Array({ maxLength: 8 }),
    fc
      .constantFrom(':61:', '<', '<STMTTRN>', '</OFX>', '?20', '&#0;', '\r\n', ';', '"', '1.234,5')
      .map((text) => Buffer.from(text)),
  ),
});

test('a damaged file never throws, and no line of it has an impossible amount or day', () => {
  const { seed } = new SeededRandom();
  fc.assert(
    fc.property(fc.constantFrom(...files), fc.array(edit, { minLength: 1, maxLength: 5 }), (file, edits) => {
      let bytes: Buffer = file;
      for (const { place, removed, added } of edits) {
        const at = Math.floor(place * bytes.length);
        bytes = Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)]);
      }
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
