// What the console's pages of bank statements are given.
import type { ReviewContext, ReviewParts } from '../../review/pages/context.ts';
import type { MatchSettings } from '../matching/propose.ts';

export interface StatementParts extends ReviewParts, MatchSettings {}

export type StatementContext = ReviewContext & StatementParts;
