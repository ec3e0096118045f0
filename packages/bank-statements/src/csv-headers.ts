// What a column can hold by its name.
import { currencyInName, withoutCurrency } from './csv-currencies.ts';
import type { CsvColumns, CsvRole } from './csv-layout.ts';
import { COLUMN_NAMES } from './csv-names.ts';
import { alternatives } from './csv-words.ts';

/** Parts of words that say what a name that is not known is about, weaker than a whole name: `Betrag Buchung`, `Montant débité`. */
const STEMS: readonly (readonly [CsvRole, RegExp])[] = [
  ['value', /valuta|wertst|\bvalue d|\bvaleur|fecha valor|rente|valor tarihi|waluty/],
  ['day', /datum|\bdate|\bfecha|\bdata\b|dato\b|dag\b|tarih|paiva|日期|日付|时间|取引日|дата/],
  ['balance', /saldo|balance|solde|kontostand|zustat|egyenleg|bakiye|残高|余额|остаток/],
  ['part', /einzel|singol|individu/],
  [
    'debit',
    /belast|\bsoll\b|lastschr|debit|debet|addebit|\bcargo|withdr|paid out|uscit|obciaz|支払|出金|支出|借方|расход|terhel|\bborc/,
  ],
  [
    'credit',
    /gutschr|\bhaben\b|credit|kredit|accredit|\babono|deposit|paid in|entrat|uznan|預|入金|收入|存入|贷方|приход|jovair|alacak/,
  ],
  [
    'amount',
    /betrag|umsatz|amount|\bmont|import|bedrag|kwot|castk|osszeg|belob|belop|tutar|金額|金额|сумма|\bvalor\b/,
  ],
  ['currency', /wahrung|waehrung|currency|devise|divisa|moneta|\bmonn|\bmena\b|waluta|penznem|币种|валюта/],
  [
    'name',
    new RegExp(
      alternatives(`empfang|auftragg|begunst|beguenst|beneficiar|payee|payer|avsandare|mottagare|kontrahent|tegenpart|
        counterpart|contrepart|consumer name|nazov protiuct|户名`),
    ),
  ],
  [
    'text',
    new RegExp(
      alternatives(`zweck|text|texte|testo|descri|beschreib|libell|concept|causale|omschr|opis|popis|kozlem|beskriv|tekst|
        aciklama|摘要|説明|说明|备注|описание|bezeichn|detail|dettagl|narrat|memo|mitteil|nachricht|message|note|kommentar|
        referen|rubrik`),
    ),
  ],
];
/** Amounts that are not what moved on the account: before an exchange, of a part, a fee. */
const OTHER_AMOUNT = new RegExp(
  alternatives(`original|fremd|foreign|ausland|exchange|kurs|\\brate\\b|wechsel|cambio|local|puvodni|refunded|fee|gebuhr|
    kosten|commission|rabatt|tax|mwst|tva|\\biva\\b|limit|reserv|spes|blokad`),
);
/** Of several days, the one on which the money moved. */
const BOOKED = /complet|settle|finish|abschluss|\bfin\b|booked|gebucht|uctov/;
/** Money of the account itself, where a row has an amount in another currency as well. */
const OF_ACCOUNT =
  /rachunk|v mene uctu|валюте счета|валюте карты|платежа|account currency|kontowahrung|moneda de la cuenta|devise du compte|记账/;
const OF_PURCHASE = /операц|operacji|transak|original|fremd|foreign|puvodni/;
const MONEY: readonly CsvRole[] = ['amount', 'debit', 'credit', 'balance', 'part'];

/** A name in lower case without accents, signs, and its currency: `Umsatz in EUR` and `Saldo (CHF)` give `umsatz` and `saldo`. */
function plainName(name: string): string {
  return withoutCurrency(name.replace(/ \(\d+\)$/, ''))
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/ß/g, 'ss')
    .replace(/[łŁ]/g, 'l')
    .replace(/[øØ]/g, 'o')
    .replace(/[ıİ]/g, 'i')
    .replace(/æ/gi, 'ae')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}#]+/gu, ' ')
    .trim();
}

const KNOWN = new Map<string, [CsvRole, number][]>();
for (const [role, names] of Object.entries(COLUMN_NAMES) as [CsvRole, string][])
  for (const [rank, name] of names.split('|').entries()) {
    const plain = plainName(name.trim());
    KNOWN.set(plain, [...(KNOWN.get(plain) ?? []), [role, rank]]);
  }
/** Ranks of what is known by parts alone. */
const [PART_RANK, STEM_RANK] = [500, 1000];

/** The roles that a column may have by its name, each with a rank. A lower rank is likelier. */
function rolesOf(name: string): [CsvRole, number][] {
  const plain = plainName(name.replace(/^#(?=\p{L})/u, ''));
  const known = KNOWN.get(plain);
  if (known) {
    // `Belastung/Gutschrift` may hold marks, or amounts with their signs.
    const both: [CsvRole, number][] = known.some(([role]) => role === 'mark') ? [['amount', PART_RANK]] : [];
    const ranks = OF_ACCOUNT.test(plain) ? KNOWN.size : 0;
    return [...known.map(([role, rank]): [CsvRole, number] => [role, rank - ranks]), ...both];
  }
  if (/^\d|^#\d+$/.test(name)) return [];
  const parts = name.split(/\s*[/|]\s*|\s[-–]\s/).flatMap((part) => KNOWN.get(plainName(part)) ?? []);
  const stems = STEMS.flatMap(([role, stem], place): [CsvRole, number][] =>
    stem.test(plain) ? [[role, STEM_RANK + place]] : [],
  );
  // `Belastung/Gutschrift` is one amount with its sign, or a mark.
  const isBoth = ['debit', 'credit'].every((role) => [...parts, ...stems].some(([one]) => one === role));
  const both: [CsvRole, number][] = isBoth
    ? [
        ['mark', PART_RANK],
        ['amount', PART_RANK],
      ]
    : [];
  const all = [
    ...both,
    ...parts.map(([role, rank]): [CsvRole, number] => [role, PART_RANK + rank]),
    ...stems,
  ];
  const is = (...roles: CsvRole[]) => all.some(([role]) => roles.includes(role));
  // `Credit Amount` and `交易金额(支出)` are money in one direction.
  const isOneWay = !isBoth && is('debit', 'credit');
  const isNumber = /\b(?:iban|bic|swift|account|number|konto|compte)/.test(plain);
  const fitting = all
    .filter(
      ([role]) =>
        !(isOneWay && role === 'amount') &&
        !(isNumber && role === 'name') &&
        !(is('value') && role === 'day'),
    )
    .map(([role, rank]): [CsvRole, number] => [role, role === 'day' && BOOKED.test(plain) ? rank - 1 : rank]);
  if (OF_ACCOUNT.test(plain)) return fitting.map(([role, rank]) => [role, MONEY.includes(role) ? -1 : rank]);
  return OTHER_AMOUNT.test(plain)
    ? fitting.filter(([role]) => ![...MONEY, 'currency'].includes(role))
    : fitting;
}

/** The names of a row, each once: a name that stands there again becomes `Währung (2)`, an empty one `#7` by its place. */
export function columnNames(cells: readonly string[], width = cells.length): string[] {
  const seen = new Map<string, number>();
  return Array.from({ length: Math.max(width, cells.length) }, (_, place) => {
    const name = (cells[place] ?? '').replace(/\s+/g, ' ').trim() || `#${place + 1}`;
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return times === 1 ? name : `${name} (${times})`;
  });
}

/**
 * What columns hold by their names: each role takes its likeliest name, each column one role, `text` all that are left of its names.
 * `fits` says whether what stands in a column can be that.
 */
export function columnsByName(
  names: readonly string[],
  fits: (role: CsvRole, place: number) => boolean = () => true,
): CsvColumns {
  const found = names.flatMap((name, place) =>
    rolesOf(name).flatMap(([role, rank]) => (fits(role, place) ? [{ name, role, rank, place }] : [])),
  );
  const columns: CsvColumns = {};
  const taken = new Set<string>();
  const hasCurrencyBehind = (place: number) =>
    found.some((one) => one.role === 'currency' && one.place === place + 1);
  const take = (role: CsvRole, isStrong: boolean) => {
    if (columns[role] && role !== 'text') return;
    if (role === 'name' && !isStrong && columns.payer && columns.payee) return;
    const fitting = found
      .filter((one) => one.role === role && !taken.has(one.name) && one.rank < STEM_RANK === isStrong)
      .sort(
        (a, b) =>
          a.rank - b.rank ||
          withCurrencyFirst(a.name, b.name, role) ||
          (role === 'amount' ? Number(hasCurrencyBehind(b.place)) - Number(hasCurrencyBehind(a.place)) : 0),
      );
    const chosen = role === 'text' ? fitting : fitting.slice(0, 1);
    if (chosen.length === 0) return;
    columns[role] = [...(columns[role] ?? []), ...chosen.map(({ name }) => name)];
    for (const { name } of chosen) taken.add(name);
  };
  const roles = Object.keys(COLUMN_NAMES) as CsvRole[];
  for (const isStrong of [true, false]) for (const role of roles) take(role, isStrong);
  // The only day of a table is the booking day, whatever its column is called.
  if (!columns.day && columns.value) {
    columns.day = columns.value;
    delete columns.value;
  }
  const currencies = found.filter(({ role, place }) => role === 'currency' && fits('currency', place));
  const currency = currencyBeside(columns, names, currencies);
  if (currency === undefined) delete columns.currency;
  else columns.currency = [currency];
  return withParties(columns);
}

/** Of two equally known names, the one with a currency is the account's: `bedrag in EUR` beside `bedrag`. */
const withCurrencyFirst = (a: string, b: string, role: CsvRole): number =>
  MONEY.includes(role)
    ? Number(currencyInName(b) !== undefined) - Number(currencyInName(a) !== undefined)
    : 0;

/** The column with the currency of the amounts: none if their names tell it, else one that shares a word with them, else the next. */
function currencyBeside(
  columns: CsvColumns,
  names: readonly string[],
  found: readonly { name: string; rank: number; place: number }[],
): string | undefined {
  const amount = (columns.amount ?? columns.credit)?.[0] ?? '';
  if (currencyInName(amount) !== undefined) return undefined;
  const words = new Set(plainName(amount).split(' '));
  const place = names.indexOf(amount);
  const score = (one: { name: string; place: number }) =>
    plainName(one.name)
      .split(' ')
      .some((word) => word.length > 2 && words.has(word))
      ? 2
      : Number(one.place === place + 1);
  const [best] = found.toSorted((a, b) => score(b) - score(a) || a.rank - b.rank);
  // The currency of a purchase is not the one in which the account was moved.
  const isOther = OF_ACCOUNT.test(plainName(amount)) && OF_PURCHASE.test(plainName(best?.name ?? ''));
  return isOther ? undefined : best?.name;
}

/** Payer and payee where a table has both and no column of the other side; one of them alone is that column. */
function withParties({ payer, payee, ...columns }: CsvColumns): CsvColumns {
  const left = [payer, payee].flatMap((names) => names ?? []);
  if (!columns.name && payer && payee) return { ...columns, payer, payee };
  if (left.length === 0) return columns;
  if (!columns.name) return { ...columns, name: left };
  return columns;
}

export const isBalanceName = (name: string): boolean => rolesOf(name)[0]?.[0] === 'balance';

/** Whether a name is known as a whole, and not by parts of it. */
export const isKnownName = (name: string): boolean => rolesOf(name).some(([, rank]) => rank < PART_RANK);

/** Whether columns say enough: a day, and an amount or money out and in. */
export const areEnough = ({ day, amount, debit, credit }: CsvColumns): boolean =>
  Boolean(day?.length && (amount?.length || (debit?.length && credit?.length)));
