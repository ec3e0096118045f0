// Which codes and links pay into an account at one go, by currency and account; and what is wrong with a configured account.
import { electronicFormatIBAN, isQRIBAN, isSEPACountry, isValidBIC, isValidIBAN } from 'ibantools';
import { formatAmount } from '../../../lib/money.ts';
import { isEmailAddress } from '../../../lib/text.ts';
import { creditorReference, qrReference, shortReference } from './creditor-reference.ts';
import { asciiFolded, firstCharacters, oneLine } from './payload-text.ts';
import { isSwissIban, isSwissText, type StructuredAddress, swissPayload } from './swiss.ts';

/** An account that takes transfers in one currency. */
export interface Account {
  holder: string;
  currency: string;
  iban?: string;
  bic?: string;
  upi_id?: string;
  pix_key?: string;
  /** The holder's town, for PIX. */
  city?: string;
  /** The holder's, for the Swiss QR-bill. */
  address?: StructuredAddress;
  /** Further lines to copy, for accounts without an IBAN. */
  rows?: readonly { label: string; value: string }[];
}

/** What a transfer needs to know of a payment: the amount in hundredths. */
interface Transferable {
  id: string;
  salt: string;
  amount_minor: number;
  currency: string;
  merchant_reference: string | null;
}

/** One code to scan. */
export interface QuickPay {
  scheme: 'epc' | 'swiss' | 'upi' | 'pix';
  /** The text of the QR code, at level M. */
  payload: string;
  /** Whether the payload is also made to be copied into an app. */
  copyable: boolean;
  /** What opens an app on the same device. */
  link: string | undefined;
}

/** The reference of a transfer: a QR reference into a QR-IBAN, which takes no other; a short one in pounds; else that of ISO 11649. */
export function transferReference(account: Account, payment: Transferable): string {
  if (isQRIBAN(electronicIban(account))) return qrReference(payment);
  return account.currency === 'GBP' ? shortReference(payment) : creditorReference(payment);
}

/**
 * The codes that pay `payment` into `account`; none where its currency, account or amount fits no scheme, which leaves the
 * account's rows. Euro into Switzerland or Liechtenstein goes by EPC code, since SEPA includes them; a QR-bill takes its place
 * where EPC does not serve: into a QR-IBAN, or without a BIC.
 */
export function quickPayments(
  account: Account,
  payment: Transferable,
  reference = transferReference(account, payment),
): QuickPay[] {
  if (account.currency !== payment.currency) return [];
  const { holder, upi_id, pix_key, city } = account;
  const { currency, amount_minor, merchant_reference: message } = payment;
  const code = (scheme: QuickPay['scheme'], payload: string | undefined): QuickPay[] =>
    payload === undefined
      ? []
      : [{ scheme, payload, copyable: scheme === 'pix', link: scheme === 'upi' ? payload : undefined }];
  if (currency === 'EUR') {
    const epc = code('epc', epcOf(account, amount_minor, reference));
    return epc.length > 0 ? epc : code('swiss', swissOf(account, payment, reference));
  }
  if (currency === 'CHF') return code('swiss', swissOf(account, payment, reference));
  if (currency === 'INR' && upi_id)
    return code('upi', upiPayload({ holder, upi_id, amount_minor, reference, message }));
  if (currency === 'BRL' && pix_key && city)
    return code('pix', pixPayload({ holder, city, pix_key, amount_minor, txid: reference }));
  return [];
}

function epcOf(account: Account, amount_minor: number, reference: string): string | undefined {
  const iban = electronicIban(account);
  if (!isSEPACountry(iban.slice(0, 2)) || isQRIBAN(iban)) return undefined;
  return epcPayload({
    holder: account.holder,
    iban,
    bic: account.bic?.toUpperCase(),
    amount_minor,
    reference,
  });
}

function swissOf(account: Account, payment: Transferable, reference: string): string | undefined {
  const { holder, currency, address } = account;
  const { amount_minor, merchant_reference: message } = payment;
  const iban = electronicIban(account);
  return address && swissPayload({ holder, iban, address, amount_minor, currency, reference, message });
}

function electronicIban({ iban }: Account): string {
  return electronicFormatIBAN(iban) ?? '';
}

/** What is wrong with a configured account first of all, to stand behind the setting's name; or nothing. */
export function accountFault(account: Account): { field: keyof Account; problem: string } | undefined {
  const { holder, currency, bic, upi_id, pix_key, city, address } = account;
  const iban = electronicIban(account);
  if (account.iban !== undefined && !isValidIBAN(iban))
    return { field: 'iban', problem: 'must be an IBAN whose check digits are right' };
  if (isQRIBAN(iban) && currency !== 'CHF' && currency !== 'EUR')
    return { field: 'iban', problem: 'must be an IBAN, not a QR-IBAN, which takes CHF and EUR alone' };
  if (isQRIBAN(iban) && !address)
    return { field: 'address', problem: 'must be given for a QR-IBAN, which takes QR-bills alone' };
  if (bic !== undefined && !isValidBIC(bic))
    return { field: 'bic', problem: 'must be a BIC, 8 or 11 letters and digits' };
  if (address && isSwissIban(iban)) {
    const latin = 'must be of Latin letters, since the Swiss QR-bill has no others';
    if (!isSwissText(holder)) return { field: 'holder', problem: latin };
    if (!Object.values(address).every((part) => isSwissText(part ?? '')))
      return { field: 'address', problem: latin };
  }
  if (upi_id !== undefined && currency !== 'INR')
    return { field: 'upi_id', problem: 'must be in an account for INR' };
  if (upi_id !== undefined && !isUpiId(upi_id))
    return { field: 'upi_id', problem: 'must be a UPI id, such as name@bank' };
  if (pix_key !== undefined && currency !== 'BRL')
    return { field: 'pix_key', problem: 'must be in an account for BRL' };
  if (pix_key !== undefined && !isPixKey(pix_key))
    return {
      field: 'pix_key',
      problem:
        'must be a PIX key as it is registered: CPF or CNPJ without punctuation, e-mail address in lower case, +55 phone number or random key',
    };
  if (pix_key && city !== undefined && asciiFolded(city) === '')
    return { field: 'city', problem: 'must be of Latin letters, since PIX has no others' };
  return undefined;
}

const UPI_NAME_CHARACTERS = 99;
const NOTE_CHARACTERS = 50;
const UPI_ID = /^[A-Za-z0-9._-]{1,190}@[A-Za-z][A-Za-z0-9]{1,63}$/;

/** A payment by UPI: the amount in paise; `reference` of letters and digits, at most 35. */
interface UpiTransfer {
  holder: string;
  upi_id: string;
  amount_minor: number;
  reference: string;
  /** Follows the reference in the note that the payer and the payee see. */
  message?: string | null | undefined;
}

/** Whether text has the form of a UPI id (virtual payment address): `name@handle`. */
export function isUpiId(text: string): boolean {
  return UPI_ID.test(text);
}

/** `upi://pay?…`, percent-encoded throughout, since apps show a `+` as it stands; the note holds at most 50 characters. */
export function upiPayload({ holder, upi_id, amount_minor, reference, message }: UpiTransfer): string {
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

/** A credit transfer in euro: the amount in cents, IBAN and ISO 11649 reference in electronic form. */
interface CreditTransfer {
  holder: string;
  iban: string;
  bic?: string | undefined;
  amount_minor: number;
  reference: string;
}

/**
 * The code's UTF-8 text: service tag BCD, SEPA credit transfer, structured reference. Lines end with a line feed, except the last. A name
 * that is too long is cut. Undefined if the guidelines do not allow it: an amount outside 0.01–999999999.99, no name, or no BIC outside
 * the European Economic Area.
 */
export function epcPayload({
  holder,
  iban,
  bic,
  amount_minor,
  reference,
}: CreditTransfer): string | undefined {
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

/** A payment by PIX. */
interface PixTransfer {
  holder: string;
  city: string;
  pix_key: string;
  /** Centavos; the payer's app asks where it is left out. */
  amount_minor?: number;
  /** 1 to 25 letters and digits, or `***` for none. */
  txid: string;
}

/**
 * The code's text in ASCII. Name and city are folded and cut to 25 and 15 characters. Undefined if it does not fit: an amount outside
 * 0.01–9999999999.99, a txid of other characters, or nothing left of the name or city.
 */
export function pixPayload({ holder, city, pix_key, amount_minor, txid }: PixTransfer): string | undefined {
  if (amount_minor !== undefined && (amount_minor < 1 || amount_minor > PIX_MAXIMUM_MINOR)) return undefined;
  if (pix_key.length > KEY_CHARACTERS || (txid !== '***' && !TXID.test(txid))) return undefined;
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
    field('62', field('05', txid)),
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
