// What the console's pages of bank statements are given.
import type { ReviewContext, ReviewParts } from '../../review/pages/context.ts';

export interface StatementParts extends ReviewParts {
  /** What the bookkeeper writes before references. */
  prefixes: readonly string[];
}

export type StatementContext = ReviewContext & StatementParts;
