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

/** An overview that is made line by line, for statements that are never held as a whole. */
export class OverviewSums {
  #lines = 0;
  #pending = 0;
  #creditMinor = 0n;
  #debitMinor = 0n;
  #first: StatementLine | undefined;
  #last: StatementLine | undefined;
  #largest: StatementLine | undefined;

  add(line: StatementLine): void {
    const { status, direction, amountMinor } = line;
    this.#lines++;
    if (status === 'pending') this.#pending++;
    else if (direction === 'credit') this.#creditMinor += BigInt(amountMinor);
    else this.#debitMinor += BigInt(amountMinor);
    this.#first ??= line;
    this.#last = line;
    if (!this.#largest || amountMinor > this.#largest.amountMinor) this.#largest = line;
  }

  /** `opening`: the balance before the lines. */
  overview(opening: Statement['opening']): Overview {
    const named = new Map<StatementLine, string[]>();
    for (const [what, line] of [
      ['first', this.#first],
      ['last', this.#last],
      ['largest', this.#largest],
    ] as const)
      if (line) named.set(line, [...(named.get(line) ?? []), what]);
    const [creditMinor, debitMinor] = [this.#creditMinor, this.#debitMinor];
    return {
      lines: this.#lines,
      pending: this.#pending,
      ...{ creditMinor, debitMinor },
      reachedMinor: opening && BigInt(opening.minor) + creditMinor - debitMinor,
      shown: [...named].map(([line, whats]) => ({ what: whats.join(', '), line })),
    };
  }
}

export function overviewOf({ lines, opening }: Pick<Statement, 'lines' | 'opening'>): Overview {
  const sums = new OverviewSums();
  for (const line of lines) sums.add(line);
  return sums.overview(opening);
}
