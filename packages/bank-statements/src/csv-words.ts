// Words in cells: whether a row is booked, whether it moved money at all, and rows of balances among the others.

/** Money has moved. */
const BOOKED =
  /\b(?:gebucht|booked|completed?|abgeschlossen|abgerechnet|posted|settled|cleared|zakonczono|zrealizowana|executed|verbucht|final)\b/i;
const PENDING =
  /\b(?:vorgemerkt|pending|offen|ausstehend|reserved|authori[sz]ed|blokada|w rozliczeniu|hold|open)\b/i;
/** Money has not moved and will not. */
const VOID =
  /\b(?:reverted|declined|failed|denied|cancell?ed|storniert|abgelehnt|abgebrochen|rejected|voided|expired|odrzucona|anulowana|refused)\b/i;
/** What may stand behind the word of a balance: a day or a currency, and no customer's words. */
const BALANCE_TAIL =
  '(?:[\\s\\d.,:/-]|am|vom|per|zum|on|at|as of|EUR|USD|GBP|CHF|PLN|SEK|NOK|DKK|CZK|HUF|RON)*';
const BALANCE = new RegExp(
  '^(?:(?:anfangs|end)?saldo|(?:alter|neuer|letzter) (?:kontostand|saldo)|kontostand|summe|total|(?:opening|closing) balance)\\b' +
    `${BALANCE_TAIL}$`,
  'i',
);
const OPENING = /^(?:anfangssaldo|alter (?:kontostand|saldo)|opening balance)/i;

export const isStatusWord = (text: string): boolean =>
  BOOKED.test(text) || PENDING.test(text) || VOID.test(text);

/** What a word of the bank says of a row. Whatever it does not call booked is pending. */
export function statusOf(text: string): 'booked' | 'pending' | 'void' {
  if (VOID.test(text)) return 'void';
  return BOOKED.test(text) && !PENDING.test(text) ? 'booked' : 'pending';
}

/** Whether a cell that holds no day calls the row pending: `offen`, `pending`. */
export const isPendingWord = (text: string): boolean => PENDING.test(text);

/** Whether a cell names a balance, and which. */
export function balanceWord(cell: string): 'opening' | 'closing' | undefined {
  if (!BALANCE.test(cell)) return undefined;
  return OPENING.test(cell) ? 'opening' : 'closing';
}
