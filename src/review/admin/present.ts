// A payment as administrators see it, and the schemas that promise so.
import { z } from 'zod';
import type { AdminParts } from '../../administrators/admin/authenticate.ts';
import { formatAmount } from '../../lib/money.ts';
import { formatTimestamp } from '../../lib/time.ts';
import { claimOf, type Payment } from '../../payments/payment.ts';
import { paymentSchema, presentPayment } from '../../payments/present.ts';
import type { Reader } from '../../store/database.ts';
import { awaitsSecond, REJECT_REASONS, type ReviewAct, reviewActs } from '../review.ts';
import { type TimelineItem, timelineOf } from '../timeline.ts';
import { type People, peopleOf } from '../told.ts';

const moment = z.string().describe('ISO 8601 with a numeric UTC offset.');
const text = z.string().nullable();
const reason = z.enum(Object.keys(REJECT_REASONS) as [string, ...string[]]).nullable();
const person = z.strictObject({
  id: z.string().describe('`adm_…`.'),
  name: text.describe('Null where there is no such administrator.'),
});

/** A payment in a list. */
export const reviewedPaymentSchema = paymentSchema.extend({
  merchant_id: z.string(),
  version: z
    .int()
    .describe('Goes up with every change; a decision that names it is made on what was seen or not at all.'),
  awaiting_second: z
    .boolean()
    .describe(
      'One administrator approved, and another has to: the amount is above `review.four_eyes_above`.',
    ),
  claim: z
    .strictObject({ by: person, until: moment })
    .nullable()
    .describe('Who is reviewing it; until then no other reviewer decides.'),
});
z.globalRegistry.add(reviewedPaymentSchema, { id: 'ReviewedPayment' });

const actSchema = z.strictObject({
  act: z
    .enum(['approve', 'reject', 'record', 'note', 'match', 'return', 'unmatch'])
    .describe(
      '`record`: money that arrived. `match`: a bank line is the money of the payment. `return`: a bank line took money back. `unmatch`: either was taken back.',
    ),
  by: person,
  at: moment,
  entry_version: z.int().describe("The payment's `version` after this act."),
  note: text,
  bank_reference: text,
  amount: text.describe('How much arrived.'),
  currency: text,
  received_on: text.describe('The day on which it arrived, `2026-11-20`.'),
  line: text.describe('The bank line of a match, or that recorded money stands on: `lin_…`.'),
  reason,
  message: text.describe('What the customer was told.'),
});
z.globalRegistry.add(actSchema, { id: 'ReviewAct' });

const timelineItemSchema = z.strictObject({
  number: z.int().describe("The audit entry's number."),
  at: moment,
  actor: z.string().describe('`merchant:mer_…`, `customer`, `administrator:adm_…`, `clock` or `operator`.'),
  actor_name: z.string(),
  action: z.string(),
  sentence: z.string().describe('What happened, for people.'),
  request_id: text,
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
  seal: z
    .strictObject({ number: z.int(), hash: z.string() })
    .nullable()
    .describe('The seal that closes the entry.'),
  checkpoint: z
    .strictObject({ seal: z.int(), signed_at: z.string() })
    .nullable()
    .describe('The first signed checkpoint that vouches for it.'),
});
z.globalRegistry.add(timelineItemSchema, { id: 'TimelineItem' });

/** A payment by itself. */
const wholePaymentSchema = reviewedPaymentSchema.extend({
  submission: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('What the customer sent, whole. Null where nothing was sent, and where it was erased.'),
  review: z.array(actSchema).describe('What administrators did and wrote, oldest first.'),
  timeline: z.array(timelineItemSchema).describe('All that the history says of it, oldest first.'),
});
z.globalRegistry.add(wholePaymentSchema, { id: 'WholePayment' });

/** The answer about one payment. */
export const WHOLE = ['WholePaymentAnswer', z.strictObject({ data: wholePaymentSchema })] as const;

type Presenting = Pick<AdminParts, 'checkoutBaseUrl' | 'checkpoints' | 'timeZone'> & { database: Reader };
type Names = People['names'];

const personOf = (id: string, names: Names) => ({ id, name: names.get(id) ?? null });

/** Adds fields to the JSON text of an object. */
function withFields(object: string, fields: Record<string, unknown>): string {
  return `${object.slice(0, -1)},${JSON.stringify(fields).slice(1)}`;
}

function presentReviewed(
  payment: Payment,
  checkoutBaseUrl: string,
  { names, barred }: People,
  now: number,
): string {
  const claim = claimOf(payment, now);
  return withFields(presentPayment(payment, checkoutBaseUrl, now), {
    merchant_id: payment.merchant_id,
    version: payment.version,
    awaiting_second: awaitsSecond(payment, barred),
    claim: claim ? { by: personOf(claim.by, names), until: formatTimestamp(claim.until) } : null,
  });
}

/** Payments as JSON texts of `reviewedPaymentSchema` objects, as they are at `now` (milliseconds since 1970). Throws `DatabaseError`. */
export async function presentList(
  payments: readonly Payment[],
  { database, checkoutBaseUrl }: Presenting,
  now: number,
): Promise<string[]> {
  const people = await peopleOf(database, payments);
  return payments.map((payment) => presentReviewed(payment, checkoutBaseUrl, people, now));
}

/** The answer about one payment: the JSON text of `WHOLE`. Throws `DatabaseError`. */
export async function presentWhole(payment: Payment, parts: Presenting, now: number): Promise<string> {
  return `{"data":${await wholePayment(payment, parts, now)}}`;
}

/** All that is known of one payment: the JSON text of a `wholePaymentSchema` object. Throws `DatabaseError`. */
export async function wholePayment(
  payment: Payment,
  { database, checkoutBaseUrl, checkpoints, timeZone }: Presenting,
  now: number,
): Promise<string> {
  const people = await peopleOf(database, [payment]);
  const timeline = await timelineOf(database, payment, checkpoints, timeZone);
  const whole = withFields(presentReviewed(payment, checkoutBaseUrl, people, now), {
    review: reviewActs(payment).map((act) => presentAct(act, people.names)),
    timeline: timeline.map(presentItem),
  });
  // Kept as JSON already: it goes out as it is.
  return `${whole.slice(0, -1)},"submission":${payment.submission}}`;
}

/** The members of an object that a schema names, null where it has none. */
const membersOf = (schema: z.ZodObject, object: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(schema.shape).map((name) => [name, (object as Record<string, unknown>)[name] ?? null]),
  );

const presentAct = (act: ReviewAct, names: Names): object => ({
  ...membersOf(actSchema, act),
  by: personOf(act.by, names),
  at: formatTimestamp(act.at),
  amount: act.amount_minor === undefined ? null : formatAmount(act.amount_minor),
});

/** What was written stands among the acts: here is what the history holds. */
const presentItem = (item: TimelineItem): object => ({
  ...membersOf(timelineItemSchema, item),
  at: formatTimestamp(item.at),
});
