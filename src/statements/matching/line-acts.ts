// What administrators do with a bank line: accept it as the money of a payment, ignore it with a reason, or take that back.

import type { Principal } from '../../administrators/administrator.ts';
import { requireStanding } from '../../administrators/standing.ts';
import type { Facts } from '../../journal/record-row.ts';
import type { Transaction } from '../../journal/transaction.ts';
import { OperationalError } from '../../lib/errors.ts';
import { phrase, type Sentence, spoken } from '../../lib/phrases.ts';
import { textFault } from '../../lib/text.ts';
import { asOf, isDecided, type Payment } from '../../payments/payment.ts';
import { findPayment } from '../../payments/queries.ts';
import { paymentNotFound } from '../../payments/transition.ts';
import {
  type ActJudgement,
  actOn,
  refuseOthersClaim,
  refuseOtherVersion,
  withAct,
} from '../../review/act.ts';
import { approve, type Decision } from '../../review/decide.ts';
import { recordMoney } from '../../review/record-money.ts';
import {
  arrivalsOf,
  BANK_REFERENCE_MAXIMUM,
  type HandMoney,
  handMoneyOf,
  lacksMoney,
  type ReviewAct,
  reviewActs,
} from '../../review/review.ts';
import type { Reader } from '../../store/database.ts';
import { exactMinor, type KeptLine, writeLine } from '../kept.ts';
import { findLine } from '../line-queries.ts';
import { handOf } from './judge-line.ts';
import { type BankLine, bankLine, isOutgoing, mayMatch } from './line-evidence.ts';

/** The longest reason for ignoring a line, in code points. */
export const IGNORE_REASON_MAXIMUM = 500;

/** What is wrong with a reason for ignoring a line, or undefined. */
export function ignoreReasonFault(reason: string): string | undefined {
  return reason === ''
    ? phrase('Say why this line is for no payment')
    : textFault(reason, IGNORE_REASON_MAXIMUM, true);
}

/** A line and the payment that it is accepted for. `version` is the payment's as it was looked at. */
export interface LinePair {
  line_id: string;
  payment_id: string;
  version: number;
  /** Whether the line shows money that was recorded by hand, or came besides: where only the amount is the same, it must be said. */
  as?: 'same' | 'besides' | undefined;
}

/**
 * Says that a line is the money of a payment, or of a debit that it took the money back. A payment that is pending or cancelled is under
 * review from then on, with the amount and the day of the line. An approved one is only linked with the money that it was approved for, or
 * with money that it lacks: a further part, or what comes again after it went back. A rejected one says what arrived, and stays rejected.
 * Where `principal` matched them already, nothing is done: a button was pressed twice.
 * Commit it with the payment's id as `row`. Throws `not_found`; `invalid_status` if the line is not open and booked, is in another
 * currency, the payment is decided and needs no line, or `as` is missing; `conflict` if another administrator has claimed the payment, it
 * was changed since it was `version`, or the line is not as the history says.
 */
export async function acceptLine(
  transaction: Transaction,
  principal: Principal,
  { line_id, payment_id, version, as }: LinePair,
): Promise<Payment> {
  await requireStanding(transaction, principal, 'decide');
  const known = await findLine(transaction, line_id);
  const payment = await findPayment(transaction, payment_id);
  if (known && payment && isMatchedBy(known, payment, principal)) return payment;
  const line = await openLine(transaction, line_id);
  if (!payment) throw paymentNotFound();
  const isBack = isOutgoing(bankLine(line));
  if (!line.booked || !(isBack || mayMatch(bankLine(line))))
    refuse(phrase('The line is no credit that was booked.'));
  if (line.currency !== payment.currency)
    refuse((say) => say`The line is in ${line.currency}, the payment in ${payment.currency}.`);
  const { status } = asOf(payment, transaction.now);
  const shown = isBack ? undefined : shownBy(line, { ...payment, status }, as);
  if (!isBack) await refuseOthersClaim(transaction, payment, principal);
  if (payment.version !== version)
    throw new OperationalError('conflict', phrase('The payment has changed since you looked at it.'));
  const received = {
    amount_minor: exactMinor(line),
    received_on: line.day,
    bank_reference: referenceOn(line),
    note: null,
    version,
    line: line_id,
  };
  const pair = { payment_id, version, shown };
  const after =
    isBack || status === 'requires_review' || isDecided({ status })
      ? await tellPayment(transaction, principal, pair, line, isBack ? 'return' : 'match')
      : await recordMoney(transaction, principal, payment_id, received);
  const facts = { payment: payment_id };
  await writeLine(transaction, principal, 'line.matched', line, { state: 'matched', payment_id }, { facts });
  return after;
}

/** Whether it was `principal` who matched a line with a payment, as both stand. */
export const isMatchedBy = (
  line: Pick<KeptLine, 'id' | 'state' | 'payment_id'>,
  payment: Payment,
  { id }: Principal,
): boolean =>
  line.state === 'matched' &&
  line.payment_id === payment.id &&
  reviewActs(payment).findLast((act) => act.line === line.id)?.by === id;

function refuse(message: string | Sentence): never {
  throw new OperationalError('invalid_status', typeof message === 'string' ? message : spoken(message));
}

/** What a line shows of the money of an act by hand. */
type Shown = Required<Pick<ReviewAct, 'same_as' | 'same_minor' | 'same_of'>>;

/**
 * The act by hand whose money a credit shows: all of it by the bank's reference, else as much as the line has. Undefined if the line is
 * further money. Throws `invalid_status`.
 */
function shownBy(line: KeptLine, payment: Payment, as: LinePair['as']): Shown | undefined {
  const money = handMoneyOf(payment);
  const hand = handOf(bankLine(line), payment, money);
  const shows = (one: HandMoney | undefined): Shown | undefined =>
    one && {
      same_as: one.entry_version,
      same_minor: hand?.is === 'same' ? one.amount_minor : Math.min(one.amount_minor, exactMinor(line)),
      same_of: payment.amount_minor,
    };
  if (payment.status === 'approved' && money.length === 0 && !lacksMoney(payment))
    refuse((say) => say`The payment is ${say.of(payment.status)} already.`);
  if (payment.status === 'approved')
    return as === 'besides' && isUnclear(bankLine(line), payment) ? undefined : shows(hand ?? money[0]);
  if (hand?.is === 'like' && as === undefined)
    refuse(phrase('Money was recorded by hand: say whether the line shows it, or more money.'));
  return as === 'besides' ? undefined : shows(hand ?? (as === 'same' ? money[0] : undefined));
}

/**
 * Whether an administrator must say if a credit shows money by hand or came besides: the amount proves nothing. Of an approved payment that
 * lacks money, one of another amount may be what it lacks.
 */
export function isUnclear(line: BankLine, payment: Payment): boolean {
  const money = handMoneyOf(payment);
  const hand = handOf(line, payment, money);
  if (payment.status !== 'approved') return hand?.is === 'like';
  return hand === undefined && money.length > 0 && lacksMoney(payment);
}

/**
 * Writes on a payment that a line was matched with it, or was taken back. That counts as a version: a reviewer who looked at the payment
 * before cannot decide by what the line said then.
 */
function tellPayment(
  transaction: Transaction,
  principal: Principal,
  { payment_id, version, shown }: { payment_id: string; version: number | null; shown?: Shown | undefined },
  line: KeptLine,
  act: 'match' | 'return' | 'unmatch',
): Promise<Payment> {
  const { id, currency, day } = line;
  const amount_minor = exactMinor(line);
  const money = { amount_minor, currency, received_on: day, ...shown };
  return actOn(transaction, principal, payment_id, async (seen) => {
    await refuseOtherVersion(transaction, seen, version);
    // No merchant is told of money that they know.
    const matched = shown === undefined ? 'payment.line_matched' : 'payment.line_linked';
    const written = withAct(transaction, seen, principal, {
      act,
      line: id,
      ...(act !== 'unmatch' && money),
    });
    const facts = { line: id, line_minor: amount_minor, currency, line_day: day };
    if (act === 'unmatch' && isBroughtByLines({ ...seen, ...written }))
      return broughtBack(seen, written, facts, transaction.now);
    return {
      written,
      action: { match: matched, return: 'payment.money_returned', unmatch: 'payment.line_taken_back' }[act],
      facts,
    };
  });
}

/** The act that brought a payment under review, unless its customer did. */
const recordOf = (payment: Pick<Payment, 'review' | 'submitted_at'>): ReviewAct | undefined =>
  reviewActs(payment).findLast(({ act, at }) => act === 'record' && at === payment.submitted_at);

/** Whether bank lines alone brought a payment under review, none of them is its money any more, and what it was before is known. */
function isBroughtByLines(payment: Payment): boolean {
  const record = recordOf(payment);
  return (
    payment.status === 'requires_review' &&
    record?.line !== undefined &&
    (payment.status_reason === null || record.was !== undefined) &&
    arrivalsOf(payment).length === 0 &&
    !reviewActs(payment).some(isDecision)
  );
}

/** What takes a payment back to where it was before a line was matched with it: the customer can pay again, or the link has ended. */
function broughtBack(
  payment: Payment,
  written: ReturnType<typeof withAct>,
  facts: Facts,
  now: number,
): ActJudgement {
  const status_reason = recordOf(payment)?.was ?? (now < payment.expires_at ? null : 'expired');
  const claim = { claimed_by: null, claimed_until: null };
  return {
    move: status_reason === null ? 'withdraw' : 'restore',
    written: { ...written, ...claim, status_reason, submitted_at: null },
    action: status_reason === null ? 'payment.pending' : 'payment.cancelled',
    facts: { ...facts, from: payment.status, reason: status_reason },
  };
}

/** The bank's reference of a line as a payment keeps it. */
function referenceOn(line: KeptLine): string | null {
  const { references } = bankLine(line);
  return (references.booking ?? references.bank)?.slice(0, BANK_REFERENCE_MAXIMUM) ?? null;
}

/** What an approval came to that `principal` made by a line; undefined if there is none: a button may be pressed twice. */
export async function doneByLine(
  database: Reader,
  principal: Principal,
  { line_id, payment_id }: Pick<LinePair, 'line_id' | 'payment_id'>,
): Promise<Decision | undefined> {
  const line = await findLine(database, line_id);
  const payment = await findPayment(database, payment_id);
  if (!line || !payment || !isMatchedBy(line, payment, principal)) return undefined;
  const acts = reviewActs(payment);
  const matched = acts.findLast((one) => one.line === line_id)!;
  const isApproved = acts.some(
    ({ act, by, entry_version }) =>
      act === 'approve' && by === principal.id && entry_version > matched.entry_version,
  );
  const outcome = payment.status === 'approved' ? 'approved' : 'awaiting_second';
  return isApproved ? { payment, outcome } : undefined;
}

/**
 * Accepts a line and approves its payment, or records the first of two approvals. `note` says why, where something is odd. Where
 * `principal` did that already, nothing is done. Throws as `acceptLine` and `approve` do.
 */
export async function approveLine(
  transaction: Transaction,
  principal: Principal,
  pair: LinePair,
  fourEyesAbove: Readonly<Record<string, number>>,
  note: string | null = null,
): Promise<Decision> {
  const done = await doneByLine(transaction, principal, pair);
  if (done) return done;
  const line = await openLine(transaction, pair.line_id);
  await acceptLine(transaction, principal, pair);
  const approval = { note, bank_reference: referenceOn(line), version: null };
  return approve(transaction, principal, pair.payment_id, approval, fourEyesAbove);
}

/** Says that a line is of no payment. Throws `not_found`, `invalid_status` if it is not open, and `conflict`. */
export async function ignoreLine(
  transaction: Transaction,
  principal: Principal,
  lineId: string,
  reason: string,
): Promise<void> {
  await requireStanding(transaction, principal, 'decide');
  const line = await openLine(transaction, lineId);
  await writeLine(transaction, principal, 'line.ignored', line, { state: 'ignored', note: reason });
}

/**
 * Takes back that a line is ignored, or is the money of an undecided payment. What was recorded on the payment from the line counts no
 * more, and a payment that lines alone brought under review is what it was before. Throws `not_found`, `invalid_status` and `conflict`.
 */
export async function reopenLine(
  transaction: Transaction,
  principal: Principal,
  lineId: string,
): Promise<void> {
  await requireStanding(transaction, principal, 'decide');
  const line = await findLine(transaction, lineId);
  if (!line) throw lineNotFound();
  if (isOpenAgain(line)) return;
  if (line.state !== 'matched' && line.state !== 'ignored')
    throw new OperationalError('invalid_status', phrase('The line is neither matched nor ignored.'));
  await unmatch(transaction, principal, line);
  const open = { state: 'open', payment_id: null, note: null } as const;
  await writeLine(transaction, principal, 'line.reopened', line, open);
}

/** Whether a line is open after something was done with it: a button that opens it again may be pressed twice. */
export const isOpenAgain = ({ state, version }: KeptLine): boolean => state === 'open' && version > 1;

/** Tells the payment of a line, if it has one, that the line is its money no more. Throws `invalid_status` if it was decided by it. */
export async function unmatch(transaction: Transaction, principal: Principal, line: KeptLine): Promise<void> {
  const payment = line.payment_id === null ? undefined : await findPayment(transaction, line.payment_id);
  if (!payment) return;
  if (isDecidedBy(payment, line))
    refuse((say) => say`The payment is ${say.of(payment.status)}: a decision cannot be taken back.`);
  const pair = { payment_id: payment.id, version: null };
  await tellPayment(transaction, principal, pair, line, 'unmatch');
}

/** Whether a payment was decided after a line was matched with it: then the match stands. */
export function isDecidedBy(payment: Payment, { id }: Pick<KeptLine, 'id'>): boolean {
  const acts = reviewActs(payment);
  const [decided, matched] = [acts.findLast(isDecision), acts.findLast(({ line }) => line === id)];
  return isDecided(payment) && !(matched && decided && matched.entry_version > decided.entry_version);
}

const isDecision = ({ act }: ReviewAct) => act === 'approve' || act === 'reject';

export const lineNotFound = () => new OperationalError('not_found', 'There is no such statement line.');

export async function openLine(transaction: Transaction, id: string): Promise<KeptLine> {
  const line = await findLine(transaction, id);
  if (!line) throw lineNotFound();
  if (line.state !== 'open')
    throw new OperationalError(
      'invalid_status',
      spoken((say) => say`The line is ${say.of(line.state)} already.`),
    );
  return line;
}
