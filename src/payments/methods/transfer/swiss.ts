// The Swiss QR Code, its text and its cross: the payment part of a QR-bill (SIX Implementation Guidelines QR-bill 2.3, SPC 0200).
import { isQRIBAN } from 'ibantools';
import { formatAmount } from '../../../lib/money.ts';
import { QUIET_MODULES, type Rectangle } from '../../../lib/qr-code.ts';
import { isCreditorReference, isQrReference } from './creditor-reference.ts';
import { firstCharacters, oneLine, type Transfer } from './payload-text.ts';

const MESSAGE_CHARACTERS = 140;
const MAXIMUM_MINOR = 99_999_999_999;
/** The characters payments in Switzerland allow since November 2025: Latin with its first extension, Ș ș Ț ț and €. */
const PERMITTED = /^[ -~\u00a0-\u017f\u0218-\u021b\u20ac]*$/u;

/** Whether the IBAN is of Switzerland or Liechtenstein, the only ones a QR-bill takes. */
export function isSwissIban(iban: string): boolean {
  return /^(CH|LI)/.test(iban);
}

/** Whether the QR-bill has all characters of `text`. */
export function isSwissText(text: string): boolean {
  return PERMITTED.test(oneLine(text));
}

/**
 * The code's text: 31 lines with line feeds between. The holder is cut to 70 characters. A message that needs other characters is left
 * out. Undefined without an address, or if the guidelines do not allow it: another currency or country, an amount outside
 * 0.01–999999999.99, a reference that does not fit the account, or a name or address in other characters or without its required parts.
 */
export function swissPayload(transfer: Transfer): string | undefined {
  const { iban, address, amount_minor, currency, reference } = transfer;
  if (!address) return undefined;
  const type = isQRIBAN(iban) ? 'QRR' : 'SCOR';
  const fitsAccount = type === 'QRR' ? isQrReference(reference) : isCreditorReference(reference);
  if (!isSwissIban(iban) || !fitsAccount || (currency !== 'CHF' && currency !== 'EUR')) return undefined;
  if (amount_minor < 1 || amount_minor > MAXIMUM_MINOR) return undefined;
  const field = (text: string, maximum: number) => firstCharacters(oneLine(text), maximum);
  const name = field(transfer.holder, 70);
  const town = field(address.city, 35);
  const postalCode = field(address.postal_code, 16);
  const street = [field(address.street ?? '', 70), field(address.building ?? '', 16)];
  const creditor = [name, ...street, postalCode, town, address.country];
  if (!name || !town || !postalCode || !creditor.every(isSwissText)) return undefined;
  const message = field(transfer.message ?? '', MESSAGE_CHARACTERS);
  return [
    ...['SPC', '0200', '1', iban, 'S', ...creditor],
    ...Array(7).fill(''), // ultimate creditor: for future use
    ...[formatAmount(amount_minor), currency],
    ...Array(7).fill(''), // ultimate debtor: the payer's bank knows
    ...[type, reference, isSwissText(message) ? message : '', 'EPD'],
  ].join('\n');
}

/** Millimetres of the Swiss QR Code (SIX Style Guide QR-bill): its side, the white edge, the black square, the cross's arms. */
const [CODE_MM, EDGE_MM, SQUARE_MM, ARM_LENGTH_MM, ARM_WIDTH_MM] = [46, 7, 6, 3.89, 1.17];

/** The cross over the middle of a Swiss QR Code of `size` modules (quiet zone included), to be painted in this order. */
export function swissCross(size: number): Rectangle[] {
  const modules = (size - 2 * QUIET_MODULES) / CODE_MM;
  const centred = (widthMm: number, heightMm: number, dark: boolean): Rectangle => {
    const [width, height] = [rounded(widthMm * modules), rounded(heightMm * modules)];
    return { x: rounded((size - width) / 2), y: rounded((size - height) / 2), width, height, dark };
  };
  return [
    centred(EDGE_MM, EDGE_MM, false),
    centred(SQUARE_MM, SQUARE_MM, true),
    centred(ARM_LENGTH_MM, ARM_WIDTH_MM, false),
    centred(ARM_WIDTH_MM, ARM_LENGTH_MM, false),
  ];
}

/** How wide a Swiss QR Code of `size` modules (quiet zone included) is printed, so that the code itself is 46 mm. */
export function swissWidthMm(size: number): number {
  return rounded((CODE_MM * size) / (size - 2 * QUIET_MODULES));
}

function rounded(length: number): number {
  return Math.round(length * 1000) / 1000;
}
