// An event: the public face of an entry about a payment, made of the entry and of what never changes of the payment.
import { z } from 'zod';
import type { AuditEntry } from '../../journal/audit-entry.ts';
import { entryFacts } from '../../journal/rows.ts';
import { quoted } from '../../lib/json.ts';
import { formatAmount } from '../../lib/money.ts';
import { sha256Hex } from '../../lib/secrets.ts';
import { formatTimestamp } from '../../lib/time.ts';
import type { PaymentFacts } from '../history-queries.ts';
import {
  dueMinor,
  PAYMENT_ID_PREFIX,
  receivedMinor,
  STATUS_REASONS,
  STATUSES,
  type Status,
  type StatusReason,
} from '../payment.ts';

export const EVENT_TYPES = [
  'payment.created',
  'payment.submitted',
  'payment.approved',
  'payment.rejected',
  'payment.cancelled',
  'payment.expired',
  'payment.reopened',
  'payment.link_requested',
  'payment.money_received',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Characters of a payment's id that tell when it was created, and of the digest that stands for the rest of it. */
const TIME_CHARACTERS = 10;
const DIGEST_CHARACTERS = 24;
/** Entries without an event that change what a merchant reads of a payment. */
const QUIET_CHANGES: ReadonlySet<string> = new Set([
  'payment.erased',
  'payment.line_taken_back',
  'payment.line_linked',
  'payment.money_returned',
  'payment.announced',
  'payment.announcement_withdrawn',
]);
/** The position before a tenant's first event. */
export const BEGINNING: ToldEntry = {
  number: 0,
  id: `evt_${'0'.repeat(34)}_0`,
  event: undefined,
  isChange: false,
};
const EVENT_ID = /^evt_([0-9a-hjkmnp-tv-z]{10})([0-9a-f]{24})_([1-9]\d{0,5})$/;

export interface PaymentEvent {
  id: string;
  type: EventType;
  /** Milliseconds since 1970. */
  at: number;
  payment: PaymentFacts;
  /** Counts the payment's events from 1. */
  version: number;
  status: Status;
  status_reason: StatusReason | null;
  /** What was recorded to have arrived by then, in minor units. Null if no money was recorded. */
  received_minor: number | null;
  /** The money that the event tells of: minor units, and the day it was booked if that is known. */
  money: { minor: number; day: string | null } | null;
}

/** An entry about a payment. `event` is undefined for an entry that is not public, such as a claim. */
export interface ToldEntry {
  number: number;
  /** An event's id, or what an id of a later event may be compared with: the position in the list of events. */
  id: string;
  event: PaymentEvent | undefined;
  /** Whether the entry changed what the merchant reads of the payment: as an event does, and as erasing personal data does. */
  isChange: boolean;
}

export const eventSchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^evt_[0-9a-z]{34}_\d+$/)
      .describe('The same at every read and every delivery.'),
    object: z.literal('event'),
    type: z.enum(EVENT_TYPES),
    timestamp: z.string().describe('When it happened: ISO 8601 with a numeric UTC offset.'),
    livemode: z.boolean(),
    data: z.strictObject({
      payment_id: z.string(),
      version: z.int().min(1).describe("Counts the payment's events from 1 without a gap."),
      merchant_reference: z.string().nullable(),
      status: z.enum(STATUSES).describe("The payment's status after this event."),
      status_reason: z.enum(STATUS_REASONS).nullable(),
      amount: z.string(),
      currency: z.string(),
      amount_received: z.string().describe("The payment's `amount_received` after this event."),
      amount_due: z.string().describe("The payment's `amount_due` after this event."),
      received: z
        .strictObject({ amount: z.string(), received_on: z.string().meta({ format: 'date' }).nullable() })
        .nullable()
        .describe('The money that this event tells of, in the same currency. Null if it tells of none.'),
    }),
  })
  .meta({ id: 'Event' });

/** The JSON text of an `eventSchema` object. */
export function presentEvent(event: PaymentEvent): string {
  const { id, type, at, payment, version, status, status_reason, received_minor, money } = event;
  const then = { amount_minor: payment.amount_minor, status, received_minor };
  const received = money
    ? `{"amount":"${formatAmount(money.minor)}","received_on":${quoted(money.day)}}`
    : 'null';
  return (
    `{"id":"${id}","object":"event","type":"${type}","timestamp":"${formatTimestamp(at)}"` +
    `,"livemode":${payment.mode === 'live'},"data":{"payment_id":"${payment.id}","version":${version}` +
    `,"merchant_reference":${quoted(payment.merchant_reference)},"status":"${status}"` +
    `,"status_reason":${quoted(status_reason)},"amount":"${formatAmount(payment.amount_minor)}"` +
    `,"currency":"${payment.currency}","amount_received":"${formatAmount(receivedMinor(then))}"` +
    `,"amount_due":"${formatAmount(dueMinor(then))}","received":${received}}}`
  );
}

/**
 * What the entries about one payment tell, given all of them by number. An id is made of the payment's id and the entry's place among
 * them, so it never changes and needs no storage. It holds a digest, because the payment's id opens its checkout page.
 */
export function toldOf(payment: PaymentFacts, entries: readonly AuditEntry[]): ToldEntry[] {
  let status: Status = 'pending';
  let status_reason: StatusReason | null = null;
  let received_minor: number | null = null;
  let version = 0;
  return entries.map((entry, i) => {
    const { number, at } = entry;
    const facts = entryFacts(entry);
    const type = typeOf(entry, facts);
    const id = eventId(payment.id, i + 1);
    if (facts.arrived_minor !== undefined) received_minor = facts.arrived_minor as number | null;
    if (!type) return { number, id, event: undefined, isChange: QUIET_CHANGES.has(entry.action) };
    const [, after] = /^payment\.(\w+)$/.exec(entry.action)!;
    if (STATUSES.includes(after as Status)) status = after as Status;
    if ('reason' in facts) status_reason = told(facts.reason);
    version += 1;
    const money = moneyOf(facts);
    const event = { id, type, at, payment, version, status, status_reason, received_minor, money };
    return { number, id, event, isChange: true };
  });
}

/** The money that an entry says has arrived: recorded by hand, or a bank line. */
function moneyOf(facts: Record<string, unknown>): PaymentEvent['money'] {
  const minor = facts.received_minor ?? facts.line_minor;
  if (typeof minor !== 'number') return null;
  const day = facts.received_on ?? facts.line_day;
  return { minor: Math.floor(minor), day: typeof day === 'string' && day !== '' ? day : null };
}

function typeOf(
  { action }: AuditEntry,
  { reason, from, received_minor }: Record<string, unknown>,
): EventType | undefined {
  if (action === 'payment.line_matched') return 'payment.money_received';
  if (action === 'payment.cancelled') return reason === 'expired' ? 'payment.expired' : 'payment.cancelled';
  if (action === 'payment.pending') return 'payment.reopened';
  if (action !== 'payment.requires_review') return EVENT_TYPES.find((type) => type === action);
  if (from === 'cancelled') return 'payment.reopened';
  return received_minor === undefined ? 'payment.submitted' : 'payment.money_received';
}

/** The reason as merchants see it. A suspicion of fraud is not shown to them. */
function told(reason: unknown): StatusReason | null {
  if (reason === null) return null;
  return STATUS_REASONS.find((one) => one === reason) ?? 'other';
}

function eventId(paymentId: string, place: number): string {
  return `evt_${timeOf(paymentId)}${digestOf(paymentId)}_${place}`;
}

const timeOf = (paymentId: string) => paymentId.slice(PAYMENT_ID_PREFIX.length).slice(0, TIME_CHARACTERS);
const digestOf = (paymentId: string) => sha256Hex(`event ${paymentId}`).slice(0, DIGEST_CHARACTERS);

interface EventPlace {
  /** What the payment's id begins with. */
  start: string;
  isOf(paymentId: string): boolean;
  /** The entry's place among the payment's, from 1. */
  place: number;
}

/** What an event's id says; undefined for what is no such id. */
export function readEventId(id: string): EventPlace | undefined {
  const [, time, digest, place] = EVENT_ID.exec(id) ?? [];
  if (time === undefined) return undefined;
  return {
    start: PAYMENT_ID_PREFIX + time,
    isOf: (paymentId) => digestOf(paymentId) === digest,
    place: Number(place),
  };
}
