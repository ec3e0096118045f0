// Words in cells: whether a row is booked, whether it moved money at all, and rows of balances among the others.

/** What a status says of a row. `void` rows moved no money and will not. */
export type StatusMeaning = 'booked' | 'pending' | 'void';

/** Parts of an expression that are separated by `|`, on as many lines as they need. */
export const alternatives = (text: string): string => text.trim().replaceAll(/\s*\|\s*/g, '|');

/** Latin words without accents, whole; words of other scripts as parts. */
const wordsOf = (latin: string, others: string) =>
  new RegExp(`\\b(?:${alternatives(latin)})\\b|${others}`, 'i');
const WORDS: Record<StatusMeaning, RegExp> = {
  booked: wordsOf(
    `gebucht|booked|completed?|abgeschlossen|abgerechnet|posted|settled|cleared|zakonczono|zrealizowan[aoey]?|
    zaksiegowan[aoey]?|rozliczon[aoey]?|executed|verbucht|final|refunded|erstattet|zuruckgezahlt|comptabilise|execute|
    termine|contabilizzat[oa]|eseguit[oa]|contabilizad[oa]|ejecutad[oa]|realizad[oa]|concluid[oa]|geboekt|uitgevoerd|
    paid|succeeded|ok|geaccepteerd|accepte|durchgefuhrt|bezahlt|
    bokford|bokfort|bogfort|kirjattu|zauctovan[oa]?|provedeno|konyvelt|teljesult|gerceklesti|
    udfort|gennemfort|utfort|genomford|toteutunut|wykonan[aoey]|efetivad[oa]|liquidad[oa]|ausgefuhrt|effectue|tamamlandi`,
    '成功|已完成|已存入|已收钱|已转账|已到账|已全额退款|完了|исполнен|проведен|выполнен',
  ),
  pending: wordsOf(
    `vorgemerkt|pending|offen|ausstehend|reserved|reserviert|reservert|authori[sz]ed|blokada|w rozliczeniu|oczekujac[aey]|hold|held|
    open|en attente|en cours|in attesa|in sospeso|pendiente|pendente|in behandeling|reservera[td]|reserveret|varattu|
    cekajici|blokace|fuggoben|beklemede|provisional`,
    '处理中|未確定|в обработке',
  ),
  void: wordsOf(
    `reverted|declined|failed|denied|cancell?ed|storniert|ruckgangig|abgelehnt|abgebrochen|rejected|voided|expired|odrzucon[aoey]|
    anulowan[aoey]|refused|refuse|annule|annullat[oa]|rifiutat[oa]|anulad[oa]|rechazad[oa]|cancelad[oa]|geannuleerd|
    geweigerd|zamitnut[oa]|zruseno|elutasitva|iptal|avvist|peruttu`,
    '交易关闭|已关闭|已取消|失败|отклонен|отменен',
  ),
};
/** What may stand behind the word of a balance: a day or a currency, and no customer's words. */
const BALANCE_TAIL =
  '(?:[\\s\\d.,:/-]|am|vom|per|zum|on|at|as of|EUR|USD|GBP|CHF|PLN|SEK|NOK|DKK|CZK|HUF|RON)*';
const BALANCE_WORDS =
  alternatives(`(?:anfangs|end|schluss|online-)?saldo|(?:alter|neuer|letzter) (?:kontostand|saldo)|kontostand|summe|total|
  totale|totaux|somme|(?:opening|closing|beginning|ending) balance|balance (?:brought|carried) forward|solde (?:initial|final)|
  saldo (?:iniziale|finale|inicial|final|anterior|vortrag|początkowe|końcowe)|
  (?:alg|lõpp)saldo|s a l d o|saldo(?: (?:total|disponível|do|del|dia|día))+`);
const BALANCE = new RegExp(`^#?(?:${BALANCE_WORDS})\\b${BALANCE_TAIL}$`, 'i');
/** First letters of the words above. Nearly every cell begins with another sign. */
const BALANCE_INITIALS = new Set('#abceklnostABCEKLNOST');
const OPENING_WORDS = alternatives(`anfangssaldo|alter (?:kontostand|saldo)|(?:opening|beginning) balance|
  balance brought|solde initial|algsaldo|saldo (?:ini|anterior|vortrag|począt)`);
const OPENING = new RegExp(`^#?(?:${OPENING_WORDS})`, 'i');

const plain = (text: string) =>
  text.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ł', 'l').replaceAll('ø', 'o').replaceAll('ı', 'i');

/** What a word of the bank says of a row; undefined for a word that is not known. */
export function statusOf(text: string): StatusMeaning | undefined {
  const written = plain(text);
  return (['void', 'pending', 'booked'] as const).find(
    (meaning) => WORDS[meaning].test(written) || WORDS[meaning].test(text),
  );
}

/** Whether a cell that holds no day calls the row pending: `offen`, `pending`. */
export const isPendingWord = (text: string): boolean => statusOf(text) === 'pending';

/** The sum of what moved. */
const TURNOVER = /^(?:turnover|käive|apyvarta|apgrozījums|obroty)$/i;

/** Whether a cell names a balance, and which, or the sum of what moved. */
export function balanceWord(cell: string): 'opening' | 'closing' | 'turnover' | undefined {
  if (!BALANCE_INITIALS.has(cell.charAt(0))) return undefined;
  if (TURNOVER.test(cell)) return 'turnover';
  return BALANCE.test(cell) ? (OPENING.test(cell) ? 'opening' : 'closing') : undefined;
}

/** Words with which the row of a sum begins. */
const TOTAL_WORDS = alternatives(`total[ei]?s?|totaux|gesamt|gesamtsumme|summe|suma|sum|somme|razem|celkem|
  összesen|toplam|yhteensä|合計|小計|合计|总计|итого`);
const TOTAL = new RegExp(`^(?:${TOTAL_WORDS})(?![\\p{L}\\p{N}])`, 'iu');

/** Whether a cell begins as the row of a sum does. It counts only where the row has no day. */
export const isTotalWord = (cell: string): boolean => TOTAL.test(cell);
