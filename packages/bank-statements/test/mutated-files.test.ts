// Files of the corpus with bytes changed, taken out and doubled: each gives statements or faults, nothing is thrown, and nothing lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { type ReadStatements, readStatements } from '../src/index.ts';
import { heldIn } from './support/counts.ts';
import { corpusFiles, damaged } from './support/damage.ts';

/** Damaged files. */
const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 600;

/** How many entries were read: the parts of one are one. */
function entriesOf({ statements }: ReadStatements): number {
  const entries = statements.flatMap(({ lines }) =>
    lines.map(({ partOf, references, bookingDay, at }) =>
      partOf ? JSON.stringify([references.booking, partOf.minor, bookingDay]) : at,
    ),
  );
  return entries.filter((entry, i) => typeof entry === 'number' || entries.indexOf(entry) === i).length;
}

/** How many faults, notes and questions a person is shown. */
const saidOf = ({ statements, faults, notes = [] }: ReadStatements): number =>
  [faults, notes, ...statements.flatMap((one) => [one.faults, one.notes ?? []])].flat().length;

test('a damaged file never throws, loses nothing without a word, and no line of it has an impossible amount or day', () => {
  const { seed } = new SeededRandom();
  fc.assert(
    fc.property(damaged(corpusFiles()), ([name, bytes]) => {
      const read = readStatements(bytes, 'file');
      assert.ok(read.statements.length + read.faults.length > 0);
      const held = name.endsWith('.zip') ? 0 : heldIn(bytes);
      assert.ok(entriesOf(read) >= held || saidOf(read) > 0, `${held} held, ${entriesOf(read)} read`);
      for (const line of read.statements.flatMap(({ lines }) => lines)) {
        assert.ok(Number.isSafeInteger(line.amountMinor) && line.amountMinor >= 0);
        assert.match(line.currency, /^[A-Z]{3}$/);
        for (const day of [line.bookingDay, line.valueDay])
          assert.ok(day === undefined || /^\d{4}-\d\d-\d\d$/.test(day));
      }
    }),
    { numRuns: RUNS, seed },
  );
});

test('each file of the corpus holds as many entries as are read of it, or says why not', () => {
  let counted = 0;
  for (const [name, bytes] of corpusFiles().filter(([name]) => !name.endsWith('.zip'))) {
    const read = readStatements(bytes, name);
    const [held, entries] = [heldIn(bytes), entriesOf(read)];
    counted += held;
    assert.ok(entries >= held || saidOf(read) > 0, `${name}: ${held} held, ${entries} read`);
  }
  assert.ok(counted > 100);
});
