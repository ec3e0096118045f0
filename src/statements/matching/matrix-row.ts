// Finds the row of the matrix for a cell, and its sentences.
import { type LineCase, MATRIX, type MatrixRow } from './matrix.ts';
import type { MatrixCell } from './matrix-dimensions.ts';

/** What is said of a cell. */
export interface Judgement extends Omit<MatrixRow['gives'], 'adds'> {
  kind: LineCase;
  /** Its sentences, with `{name}` for their values. */
  says: string[];
  act: string;
}

const fits = ({ when }: MatrixRow, cell: MatrixCell) =>
  Object.entries<readonly string[]>(when).every(([name, values]) =>
    values.includes(cell[name as keyof MatrixCell]),
  );

/** What the row of a cell says, with the sentences of later rows that are said beside its own: with one of them nothing is certain. */
export function rowOf(cell: MatrixCell): Judgement {
  const rows = MATRIX as readonly (MatrixRow & { kind: LineCase })[];
  const [row, ...later] = rows.filter((one) => fits(one, cell));
  const { kind, says, act, gives } = row!;
  const { level, button, page } = gives;
  const beside =
    button === 'none' || button === 'back' || button === 'keep'
      ? []
      : later.filter((one) => one.gives.adds && one.kind !== kind);
  const isSure = level !== 'certain' || beside.length === 0;
  // Whether the line shows the money by hand is asked before anything is approved.
  const isOdd = button === 'approve' && beside.length > 0;
  const isAsked = cell.hand === 'like' && (button === 'approve' || button === 'reason');
  return {
    ...{ kind, act, button: isOdd ? 'reason' : button, page },
    ...(isAsked && { button: 'match' as const, page: 'rest' as const }),
    level: isSure ? level : 'evidence',
    says: [says, ...beside.map((one) => one.says)],
  };
}
