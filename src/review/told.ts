// Who did what to a payment and when: the administrators by name, and sentences for a reviewer who comes second.

import { barredAmong, namesOf } from '../administrators/queries.ts';
import { momentsIn } from '../lib/moments.ts';
import { ENGLISH, type Say, type Sentence } from '../lib/phrases.ts';
import { CLAIM_MS, type Claim, type Payment } from '../payments/payment.ts';
import type { Reader } from '../store/database.ts';
import { decisionOf, type ReviewAct, reviewActs, reviewersOf } from './review.ts';

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

/** The administrators in the story of some payments: their names by id, and which of them may not decide any more. */
export interface People {
  names: ReadonlyMap<string, string>;
  barred: ReadonlySet<string>;
}

/** Those who did something with some payments, or claim them. Throws `DatabaseError`. */
export async function peopleOf(database: Reader, payments: readonly Payment[]): Promise<People> {
  const reviewers = reviewersOf(payments);
  const claims = payments.flatMap(({ claimed_by }) => claimed_by ?? []);
  return {
    names: await namesOf(database, [...reviewers, ...claims]),
    barred: await barredAmong(database, reviewers),
  };
}

/** What an administrator is called; by their id if the name was erased. */
async function nameOf(database: Reader, administrator: string): Promise<Sentence> {
  const name = (await namesOf(database, [administrator])).get(administrator);
  return name === undefined ? (say) => say`The administrator ${administrator}` : () => name;
}

/** How a payment was decided: `Ana approved it on 20 Nov 2026, 14:02 GMT+1.` */
export async function whoDecided(database: Reader, payment: Payment, timeZone: string): Promise<Sentence> {
  const decision = decisionOf(payment);
  const isApproved = payment.status === 'approved';
  const on = (say: Say) =>
    momentInWords(decision?.at ?? payment.decided_at ?? payment.updated_at, timeZone, say);
  if (!decision)
    return (say) => (isApproved ? say`It was approved on ${on(say)}.` : say`It was rejected on ${on(say)}.`);
  const by = await nameOf(database, decision.by);
  return (say) =>
    isApproved ? say`${by(say)} approved it on ${on(say)}.` : say`${by(say)} rejected it on ${on(say)}.`;
}

/** What brought a payment to review: `Ana recorded money on it on 20 Nov 2026, 14:02 GMT+1.` */
export async function whoSent(database: Reader, payment: Payment, timeZone: string): Promise<Sentence> {
  const receipt = reviewActs(payment).findLast(({ act }) => act === 'record');
  if (receipt) return whoBrought(database, receipt, timeZone);
  const at = payment.submitted_at ?? payment.updated_at;
  return (say) => say`It was sent for review on ${momentInWords(at, timeZone, say)}.`;
}

/** Who recorded money, or matched the bank line that it stands on: `Ana recorded money on it on 20 Nov 2026, 14:02 GMT+1.` */
export async function whoBrought(database: Reader, money: ReviewAct, timeZone: string): Promise<Sentence> {
  const act = money.line === undefined ? 'record' : 'match';
  return done({ act, at: money.at }, await nameOf(database, money.by), timeZone);
}

/** Who has claimed a payment: `Ana has it until 20 Nov 2026, 14:12 GMT+1.` */
export async function whoClaimed(
  database: Reader,
  { by, until }: Claim,
  timeZone: string,
): Promise<Sentence> {
  const name = await nameOf(database, by);
  return (say) => say`${name(say)} has it until ${momentInWords(until, timeZone, say)}.`;
}

const DONE: Record<ReviewAct['act'], (say: Say, name: string, on: string) => string> = {
  approve: (say, name, on) => say`${name} approved it first on ${on}.`,
  reject: (say, name, on) => say`${name} rejected it on ${on}.`,
  record: (say, name, on) => say`${name} recorded money on it on ${on}.`,
  note: (say, name, on) => say`${name} added a note on ${on}.`,
  match: (say, name, on) => say`${name} matched a bank line with it on ${on}.`,
  return: (say, name, on) => say`${name} recorded a bank line that took its money back on ${on}.`,
  unmatch: (say, name, on) => say`${name} took a bank line back from it on ${on}.`,
};

const done =
  ({ act, at }: Pick<ReviewAct, 'act' | 'at'>, by: Sentence, timeZone: string): Sentence =>
  (say) =>
    DONE[act](say, by(say), momentInWords(at, timeZone, say));

/** What an administrator did last with a payment, as far as the payment tells. */
export async function whatChanged(database: Reader, payment: Payment, timeZone: string): Promise<Sentence> {
  const last = reviewActs(payment).at(-1);
  const { claimed_by: claimer, claimed_until: until } = payment;
  const claimedAt = until === null ? -1 : until - CLAIM_MS;
  if (claimer !== null && claimedAt > (last?.at ?? -1)) {
    const name = await nameOf(database, claimer);
    return (say) => say`${name(say)} claimed it on ${momentInWords(claimedAt, timeZone, say)}.`;
  }
  if (last) return done(last, await nameOf(database, last.by), timeZone);
  const isOver = payment.status === 'cancelled';
  return (say) =>
    isOver && payment.status_reason === 'expired'
      ? say`It expired, or its customer asked for a new link.`
      : isOver
        ? say`It was cancelled.`
        : say`Its customer sent something, or a reviewer claimed and released it.`;
}
