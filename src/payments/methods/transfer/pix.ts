// The static BR Code of PIX, "copia e cola": EMV merchant-presented TLV (Banco Central, Manual de Padrões para Iniciação do Pix).
import { formatAmount } from '../../../lib/money.ts';
import { isEmailAddress } from '../../../lib/text.ts';
import { asciiFolded, firstCharacters } from './payload-text.ts';

// Own code, since the package pix-utils brings an HTTP client (axios) along.

const NAME_CHARACTERS = 25;
const CITY_CHARACTERS = 15;
const KEY_CHARACTERS = 77;
/** 9999999999.99, the thirteen characters of the field. */
const MAXIMUM_MINOR = 999_999_999_999;
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
  if (amount_minor !== undefined && (amount_minor < 1 || amount_minor > MAXIMUM_MINOR)) return undefined;
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
