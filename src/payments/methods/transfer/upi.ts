// The address that opens a UPI app with a payment filled in, and stands in its QR code (NPCI UPI Linking Specification 1.6).
import { formatAmount } from '../../../lib/money.ts';
import { firstCharacters, oneLine } from './payload-text.ts';

const NAME_CHARACTERS = 99;
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
    pn: firstCharacters(oneLine(holder), NAME_CHARACTERS),
    am: formatAmount(amount_minor),
    cu: 'INR',
    tn: firstCharacters(oneLine(`${reference} ${message ?? ''}`), NOTE_CHARACTERS),
    tr: reference,
  };
  const query = Object.entries(fields).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
  return `upi://pay?pa=${upi_id}${query.join('')}`; // an id needs no escapes, and apps look for its `@`
}
