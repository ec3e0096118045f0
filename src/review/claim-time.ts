// How long a payment is somebody's to review, and whose it is at a moment.
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

/** Who is at a payment, if anybody still is at `now` (milliseconds since 1970). */
export function claimOf(
  { claimed_by, claimed_until }: Pick<Payment, 'claimed_by' | 'claimed_until'>,
  now: number,
): Claim | undefined {
  if (claimed_by === null || claimed_until === null || claimed_until <= now) return undefined;
  return { by: claimed_by, until: claimed_until };
}
