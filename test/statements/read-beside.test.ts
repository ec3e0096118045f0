// A large file is read beside the server: its lines come in parts that are read as they are taken, and are those that it holds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overviewOf, readStatements, type StatementLine } from '#bank-statements';
import { readBeside } from '../../src/statements/read-beside.ts';
import { camt } from '../support/camt.ts';

/** Lines that come at once. */
const PART = 500;
const entry = (_: unknown, i: number) => ({
  amount: `${10 + (i % 90)}.00`,
  bank: `B${i}`,
  text: `Order ${i}`,
});
const large = camt(Array.from({ length: 4 * PART + 7 }, entry));
const rows = Array.from(
  { length: 2 * PART },
  (_, i) => `2026-11-2${i % 9};${i}.00;Order ${i};${i % 2 ? 'EUR' : 'USD'}`,
);
const csv = Buffer.from(['Date;Amount;Text;Currency', ...rows].join('\n'));

test('the lines of a large file come in parts, once more each time, and what is told of them is true', async () => {
  for (const [file, name] of [
    [large, 'large.xml'],
    [csv, 'large.csv'],
  ] as const) {
    const options = { account: 'DE75512108001245126199', choices: { columns: {}, sign: 'signed' as const } };
    const { statements } = readStatements(file, name, options);
    const read = await readBeside(Uint8Array.from(file), name, options);
    assert.deepEqual(
      read.statements,
      statements.map((one) => ({ ...one, lines: [] })),
    );
    assert.deepEqual(
      read.told.map(({ overview }) => overview),
      statements.map(overviewOf),
    );
    for (let time = 0; time < 2; time++) {
      const lines = new Map<number, StatementLine[]>();
      for await (const part of read.parts!()) {
        assert.ok(part.lines.length <= PART);
        lines.set(part.place, [...(lines.get(part.place) ?? []), ...part.lines]);
      }
      assert.deepEqual(
        statements.map((_, place) => lines.get(place)),
        statements.map((one) => one.lines),
      );
    }
    assert.deepEqual(Buffer.from(read.bytes()!), Buffer.from(file));
  }
});

test('a loop over the parts that ends early ends the thread', async () => {
  const read = await readBeside(Uint8Array.from(large), 'large.xml');
  for await (const { lines } of read.parts!()) {
    assert.equal(lines.length, PART);
    break;
  }
  assert.equal(read.bytes(), undefined);
});

test('the lines of a small file are sent with it', async () => {
  const small = camt([{ amount: '1.00', bank: 'B1' }]);
  const read = await readBeside(Uint8Array.from(small), 'small.xml');
  assert.equal(read.parts, undefined);
  assert.deepEqual(read.statements, readStatements(small, 'small.xml').statements);
});
