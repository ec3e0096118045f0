// The account a customer says they pay from: an IBAN with its check digits, or another number as it is written.
import { electronicFormatIBAN, isValidIBAN } from 'ibantools';

const LOOKS_LIKE_IBAN = /^[A-Za-z]{2}\d{2}[A-Za-z0-9]{8,}$/;
const SEPARATORS = /[\s.-]/g;

/** Whether text is an IBAN with its check digits, however it is grouped. */
export function isIban(text: string): boolean {
  const compact = text.replace(SEPARATORS, '');
  return LOOKS_LIKE_IBAN.test(compact) && isValidIBAN(electronicFormatIBAN(compact) ?? '');
}

/** Whether text is an account number one could pay from: what looks like an IBAN must be one (ISO 13616). */
export function isBankAccountNumber(text: string): boolean {
  const compact = text.replace(SEPARATORS, '');
  if (LOOKS_LIKE_IBAN.test(compact)) return isValidIBAN(electronicFormatIBAN(compact) ?? '');
  return /^(?=.*\d)[A-Za-z0-9/]{1,34}$/.test(compact);
}

/** `DE89 3704 0044 0532 0130 00` → `DE•• •••• 3000` */
export function maskIban(text: string): string {
  const compact = text.replace(SEPARATORS, '');
  const head = LOOKS_LIKE_IBAN.test(compact) ? `${compact.slice(0, 2).toUpperCase()}••` : '••••';
  const shown = Math.min(4, Math.floor(compact.length / 3));
  return `${head} •••• ${shown === 0 ? '' : compact.slice(-shown)}`.trim();
}
