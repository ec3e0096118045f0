// What happened to a payment, from its entries in the history and what administrators wrote: sentences, oldest first.

import { namesOf } from '../administrators/queries.ts';
import { type AuditEntry, factsTold, type Seal } from '../journal/audit-entry.ts';
import type { CheckpointLookup } from '../journal/checkpoint.ts';
import { entriesOf, findSeal, sealHolding } from '../journal/queries.ts';
import type { Facts } from '../journal/record-row.ts';
import { ACKNOWLEDGED } from '../journal/rows.ts';
import { ENGLISH, phrase, type Say } from '../lib/phrases.ts';
import type { Payment } from '../payments/payment.ts';
import type { Reader } from '../store/database.ts';
import { plainMoney, type WriteMoney } from './facts.ts';
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
  const facts = entries.map(factsTold);
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

/** Ways to pay within a sentence; one of the configuration by its id. */
const WAYS: Readonly<Record<string, string>> = {
  bank_transfer: phrase('bank transfer'),
  details: phrase('contact details'),
  test_card: phrase('test card'),
};
const wayIn = (say: Say, { method }: Facts) => say.of(WAYS[String(method)] ?? String(method));

type Sentencer = (telling: Telling, who: string, facts: Facts) => string;

const takenBack: Sentencer = (telling, who, facts) =>
  telling.say`${who} took back that it was matched with ${lineIn(telling, facts)}.`;

const sentBack: Sentencer = (telling, who, facts) =>
  typeof facts.line === 'string'
    ? takenBack(telling, who, facts)
    : telling.say`${who} took back what was sent, as a mistake.`;

/** What was done, with the actor's name `who`, by the entry's action. */
const SENTENCES: Readonly<Record<string, Sentencer>> = {
  'payment.created': ({ say }, who, { key }) => say`${who} created the payment with the key ${String(key)}.`,
  'payment.requires_review': (telling, who, facts) =>
    typeof facts.received_minor === 'number'
      ? recorded(telling, who, facts)
      : telling.say`${who} sent it for review, paid by ${wayIn(telling.say, facts)}.`,
  'payment.money_received': recorded,
  'payment.cancelled'(telling, who, facts) {
    const { say } = telling;
    if (typeof facts.line === 'string') return takenBack(telling, who, facts);
    return facts.reason === 'expired' ? say`${who} ended it: it had expired.` : say`${who} cancelled it.`;
  },
  'payment.expiry_moved': ({ say }, who) => say`${who} let it expire now.`,
  'payment.pending': sentBack,
  'payment.announcement_withdrawn': sentBack,
  'payment.announced': ({ say }, who) =>
    say`${who} said that the transfer was sent, when the payment could not be sent for review.`,
  'payment.link_requested': ({ say }, who) => say`${who} asked for a new link.`,
  'payment.link_sent': ({ say }, who) => say`${who} had its link sent by mail.`,
  'payment.approval_recorded': ({ say }, who) => say`${who} approved it as the first of two administrators.`,
  'payment.approved': ({ say }, who, { approvals }) =>
    Number(approvals) > 1 ? say`${who} confirmed the approval, so it is approved.` : say`${who} approved it.`,
  'payment.rejected'({ say }, who, facts) {
    if (typeof facts.reason !== 'string' || !Object.hasOwn(REJECT_REASONS, facts.reason))
      return say`${who} rejected it.`;
    const reason = say.of(REJECT_REASONS[facts.reason as RejectReason]);
    return say`${who} rejected it: ${say.tag === 'en' ? reason.toLowerCase() : reason}.`;
  },
  'payment.claimed': claimed,
  'payment.released': ({ say }, who) => say`${who} released it again.`,
  'payment.line_matched': (telling, who, facts) =>
    telling.say`${who} matched it with ${lineIn(telling, facts)}.`,
  'payment.line_linked': (telling, who, facts) =>
    telling.say`${who} linked its money with ${lineIn(telling, facts)}.`,
  'payment.money_returned': (telling, who, facts) =>
    telling.say`${who} recorded that money went back by ${lineIn(telling, facts)}.`,
  'payment.line_taken_back': takenBack,
  'payment.noted': ({ say }, who) => say`${who} added a note.`,
  'payment.erased': ({ say }, who) => say`${who} erased its personal data.`,
  [ACKNOWLEDGED]: ({ say }, who, { reason }) =>
    say`${who} recorded that it was changed outside the service: ${String(reason)}.`,
};

function sentenceOf(telling: Telling, who: string, action: string, facts: Facts): string {
  const sentence = SENTENCES[action];
  return sentence ? sentence(telling, who, facts) : telling.say`${who} did ${action}.`; // of a newer program, or a test
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

type Written = Pick<TimelineItem, 'note' | 'bank_reference' | 'message' | 'reason'>;

function written({ note, bank_reference, message, reason }: Partial<ReviewAct> = {}): Written {
  const said = Object.entries({ note, bank_reference, message, reason });
  return Object.fromEntries(said.filter(([, text]) => text !== undefined));
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
