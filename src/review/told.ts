// Sentences about who did what to a payment and when, for a reviewer who comes second.

import { namesOf } from '../administrators/queries.ts';
import { momentsIn } from '../lib/moments.ts';
import { ENGLISH, type Say } from '../lib/phrases.ts';
import { CLAIM_MS, type Claim, type Payment } from '../payments/payment.ts';
import type { Reader } from '../store/database.ts';
import { decisionOf, type ReviewAct, reviewActs } from './review.ts';

/** `20 Nov 2026, 14:02 GMT+1`. Takes milliseconds since 1970. English if `say` is undefined. */
export const momentInWords = (ms: number, timeZone: string, say?: Say): string =>
  momentsIn(timeZone, tagOf(say)).moment(ms);

/** `20 Nov 2026`. Takes `2026-11-20`. English if `say` is undefined. */
export const dayInWords = (date: string, say?: Say): string => momentsIn('UTC', tagOf(say)).day(date);

/** Days from one to another, of which either may not be known; empty if none is: `1 Nov 2026 to 30 Nov 2026`. */
export function daysInWords(
  from: string | null | undefined,
  to: string | null | undefined,
  say: Say = ENGLISH,
): string {
  const [first, last] = [from ?? to, to ?? from];
  if (first == null || last == null) return '';
  if (first === last) return dayInWords(first, say);
  return say`${dayInWords(first, say)} to ${dayInWords(last, say)}`;
}

/** English is written as the command line and the API write it. */
const tagOf = (say: Say | undefined) => (say?.tag === 'en' ? undefined : say?.tag);

async function nameOf(database: Reader, administrator: string): Promise<string> {
  return (
    (await namesOf(database, [administrator])).get(administrator) ?? `The administrator ${administrator}`
  );
}

/** How a payment was decided: `Ana approved it on 20 Nov 2026, 14:02 GMT+1.` Without the name if that was erased. */
export async function whoDecided(database: Reader, payment: Payment, timeZone: string): Promise<string> {
  const decision = decisionOf(payment);
  const done = payment.status;
  if (!decision)
    return `It was ${done} on ${momentInWords(payment.decided_at ?? payment.updated_at, timeZone)}.`;
  return `${await nameOf(database, decision.by)} ${done} it on ${momentInWords(decision.at, timeZone)}.`;
}

/** What brought a payment to review: `Ana recorded money on it on 20 Nov 2026, 14:02 GMT+1.` */
export async function whoSent(database: Reader, payment: Payment, timeZone: string): Promise<string> {
  const receipt = reviewActs(payment).findLast(({ act }) => act === 'record');
  return receipt
    ? `${await nameOf(database, receipt.by)} recorded money on it on ${momentInWords(receipt.at, timeZone)}.`
    : `It was sent for review on ${momentInWords(payment.submitted_at ?? payment.updated_at, timeZone)}.`;
}

/** Who has claimed a payment: `Ana has it until 20 Nov 2026, 14:12 GMT+1.` */
export async function whoClaimed(database: Reader, { by, until }: Claim, timeZone: string): Promise<string> {
  return `${await nameOf(database, by)} has it until ${momentInWords(until, timeZone)}.`;
}

const DONE: Record<ReviewAct['act'], string> = {
  approve: 'approved it first',
  reject: 'rejected it',
  record: 'recorded money on it',
  note: 'added a note',
  match: 'matched a bank line with it',
  return: 'recorded a bank line that took its money back',
  unmatch: 'took a bank line back from it',
};

/** What an administrator did last with a payment, as far as the payment tells. */
export async function whatChanged(database: Reader, payment: Payment, timeZone: string): Promise<string> {
  const last = reviewActs(payment).at(-1);
  const claimedAt = payment.claimed_until === null ? -1 : payment.claimed_until - CLAIM_MS;
  if (payment.claimed_by !== null && claimedAt > (last?.at ?? -1))
    return `${await nameOf(database, payment.claimed_by)} claimed it on ${momentInWords(claimedAt, timeZone)}.`;
  if (last)
    return `${await nameOf(database, last.by)} ${DONE[last.act]} on ${momentInWords(last.at, timeZone)}.`;
  if (payment.status === 'cancelled')
    return payment.status_reason === 'expired'
      ? 'It expired, or its customer asked for a new link.'
      : 'It was cancelled.';
  return 'Its customer sent something, or a reviewer claimed and released it.';
}
