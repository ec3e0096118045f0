// Which letters the history asks for: read behind the place where its reader has come to, and written down in the commit that moves it on.
import type { AuditEntry } from '../journal/audit-entry.ts';
import { entriesWithAction } from '../journal/queries.ts';
import { entryFacts } from '../journal/rows.ts';
import type { Directory } from '../merchants/directory.ts';
import type { EventType } from '../payments/events/event.ts';
import { tellOf } from '../payments/events/list.ts';
import type { PaymentFacts } from '../payments/history-queries.ts';
import { customerEmail, emailOf } from '../payments/payment.ts';
import { createdForRequests, findPayments } from '../payments/queries.ts';
import type { Reader } from '../store/database.ts';
import { wants } from './choices.ts';
import { type CustomerLetter, type MerchantLetter, type NewLetter, TRIED_MS } from './letter.ts';

/** Maximum number of entries in one read. */
const READ_AT_ONCE = 200;

/** What an event has told to the customer and to the merchant. */
const TOLD: Partial<Record<EventType, { customer?: CustomerLetter; merchant?: MerchantLetter }>> = {
  'payment.submitted': { customer: 'details_received', merchant: 'needs_attention' },
  'payment.money_received': { customer: 'money_found' },
  'payment.reopened': { customer: 'money_found' },
  'payment.approved': { customer: 'receipt' },
  'payment.rejected': { customer: 'not_accepted' },
  'payment.cancelled': { customer: 'cancelled' },
  'payment.link_requested': { merchant: 'link_requested' },
};

/** The actions of entries that a letter may come of, and of those that take letters away. */
const ACTIONS = [
  'payment.link_sent',
  'payment.requires_review',
  'payment.line_matched',
  'payment.money_received',
  'payment.approved',
  'payment.rejected',
  'payment.cancelled',
  'payment.link_requested',
  'payment.erased',
  'key.issued',
];

export interface News {
  letters: NewLetter[];
  /** Payments that were erased. */
  erased: string[];
  /** The number of the last entry that was read. */
  end: number;
  hasMore: boolean;
}

/** Reads what entries behind `after` up to `until` are worth telling at `now`. Throws `DatabaseError` and `HistoryBroken`. */
export async function readNews(
  database: Reader,
  directory: Pick<Directory, 'profile'>,
  { after, until, now }: { after: number; until: number; now: number },
): Promise<News> {
  const entries = await entriesWithAction(database, ACTIONS, after, until, READ_AT_ONCE);
  const hasMore = entries.length === READ_AT_ONCE;
  const end = hasMore ? entries.at(-1)!.number : until;
  // An entry that is older than a letter is tried has nothing new to tell: mail was off.
  const fresh = entries.filter(({ at }) => now - at < TRIED_MS);
  const told = await tellOf(
    database,
    fresh.filter(({ action }) => action.startsWith('payment.')),
  );
  const letters: NewLetter[] = told.flatMap(({ number, event }) => {
    const { customer, merchant } = (event && TOLD[event.type]) ?? {};
    return [
      ...(customer ? [ofPayment(customer, 'customer', event!.payment, number)] : []),
      ...(merchant ? [ofPayment(merchant, 'merchant', event!.payment, number)] : []),
    ];
  });
  for (const entry of fresh) letters.push(...ofEntry(entry));
  letters.push(...(await newLinks(database, after, end)));
  const customers = letters.filter(({ recipient }) => recipient === 'customer').map(({ about }) => about);
  const reached = new Set((await findPayments(database, customers)).filter(emailOf).map(({ id }) => id));
  const isWanted = ({ merchant_id, kind, recipient, about }: NewLetter) => {
    const profile = directory.profile(merchant_id!);
    return wants(profile, kind) && (recipient === 'customer' ? reached.has(about) : Boolean(profile.email));
  };
  return {
    letters: letters.filter(isWanted),
    erased: entries.filter(({ action }) => action === 'payment.erased').map(({ subject }) => subject),
    end,
    hasMore,
  };
}

/** Letters of payments that were made for a customer who asked for a new link: to the address that asked, and to no other. */
async function newLinks(database: Reader, after: number, until: number): Promise<NewLetter[]> {
  const made = await createdForRequests(database, after, until);
  const rows = await findPayments(
    database,
    made.flatMap(({ id, asked }) => [id, asked]),
  );
  const addresses = new Map(rows.map((row) => [row.id, row]));
  return made
    .filter(({ id, asked }) => {
      const [to, from] = [addresses.get(id), addresses.get(asked)];
      const address = to && customerEmail(to)?.toLowerCase();
      return address !== undefined && from && address === emailOf(from)?.toLowerCase();
    })
    .map((one) => ofPayment('new_link', 'customer', one, one.number));
}

const ofPayment = (
  kind: CustomerLetter | MerchantLetter,
  recipient: 'customer' | 'merchant',
  { id, merchant_id }: Pick<PaymentFacts, 'id' | 'merchant_id'>,
  number: number,
): NewLetter => ({ kind, about: id, merchant_id, recipient, once: `${kind} ${number}` });

/** What an entry tells that is no event. */
function ofEntry(entry: AuditEntry): NewLetter[] {
  const { action, actor, subject, number } = entry;
  const { merchant } = entryFacts(entry) as { merchant?: string };
  if (action === 'payment.link_sent')
    return [ofPayment('link', 'customer', { id: subject, merchant_id: merchant! }, number)];
  // A registration makes a key, too. Its address is not proved, so it could be a stranger's.
  if (action !== 'key.issued' || actor === 'anonymous') return [];
  return [ofPayment('key_made', 'merchant', { id: subject, merchant_id: merchant! }, number)];
}
