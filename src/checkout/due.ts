// What is still to be paid on a payment under review: all of it, or the rest of which a part has arrived.
import type { Instructions } from '../payments/methods/method.ts';
import type { Offer } from '../payments/methods/offer.ts';
import { type Payment, sumMinor } from '../payments/payment.ts';
import { knownSoFar } from '../review/review.ts';

export interface Due {
  /** Undefined if a part has arrived and there is no transfer to pay the rest by. */
  instructions: Instructions | undefined;
  /** The payment with the amount that is still to be paid. */
  payment: Payment;
  /** Whether a part has arrived. */
  isRest: boolean;
}

/**
 * How to pay what is still due on a payment under review: as the customer was told when they sent the form, else by the transfer that is on
 * offer. Undefined if nothing is due, or if the customer was told nothing and no money has arrived.
 */
export function dueOf(payment: Payment, offer: Pick<Offer, 'transferFor'>): Due | undefined {
  const received = knownSoFar(payment) ?? 0;
  const rest = sumMinor([payment.amount_minor, -received]);
  if (payment.status !== 'requires_review' || rest <= 0) return undefined;
  const isRest = received > 0;
  const { instructions: told } = JSON.parse(payment.submission ?? '{}') as { instructions?: Instructions };
  // Money was matched by mistake and taken back: the customer, who announced nothing, is asked for all of it again.
  const isAgain = !isRest && payment.submission === null && payment.payment_details === null;
  const instructions = told ?? (isRest || isAgain ? offer.transferFor(payment) : undefined);
  if (!instructions && !isRest) return undefined;
  return { instructions, payment: { ...payment, amount_minor: rest }, isRest };
}
