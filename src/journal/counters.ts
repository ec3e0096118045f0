// What the journal counts of its commits and its works, for metrics and health.

export interface JournalCounters {
  commits: number;
  works: number;
  /** Works that were turned away because too many waited, one waited too long, or the journal was closed. */
  refused: number;
}

/** How the newest commit ended that had something to write; `at` in milliseconds of the monotonic clock. */
export interface CommitOutcome {
  stands: boolean;
  at: number;
}

/** Works that failed as defects since the newest commit that stands; `at`, of the last of them, as in `CommitOutcome`. */
export interface Defects {
  inARow: number;
  at: number;
}
