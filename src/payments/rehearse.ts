// The work that readiness rehearses: it creates a payment, stores its response and moves a payment, as requests do.
import type { Transaction } from '../journal/transaction.ts';
import type { Caller } from '../merchants/merchant.ts';
import { createPayment } from './create.ts';
import { keepAnswer } from './idempotency.ts';
import { DEFAULT_TERMS } from './pay-by.ts';
import { PAYMENT_ID_PREFIX } from './payment.ts';
import { movePayment } from './queries.ts';
import { parsePaymentRequest } from './request.ts';

const CALLER: Caller = {
  merchant: { id: 'mer_rehearsal', name: 'Rehearsal' },
  key: { id: 'key_rehearsal', digest: '', mode: 'test', expires_at: null },
  limits: {},
  actor: 'clock',
};
const REQUEST = parsePaymentRequest({ amount: 1 }, { strict: true, httpsOnly: true });
/** The id of no payment. The move finds no row, and fails where the statement or the right is missing. */
const NOBODY = `${PAYMENT_ID_PREFIX}rehearsal`;

/** For `Journal.rehearse`, which rolls it back. Throws `DatabaseError`. */
export async function rehearseCreate(transaction: Transaction): Promise<void> {
  const act = { actor: CALLER.actor, request_id: null };
  await movePayment(transaction, 'cancel', NOBODY, {}, { status_reason: 'cancelled_by_merchant' });
  const { id } = createPayment(transaction, CALLER, act, REQUEST, DEFAULT_TERMS);
  keepAnswer(transaction, id, id, { status: 201, body: '' });
}
