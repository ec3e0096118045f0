// What becomes of a payment in tests, done straight through the rooms: sent by its customer, decided, paid by hand, erased.
import type { Journal } from '../../src/journal/journal.ts';
import { eraseWhole } from '../../src/operate/commands/erase.ts';
import { expireDuePayments } from '../../src/payments/expire.ts';
import { listFullStretches } from '../../src/payments/history.ts';
import {
  creditorReference,
  qrReference,
  shortReference,
} from '../../src/payments/methods/transfer/creditor-reference.ts';
import type { Payment } from '../../src/payments/payment.ts';
import { findPayment } from '../../src/payments/queries.ts';
import { cancelByCustomer, requestLink, submitPayment } from '../../src/payments/submit.ts';
import { addNote } from '../../src/review/act.ts';
import { approve, reject } from '../../src/review/decide.ts';
import { recordMoney } from '../../src/review/record-money.ts';
import type { Database } from '../../src/store/database.ts';
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

/** The forms of it: that of ISO 11649, the short one for pounds, and that of a Swiss QR bill. */
export async function referencesOf(
  harness: Harness,
  id: string,
): Promise<Record<'whole' | 'short' | 'qr', string>> {
  const payment = await paymentNow(harness, id);
  return { whole: creditorReference(payment), short: shortReference(payment), qr: qrReference(payment) };
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

/** Writes a note beside a payment, as an administrator does. */
export function note({ service: { journal } }: Harness, id: string, text: string, by = ANA) {
  return journal.commit((transaction) => addNote(transaction, by, id, text), id);
}

/** Cancels a payment, as its customer does. */
export function cancelAsCustomer({ service: { journal } }: Harness, id: string) {
  return journal.commit((transaction) => cancelByCustomer(transaction, id, 'req_test'), id);
}

/** Asks for a new link, as the customer of a payment that has expired does. */
export function askForLink({ service: { journal } }: Harness, id: string) {
  return journal.commit((transaction) => requestLink(transaction, id, 'req_test'), id);
}

/** Brings a test payment on without a person, as its merchant's programs may. */
export async function tryOut(
  { request }: Harness,
  id: string,
  ...acts: ('submit' | 'approve' | 'reject' | 'expire' | 'record')[]
): Promise<void> {
  for (const act of acts) {
    const { status, text } = await request(`/v1/test/payments/${id}/${act}`, { method: 'POST' });
    if (status !== 200) throw new Error(`${act} answered ${status}: ${text}`);
  }
}

/** Cancels what is past its time, as the clock does each second. */
export async function sweep({ service: { journal } }: Harness): Promise<void> {
  while ((await expireDuePayments(journal)) > 0) {}
}

/** Lists the stretches of the history that are full, as a worker does meanwhile. */
export async function listStretches({ database, journal }: { database: Database; journal: Journal }) {
  while ((await listFullStretches(database, journal)) > 0) {}
}

/** Erases a payment and what bank lines say of it, as the operator does. */
export function erase(service: Harness, id: string) {
  return service.service.journal.commit((transaction) => eraseWhole(transaction, id, OPERATOR), id);
}
