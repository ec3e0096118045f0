// Thrown where a whole file is refused: one sentence for the bookkeeper, and the line if there is one.

/** A file that is refused as a whole. `line` counts from 1, or is 0. `isOther` tells a file that is no statement from a damaged one. */
export class StatementRefused extends Error {
  override readonly name = 'StatementRefused';
  readonly line: number;
  readonly isOther: boolean;

  constructor(message: string, line = 0, isOther = false) {
    super(message);
    this.line = line;
    this.isOther = isOther;
  }
}
