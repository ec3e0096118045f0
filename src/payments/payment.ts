// A payment: its row, its statuses, and the table of moves between them that everything hangs on.
import { isTimeOrderedId } from '../lib/ids.ts';
import type { Mode } from '../merchants/merchant.ts';

export const STATUSES = ['pending', 'requires_review', 'approved', 'rejected', 'cancelled'] as const;
export type Status = (typeof STATUSES)[number];

interface MoveRule {
  from: Status;
  to: Status;
  /** Whether the payment's time must be ahead or must have passed. Undefined if it does not count. */
  expiry?: 'ahead' | 'passed';
}

/** Every move there is. The customer, the merchant and the clock make those from `pending`; an administrator makes the others. */
export const MOVES: Readonly<Record<'submit' | 'cancel' | 'expire' | 'approve' | 'reject', MoveRule>> = {
  submit: { from: 'pending', to: 'requires_review', expiry: 'ahead' },
  cancel: { from: 'pending', to: 'cancelled', expiry: 'ahead' },
  expire: { from: 'pending', to: 'cancelled', expiry: 'passed' },
  approve: { from: 'requires_review', to: 'approved' },
  reject: { from: 'requires_review', to: 'rejected' },
};
export type Move = keyof typeof MOVES;

export type StatusReason = 'expired' | 'cancelled_by_merchant' | 'cancelled_by_customer';

/**
 * A row of `payments`. Times in milliseconds since 1970; `customer`, `metadata`, `payment_details` and `submission` are
 * JSON text.
 */
export interface Payment {
  id: string;
  merchant_id: string;
  mode: Mode;
  amount_minor: number;
  currency: string;
  status: Status;
  status_reason: StatusReason | null;
  merchant_name: string;
  merchant_reference: string | null;
  description: string | null;
  return_url: string | null;
  cancel_url: string | null;
  customer: string | null;
  metadata: string | null;
  /** What the customer sent, masked: for the merchant, and for whoever holds the link. */
  payment_details: string | null;
  /** Random, so that the digests in the history tell nothing about an erased row. */
  salt: string;
  /** How many entries the history has about this payment. */
  version: number;
  created_at: number;
  updated_at: number;
  expires_at: number;
  /** What the customer sent, whole: for the reviewer alone. */
  submission: string | null;
  /** What the reviewer tells the customer. */
  review_message: string | null;
  /** When the customer asked for a new link, after this one had expired. */
  link_requested_at: number | null;
  /** In lower case, from when it was sent for review: as it was typed, or as the merchant had given it. For finding payments alike. */
  payer_email: string | null;
  /** The account the customer pays from, without what groups it. For finding payments alike. */
  payer_account: string | null;
  /** When it was sent for review. */
  submitted_at: number | null;
  /** When it was approved or rejected. */
  decided_at: number | null;
  /** What administrators did and wrote, as JSON text (`ReviewAct[]`): for them alone. */
  review: string | null;
  /** `adm_…` who has taken it to review, until `claimed_until`. */
  claimed_by: string | null;
  claimed_until: number | null;
  /** The id of the way to pay, from when it was sent for review. */
  method: string | null;
}

/** The columns that a payment's digest in the history covers: all, in this order. Append only. */
export const PAYMENT_COLUMNS = [
  'id',
  'merchant_id',
  'mode',
  'amount_minor',
  'currency',
  'status',
  'status_reason',
  'merchant_name',
  'merchant_reference',
  'description',
  'return_url',
  'cancel_url',
  'customer',
  'metadata',
  'payment_details',
  'salt',
  'version',
  'created_at',
  'updated_at',
  'expires_at',
  'submission',
  'review_message',
  'link_requested_at',
  'payer_email',
  'payer_account',
  'submitted_at',
  'decided_at',
  'review',
  'claimed_by',
  'claimed_until',
  'method',
] as const satisfies (keyof Payment)[];

export const PAYMENT_ID_PREFIX = 'pay_';

/** Whether text could be a payment's id; what could not is as unknown as one that is not there. */
export function isPaymentId(text: string): boolean {
  return isTimeOrderedId(PAYMENT_ID_PREFIX, text);
}

/** A payment as it is at `now`: one that is pending past its time is cancelled, though the sweeper has yet to write so. */
export function asOf(payment: Payment, now: number): Payment {
  if (payment.status !== 'pending' || now < payment.expires_at) return payment;
  return { ...payment, status: 'cancelled', status_reason: 'expired', updated_at: payment.expires_at };
}
