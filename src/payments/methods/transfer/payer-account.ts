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

/** Characters of a bare account number that tell an account at the end of a longer form. */
const NUMBER_MINIMUM = 5;

/**
 * Whether two forms may name one account: an IBAN, the account number in it with or without leading zeros, or that behind a BIC or a bank
 * code. Undefined if the one stands in the other where no account number is known to stand.
 */
export function accountsAgree(one: string, other: string): boolean | undefined {
  const byForm = (a: string, b: string) =>
    Number(looksLikeIban(a)) - Number(looksLikeIban(b)) || a.length - b.length;
  const [short, long] = [one, other].map(withoutBic).sort(byForm) as [string, string];
  if (short === long) return true;
  if (looksLikeIban(short) && looksLikeIban(long)) return false;
  const [number, bank = ''] = short.split('/').toReversed() as [string, string?];
  const bare = number.replace(/^0+/, '');
  const domestic = looksLikeIban(long) ? long.slice(4) : long.replaceAll('/', '');
  if (startsWithBank(bare, domestic)) return true;
  if (bare.length < NUMBER_MINIMUM || !domestic.includes(bare)) return false;
  return domestic.endsWith(bare) && domestic.includes(bank) ? true : undefined;
}

/** Whether a bank code and an account number without a blank between are the two in `domestic`, which fills up with zeros. */
function startsWithBank(bare: string, domestic: string): boolean {
  let same = 0;
  while (same < bare.length && bare[same] === domestic[same]) same++;
  const rest = bare.slice(same);
  return same >= NUMBER_MINIMUM && rest.length > 1 && domestic.slice(same).replace(/^0+/, '') === rest;
}

const withoutBic = (account: string) =>
  compactAccount(account)
    .toUpperCase()
    .replace(/^[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?\//, '');
