// What the console's pages of review are given.
import type { Context } from '../../administrators/pages/route.ts';
import type { BackgroundVerification } from '../../journal/background-verification.ts';
import type { CheckpointLookup } from '../../journal/checkpoint.ts';
import type { Say } from '../../lib/phrases.ts';
import type { Directory } from '../../merchants/directory.ts';
import type { Offer } from '../../payments/methods/offer.ts';
import type { Reader } from '../../store/database.ts';
import type { FactSource, SeenLine } from '../facts.ts';
import type { ReviewFigures } from '../figures.ts';

/** A letter in the story of a payment. */
export interface ToldLetter {
  /** When it was written, in milliseconds since 1970. */
  at: number;
  sentence: string;
  /** What the mail server said last, or why it was not sent. */
  answer: string | null;
}

export interface ReviewParts {
  directory: Directory;
  /** The ways to pay, which tell how money is to arrive. */
  offer: Offer;
  checkoutBaseUrl: string;
  /** Minor units by currency above which a second administrator must confirm. */
  fourEyesAbove: Readonly<Record<string, number>>;
  checkpoints: CheckpointLookup;
  figures: ReviewFigures;
  /** Verifies the history in the background of this node. */
  verification: BackgroundVerification;
  /** What the bank's statements show of a payment. */
  onStatement: FactSource;
  /** The lines of the bank's statements that were matched with a payment. Throws `DatabaseError`. */
  seenOnStatement(database: Reader, paymentId: string): Promise<SeenLine[]>;
  /** The letters about a payment, oldest first, in the language of `say`. Throws `DatabaseError`. */
  lettersAbout(database: Reader, paymentId: string, say: Say): Promise<ToldLetter[]>;
}

export type ReviewContext = Context & ReviewParts;
