// What happened to a payment, from its entries in the history and what administrators wrote: sentences, oldest first.

import { namesOf } from '../administrators/queries.ts';
import type { AuditEntry } from '../journal/audit-entry.ts';
import type { CheckpointLookup } from '../journal/checkpoint-lookup.ts';
import { entriesOf, findSeal, sealHolding } from '../journal/queries.ts';
import type { Facts } from '../journal/record-row.ts';
import { ACKNOWLEDGED } from '../journal/row-fault.ts';
import type { Seal } from '../journal/seal.ts';
import { formatAmount } from '../lib/money.ts';
import type { Payment } from '../payments/payment.ts';
import type { Reader } from '../store/database.ts';
import { REJECT_REASONS, type RejectReason, type ReviewAct, reviewActs } from './review.ts';
import { dayInWords, momentInWords } from './told.ts';

export interface TimelineItem {
  /** The entry's number in the history. */
  number: number;
  /** Milliseconds since 1970. */
  at: number;
  /** As the history has it: `administrator:adm_…`, `merchant:mer_…`, `customer`, `clock`, `operator`, `test`. */
  actor: string;
  /** For people: an administrator's name, the merchant's name, `The customer`, `The clock`, `The operator`, `The test mode`. */
  actor_name: string;
  action: string;
  /** What happened, with the actor's name in it. Plain text: to be escaped. */
  sentence: string;
  request_id: string | null;
  /** The entry's facts. */
  facts: Facts;
  note?: string;
  bank_reference?: string;
  message?: string;
  reason?: RejectReason;
  /** The seal that closes the entry. */
  seal: { number: number; hash: string } | null;
  /** The first checkpoint that vouches for it. */
  checkpoint: { seal: number; signed_at: string } | null;
}

const ADMINISTRATOR = 'administrator:';
const OTHERS: Readonly<Record<string, string>> = {
  customer: 'The customer',
  clock: 'The clock',
  operator: 'The operator',
  test: 'The test mode',
};

/**
 * All that the history says of a payment, oldest first. Of an erased payment what was written is gone, and everything else
 * is there. Throws `DatabaseError`, the system's errors.
 */
export async function timelineOf(
  database: Reader,
  payment: Payment,
  checkpoints: Pick<CheckpointLookup, 'covering'>,
  timeZone: string,
): Promise<TimelineItem[]> {
  const entries = await entriesOf(database, payment.id);
  const facts = entries.map((entry) => JSON.parse(entry.facts) as Facts);
  const names = await namesOf(database, mentioned(entries, facts));
  const acts = new Map(reviewActs(payment).map((act) => [act.entry_version, act]));
  const items: TimelineItem[] = [];
  let seal: Seal | undefined;
  let checkpoint: TimelineItem['checkpoint'] = null;
  let version = 0;
  for (const [index, { number, at, actor, action, request_id }] of entries.entries()) {
    // Entries of one commit are closed by one seal.
    if (!seal || number > seal.last_entry) seal = await sealHolding(database, number);
    if (seal && (checkpoint?.seal ?? 0) < seal.number)
      checkpoint = await firstVouching(database, checkpoints, seal.number);
    const actor_name = nameOf(actor, payment, names);
    const isAct = action !== ACKNOWLEDGED;
    version = isAct ? version + 1 : Number(facts[index]!.version ?? version);
    items.push({
      number,
      at,
      actor,
      actor_name,
      action,
      sentence: `${actor_name} ${done(action, facts[index]!, names, timeZone)}.`,
      request_id,
      facts: facts[index]!,
      ...written(isAct ? acts.get(version) : undefined),
      seal: seal ? { number: seal.number, hash: seal.hash } : null,
      checkpoint: seal ? checkpoint : null,
    });
  }
  return items;
}

/** The administrators that entries speak of. */
function mentioned(entries: readonly AuditEntry[], facts: readonly Facts[]): string[] {
  const actors = entries.filter(({ actor }) => actor.startsWith(ADMINISTRATOR));
  const taken = facts.map(({ taken_from }) => taken_from).filter((id) => typeof id === 'string');
  return [...actors.map(({ actor }) => actor.slice(ADMINISTRATOR.length)), ...taken];
}

function nameOf(actor: string, { merchant_name }: Payment, names: ReadonlyMap<string, string>): string {
  if (actor.startsWith('merchant:')) return merchant_name;
  if (!actor.startsWith(ADMINISTRATOR)) return OTHERS[actor] ?? actor;
  const id = actor.slice(ADMINISTRATOR.length);
  return names.get(id) ?? `The administrator ${id}`;
}

/** What was done, to stand behind a name. */
function done(action: string, facts: Facts, names: ReadonlyMap<string, string>, timeZone: string): string {
  switch (action) {
    case 'payment.created':
      return `created the payment with the key ${facts.key}`;
    case 'payment.requires_review':
      return typeof facts.received_minor === 'number'
        ? recorded(facts)
        : `sent it for review, paid by ${facts.method}`;
    case 'payment.cancelled':
      return facts.reason === 'expired' ? 'ended it: it had expired' : 'cancelled it';
    case 'payment.expiry_moved':
      return 'moved its end to now';
    case 'payment.pending':
    case 'payment.announcement_withdrawn':
      return 'took back what was sent, as a mistake';
    case 'payment.announced':
      return `said that the transfer was sent, by ${facts.method}, which did not submit the payment`;
    case 'payment.link_requested':
      return 'asked for a new link';
    case 'payment.approval_recorded':
      return 'approved it as the first of two administrators';
    case 'payment.approved':
      return Number(facts.approvals) > 1 ? 'confirmed the approval, so it is approved' : 'approved it';
    case 'payment.rejected':
      return typeof facts.reason === 'string' && Object.hasOwn(REJECT_REASONS, facts.reason)
        ? `rejected it: ${REJECT_REASONS[facts.reason as RejectReason].toLowerCase()}`
        : 'rejected it';
    case 'payment.claimed': {
      const until = typeof facts.until === 'number' ? ` until ${momentInWords(facts.until, timeZone)}` : '';
      const from = facts.taken_from ? ` from ${names.get(String(facts.taken_from)) ?? facts.taken_from}` : '';
      return `took it to review${from}${until}`;
    }
    case 'payment.released':
      return 'let it go again';
    case 'payment.line_matched':
      return `matched it with ${lineIn(facts)}`;
    case 'payment.line_linked':
      return `linked its money with ${lineIn(facts)}`;
    case 'payment.money_returned':
      return `recorded that money went back by ${lineIn(facts)}`;
    case 'payment.line_taken_back':
      return `took back that it was matched with ${lineIn(facts)}`;
    case 'payment.noted':
      return 'added a note';
    case 'payment.erased':
      return 'erased its personal data';
    case ACKNOWLEDGED:
      return `recorded that it was changed outside the service: ${facts.reason}`;
    default:
      return `did ${action}`; // of a newer program, or a test
  }
}

/** A bank line, as facts tell it. */
const lineIn = ({ line_minor, currency, line_day }: Facts) =>
  `the bank line of ${formatAmount(Number(line_minor))} ${currency} on ${line_day ? dayInWords(String(line_day)) : 'no day'}`;

/** Money that was recorded, to stand behind a name. */
function recorded({ received_minor, currency, received_on, from }: Facts): string {
  const money = `${formatAmount(Number(received_minor))} ${currency}`;
  const again = from === 'cancelled' ? ', so it is open again' : '';
  return `recorded that ${money} arrived on ${dayInWords(String(received_on))}${again}`;
}

function written(
  act: ReviewAct | undefined,
): Pick<TimelineItem, 'note' | 'bank_reference' | 'message' | 'reason'> {
  if (!act) return {};
  const { note, bank_reference, message, reason } = act;
  return {
    ...(note !== undefined && { note }),
    ...(bank_reference !== undefined && { bank_reference }),
    ...(message !== undefined && { message }),
    ...(reason !== undefined && { reason }),
  };
}

/** The first checkpoint for the seal `seal` or a later one; none where that is of another history, which was there before. */
async function firstVouching(
  database: Reader,
  checkpoints: Pick<CheckpointLookup, 'covering'>,
  seal: number,
): Promise<TimelineItem['checkpoint']> {
  const found = await checkpoints.covering(seal);
  if (!found || (await findSeal(database, found.seal))?.hash !== found.hash) return null;
  return { seal: found.seal, signed_at: found.signed_at };
}
