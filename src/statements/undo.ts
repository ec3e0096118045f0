// Undoes an import of which nothing was decided. Its lines are ignored, and the same file can be imported again with other options.
import type { Act } from '../journal/audit-entry.ts';
import { changeRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { phrase, spoken } from '../lib/phrases.ts';
import { type KeptLine, type KeptStatement, STATEMENTS, writeLine } from './kept.ts';
import { findStatement, isPart, linesByEntry, linesOfStatement } from './line-queries.ts';

/** Stands in the place of a fingerprint or a digest, so that the same money and the same statement are new again. */
const undoneName = ({ id }: { id: string }) => `undone:${id}`;

export const isUndone = (statement: KeptStatement): boolean => statement.digest === undoneName(statement);

/**
 * Undoes the import of a statement. Its lines are `undone`; entries that its lines replaced are open again. Returns how many lines it had.
 * Throws `not_found` for a statement that is not there or undone; `invalid_status` if something was decided about one of its lines, or
 * a later file shows one of them otherwise; `conflict` if a line is changed at the same moment; and `DatabaseError`.
 */
export async function undoImport(transaction: Transaction, id: string, act: Act): Promise<number> {
  const statement = await findStatement(transaction, id);
  if (!statement || isUndone(statement))
    throw new OperationalError('not_found', 'There is no such import, or it was undone.');
  const lines = await linesOfStatement(transaction, statement);
  // Parts of a line that is whole again.
  const gone = lines.filter((line) => isPart(line) && line.state === 'replaced');
  const decided = lines.filter((line) => line.state !== 'open' && !gone.includes(line)).length;
  const count = lines.length - gone.length;
  if (decided > 0)
    throw new OperationalError(
      'invalid_status',
      spoken(
        (say) =>
          say`${decided} of its ${count} lines were matched, ignored or replaced. Take that back first.`,
      ),
    );
  for (const whole of await replacedBy(transaction, lines))
    await writeLine(transaction, act, 'line.reopened', whole, { state: 'open' }, { refusal: REFUSAL });
  for (const line of lines) {
    const written = { state: 'undone', fingerprint: undoneName(line), entry_reference: null } as const;
    await writeLine(transaction, act, 'line.undone', line, written, { refusal: REFUSAL });
  }
  const cleared = { digest: undoneName(statement), opening_minor: null, closing_minor: null };
  const undone = await changeRow(transaction, act, 'statement.undone', STATEMENTS, statement, cleared, {
    lines: count,
  });
  if (!undone) throw new OperationalError('conflict', REFUSAL);
  return count;
}

/** Entries of other statements in whose place their transactions among `lines` stand. */
async function replacedBy(transaction: Transaction, lines: readonly KeptLine[]): Promise<KeptLine[]> {
  const parts = lines.filter((line) => line.part_of_minor !== null && line.entry_reference !== null);
  const [first] = parts;
  if (!first) return [];
  const references = parts.map(({ entry_reference }) => entry_reference!);
  const found = await linesByEntry(transaction, first.account, references);
  return found.filter(
    ({ state, part_of_minor, statement_id }) =>
      state === 'replaced' && part_of_minor === null && statement_id !== first.statement_id,
  );
}

const REFUSAL = phrase('A line of this import was changed a moment ago. Look at it again.');
