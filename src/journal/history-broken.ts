// What verifying finds: the first thing wrong with the history, and where.

/** The first thing found wrong. `entry`, `seal` and `subject` say where, as far as that is known. */
export class HistoryBroken extends Error {
  override readonly name = 'HistoryBroken';
  readonly entry: number | undefined;
  readonly seal: number | undefined;
  readonly subject: string | undefined;
  constructor(problem: string, place: { entry?: number; seal?: number; subject?: string } = {}) {
    super(problem);
    this.entry = place.entry;
    this.seal = place.seal;
    this.subject = place.subject;
  }
}
