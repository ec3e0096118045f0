// Shorthands of tests: a file of rows, and what is read of one.
import assert from 'node:assert/strict';
import { parseChoices, type ReadOptions, readStatements } from '../../src/index.ts';

export const rows = (...lines: string[]) => Buffer.from(lines.join('\n'));
export const read = (file: Uint8Array, options?: ReadOptions) => {
  const { statements, faults, notes = [], csv } = readStatements(file, 'x', options);
  const texts = (found: readonly { text: string }[]) => found.map(({ text }) => text);
  return {
    lines: statements.flatMap(({ lines }) => lines),
    amounts: statements.flatMap(({ lines }) =>
      lines.map(({ amountMinor, direction }) => (direction === 'debit' ? -amountMinor : amountMinor)),
    ),
    faults: texts([...faults, ...statements.flatMap((one) => one.faults)]),
    notes: texts([...notes, ...statements.flatMap((one) => one.notes ?? [])]),
    questions: (csv ?? []).flatMap(({ questions }) => questions),
    statement: statements[0],
    layout: csv?.[0]?.layout,
  };
};
export const chosen = (...texts: string[]): ReadOptions => {
  const choices = parseChoices(texts);
  assert.ok(typeof choices !== 'string', String(choices));
  return { choices };
};
