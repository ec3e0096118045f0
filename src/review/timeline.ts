// What happened to a payment, from its entries in the history and what administrators wrote: sentences, oldest first.

import { namesOf } from '../administrators/queries.ts';
import type { AuditEntry, Seal } from '../journal/audit-entry.ts';
import type { CheckpointLookup } from '../journal/checkpoint.ts';
import { entriesOf, findSeal, sealHolding } from '../journal/queries.ts';
import type { Facts } from '../journal/record-row.ts';
import { ACKNOWLEDGED } from '../journal/row-fault.ts';
import { ENGLISH, phrase, type Say } from '../lib/phrases.ts';
import type { Payment } from '../payments/payment.ts';
import type { Reader } from '../store/database.ts';
import { plainMoney, type WriteMoney } from './fact.ts';
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
  customer: phrase('The customer'),
  clock: phrase('The clock'),
  operator: phrase('The operator'),
  test: phrase('The test mode'),
};
type Names = ReadonlyMap<string, string>;

/**
 * All that the history says of a payment, oldest first. Of an erased payment what was written is gone, and everything else
 * is there. Throws `DatabaseError`, the system's errors.
 */
export async function timelineOf(
  database: Reader,
  payment: Payment,
  checkpoints: Pick<CheckpointLookup, 'covering'>,
  timeZone: string,
  { say, money }: { say: Say; money: WriteMoney } = { say: ENGLISH, money: plainMoney },
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
    const actor_name = nameOf(say, actor, payment, names);
    const isAct = action !== ACKNOWLEDGED;
    version = isAct ? version + 1 : Number(facts[index]!.version ?? version);
    items.push({
      number,
      at,
      actor,
      actor_name,
      action,
      sentence: sentenceOf({ say, money, names, timeZone }, actor_name, action, facts[index]!),
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

function nameOf(say: Say, actor: string, { merchant_name }: Payment, names: Names): string {
  if (actor.startsWith('merchant:')) return merchant_name;
  if (!actor.startsWith(ADMINISTRATOR)) return say.of(OTHERS[actor] ?? actor);
  const id = actor.slice(ADMINISTRATOR.length);
  return names.get(id) ?? say`The administrator ${id}`;
}

/** What sentences are written with. */
interface Telling {
  say: Say;
  money: WriteMoney;
  names: Names;
  timeZone: string;
}

const takenBack = (telling: Telling, who: string, facts: Facts): string =>
  telling.say`${who} took back that it was matched with ${lineIn(telling, facts)}.`;

/** Ways to pay within a sentence; one of the configuration by its id. */
const WAYS: Readonly<Record<string, string>> = {
  bank_transfer: phrase('bank transfer'),
  details: phrase('contact details'),
  test_card: phrase('test card'),
};
const wayIn = (say: Say, { method }: Facts) => say.of(WAYS[String(method)] ?? String(method));

/** What was done, with the actor's name `who`. */
function sentenceOf(telling: Telling, who: string, action: string, facts: Facts): string {
  const { say } = telling;
  switch (action) {
    case 'payment.created':
      return say`${who} created the payment with the key ${String(facts.key)}.`;
    case 'payment.requires_review':
      return typeof facts.received_minor === 'number'
        ? recorded(telling, who, facts)
        : say`${who} sent it for review, paid by ${wayIn(say, facts)}.`;
    case 'payment.money_received':
      return recorded(telling, who, facts);
    case 'payment.cancelled':
      if (typeof facts.line === 'string') return takenBack(telling, who, facts);
      return facts.reason === 'expired' ? say`${who} ended it: it had expired.` : say`${who} cancelled it.`;
    case 'payment.expiry_moved':
      return say`${who} let it expire now.`;
    case 'payment.pending':
    case 'payment.announcement_withdrawn':
      if (typeof facts.line === 'string') return takenBack(telling, who, facts);
      return say`${who} took back what was sent, as a mistake.`;
    case 'payment.announced':
      return say`${who} said that the transfer was sent, when the payment could not be sent for review.`;
    case 'payment.link_requested':
      return say`${who} asked for a new link.`;
    case 'payment.link_sent':
      return say`${who} had its link sent by mail.`;
    case 'payment.approval_recorded':
      return say`${who} approved it as the first of two administrators.`;
    case 'payment.approved':
      return Number(facts.approvals) > 1
        ? say`${who} confirmed the approval, so it is approved.`
        : say`${who} approved it.`;
    case 'payment.rejected': {
      if (typeof facts.reason !== 'string' || !Object.hasOwn(REJECT_REASONS, facts.reason))
        return say`${who} rejected it.`;
      const reason = say.of(REJECT_REASONS[facts.reason as RejectReason]);
      return say`${who} rejected it: ${say.tag === 'en' ? reason.toLowerCase() : reason}.`;
    }
    case 'payment.claimed':
      return claimed(telling, who, facts);
    case 'payment.released':
      return say`${who} released it again.`;
    case 'payment.line_matched':
      return say`${who} matched it with ${lineIn(telling, facts)}.`;
    case 'payment.line_linked':
      return say`${who} linked its money with ${lineIn(telling, facts)}.`;
    case 'payment.money_returned':
      return say`${who} recorded that money went back by ${lineIn(telling, facts)}.`;
    case 'payment.line_taken_back':
      return takenBack(telling, who, facts);
    case 'payment.noted':
      return say`${who} added a note.`;
    case 'payment.erased':
      return say`${who} erased its personal data.`;
    case ACKNOWLEDGED:
      return say`${who} recorded that it was changed outside the service: ${String(facts.reason)}.`;
    default:
      return say`${who} did ${action}.`; // of a newer program, or a test
  }
}

function claimed({ say, names, timeZone }: Telling, who: string, facts: Facts): string {
  const until =
    typeof facts.until === 'number' ? ` ${say`until ${momentInWords(facts.until, timeZone, say)}`}` : '';
  const { taken_from } = facts;
  if (!taken_from) return say`${who} claimed it${until}.`;
  return say`${who} took it over from ${names.get(String(taken_from)) ?? String(taken_from)}${until}.`;
}

/** A bank line, as facts tell it. */
function lineIn({ say, money }: Telling, { line_minor, currency, line_day }: Facts): string {
  const day = line_day ? dayInWords(String(line_day), say) : say`no day`;
  return say`the bank line of ${money(Number(line_minor), String(currency))} on ${day}`;
}

/** Money that was recorded by `who`. */
function recorded({ say, money }: Telling, who: string, facts: Facts): string {
  const { received_minor, currency, received_on, from } = facts;
  const amount = money(Number(received_minor), String(currency));
  const day = dayInWords(String(received_on), say);
  return from === 'cancelled'
    ? say`${who} recorded that ${amount} arrived on ${day}, so it is open again.`
    : say`${who} recorded that ${amount} arrived on ${day}.`;
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
