// Exports of banks by the names of their columns (`exports.txt`): what each row comes to, and what is asked of a file without names.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { signedAmount } from '../src/balance.ts';
import { readStatements } from '../src/read.ts';

/**
 * A block for each export: its name behind `#`, the file, and behind `=` the day, the amount, the currency and the name of the other side,
 * if it has a column of its own. `?` stands for a currency that the file does not name, `?JPY` for one that is chosen. `? columns` is what
 * is asked.
 */
const BLOCKS = readFileSync(join(import.meta.dirname, 'exports.txt'), 'utf8').split(/\n(?=# )/);

const read = (file: string, currency?: string) =>
  readStatements(Buffer.from(file), 'x.csv', {
    account: 'DE75512108001245126199',
    choices: { columns: {}, ...(currency !== undefined && { currency }) },
  });

test('the rows of exports in many languages are read by the names of their columns', () => {
  for (const block of BLOCKS) {
    const [name = '', ...lines] = block.trimEnd().split('\n');
    const end = lines.findIndex((line) => /^[=?] /.test(line));
    const file = lines.slice(0, end).join('\n');
    const told = lines.slice(end).filter((line) => line !== '');
    const asks = (found: ReturnType<typeof read>) => found.csv?.[0]?.questions.map(({ key }) => key) ?? [];
    if (told[0]!.startsWith('? ')) {
      assert.ok(asks(read(file)).includes(told[0]!.slice(2) as 'columns'), name);
      continue;
    }
    const [, unnamed] = / (\?[A-Z]*)(?= \||$)/.exec(told[0]!) ?? [];
    const first = read(file);
    if (unnamed !== undefined) assert.equal(asks(first).at(-1), 'currency', name);
    const found = unnamed === undefined ? first : read(file, unnamed.slice(1) || 'XXX');
    assert.deepEqual([found.faults, found.statements.flatMap(({ faults }) => faults)], [[], []], name);
    const rows = found.statements
      .flatMap(({ lines }) => lines)
      .map(({ bookingDay, direction, amountMinor, currency, counterparty }, place) => {
        const money = signedAmount(direction === 'debit' ? -amountMinor : amountMinor);
        const party = told[place]?.includes(' | ') ? ` | ${counterparty.name}` : '';
        return `= ${bookingDay} ${money} ${unnamed ?? currency}${party}`;
      });
    assert.deepEqual(rows, told, name);
  }
  assert.ok(BLOCKS.length > 70);
});
