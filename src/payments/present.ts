// A payment as the API shows it, and the schema that promises so.
import { z } from 'zod';
import { quoted } from '../lib/json.ts';
import { formatAmount } from '../lib/money.ts';
import { formatTimestamp, timestampOrNull } from '../lib/time.ts';
import { asOf, dueMinor, type Payment, receivedMinor, STATUS_REASONS, STATUSES } from './payment.ts';

const timestamp = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/)
  .describe('ISO 8601 with a numeric UTC offset.');
const decimal = z.string().regex(/^\d+\.\d\d$/);
const optionalText = z.string().nullable();

/** The part of a submission that everyone with the link may see. An empty field is absent. */
const paymentDetailsSchema = z.looseObject({
  method: z.string().describe("The method's id in the configuration."),
  type: z.string().describe('`bank_transfer`, `manual`, `details` or `test_card`.'),
  name: optionalText.describe("The configuration's name for the method."),
  submitted_at: timestamp,
  payer_name: z.string().optional(),
  payer_email: z.string().optional(),
  payer_phone: z.string().optional(),
  transfer_name: z.string().optional(),
  transfer_account: z.string().optional(),
  transfer_reference: z.string().optional().describe('The reference that the transfer carries, whole.'),
  customer_reference: z.string().optional(),
  note: z.string().optional().describe('The message to the merchant, whole.'),
  card: z.strictObject({ brand: z.string(), last4: z.string() }).optional(),
});
z.globalRegistry.add(paymentDetailsSchema, { id: 'PaymentDetails' });

/** A customer as the merchant sent them. */
const customerSchema = z
  .strictObject({ name: optionalText, email: optionalText, phone: optionalText })
  .meta({ id: 'Customer' });

/** The specification's fields, then our own; every field is always there, `null` when unset. */
export const paymentSchema = z.strictObject({
  id: z
    .string()
    .regex(/^pay_[0-9a-z]{36}$/)
    .describe('Payment identifier.'),
  object: z.literal('payment'),
  amount: decimal.describe('Decimal amount with 2 decimal places.'),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .describe('ISO 4217 code.'),
  status: z.enum(STATUSES),
  merchant_name: z.string().describe('Business name, as it was when the payment was created.'),
  merchant_reference: optionalText,
  checkout_url: z.string().describe('Where to send the customer.'),
  payment_url: z.string().describe('Same as `checkout_url`.'),
  created_at: timestamp,
  expires_at: timestamp,
  livemode: z.boolean().describe('False for payments made with a test key.'),
  description: optionalText,
  return_url: optionalText,
  cancel_url: optionalText,
  customer: customerSchema.nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  status_reason: z
    .enum(STATUS_REASONS)
    .nullable()
    .describe('Why it was cancelled, opened again or rejected.'),
  updated_at: timestamp,
  payment_details: paymentDetailsSchema.nullable().describe('What the customer submitted, masked.'),
  link_requested_at: timestamp
    .nullable()
    .describe('When the customer asked for a new link, after this one had expired.'),
  submitted_at: timestamp
    .nullable()
    .describe('When it was sent for review: by the customer, or by an administrator who recorded money.'),
  decided_at: timestamp.nullable().describe('When it was approved or rejected.'),
  review_message: optionalText.describe('What the customer reads of a rejection.'),
  pay_by: z
    .string()
    .meta({ format: 'date' })
    .describe('The last day to pay by, as the customer reads it. Earlier than `expires_at` by the grace.'),
  amount_received: decimal.describe(
    'What is known to have arrived, less what went back; never below zero. All of it where an administrator approved without recording money.',
  ),
  amount_due: decimal.describe(
    'What the customer is still asked for. Zero once the payment is approved, rejected or cancelled, also where less was accepted: it does not say that all was paid.',
  ),
  amount_returned: decimal.describe('What is known to have gone back of what had arrived.'),
  announced_at: timestamp
    .nullable()
    .describe('When the customer said that they had sent the transfer, also if that came after the end.'),
  locale: optionalText.describe('Language of the checkout page, unless the customer chooses another.'),
});
z.globalRegistry.add(paymentSchema, { id: 'Payment' });

/** The hosted page's name, which the specification fixes. */
export const PAYMENT_PAGE = 'payment.php';

/** The hosted page of a payment. `checkoutBaseUrl` without a slash at its end. */
export function checkoutUrl(checkoutBaseUrl: string, id: string): string {
  return `${checkoutBaseUrl}/${PAYMENT_PAGE}?payment_id=${id}`;
}

/**
 * A row as the API shows it at `now` (milliseconds since 1970): the JSON text of a `paymentSchema` object. Written out by
 * hand because stored JSON goes out as it is kept, neither parsed nor written anew; ids, codes and times need no escaping.
 */
export function presentPayment(row: Payment, checkoutBaseUrl: string, now: number): string {
  const payment = asOf(row, now);
  const url = quoted(checkoutUrl(checkoutBaseUrl, payment.id));
  return (
    `{"id":"${payment.id}","object":"payment"` +
    `,"amount":"${formatAmount(payment.amount_minor)}","currency":"${payment.currency}"` +
    `,"status":"${payment.status}"` +
    `,"merchant_name":${quoted(payment.merchant_name)},"merchant_reference":${quoted(payment.merchant_reference)}` +
    `,"checkout_url":${url},"payment_url":${url}` +
    `,"created_at":"${formatTimestamp(payment.created_at)}","expires_at":"${formatTimestamp(payment.expires_at)}"` +
    `,"livemode":${payment.mode === 'live'}` +
    `,"description":${quoted(payment.description)}` +
    `,"return_url":${quoted(payment.return_url)},"cancel_url":${quoted(payment.cancel_url)}` +
    `,"customer":${payment.customer},"metadata":${payment.metadata}` +
    `,"status_reason":${quoted(payment.status_reason)},"updated_at":"${formatTimestamp(payment.updated_at)}"` +
    `,"payment_details":${payment.payment_details}` +
    `,"link_requested_at":${quoted(timestampOrNull(payment.link_requested_at))}` +
    `,"submitted_at":${quoted(timestampOrNull(payment.submitted_at))},"decided_at":${quoted(timestampOrNull(payment.decided_at))}` +
    `,"review_message":${quoted(payment.review_message)}` +
    `,"pay_by":"${payment.pay_by}","amount_received":"${formatAmount(receivedMinor(payment))}"` +
    `,"amount_due":"${formatAmount(dueMinor(payment))}","amount_returned":"${formatAmount(payment.returned_minor ?? 0)}"` +
    `,"announced_at":${quoted(timestampOrNull(payment.announced_at))}` +
    `,"locale":${quoted(payment.locale)}}`
  );
}
