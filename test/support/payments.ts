// What becomes of a payment in tests, done straight through the rooms: sent by its customer, decided, paid by hand, erased.
import { erasePayment } from '../../src/payments/erase.ts';
import { creditorReference } from '../../src/payments/methods/transfer/creditor-reference.ts';
import type { Payment } from '../../src/payments/payment.ts';
import { findPayment } from '../../src/payments/queries.ts';
import { submitPayment } from '../../src/payments/submit.ts';
import { approve, reject } from '../../src/review/decide.ts';
import { recordMoney } from '../../src/review/record-money.ts';
import { type Harness, OPERATOR } from './harness.ts';
import { ANA, haveReviewers } from './reviewers.ts';

/** A payment as it is stored now. */
export async function paymentNow({ service: { database } }: Harness, id: string): Promise<Payment> {
  database.refresh();
  return (await findPayment(database, id))!;
}

/** The reference that a transfer for a payment carries. */
export async function referenceOf(harness: Harness, id: string): Promise<string> {
  return creditorReference(await paymentNow(harness, id));
}

/** Hands a payment's form in, as checkout does. */
export function submit(
  service: Harness,
  id: string,
  whole: object = { payer_name: 'Zoë' },
  payer: { name: string | null; email: string | null; account: string | null } = {
    ...{ name: null, email: 'zoe@example.org', account: null },
  },
  method = 'details',
) {
  const submission = { method, whole, masked: {}, payer };
  return service.service.journal.commit((one) => submitPayment(one, id, 'req_test', submission), id);
}

/** Says as a customer that the transfer comes from somebody, and from an account if one is given. */
export function announce(service: Harness, id: string, account: string | null = null, name = 'Otto Wolff') {
  return submit(service, id, { transfer_name: name }, { name, email: null, account }, 'bank_transfer');
}

/** Decides a payment that is under review, as an administrator does. */
export async function decide(
  service: Harness,
  id: string,
  move: 'approve' | 'reject' = 'approve',
  bank_reference: string | null = 'B-7',
) {
  await haveReviewers(service.service);
  const note = 'Thank you, Zoë.';
  return service.service.journal.commit<unknown>(
    (transaction) =>
      move === 'approve'
        ? approve(transaction, ANA, id, { note, bank_reference, version: null }, {})
        : reject(transaction, ANA, id, { reason: 'other', note, message: 'Thank you, Zoë.', version: null }),
    id,
  );
}

/** Records money that arrived for a payment, as an administrator does. */
export async function record(
  service: Harness,
  id: string,
  amount_minor = 49_90,
  bank_reference: string | null = 'B-8',
) {
  await haveReviewers(service.service);
  const money = { amount_minor, received_on: '2026-11-20', bank_reference, note: 'Zoë', version: null };
  return service.service.journal.commit((transaction) => recordMoney(transaction, ANA, id, money), id);
}

/** Erases a payment, as the operator does. */
export function erase(service: Harness, id: string) {
  return service.service.journal.commit((transaction) => erasePayment(transaction, id, OPERATOR), id);
}
