// How long a claim lasts, and who holds it at a moment.
import { MINUTE_MS } from '../lib/time.ts';
import type { Payment } from '../payments/payment.ts';

/** How long a claim holds, in milliseconds. */
export const CLAIM_MS = 10 * MINUTE_MS;

export interface Claim {
  /** `adm_…`. */
  by: string;
  /** Milliseconds since 1970. */
  until: number;
}

/** The administrator who claims a payment at `now` (milliseconds since 1970), or undefined. */
export function claimOf(
  { claimed_by, claimed_until }: Pick<Payment, 'claimed_by' | 'claimed_until'>,
  now: number,
): Claim | undefined {
  if (claimed_by === null || claimed_until === null || claimed_until <= now) return undefined;
  return { by: claimed_by, until: claimed_until };
}
