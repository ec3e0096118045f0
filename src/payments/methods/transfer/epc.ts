// The text of the EPC QR code, which fills in a SEPA credit transfer (EPC069-12, version 002).
import { formatAmount } from '../../../lib/money.ts';
import { firstCharacters, oneLine } from './payload-text.ts';

const NAME_CHARACTERS = 70;
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
  const name = firstCharacters(oneLine(holder), NAME_CHARACTERS, room);
  return name === '' ? undefined : textWith(name);
}
