// The account a customer says they pay from: an IBAN with its check digits, or another number as it is written.
import { electronicFormatIBAN, isValidIBAN } from 'ibantools';

const LOOKS_LIKE_IBAN = /^[A-Za-z]{2}\d{2}[A-Za-z0-9]{8,}$/;
const SEPARATORS = /[\s.-]/g;

/** An account number without what groups it. */
export function compactAccount(text: string): string {
  return text.replace(SEPARATORS, '');
}

/** Whether text begins as an IBAN does, right or wrong. */
export function looksLikeIban(text: string): boolean {
  return LOOKS_LIKE_IBAN.test(compactAccount(text));
}

/** Whether text is an IBAN with its check digits, however it is grouped. */
export function isIban(text: string): boolean {
  return looksLikeIban(text) && isValidIBAN(electronicFormatIBAN(compactAccount(text)) ?? '');
}

/** Whether text is an account number one could pay from: what looks like an IBAN must be one (ISO 13616). */
export function isBankAccountNumber(text: string): boolean {
  if (looksLikeIban(text)) return isIban(text);
  return /^(?=.*\d)[A-Za-z0-9/]{1,34}$/.test(compactAccount(text));
}
