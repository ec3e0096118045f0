// One act of an administrator on a payment: judged, and made only if nothing changed meanwhile; a claim and a note are such acts.
import type { Principal } from '../administrators/administrator.ts';
import { requireStanding } from '../administrators/standing.ts';
import type { Facts } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { phrase, spoken } from '../lib/phrases.ts';
import { searchedReference } from '../lib/search-terms.ts';
import { asOf, CLAIM_MS, claimOf, isDecided, MOVES, type Move, type Payment } from '../payments/payment.ts';
import { changePayment, findPayment, movePayment, type Written } from '../payments/queries.ts';
import { paymentNotFound, recordPayment, refuseChangedOutside, wrongStatus } from '../payments/transition.ts';
import type { Reader } from '../store/database.ts';
import { arrivalsOf, receivedSoFar, returnedSoFar, reviewActs, type SaidAct } from './review.ts';
import { whatChanged, whoClaimed, whoDecided, whoSent } from './told.ts';

/** Maximum number of times that a payment is judged while other nodes keep changing it. */
const LOOKS = 10;

/** What an act comes to, judged by the payment as it is: what it writes, and what the history says of it. */
export interface ActJudgement {
  /** The move to make. Undefined if the payment stays where it is. */
  move?: Move;
  written: Omit<Written, 'status'>;
  action: string;
  facts?: Facts;
}

/**
 * Does what `judge` says of the payment as it stands, or undefined where it says nothing; judged anew where another node changed it
 * meanwhile. Throws what `requireStanding` and `refuseChangedOutside` do, `not_found`, and what `judge` throws.
 */
export async function actOn(
  transaction: Transaction,
  principal: Principal,
  id: string,
  judge: (payment: Payment) => Promise<ActJudgement | undefined>,
): Promise<Payment> {
  await requireStanding(transaction, principal, 'decide');
  for (let look = 0; look < LOOKS; look++) {
    const payment = await findPayment(transaction, id);
    if (!payment) throw paymentNotFound();
    await refuseChangedOutside(transaction, payment);
    const judgement = await judge(payment);
    if (!judgement) return payment;
    const { move, written } = judgement;
    const guard = { is: { version: payment.version } }; // a claim counts a version too
    const changed = move
      ? await movePayment(transaction, move, id, guard, written)
      : await changePayment(transaction, id, guard, written);
    if (!changed) continue;
    const by = {
      ...(principal.session && { session: principal.session }),
      ...(principal.token && { token: principal.token }),
    };
    const { received_minor } = changed;
    const arrived = received_minor === payment.received_minor ? {} : { arrived_minor: received_minor };
    const facts = { ...judgement.facts, ...arrived, ...by };
    await recordPayment(transaction, principal, judgement.action, payment, changed, facts);
    return changed;
  }
  throw new OperationalError('conflict', phrase('The payment keeps changing. Look at it again.'));
}

/** What one more act writes: the acts of a payment with it, and the bank's reference if it has one. */
export function withAct(
  { now }: Pick<Transaction, 'now'>,
  payment: Pick<Payment, 'review' | 'received_minor' | 'returned_minor' | 'version'>,
  principal: Pick<Principal, 'id'>,
  said: SaidAct,
): Pick<Written, 'review' | 'received_minor' | 'returned_minor' | 'bank_reference'> {
  const { act, bank_reference } = said;
  const head = { act, by: principal.id, at: now, entry_version: payment.version + 1 };
  const texts = Object.entries(said).filter(([, value]) => value !== null);
  const review = JSON.stringify([...reviewActs(payment), { ...head, ...Object.fromEntries(texts) }]);
  // The interface writes hundredths: thousandths are cut there, and told where people read.
  const { received_minor: known, returned_minor } = payment;
  const untold = known === null ? 0 : known - Math.floor(receivedSoFar(payment));
  // Acts are erased, and the test mode writes none: what no act tells stays known when an act is taken back.
  const isToldByActs = untold === 0 && (known === null || arrivalsOf(payment).length > 0);
  const isNoneLeft = isToldByActs && arrivalsOf({ review }).length === 0;
  const returned = (returned_minor ?? 0) - Math.floor(returnedSoFar(payment));
  return {
    review,
    received_minor: isNoneLeft ? null : untold + Math.floor(receivedSoFar({ review })),
    returned_minor: returned + Math.floor(returnedSoFar({ review })) || null,
    ...(bank_reference && { bank_reference: searchedReference(bank_reference) }),
  };
}

/**
 * Throws `invalid_status` where a payment is not, at `now`, in a status that `move` starts from, saying who
 * brought it there and when.
 */
export async function refuseOtherStatus(
  database: Reader,
  { now, timeZone }: Pick<Transaction, 'now' | 'timeZone'>,
  payment: Payment,
  move: Move,
): Promise<void> {
  const { status } = asOf(payment, now);
  if (MOVES[move].from.includes(status)) return;
  if (status !== 'requires_review' && !isDecided({ status })) throw wrongStatus(status, move);
  const who = status === 'requires_review' ? whoSent : whoDecided;
  throw new OperationalError('invalid_status', spoken(await who(database, payment, timeZone)));
}

/** Throws `conflict` if another administrator has claimed a payment, with their name and the end of the claim. */
export async function refuseOthersClaim(
  transaction: Transaction,
  payment: Payment,
  principal: Principal,
): Promise<void> {
  const claim = claimOf(payment, transaction.now);
  if (claim && claim.by !== principal.id)
    throw new OperationalError(
      'conflict',
      spoken(await whoClaimed(transaction, claim, transaction.timeZone)),
    );
}

/** Throws `conflict` where a payment is not the version that was looked at, saying what happened since. */
export async function refuseOtherVersion(
  transaction: Transaction,
  payment: Payment,
  version: number | null,
): Promise<void> {
  if (version === null || version === payment.version) return;
  const what = await whatChanged(transaction, payment, transaction.timeZone);
  throw new OperationalError(
    'conflict',
    spoken((say) => `${say`The payment has changed since you looked at it.`} ${what(say)}`),
  );
}

/**
 * Claims a payment for review, or renews one's own claim; `force` takes it from another administrator, which the history says. Commit it
 * with the payment's id as `row`. Throws `not_found`, `invalid_status` (who decided, when), `conflict` if another has it (who, until
 * when).
 */
export function claim(
  transaction: Transaction,
  principal: Principal,
  id: string,
  { force = false }: { force?: boolean },
): Promise<Payment> {
  return actOn(transaction, principal, id, async (seen) => {
    await refuseOtherStatus(transaction, transaction, seen, 'approve');
    if (!force) await refuseOthersClaim(transaction, seen, principal);
    const before = claimOf(seen, transaction.now);
    const taken_from = before && before.by !== principal.id ? before.by : null;
    const until = transaction.now + CLAIM_MS;
    return {
      written: { claimed_by: principal.id, claimed_until: until },
      action: 'payment.claimed',
      facts: { until, taken_from },
    };
  });
}

/**
 * Lets one's own claim go; where one has none, nothing changes. Commit it with the payment's id as `row`. Throws `not_found`.
 */
export function release(transaction: Transaction, principal: Principal, id: string): Promise<Payment> {
  return actOn(transaction, principal, id, async (seen) => {
    if (claimOf(seen, transaction.now)?.by !== principal.id) return undefined;
    return { written: { claimed_by: null, claimed_until: null }, action: 'payment.released' };
  });
}

/** They stand in the payment's row, which each act writes anew. */
const NOTES_MAXIMUM = 50;

/**
 * Adds a note, checked before by `parseNote`; a claim of another administrator does not matter. Commit it with the payment's id as `row`.
 * Throws `not_found`, and `conflict` if there are too many.
 */
export function addNote(
  transaction: Transaction,
  principal: Principal,
  id: string,
  text: string,
): Promise<Payment> {
  return actOn(transaction, principal, id, async (seen) => {
    const last = reviewActs(seen).at(-1);
    // The form was sent twice, by a second click.
    if (last?.act === 'note' && last.by === principal.id && last.note === text) return undefined;
    if (reviewActs(seen).filter(({ act }) => act === 'note').length >= NOTES_MAXIMUM)
      throw new OperationalError(
        'conflict',
        spoken((say) => say`A payment takes ${NOTES_MAXIMUM} notes, and this one has them.`),
      );
    return {
      written: withAct(transaction, seen, principal, { act: 'note', note: text }),
      action: 'payment.noted',
    };
  });
}
