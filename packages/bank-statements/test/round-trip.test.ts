// Lines that are written in any format come back as they were. What a CSV file does not tell is asked, and never read as something else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { readStatements } from '../src/read.ts';
import {
  type CsvWritten,
  WRITTEN_ACCOUNT,
  WRITTEN_FORMATS,
  type WrittenFormat,
  type WrittenLine,
  writtenFile,
} from './support/statement-writers.ts';

/** Files of each format. */
const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 150;

const plain = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
const words = (letters: readonly string[], maxLength: number) =>
  fc
    .array(fc.string({ unit: fc.constantFrom(...letters), minLength: 2, maxLength: 12 }), {
      minLength: 1,
      maxLength: 6,
    })
    .map((parts) => parts.join(' ').slice(0, maxLength).trim());
const lineArbitrary = (letters: readonly string[]) =>
  fc.record({
    day: fc
      .date({
        min: new Date('2020-01-01T00:00:00Z'),
        max: new Date('2035-12-31T00:00:00Z'),
        noInvalidDate: true,
      })
      .map((date) => date.toISOString().slice(0, 10)),
    minor: fc.oneof(fc.integer({ min: 0, max: 500_000 }), fc.integer({ min: 0, max: 99_999_999_999_999 })),
    direction: fc.constantFrom('credit' as const, 'debit' as const),
    isPending: fc.boolean(),
    name: words(letters, 50).map((text) => `N${text}`),
    text: words(letters, 200).map((text) => `T${text}`),
    bank: fc.stringMatching(/^B[0-9A-Z]{1,14}$/),
  });
/** MT940 has letters without accents. */
const lettersOf = (format: WrittenFormat) =>
  format === 'mt940' ? plain : [...plain, ...'äöüßéèñøłćčžاب€&<>;,|"\'()+-/.?#:'];
const csvArbitrary: fc.Arbitrary<CsvWritten> = fc.record({
  dates: fc.constantFrom('dmy', 'mdy', 'ymd'),
  decimal: fc.constantFrom('comma', 'point'),
  sign: fc.constantFrom('signed', 'brackets', 'columns', 'mark'),
});

interface Came extends Omit<WrittenLine, 'isPending'> {
  isPending: boolean | undefined;
}

/** What comes of a file; undefined if something is asked. */
function came(file: Buffer, format: WrittenFormat, csv?: CsvWritten): Came[] | undefined {
  const {
    statements,
    faults,
    csv: seen,
  } = readStatements(file, 'file', csv && { choices: { ...csv, columns: {} } });
  if (seen?.some(({ questions }) => questions.length > 0)) return undefined;
  assert.deepEqual([faults, statements.flatMap((one) => one.faults)], [[], []], file.toString());
  assert.deepEqual([...new Set(statements.map(({ account }) => account.iban))], [WRITTEN_ACCOUNT]);
  return statements.flatMap(({ lines }) =>
    lines.map(({ bookingDay, amountMinor, direction, status, counterparty, text, references }) => ({
      day: bookingDay!,
      minor: amountMinor,
      direction,
      isPending: format.startsWith('camt') ? status === 'pending' : undefined,
      name: counterparty.name!,
      text,
      bank: references.bank!,
    })),
  );
}

/** What has to come: nothing is out where the amount is zero, in formats whose sign stands with the amount. */
const expected = (lines: readonly WrittenLine[], format: WrittenFormat): Came[] =>
  lines.map((line) => ({
    ...line,
    direction: line.minor === 0 && /^(?:ofx|csv)/.test(format) ? 'credit' : line.direction,
    isPending: format.startsWith('camt') ? line.isPending : undefined,
  }));

for (const format of WRITTEN_FORMATS)
  test(`${format}: what is written is read`, () => {
    const { seed } = new SeededRandom();
    const lines = fc.array(lineArbitrary(lettersOf(format)), { minLength: 1, maxLength: 8 });
    const counts = { asked: 0, read: 0 };
    fc.assert(
      fc.property(lines, csvArbitrary, fc.integer({ min: 1, max: 2 ** 31 - 1 }), (lines, how, style) => {
        const file = writtenFile(lines, format, how, new SeededRandom(style));
        assert.deepEqual(
          came(file, format, format === 'csv' ? how : undefined),
          expected(lines, format),
          file.toString(),
        );
        if (format !== 'csv') return;
        const alone = came(file, format);
        if (alone) assert.deepEqual(alone, expected(lines, format), file.toString());
        counts[alone ? 'read' : 'asked'] += 1;
      }),
      { numRuns: RUNS, seed },
    );
    if (format === 'csv')
      assert.ok(counts.read > RUNS / 50 && counts.asked > RUNS / 50, JSON.stringify(counts));
  });
