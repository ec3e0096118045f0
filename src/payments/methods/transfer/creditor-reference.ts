// The references a transfer carries, so that money received finds its payment: ISO 11649, a shorter form of it, and the Swiss QR reference.
import { createHmac } from 'node:crypto';
import { asciiDigits } from '../../../lib/text.ts';
import type { Payment } from '../../payment.ts';

/** Crockford's base 32 in upper case, as payment ids are written in lower case. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const PREFIX = 'pay_';
const TIME_CHARACTERS = 10;
const TAG_CHARACTERS = 5;
const BODY = /^[0-9A-HJKMNP-TV-Z]{15}$/;
/** Digits of a QR reference before its check digit. */
const QR_DIGITS = 26;
const QR_REFERENCE = /^\d{27}$/;
/** A creditor reference of ours without its `RF`. */
const SHORT_REFERENCE = /^\d\d[0-9A-HJKMNP-TV-Z]{15}$/;
/** The beginning of a creditor reference of ours, with or without its `RF`: at least 12 characters. */
const CUT_REFERENCE = /^(?=.{12})(?:RF)?\d\d([0-9A-HJKMNP-TV-Z]{8,14})$/;
/**
 * The beginning of a QR reference of ours, whose number has at most 23 digits. With 16 digits the ids of a third of a second remain; with
 * fewer there would be too many to compute all their references.
 */
const CUT_QR_REFERENCE = /^000\d{13,23}$/;
/** ISO 11649: at most 21 characters behind the check digits. */
const CREDITOR_REFERENCE = /^RF\d\d[0-9A-Z]{1,21}$/;
/** The carry that follows from each sum of carry and digit, modulo 10. */
const CARRIES = [0, 9, 4, 6, 8, 2, 7, 1, 3, 5];

/** What a reference is made of: a payment's id, and the random salt that no page shows. */
type Referable = Pick<Payment, 'id' | 'salt'>;

/**
 * A payment's ISO 11649 creditor reference in electronic form: `RF`, two check digits (ISO 7064 mod 97-10), fifteen characters.
 *
 * Those are the id's ten of time and five of a keyed tag. The rest of the id opens the payment's page, so none of it is shown.
 */
export function creditorReference(payment: Referable): string {
  const body = bodyOf(payment);
  return `RF${mod97CheckDigits(body)}${body}`;
}

/**
 * The same without `RF`: 17 characters, for transfers in pounds, whose reference has at most 18 (Pay.UK, Faster Payments). The check digits
 * are those of the whole.
 */
export function shortReference(payment: Referable): string {
  return creditorReference(payment).slice(2);
}

/** The same as 27 digits for a QR-IBAN: 26 left padded with zeros, and the recursive modulo-10 check digit. */
export function qrReference(payment: Referable): string {
  let value = 0n;
  for (const character of bodyOf(payment)) value = value * 32n + BigInt(ALPHABET.indexOf(character));
  const digits = String(value).padStart(QR_DIGITS, '0');
  return digits + mod10CheckDigit(digits);
}

function bodyOf({ id, salt }: Referable): string {
  const time = id.slice(PREFIX.length, PREFIX.length + TIME_CHARACTERS).toUpperCase();
  let tag = createHmac('sha256', salt).update(`creditor-reference ${id}`).digest().readUInt32BE() >>> 7;
  let text = '';
  for (let i = 0; i < TAG_CHARACTERS; i++, tag >>>= 5) text = ALPHABET[tag & 31] + text;
  return time + text;
}

/** Whether text is an ISO 11649 reference with right check digits, anyone's; spaces and letter case do not count. */
export function isCreditorReference(text: string): boolean {
  const reference = electronic(text);
  return CREDITOR_REFERENCE.test(reference) && reference.slice(2, 4) === mod97CheckDigits(reference.slice(4));
}

/** Whether text is a Swiss QR reference with its right check digit, anyone's; spaces do not count. */
export function isQrReference(text: string): boolean {
  const reference = electronic(text);
  return (
    QR_REFERENCE.test(reference) &&
    reference.slice(QR_DIGITS) === mod10CheckDigit(reference.slice(0, QR_DIGITS))
  );
}

/**
 * A reference or an IBAN as people read it: in fours; a QR reference in fives behind its first two digits; a short reference whole, because
 * spaces would count among its 18 characters.
 */
export function grouped(reference: string): string {
  const text = electronic(reference);
  if (SHORT_REFERENCE.test(text)) return text;
  return QR_REFERENCE.test(text)
    ? text.replace(/^..|.{5}(?=.)/g, '$& ')
    : text.replace(/.{4}(?=.)/gsu, '$& ');
}

/**
 * The range of payment ids that may have `reference`, in any of its forms: `low <= id && id < high`, bytewise. Computing the references
 * of these payments decides which of them has it. Undefined if no payment can have it: its check digits are wrong, or it was not made
 * here.
 */
export function idRangeOf(reference: string): [low: string, high: string] | undefined {
  const written = electronic(reference);
  const text = SHORT_REFERENCE.test(written) ? `RF${written}` : written;
  const body = QR_REFERENCE.test(text)
    ? bodyOfQrReference(text)
    : isCreditorReference(text)
      ? text.slice(4)
      : '';
  if (!BODY.test(body)) return undefined;
  const low = idStart(body);
  return [low, `${low}{`]; // `{` follows `z`
}

/** What may be a whole reference at each place of a text; the time of creation in a short one, which has no `RF`, is after 2004. */
const WINDOWS = [
  /(?=(RF\d\d[0-9A-HJKMNP-TV-Z]{15}))/g,
  /(?=(\d\d0[1-9][0-9A-HJKMNP-TV-Z]{13}))/g,
  /(?=(\d{27}))/g,
];

/**
 * The whole references with right check digits in a text, in upper case without spaces: wherever they stand, whatever separates their
 * characters, and though words touch them. O, I and L, which the alphabet has not, are read as 0 and 1, and so are digits of other scripts.
 */
export function referencesIn(text: string): string[] {
  const written = asReference(text).replaceAll(/[^0-9A-Z]/g, '');
  const found = WINDOWS.flatMap((window) => [...written.matchAll(window)].map(([, part]) => part!));
  return [...new Set(found)].filter((part) => idRangeOf(part) !== undefined);
}

/** A text in upper case as references are compared: with O, I and L as 0, 1 and 1, and with digits of any script as 0–9. */
export const asReference = (text: string): string =>
  asciiDigits(text).toUpperCase().replaceAll('O', '0').replaceAll(/[IL]/g, '1');

const idStart = (body: string) => PREFIX + body.slice(0, TIME_CHARACTERS).toLowerCase();

/**
 * The payment ids that may have the reference that begins with `start`, upper case without spaces: a bank may cut references after 12
 * characters or more, 16 digits or more of a QR reference. As `idRangeOf` gives them; undefined where no reference begins so.
 */
export function idRangeOfStart(start: string): [low: string, high: string] | undefined {
  if (CUT_QR_REFERENCE.test(start)) {
    const rest = 10n ** BigInt(QR_DIGITS - start.length);
    const first = BigInt(start) * rest;
    return [idStart(bodyOfNumber(first)), `${idStart(bodyOfNumber(first + rest - 1n))}{`];
  }
  const body = CUT_REFERENCE.exec(start)?.[1];
  if (body === undefined) return undefined;
  const low = idStart(body);
  return [low, `${low}{`];
}

function bodyOfQrReference(reference: string): string {
  return isQrReference(reference) ? bodyOfNumber(BigInt(reference.slice(0, QR_DIGITS))) : '';
}

function bodyOfNumber(number: bigint): string {
  let body = '';
  for (let rest = number; rest > 0n; rest /= 32n) body = ALPHABET[Number(rest % 32n)] + body;
  return body.padStart(TIME_CHARACTERS + TAG_CHARACTERS, '0');
}

function electronic(text: string): string {
  return text.replace(/\s/gu, '').toUpperCase();
}

/** The two check digits of ISO 7064 mod 97-10, for what follows `RF` and them. */
function mod97CheckDigits(body: string): string {
  let remainder = 0;
  for (const character of `${body}RF00`) {
    const value = Number.parseInt(character, 36); // a letter counts as two digits
    remainder = (remainder * (value < 10 ? 10 : 100) + value) % 97;
  }
  return String(98 - remainder).padStart(2, '0');
}

/** The check digit of a QR reference's 26 digits: modulo 10, recursive (SIX Implementation Guidelines QR-bill, annex B). */
function mod10CheckDigit(digits: string): string {
  let carry = 0;
  for (const digit of digits) carry = CARRIES[(carry + Number(digit)) % 10]!;
  return String((10 - carry) % 10);
}
