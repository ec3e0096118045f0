// A statement at a glance, for a person who looks whether it was read rightly: sums, and its first, last and largest lines.
import type { Statement, StatementLine } from './statement.ts';

/** Sums of booked lines in hundredths. */
export interface Overview {
  lines: number;
  pending: number;
  creditMinor: bigint;
  debitMinor: bigint;
  /** What the opening balance and the booked lines come to; undefined if the statement names no opening balance. */
  reachedMinor: bigint | undefined;
  /** The first, the last and the largest line, each once. */
  shown: { what: string; line: StatementLine }[];
}

export function overviewOf({ lines, opening }: Pick<Statement, 'lines' | 'opening'>): Overview {
  const booked = lines.filter(({ status }) => status === 'booked');
  const sum = (direction: StatementLine['direction']) =>
    booked.reduce((all, one) => all + (one.direction === direction ? BigInt(one.amountMinor) : 0n), 0n);
  const [creditMinor, debitMinor] = [sum('credit'), sum('debit')];
  const largest = lines.reduce<StatementLine | undefined>(
    (most, one) => (most === undefined || one.amountMinor > most.amountMinor ? one : most),
    undefined,
  );
  const named = new Map<StatementLine, string[]>();
  for (const [what, line] of [
    ['first', lines[0]],
    ['last', lines.at(-1)],
    ['largest', largest],
  ] as const)
    if (line) named.set(line, [...(named.get(line) ?? []), what]);
  return {
    lines: lines.length,
    pending: lines.length - booked.length,
    ...{ creditMinor, debitMinor },
    reachedMinor: opening && BigInt(opening.minor) + creditMinor - debitMinor,
    shown: [...named].map(([line, whats]) => ({ what: whats.join(', '), line })),
  };
}
