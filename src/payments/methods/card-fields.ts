// What is read of a card: a published test number's brand and last four digits, and of its expiry date nothing.
import { asciiDigits } from '../../lib/text.ts';
import { DAY_MS } from '../../lib/time.ts';

/** The test numbers, each with what becomes of it. */
export const TEST_CARDS = {
  '4242424242424242': { brand: 'Visa', outcome: 'reviewed' },
  '5555555555554444': { brand: 'Mastercard', outcome: 'reviewed' },
  '4000000000000101': { brand: 'Visa', outcome: 'approve' },
  '4000000000000200': { brand: 'Visa', outcome: 'reject' },
  '4000000000000002': { brand: 'Visa', outcome: 'refused' },
  '4000000000000069': { brand: 'Visa', outcome: 'expired' },
} as const;

/** The one that checkout names. */
export const SHOWN_TEST_CARD = '4242\u00a04242\u00a04242\u00a04242';

/** A test card's brand and last four digits. Digits of any script count; what stands between them does not. */
export function parseCardNumber(text: string): Reading {
  const digits = asciiDigits(text).replace(/\D/g, '');
  if (digits === '') return { fault: 'empty' };
  const card = Object.hasOwn(TEST_CARDS, digits) ? TEST_CARDS[digits as keyof typeof TEST_CARDS] : undefined;
  if (!card) return { fault: 'unknown' };
  if (card.outcome === 'refused' || card.outcome === 'expired') return { fault: card.outcome };
  return { kept: { brand: card.brand, last4: digits.slice(-4) } };
}

/** How a payment with a test card is decided without a person, from what was kept of the card; undefined for any other card. */
export function decisionFor(card: Kept | undefined): 'approve' | 'reject' | undefined {
  if (typeof card !== 'object') return undefined;
  const [, known] = Object.entries(TEST_CARDS).find(([number]) => number.endsWith(card.last4)) ?? [];
  return known?.outcome === 'approve' || known?.outcome === 'reject' ? known.outcome : undefined;
}

/** No card is issued for longer, so a later date is a slip. */
const YEARS_AHEAD = 20;

/** Checks an expiry date as printed on cards, `09/28`, `0928` or `09-2028`; keeps nothing of it. */
export function parseCardExpiry(text: string, now: number): Reading {
  const written = asciiDigits(text).trim();
  const parts =
    /^(\d{1,2})\s*[/.\s-]\s*(?:20)?(\d\d)$/.exec(written) ?? /^(\d\d)(?:20)?(\d\d)$/.exec(written);
  if (!parts) return { fault: 'form' };
  const [month, year] = [Number(parts[1]), 2000 + Number(parts[2])];
  if (month < 1 || month > 12) return { fault: 'month' };
  if (Date.UTC(year - YEARS_AHEAD, month - 1, 1) > now) return { fault: 'form' };
  // It serves to the end of its month, wherever on earth that is latest.
  return Date.UTC(year, month, 1) + DAY_MS / 2 <= now ? { fault: 'past' } : { kept: null };
}

/** What is kept of a field: text, or for a card its brand and last four digits. */
export type Kept = string | { brand: string; last4: string };

/** What a field's text comes to. A fault is named as checkout's messages name it: `error.<field>.<fault>`. */
export type Reading = { kept: Kept | null } | { fault: FieldFault };
export type FieldFault =
  | 'empty'
  | 'long'
  | 'form'
  | 'text'
  | 'card'
  | 'unknown'
  | 'refused'
  | 'expired'
  | 'month'
  | 'past';
