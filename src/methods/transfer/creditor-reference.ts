// The references a transfer carries, so that money received finds its payment: ISO 11649, and the Swiss QR reference.
import { createHmac } from 'node:crypto';
import {
  calculateQRReferenceChecksum,
  calculateSCORReferenceChecksum,
  formatQRReference,
  isQRReference,
  isQRReferenceValid,
  isSCORReferenceValid,
} from 'swissqrbill/utils';

/** Crockford's base 32 in upper case, as payment ids are written in lower case. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const PREFIX = 'pay_';
const TIME_CHARACTERS = 10;
const TAG_CHARACTERS = 5;
const BODY = /^[0-9A-HJKMNP-TV-Z]{15}$/;
/** Digits of a QR reference before its check digit. */
const QR_DIGITS = 26;

/** What a reference is made of: a payment's id, and the random salt that no page shows. */
export interface Referable {
  id: string;
  salt: string;
}

/**
 * A payment's ISO 11649 creditor reference in electronic form: `RF`, two check digits (ISO 7064 mod 97-10), fifteen characters.
 *
 * Those are the id's ten of time and five of a keyed tag. The rest of the id opens the payment's page, so none of it is shown.
 */
export function creditorReference(payment: Referable): string {
  const body = bodyOf(payment);
  return `RF${calculateSCORReferenceChecksum(body)}${body}`;
}

/** The same as 27 digits for a QR-IBAN: 26 left padded with zeros, and the recursive modulo-10 check digit. */
export function qrReference(payment: Referable): string {
  let value = 0n;
  for (const character of bodyOf(payment)) value = value * 32n + BigInt(ALPHABET.indexOf(character));
  const digits = String(value).padStart(QR_DIGITS, '0');
  return digits + calculateQRReferenceChecksum(digits);
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
  return isSCORReferenceValid(electronic(text));
}

/** A reference or an IBAN as people read it: in fours; a QR reference in fives behind its first two digits. */
export function grouped(reference: string): string {
  const text = electronic(reference);
  return isQRReference(text) ? formatQRReference(text) : text.replace(/.{4}(?=.)/gsu, '$& ');
}

/**
 * The payment ids that may have `reference`, of either form: `low <= id && id < high`, bytewise. Which of them has it is told
 * by computing theirs. Nothing where no payment can have it: check digits are wrong, or it was not made here.
 */
export function idRangeOf(reference: string): [low: string, high: string] | undefined {
  const text = electronic(reference);
  const body = isQRReference(text)
    ? bodyOfQrReference(text)
    : isSCORReferenceValid(text)
      ? text.slice(4)
      : '';
  if (!BODY.test(body)) return undefined;
  const low = PREFIX + body.slice(0, TIME_CHARACTERS).toLowerCase();
  return [low, `${low}{`]; // `{` follows `z`
}

function bodyOfQrReference(reference: string): string {
  if (!isQRReferenceValid(reference)) return '';
  let body = '';
  for (let rest = BigInt(reference.slice(0, QR_DIGITS)); rest > 0n; rest /= 32n)
    body = ALPHABET[Number(rest % 32n)] + body;
  return body.padStart(TIME_CHARACTERS + TAG_CHARACTERS, '0');
}

function electronic(text: string): string {
  return text.replace(/\s/gu, '').toUpperCase();
}
