// A letter: what it tells, about what, to whom, and what came of it. It holds neither words nor an address: those are read when it leaves.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/time.ts';
import { integer, integerOrNull, type RowOf, table, text, textOrNull } from '../store/table.ts';

export const LETTER_ID_PREFIX = 'ltr_';

/** Letters by whom they are for, in the order of a payment's life. */
export const CUSTOMER_LETTERS = [
  'link',
  'new_link',
  'reminder',
  'details_received',
  'money_found',
  'receipt',
  'not_accepted',
  'cancelled',
] as const;
export const MERCHANT_LETTERS = ['needs_attention', 'link_requested', 'webhook_failing', 'key_made'] as const;
/** Alerts leave before all other letters. They are `about` their own kind. */
export const ALERTS = ['history_broken', 'backup_old'] as const;
const ADMINISTRATOR_LETTERS = ['queue_digest', ...ALERTS] as const;
export type CustomerLetter = (typeof CUSTOMER_LETTERS)[number];
export type MerchantLetter = (typeof MERCHANT_LETTERS)[number];
export type AdministratorLetter = (typeof ADMINISTRATOR_LETTERS)[number];
export type LetterKind = CustomerLetter | MerchantLetter | AdministratorLetter;

export const isCustomerLetter = (kind: LetterKind): kind is CustomerLetter =>
  (CUSTOMER_LETTERS as readonly string[]).includes(kind);
export const isMerchantLetter = (kind: LetterKind): kind is MerchantLetter =>
  (MERCHANT_LETTERS as readonly string[]).includes(kind);

/** `withdrawn`: by the time it was to leave it was true no more, or its reader did not want it. */
const LETTER_STATUSES = ['pending', 'retrying', 'sent', 'failed', 'withdrawn'] as const;
type LetterStatus = (typeof LETTER_STATUSES)[number];

/** A row of `letters`. Times in milliseconds since 1970. */
export const LETTERS = table('letters', {
  /** `ltr_…`: the left part of its Message-ID, at every attempt. */
  id: text(),
  kind: text<LetterKind>(),
  /** `pay_…`, `key_…`, `whe_…`, or the name of an alert. */
  about: text(),
  merchant_id: textOrNull(),
  /** `customer`, `merchant`, or `adm_…`. */
  recipient: text(),
  /** What it tells, so that it is told once: of two letters with the same text one is made. */
  once: text(),
  status: text<LetterStatus>(),
  created_at: integer(),
  /** When the next attempt is due; null if there is none. */
  due_at: integerOrNull(),
  attempts: integer(),
  /** What the mail server answered last, or why the letter was withdrawn. */
  answer: textOrNull(),
  sent_at: integerOrNull(),
});
export type Letter = RowOf<typeof LETTERS>;

/** A letter that is to be written down. */
export type NewLetter = Pick<Letter, 'kind' | 'about' | 'merchant_id' | 'recipient' | 'once'>;

/** For how long letters are kept. */
export const LETTERS_KEPT_MS = 30 * DAY_MS;
/** A letter is tried for this long. After that the first attempt that fails is the last. */
export const TRIED_MS = 48 * HOUR_MS;

/** How long the next attempt waits after `attempts` that failed: a minute, then twice as long each time, at most an hour. */
export const waitAfter = (attempts: number): number => Math.min(HOUR_MS, MINUTE_MS * 2 ** (attempts - 1));
