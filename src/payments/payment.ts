// A payment: its row, its statuses, and the table of moves between them that everything hangs on.
import { isTimeOrderedId } from '../lib/ids.ts';
import { MINUTE_MS } from '../lib/time.ts';
import type { Mode } from '../merchants/merchant.ts';
import { integer, integerOrNull, type RowOf, table, text, textOrNull } from '../store/table.ts';

export const STATUSES = ['pending', 'requires_review', 'approved', 'rejected', 'cancelled'] as const;
export type Status = (typeof STATUSES)[number];

interface MoveRule {
  from: readonly [Status, ...Status[]];
  to: Status;
  /** Whether the payment's time must be ahead or must have passed. Undefined if it does not count. */
  expiry?: 'ahead' | 'passed';
}

/**
 * All moves. The first four are made by the customer, the merchant and the clock, the others by an administrator: `record` because money
 * arrived unannounced or late, `withdraw` and `restore` where that was a mistake. `withdraw` also takes back a form that was sent by
 * mistake.
 */
export const MOVES: Readonly<
  Record<'submit' | 'withdraw' | 'cancel' | 'expire' | 'record' | 'restore' | 'approve' | 'reject', MoveRule>
> = {
  submit: { from: ['pending'], to: 'requires_review', expiry: 'ahead' },
  withdraw: { from: ['requires_review'], to: 'pending', expiry: 'ahead' },
  cancel: { from: ['pending'], to: 'cancelled', expiry: 'ahead' },
  expire: { from: ['pending'], to: 'cancelled', expiry: 'passed' },
  record: { from: ['pending', 'cancelled'], to: 'requires_review' },
  restore: { from: ['requires_review'], to: 'cancelled' },
  approve: { from: ['requires_review'], to: 'approved' },
  reject: { from: ['requires_review'], to: 'rejected' },
};
export type Move = keyof typeof MOVES;

/** Why a payment was cancelled, opened again or rejected, as the API shows it to its merchant. */
export const STATUS_REASONS = [
  'expired',
  'cancelled_by_merchant',
  'cancelled_by_customer',
  'payment_received',
  'transfer_not_received',
  'details_do_not_match',
  'duplicate',
  'other',
] as const;
export type StatusReason = (typeof STATUS_REASONS)[number];

/**
 * A row of `payments`. Times in milliseconds since 1970; `customer`, `metadata`, `payment_details` and `submission` are
 * JSON text.
 */
export const PAYMENTS = table('payments', {
  id: text(),
  merchant_id: text(),
  mode: text<Mode>(),
  amount_minor: integer(),
  currency: text(),
  status: text<Status>(),
  status_reason: textOrNull<StatusReason>(),
  merchant_name: text(),
  merchant_reference: textOrNull(),
  description: textOrNull(),
  return_url: textOrNull(),
  cancel_url: textOrNull(),
  customer: textOrNull(),
  metadata: textOrNull(),
  /** What the customer sent, masked: for the merchant, and for everyone with the link. */
  payment_details: textOrNull(),
  /** Random, so that the digests in the history tell nothing about an erased row. */
  salt: text(),
  /** How many entries the history has about this payment. */
  version: integer(),
  created_at: integer(),
  updated_at: integer(),
  expires_at: integer(),
  /** What the customer sent, whole: for the reviewer alone. */
  submission: textOrNull(),
  /** What the reviewer tells the customer. */
  review_message: textOrNull(),
  /** When the customer asked for a new link, after this one had expired. */
  link_requested_at: integerOrNull(),
  /** In lower case, from when it was sent for review: as it was typed, or as the merchant had given it. For finding payments alike. */
  payer_email: textOrNull(),
  /** The account the customer pays from, without what groups it. For finding payments alike. */
  payer_account: textOrNull(),
  /** When it was sent for review, by its customer or by an administrator who recorded money. */
  submitted_at: integerOrNull(),
  /** When it was approved or rejected. */
  decided_at: integerOrNull(),
  /** What administrators did and wrote, as JSON text (`ReviewAct[]`): for them alone. */
  review: textOrNull(),
  /** `adm_…` of the administrator who claims it for review until `claimed_until`. */
  claimed_by: textOrNull(),
  claimed_until: integerOrNull(),
  /** The id of the way to pay, from when it was sent for review. */
  method: textOrNull(),
  /** The language of its checkout page unless the customer chooses another, as a BCP 47 tag. */
  locale: textOrNull(),
  /** The payer's name as `searchedName` writes it, from when it was sent for review. For searching. */
  payer_name: textOrNull(),
  /** The bank's reference of the money as `searchedReference` writes it, as an administrator last gave one. For searching. */
  bank_reference: textOrNull(),
  /** The last day to pay by, as customers read it: `2026-11-20`. */
  pay_by: text(),
  /** What is recorded to have arrived, in minor units, less what went back. Null if no money is recorded. */
  received_minor: integerOrNull(),
  /** What of that is known to have gone back, in minor units. Null if nothing is. */
  returned_minor: integerOrNull(),
  /** When the customer said that they had sent the transfer, also where that came too late to submit the payment. */
  announced_at: integerOrNull(),
});
export type Payment = RowOf<typeof PAYMENTS>;

export const PAYMENT_ID_PREFIX = 'pay_';

/** Whether text could be a payment's id; what could not is as unknown as one that is not there. */
export function isPaymentId(text: string): boolean {
  return isTimeOrderedId(PAYMENT_ID_PREFIX, text);
}

/** What the merchant told of the customer. */
export const customerOf = ({
  customer,
}: Pick<Payment, 'customer'>): { name?: string | null; email?: string | null; phone?: string | null } =>
  JSON.parse(customer ?? 'null') ?? {};

/** The e-mail address that the merchant gave of a payment's customer. */
export const customerEmail = (payment: Pick<Payment, 'customer'>): string | undefined =>
  customerOf(payment).email ?? undefined;

/** The e-mail address that a payment's customer typed at checkout. */
export const typedEmail = ({ submission }: Pick<Payment, 'submission'>): string | undefined =>
  (JSON.parse(submission ?? '{}') as { payer_email?: string }).payer_email;

/** The e-mail address that letters about a payment go to: what its customer typed, else what the merchant gave. */
export const emailOf = (payment: Pick<Payment, 'customer' | 'submission'>): string | undefined =>
  typedEmail(payment) ?? customerEmail(payment);

/** Whether a payment is approved or rejected: that stands, and so does the money matched with it. */
export const isDecided = ({ status }: Pick<Payment, 'status'>): boolean =>
  status === 'approved' || status === 'rejected';

/** The sum of minor units, some of them with a tenth. */
export const sumMinor = (amounts: readonly number[]): number =>
  amounts.reduce((sum, minor) => sum + Math.round(minor * 10), 0) / 10;

/** What the sums of a payment are made of. */
type Sums = Pick<Payment, 'received_minor' | 'status' | 'amount_minor'> &
  Partial<Pick<Payment, 'returned_minor'>>;

/**
 * Minor units that were received and did not go back. Without recorded money, the whole amount of an approved payment.
 */
export const receivedMinor = ({ received_minor, returned_minor, status, amount_minor }: Sums): number =>
  Math.max(0, received_minor ?? (status === 'approved' ? amount_minor - (returned_minor ?? 0) : 0));

/** Minor units that the customer is still asked for: none once the payment is decided or cancelled. */
export const dueMinor = (payment: Sums): number =>
  payment.status === 'pending' || payment.status === 'requires_review'
    ? Math.max(0, payment.amount_minor - receivedMinor(payment))
    : 0;

/** A payment as it is at `now`: one that is pending past its time is cancelled, though the sweeper has yet to write so. */
export function asOf(payment: Payment, now: number): Payment {
  if (payment.status !== 'pending' || now < payment.expires_at) return payment;
  return { ...payment, status: 'cancelled', status_reason: 'expired', updated_at: payment.expires_at };
}

/** Duration of a claim, in milliseconds. */
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
