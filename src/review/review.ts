// What administrators do with a payment and write about it: the acts that are kept, and what each of them may say.
import { z } from 'zod';
import { holdsCardNumber } from '../lib/card-number.ts';
import type { ErrorDetails } from '../lib/errors.ts';
import {
  addSchemaFaults,
  NUMBERED,
  optional,
  refuseCardFields,
  soundText,
  type Whole,
  whole,
} from '../lib/faults.ts';
import { phrase } from '../lib/phrases.ts';
import { textFault, trimmedText } from '../lib/text.ts';
import { type Payment, type StatusReason, sumMinor } from '../payments/payment.ts';

/** Why a payment may be rejected, with what people read. */
export const REJECT_REASONS = {
  transfer_not_received: phrase('Transfer not received'),
  details_do_not_match: phrase('Details do not match'),
  suspected_fraud: phrase('Suspected fraud'),
  duplicate: phrase('Duplicate'),
  other: phrase('Other'),
} as const;
export type RejectReason = keyof typeof REJECT_REASONS;

/** Maximum lengths in code points. */
export const NOTE_MAXIMUM = 2000;
export const MESSAGE_MAXIMUM = 500;
export const BANK_REFERENCE_MAXIMUM = 140;

/** One thing an administrator did with a payment, as it stands in `payments.review`: for administrators alone. */
export interface ReviewAct {
  /**
   * `approve` is a first approval too, where a second administrator must confirm it. `record` is money that arrived. `match` says that a
   * bank line is the money of the payment, `return` that a bank line took its money back, `unmatch` takes either back.
   */
  act: 'approve' | 'reject' | 'record' | 'note' | 'match' | 'return' | 'unmatch';
  /** `adm_…`. */
  by: string;
  /** Milliseconds since 1970. */
  at: number;
  /** The payment's version after this act: the number of its entry among the payment's, from 1. */
  entry_version: number;
  note?: string;
  bank_reference?: string;
  /** How much arrived, in minor units of `currency`, of a bank line perhaps with a tenth, and on which day (`2026-11-20`). */
  amount_minor?: number;
  currency?: string;
  received_on?: string;
  /** `lin_…`: the line that was matched, or that recorded money stands on. */
  line?: string;
  /** Why the payment was cancelled before money was recorded on it. */
  was?: StatusReason;
  /** The `entry_version` of the act by hand whose money the matched line shows; how much of it, or all; and what an approval stood for. */
  same_as?: number;
  same_minor?: number;
  same_of?: number;
  reason?: RejectReason;
  /** What the customer was told. */
  message?: string;
}

/** An act as it is said; null counts as left out. */
export type SaidAct = Pick<ReviewAct, 'act'> & {
  [name in Exclude<keyof ReviewAct, 'act' | 'by' | 'at' | 'entry_version'>]?: ReviewAct[name] | null;
};

/** The acts of a payment, oldest first; none where it was erased. */
export function reviewActs({ review }: Pick<Payment, 'review'>): ReviewAct[] {
  return review === null ? [] : (JSON.parse(review) as ReviewAct[]);
}

/**
 * Whether an act was done already by a form that was sent twice: the same act by the same administrator, on the version that the form was
 * made on, with the same values.
 */
export function isDoneAlready(
  payment: Pick<Payment, 'review'>,
  by: string,
  version: number | null,
  said: SaidAct,
): boolean {
  const done = reviewActs(payment).find(({ entry_version }) => entry_version - 1 === version);
  const isSame = ([name, value]: [string, unknown]) =>
    (done?.[name as keyof ReviewAct] ?? null) === (value ?? null);
  return done?.by === by && Object.entries(said).every(isSame);
}

/** The newest approval or rejection: the decision, or the first of two approvals. */
export function decisionOf(payment: Pick<Payment, 'review'>): ReviewAct | undefined {
  return reviewActs(payment).findLast(({ act }) => act === 'approve' || act === 'reject');
}

/** Money that arrived, as an administrator recorded it. */
type Receipt = ReviewAct & Required<Pick<ReviewAct, 'amount_minor' | 'currency' | 'received_on'>>;

/** Money that arrived or went back, without lines that were taken back. */
function moved(payment: Pick<Payment, 'review'>, ...kinds: ReviewAct['act'][]): Receipt[] {
  const acts = reviewActs(payment);
  const isTakenBack = ({ line, entry_version }: ReviewAct) =>
    line !== undefined &&
    acts.some((one) => one.act === 'unmatch' && one.line === line && one.entry_version > entry_version);
  return acts.filter(
    (one): one is Receipt => kinds.includes(one.act) && one.amount_minor !== undefined && !isTakenBack(one),
  );
}

/**
 * All money that arrived for a payment, oldest first: what was recorded, and bank lines that were matched. Of money by hand only what no
 * line shows (`same_as`) counts besides; so does what a payment was approved for, once a line shows a part of it.
 */
export function arrivalsOf(payment: Pick<Payment, 'review'>): Receipt[] {
  const arrived = moved(payment, 'record', 'match');
  const shown = Map.groupBy(arrived, ({ same_as }) => same_as);
  const assumed = reviewActs(payment).flatMap((one): Receipt[] => {
    const [line] = (one.act === 'approve' && shown.get(one.entry_version)) || [];
    if (!line) return [];
    return [{ ...one, amount_minor: line.same_of!, currency: line.currency, received_on: '' }];
  });
  return [...assumed, ...arrived].flatMap((one) => {
    const lines = shown.get(one.entry_version) ?? [];
    const amount_minor = sumMinor([
      one.amount_minor,
      ...lines.map(({ same_minor = one.amount_minor }) => -same_minor),
    ]);
    return amount_minor > 0 ? { ...one, amount_minor } : [];
  });
}

/** Money that went back, by bank lines that were matched, oldest first. */
export const returnsOf = (payment: Pick<Payment, 'review'>): Receipt[] => moved(payment, 'return');

export const sumOf = (money: readonly Pick<Receipt, 'amount_minor'>[]): number =>
  sumMinor(money.map(({ amount_minor }) => amount_minor));

/** How much of a payment went back, in minor units of its currency. */
export const returnedSoFar = (payment: Pick<Payment, 'review'>): number => sumOf(returnsOf(payment));

/** How much arrived for a payment so far and did not go back, in minor units of its currency. */
export const receivedSoFar = (payment: Pick<Payment, 'review'>): number =>
  sumMinor([sumOf(arrivalsOf(payment)), -returnedSoFar(payment)]);

/** The same, at least 0, or what the test mode recorded; null if no money is known. */
export const knownSoFar = (payment: Pick<Payment, 'review' | 'received_minor'>): number | null =>
  arrivalsOf(payment).length > 0 ? Math.max(0, receivedSoFar(payment)) : payment.received_minor;

/** Whether money arrived and went back, and all that went back is known to have arrived. */
export const isSettled = (payment: Pick<Payment, 'review'>): boolean =>
  arrivalsOf(payment).length > 0 && returnsOf(payment).length > 0 && receivedSoFar(payment) >= 0;

/** Whether money may come again: some of it went back, and less is left than was asked for. */
export const mayComeAgain = (payment: Pick<Payment, 'review' | 'amount_minor'>): boolean =>
  isSettled(payment) && receivedSoFar(payment) < payment.amount_minor;

/** Whether money arrived, but less is left of it than was asked for. */
export const lacksMoney = (payment: Pick<Payment, 'review' | 'amount_minor'>): boolean =>
  arrivalsOf(payment).length > 0 &&
  receivedSoFar(payment) >= 0 &&
  receivedSoFar(payment) < payment.amount_minor;

/** What of a payment's amount did not arrive yet, in minor units; all of it once nothing is left. */
export function restOf(payment: Pick<Payment, 'review' | 'amount_minor'>): number {
  const rest = sumMinor([payment.amount_minor, -Math.max(0, receivedSoFar(payment))]);
  return rest > 0 ? rest : payment.amount_minor;
}

/** Money that an administrator knew of without a bank line. `entry_version` is that of their act. */
export interface HandMoney {
  amount_minor: number;
  entry_version: number;
  /** `2026-11-20`; undefined if it was approved without being recorded. */
  received_on: string | undefined;
  /** The bank's references that administrators typed with it. */
  references: string[];
}

/** The money of a payment that no bank line shows yet: what was recorded by hand, or what it was approved for. */
export function handMoneyOf(payment: Pick<Payment, 'review' | 'status' | 'amount_minor'>): HandMoney[] {
  const acts = reviewActs(payment);
  const arrived = arrivalsOf(payment);
  const approval = payment.status === 'approved' ? acts.findLast(({ act }) => act === 'approve') : undefined;
  const assumed = { received_on: undefined, amount_minor: payment.amount_minor };
  const money =
    arrived.length === 0 && approval
      ? [{ ...approval, ...assumed }]
      : arrived.filter(({ line }) => line === undefined);
  const typed = acts.flatMap(({ line, bank_reference }) =>
    line === undefined ? (bank_reference ?? []) : [],
  );
  return money.map(({ amount_minor, entry_version, received_on, bank_reference }) => ({
    ...{ amount_minor, entry_version, received_on: received_on || undefined },
    references: money.length === 1 ? typed : bank_reference === undefined ? [] : [bank_reference],
  }));
}

/**
 * The approvals that count, oldest first: one of a payment that waits for its second. Those of administrators who are `barred`
 * from deciding by now (`barredAmong`) do not.
 */
export function approvalsOf(payment: Pick<Payment, 'review'>, barred: ReadonlySet<string>): ReviewAct[] {
  return reviewActs(payment).filter(({ act, by }) => act === 'approve' && !barred.has(by));
}

/** Whether one administrator approved and another has yet to. */
export function awaitsSecond(
  payment: Pick<Payment, 'review' | 'status'>,
  barred: ReadonlySet<string>,
): boolean {
  return payment.status === 'requires_review' && approvalsOf(payment, barred).length > 0;
}

/** All who did something with these payments, each once. */
export function reviewersOf(payments: readonly Pick<Payment, 'review'>[]): string[] {
  return [...new Set(payments.flatMap((payment) => reviewActs(payment).map(({ by }) => by)))];
}

/** Whether a payment's amount is above (not at) the one that two administrators must approve. Minor units by currency. */
export function needsSecond(
  { amount_minor, currency }: Pick<Payment, 'amount_minor' | 'currency'>,
  fourEyesAbove: Readonly<Record<string, number>>,
): boolean {
  return amount_minor > (fourEyesAbove[currency] ?? Infinity);
}

interface TextRule {
  multiline?: boolean;
  /** A run of digits is a card number only with a check digit, where references of banks are meant to stand. */
  digits?: boolean;
}

function text(maximum: number, { multiline = false, digits = false }: TextRule) {
  const faultOf = (value: string) =>
    textFault(value, maximum, multiline) ??
    (holdsCardNumber(value, { checked: digits }) ? NUMBERED : undefined);
  return optional(soundText(maximum, faultOf));
}

const note = text(NOTE_MAXIMUM, { multiline: true }).describe('For administrators alone.');
const version = optional(z.int('Must be a whole number.').min(1, 'Must be at least 1.')).describe(
  'The `version` that was looked at: where the payment has another by now, nothing is done.',
);

/** What an administrator may write with money that arrived. */
export const REMARKS = {
  note,
  bank_reference: text(BANK_REFERENCE_MAXIMUM, { digits: true }).describe(
    "The bank's reference of the money that arrived.",
  ),
  version,
};

/** The body of an approval. */
export const approvalSchema = z.strictObject(REMARKS, 'Must be an object.');

/** The body of a rejection. */
export const rejectionSchema = z.strictObject(
  {
    reason: z.enum(
      Object.keys(REJECT_REASONS) as [RejectReason, ...RejectReason[]],
      `Must be one of ${Object.keys(REJECT_REASONS).join(', ')}.`,
    ),
    note,
    message: text(MESSAGE_MAXIMUM, { multiline: true }).describe('What the customer is told, as plain text.'),
    version,
  },
  'Must be an object.',
);

/** The body of a rejection that a developer tries out. */
export const triedRejectionSchema = rejectionSchema
  .pick({ message: true })
  .extend({ reason: optional(rejectionSchema.shape.reason) });

const noteSchema = z.object({ note: text(NOTE_MAXIMUM, { multiline: true }) });

export type Approval = Whole<typeof approvalSchema>;
export type Rejection = Whole<typeof rejectionSchema>;

/** A value, or what is wrong with each field. */
export type Parsed<T> = { value: T } | { faults: ErrorDetails };

/** Reads a note of its own, which must say something. */
export function parseNote(values: Record<string, unknown>): Parsed<string> {
  const parsed = parse(noteSchema, values);
  if ('faults' in parsed) return parsed;
  const { note } = parsed.value;
  return note === null ? { faults: { note: 'Must not be empty.' } } : { value: note };
}

/** Reads the fields of a JSON object or of a form by a schema. Text is trimmed; empty text counts as left out. */
export function parse<S extends z.ZodObject>(schema: S, values: Record<string, unknown>): Parsed<Whole<S>> {
  const faults: ErrorDetails = Object.create(null); // names come from outside: none may be inherited
  refuseCardFields(values, faults);
  const parsed = schema.safeParse(Object.fromEntries(Object.entries(values).map(asTyped)));
  // A misspelt `version` would disable the guard of a decision that cannot be undone.
  addSchemaFaults(faults, parsed.error);
  if (!parsed.success || Object.keys(faults).length > 0) return { faults };
  return { value: whole(schema, parsed.data) };
}

/** A field as a form or JSON gave it: line breaks as line feeds, and what a form has for a number and for nothing. */
function asTyped([name, value]: [string, unknown]): [string, unknown] {
  if (typeof value !== 'string') return [name, value];
  const typed = trimmedText(value);
  if (typed === '') return [name, null];
  return [name, name === 'version' && /^\d{1,15}$/.test(typed) ? Number(typed) : typed];
}
