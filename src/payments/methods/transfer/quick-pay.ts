// Which codes and links pay into an account at one go, by currency and account; and what is wrong with a configured account.
import { electronicFormatIBAN, isQRIBAN, isSEPACountry, isValidBIC, isValidIBAN } from 'ibantools';
import { formatAmount } from '../../../lib/money.ts';
import { isEmailAddress } from '../../../lib/text.ts';
import type { Payment } from '../../payment.ts';
import { creditorReference, qrReference, shortReference } from './creditor-reference.ts';
import { type Account, asciiFolded, firstCharacters, oneLine, type Transfer } from './payload-text.ts';
import { isSwissIban, isSwissText, swissPayload } from './swiss.ts';

/** What a transfer needs to know of a payment. */
export type Transferable = Pick<Payment, 'id' | 'salt' | 'amount_minor' | 'currency' | 'merchant_reference'>;

/** The code that pays at one go. A UPI payload is also a link that opens an app on the same device; a PIX payload is also copied. */
export interface QuickPay {
  scheme: 'epc' | 'swiss' | 'upi' | 'pix';
  /** The text of the QR code, at level M. */
  payload: string;
}

/** The reference of a transfer: a QR reference into a QR-IBAN, which takes no other; a short one in pounds; else that of ISO 11649. */
export function transferReference(account: Account, payment: Transferable): string {
  if (isQRIBAN(electronicIban(account))) return qrReference(payment);
  return account.currency === 'GBP' ? shortReference(payment) : creditorReference(payment);
}

/**
 * The code that pays `payment` into `account`; undefined where its currency, account or amount fits no scheme, which leaves the
 * account's rows. Euro into Switzerland or Liechtenstein goes by EPC code, since SEPA includes them; a QR-bill takes its place
 * where EPC does not serve: into a QR-IBAN, or without a BIC.
 */
export function quickPayment(
  account: Account,
  payment: Transferable,
  reference = transferReference(account, payment),
): QuickPay | undefined {
  if (account.currency !== payment.currency) return undefined;
  const { currency, amount_minor, merchant_reference: message } = payment;
  const transfer = { ...account, iban: electronicIban(account), amount_minor, reference, message };
  const code = (scheme: QuickPay['scheme'], payload: string | undefined) =>
    payload === undefined ? undefined : { scheme, payload };
  const epc = currency === 'EUR' ? code('epc', epcPayload(transfer)) : undefined;
  if (epc) return epc;
  if (currency === 'EUR' || currency === 'CHF') return code('swiss', swissPayload(transfer));
  if (currency === 'INR' && account.upi_id) return code('upi', upiPayload(transfer));
  if (currency === 'BRL' && account.pix_key && account.city) return code('pix', pixPayload(transfer));
  return undefined;
}

function electronicIban({ iban }: Account): string {
  return electronicFormatIBAN(iban) ?? '';
}

const LATIN = 'must be of Latin letters, since the Swiss QR-bill has no others';
const PIX_KEY =
  'must be a PIX key as it is registered: CPF or CNPJ without punctuation, e-mail address in lower case, +55 phone number or random key';

/** What is wrong with a configured account first of all, to stand behind the setting's name; or nothing. */
export function accountFault(account: Account): { field: keyof Account; problem: string } | undefined {
  const { holder, currency, bic, upi_id, pix_key, city, address } = account;
  const iban = electronicIban(account);
  const bill = isSwissIban(iban) ? address : undefined;
  const faults: [isWrong: boolean, field: keyof Account, problem: string][] = [
    [
      account.iban !== undefined && !isValidIBAN(iban),
      'iban',
      'must be an IBAN whose check digits are right',
    ],
    [
      isQRIBAN(iban) && currency !== 'CHF' && currency !== 'EUR',
      'iban',
      'must be an IBAN, not a QR-IBAN, which takes CHF and EUR alone',
    ],
    [isQRIBAN(iban) && !address, 'address', 'must be given for a QR-IBAN, which takes QR-bills alone'],
    [bic !== undefined && !isValidBIC(bic), 'bic', 'must be a BIC, 8 or 11 letters and digits'],
    [bill !== undefined && !isSwissText(holder), 'holder', LATIN],
    [!Object.values(bill ?? {}).every((part) => isSwissText(part ?? '')), 'address', LATIN],
    [upi_id !== undefined && currency !== 'INR', 'upi_id', 'must be in an account for INR'],
    [upi_id !== undefined && !isUpiId(upi_id), 'upi_id', 'must be a UPI id, such as name@bank'],
    [pix_key !== undefined && currency !== 'BRL', 'pix_key', 'must be in an account for BRL'],
    [pix_key !== undefined && !isPixKey(pix_key), 'pix_key', PIX_KEY],
    [
      pix_key !== undefined && city !== undefined && asciiFolded(city) === '',
      'city',
      'must be of Latin letters, since PIX has no others',
    ],
  ];
  const [, field, problem] = faults.find(([isWrong]) => isWrong) ?? [];
  return field && problem ? { field, problem } : undefined;
}

const UPI_NAME_CHARACTERS = 99;
const NOTE_CHARACTERS = 50;
const UPI_ID = /^[A-Za-z0-9._-]{1,190}@[A-Za-z][A-Za-z0-9]{1,63}$/;

/** Whether text has the form of a UPI id (virtual payment address): `name@handle`. */
export function isUpiId(text: string): boolean {
  return UPI_ID.test(text);
}

/**
 * `upi://pay?…`, percent-encoded throughout, since apps show a `+` as it stands. The reference, of letters and digits, at most 35, and
 * the message stand in a note of at most 50 characters.
 */
export function upiPayload(
  transfer: Pick<Transfer, 'holder' | 'upi_id' | 'amount_minor' | 'reference' | 'message'>,
): string {
  const { holder, upi_id, amount_minor, reference, message } = transfer;
  const fields = {
    pn: firstCharacters(oneLine(holder), UPI_NAME_CHARACTERS),
    am: formatAmount(amount_minor),
    cu: 'INR',
    tn: firstCharacters(oneLine(`${reference} ${message ?? ''}`), NOTE_CHARACTERS),
    tr: reference,
  };
  const query = Object.entries(fields).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
  return `upi://pay?pa=${upi_id}${query.join('')}`; // an id needs no escapes, and apps look for its `@`
}

const EPC_NAME_CHARACTERS = 70;
/** What QR version 13 holds at level M, the largest the guidelines allow. */
const MAXIMUM_BYTES = 331;
const MAXIMUM_MINOR = 99_999_999_999;
/** SEPA countries outside the European Economic Area, where version 002 still asks for the BIC. */
const OUTSIDE_EEA = new Set(['AD', 'CH', 'GB', 'GI', 'MC', 'SM', 'VA']);

/**
 * The code's UTF-8 text: service tag BCD, SEPA credit transfer, structured reference. Lines end with a line feed, except the last. A name
 * that is too long is cut. Undefined if the guidelines do not allow it: an account outside SEPA or a QR-IBAN, an amount outside
 * 0.01–999999999.99, no name, or no BIC outside the European Economic Area.
 */
export function epcPayload(transfer: Omit<Transfer, 'currency'>): string | undefined {
  const { holder, iban, amount_minor, reference } = transfer;
  const bic = transfer.bic?.toUpperCase();
  if (!isSEPACountry(iban.slice(0, 2)) || isQRIBAN(iban)) return undefined;
  if (amount_minor < 1 || amount_minor > MAXIMUM_MINOR) return undefined;
  if (!bic && OUTSIDE_EEA.has(iban.slice(0, 2))) return undefined;
  const textWith = (name: string) =>
    [
      ...['BCD', '002', '1', 'SCT'],
      bic ?? '',
      name,
      iban,
      `EUR${formatAmount(amount_minor)}`,
      '', // purpose
      reference,
    ].join('\n');
  const room = MAXIMUM_BYTES - Buffer.byteLength(textWith(''));
  const name = firstCharacters(oneLine(holder), EPC_NAME_CHARACTERS, room);
  return name === '' ? undefined : textWith(name);
}

// Own code, since the package pix-utils brings an HTTP client (axios) along.

const NAME_CHARACTERS = 25;
const CITY_CHARACTERS = 15;
const KEY_CHARACTERS = 77;
/** 9999999999.99, the thirteen characters of the field. */
const PIX_MAXIMUM_MINOR = 999_999_999_999;
const TXID = /^[A-Za-z0-9]{1,25}$/;

/** The payer's app asks for an amount that is left out. `reference`: 1 to 25 letters and digits, or `***` for none. */
type PixTransfer = Pick<Transfer, 'holder' | 'city' | 'pix_key' | 'reference'> &
  Partial<Pick<Transfer, 'amount_minor'>>;

/**
 * The code's text in ASCII. Name and city are folded and cut to 25 and 15 characters. Undefined if it does not fit: an amount outside
 * 0.01–9999999999.99, a reference of other characters, or nothing left of the name or city.
 */
export function pixPayload({ holder, amount_minor, reference, ...account }: PixTransfer): string | undefined {
  const { city = '', pix_key = '' } = account;
  if (amount_minor !== undefined && (amount_minor < 1 || amount_minor > PIX_MAXIMUM_MINOR)) return undefined;
  if (pix_key.length > KEY_CHARACTERS || (reference !== '***' && !TXID.test(reference))) return undefined;
  const name = firstCharacters(asciiFolded(holder), NAME_CHARACTERS);
  const town = firstCharacters(asciiFolded(city), CITY_CHARACTERS);
  if (name === '' || town === '') return undefined;
  const text = [
    field('00', '01'),
    field('26', field('00', 'br.gov.bcb.pix') + field('01', pix_key)),
    field('52', '0000'), // merchant category: not given
    field('53', '986'), // BRL, ISO 4217
    amount_minor === undefined ? '' : field('54', formatAmount(amount_minor)),
    field('58', 'BR'),
    field('59', name),
    field('60', town),
    field('62', field('05', reference)),
    '6304',
  ].join('');
  return text + crc16(text);
}

function field(id: string, value: string): string {
  return id + String(value.length).padStart(2, '0') + value;
}

/** CRC-16/CCITT-FALSE (polynomial 1021, initial value FFFF) of ASCII text, four upper-case hexadecimal digits. */
export function crc16(text: string): string {
  let crc = 0xffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}

/** Whether text is a PIX key as it is registered: CPF, CNPJ, +55 phone number, random key, or e-mail address in lower case. */
export function isPixKey(text: string): boolean {
  if (/^\d{11}$/.test(text)) return isCpf(text);
  if (/^[0-9A-Z]{12}\d\d$/.test(text)) return isCnpj(text);
  if (/^\+55[1-9]{2}\d{8,9}$/.test(text)) return true;
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return true;
  return text.length <= KEY_CHARACTERS && /^[!-@[-~]+$/.test(text) && isEmailAddress(text);
}

function isCpf(digits: string): boolean {
  if (/^(.)\1*$/.test(digits)) return false;
  return [9, 10].every((place) => checkDigit(digits.slice(0, place), 11) === digits[place]);
}

/** With letters too, which new CNPJs have since July 2026. */
function isCnpj(text: string): boolean {
  if (/^(.)\1*$/.test(text)) return false;
  return [12, 13].every((place) => checkDigit(text.slice(0, place), 9) === text[place]);
}

/** Modulo 11: weights 2, 3 … from the right, beginning anew behind `highest`; a letter counts as its code less that of 0. */
function checkDigit(text: string, highest: number): string {
  let [sum, weight] = [0, 2];
  for (let i = text.length - 1; i >= 0; i--, weight = weight === highest ? 2 : weight + 1)
    sum += (text.charCodeAt(i) - 48) * weight;
  return String(sum % 11 < 2 ? 0 : 11 - (sum % 11));
}
