// What verifying finds: the first thing wrong with the history, and where.

/** The file of checkpoints that contradicts the history: the server's own, or the copy that was given. */
export type Voucher = 'checkpoint' | 'copied checkpoint';

/**
 * The first thing found wrong. `entry`, `seal` and `subject` say where, as far as that is known. `voucher` is set where the history
 * proves itself, but not the checkpoints. `rows` is how many rows are not as the history says, if the history itself is right.
 */
export class HistoryBroken extends Error {
  override readonly name = 'HistoryBroken';
  readonly entry: number | undefined;
  readonly seal: number | undefined;
  readonly subject: string | undefined;
  readonly voucher: Voucher | undefined;
  readonly rows: number;
  constructor(
    problem: string,
    place: {
      entry?: number | undefined;
      seal?: number;
      subject?: string;
      voucher?: Voucher;
      rows?: number;
    } = {},
  ) {
    super(problem);
    this.entry = place.entry;
    this.seal = place.seal;
    this.subject = place.subject;
    this.voucher = place.voucher;
    this.rows = place.rows ?? 0;
  }
}
