// Every field a checkout form can have: how it is asked, what is taken from it, and what of that may be shown again.
import { holdsCardNumber } from '../../lib/card-number.ts';
import { asciiDigits, isEmailAddress, textFault, trimmedText } from '../../lib/text.ts';
import { DAY_MS } from '../../lib/time.ts';
import { compactAccount, isBankAccountNumber, isIban, looksLikeIban } from './transfer/payer-account.ts';

export interface Field {
  /** The name under which it is kept, in `payment_details` and for the reviewer; undefined where it is only checked. */
  keptAs: string | null;
  /** Longest text taken, in code points. */
  maximum: number;
  /** The error text of a longer field; `long` if undefined. */
  tooLong?: FieldFault;
  attributes: Readonly<Record<string, string>>;
  lines?: number;
  /** What it takes between the digits of one number, which may be of any script and are kept as 0–9. */
  separators?: RegExp;
  /** Whether what reads like a card number is none, or is wanted here. */
  takesCardNumber?(text: string): boolean;
  /** Never written back into a page. */
  secret?: true;
  /** Reads text that is neither empty nor too long, at `now` (milliseconds since 1970). */
  read?(text: string, now: number): Reading;
  /** What may be shown to everyone with the payment's link. */
  mask?(kept: string): string;
}

/** Whether text is a telephone number with its country's code, at most fifteen digits (ITU-T E.164). */
function isInternationalNumber(text: string): boolean {
  return /^(?:\+|00)\d{7,15}$/.test(text.replace(/[()\s-]/g, ''));
}

/** Numbers, addresses and codes run left to right in every language, and are no words. */
const LTR = { dir: 'ltr', translate: 'no', spellcheck: 'false', autocapitalize: 'none' };

export const FIELDS = {
  'payer-name': {
    keptAs: 'payer_name',
    maximum: 120,
    attributes: { autocomplete: 'name' },
    mask: maskName,
  },
  'payer-email': {
    keptAs: 'payer_email',
    maximum: 254,
    attributes: { type: 'email', inputmode: 'email', autocomplete: 'email', ...LTR },
    read: (text) => (isEmailAddress(text) && /\.[^.]+$/.test(text) ? { kept: text } : { fault: 'form' }),
    mask: maskEmail,
  },
  'payer-phone': {
    keptAs: 'payer_phone',
    maximum: 40,
    attributes: { type: 'tel', inputmode: 'tel', autocomplete: 'tel', ...LTR },
    read: (text) => (/^[\d+()\s-]+$/.test(text) && /\d/.test(text) ? { kept: text } : { fault: 'form' }),
    separators: /[+()\s-]+/g,
    takesCardNumber: isInternationalNumber,
    mask: maskPhone,
  },
  'transfer-name': {
    keptAs: 'transfer_name',
    maximum: 140,
    attributes: { autocomplete: 'name' },
    mask: maskName,
  },
  'transfer-iban': {
    keptAs: 'transfer_account',
    maximum: 42, // an IBAN of 34 in groups of four
    attributes: { autocomplete: 'off', ...LTR, autocapitalize: 'characters' },
    read: (text) => (isBankAccountNumber(text) ? { kept: text } : { fault: 'form' }),
    separators: /[\s./-]+/g,
    takesCardNumber: isIban,
    mask: maskIban,
  },
  'customer-reference': {
    keptAs: 'customer_reference',
    maximum: 140,
    attributes: { autocomplete: 'off' },
    mask: maskReference,
  },
  note: { keptAs: 'note', maximum: 140, attributes: { autocomplete: 'off' }, lines: 2 },
  'card-number': {
    keptAs: 'card',
    maximum: 60,
    tooLong: 'unknown',
    attributes: { inputmode: 'numeric', autocomplete: 'off', ...LTR },
    secret: true,
    takesCardNumber: () => true,
    read: parseCardNumber,
  },
  'card-expiry': {
    keptAs: null,
    maximum: 20,
    tooLong: 'form',
    attributes: { inputmode: 'numeric', autocomplete: 'off', ...LTR },
    secret: true,
    read: parseCardExpiry,
  },
} as const satisfies Record<string, Field>;

export type FieldName = keyof typeof FIELDS;
/** A field as a method asks it. */
export interface FieldUse {
  name: FieldName;
  required: boolean;
}

/** What people put between the groups of a card number, besides spaces, dashes and dots. */
const GROUPED = /[,;:_|]/g;

/** A customer's text holds a card number only with the check digit right: any other run of digits is a reference of theirs. */
function holdsCard(text: string, separators: RegExp = GROUPED): boolean {
  return (
    holdsCardNumber(text, { checked: true }) ||
    holdsCardNumber(text.replace(separators, '-'), { checked: true })
  );
}

/** Reads one field's text as it came. Spaces around it do not count; a line break is a line feed. */
export function readField({ name, required }: FieldUse, raw: string, now: number): Reading {
  const field: Field = FIELDS[name];
  // Pasted numbers contain invisible direction marks.
  const visible = field.attributes.dir === 'ltr' ? raw.replace(/\p{Cf}/gu, '').replaceAll('\t', ' ') : raw;
  const typed = trimmedText(visible);
  const text = field.separators ? asciiDigits(typed) : typed;
  if (text === '') return required ? { fault: 'empty' } : { kept: null };
  // A card number in another field would be stored, so it is refused before anything else and not shown again. The text as typed is
  // checked too: `asciiDigits` reads ² as a digit, which would make a number longer.
  const written = text === typed ? [text] : [text, typed];
  if (!field.takesCardNumber?.(text) && written.some((one) => holdsCard(one, field.separators)))
    return { fault: 'card' };
  if ([...text].length > field.maximum) return { fault: field.tooLong ?? 'long' };
  if (textFault(text, field.maximum, field.lines !== undefined)) return { fault: 'text' };
  return field.read?.(text, now) ?? { kept: text };
}

const FIRST_LETTER = /^\P{M}\p{M}*/u;

/** `Ada Lovelace` → `A••• L•••` */
export function maskName(name: string): string {
  return name
    .split(/\s+/)
    .map((word) => `${FIRST_LETTER.exec(word)?.[0] ?? ''}•••`)
    .join(' ');
}

/** `ada@example.com` → `a•••@example.com` */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  return `${[...email.slice(0, at)][0] ?? ''}•••${email.slice(at)}`;
}

/** The end of what is masked; of a short text less, so that most of it stays unseen. */
function end(text: string, length: number): string {
  const characters = [...text];
  const shown = Math.min(length, Math.floor(characters.length / 3));
  return shown === 0 ? '' : characters.slice(-shown).join('');
}

/** `+49 170 1234567` → `••• 67` */
export function maskPhone(phone: string): string {
  return `••• ${end(phone.replace(/\P{Nd}/gu, ''), 2)}`.trim();
}

/** `Receipt 17` → `••• 17` */
function maskReference(reference: string): string {
  return `•••${end(reference, 4)}`;
}

/** `DE89 3704 0044 0532 0130 00` → `DE•• •••• 3000` */
export function maskIban(text: string): string {
  const compact = compactAccount(text);
  const head = looksLikeIban(text) ? `${compact.slice(0, 2).toUpperCase()}••` : '••••';
  return `${head} •••• ${end(compact, 4)}`.trim();
}

/** The test card numbers, each with the outcome of its payment. */
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
