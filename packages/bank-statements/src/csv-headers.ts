// Names that banks give to columns, in fourteen languages, and what a column can hold by its name.
import type { CsvColumns, CsvRole } from './csv-layout.ts';
import { alternatives } from './csv-words.ts';
import { currencyCode } from './values.ts';

/** Names of columns, the likeliest first, as `plainName` gives them. */
const NAMES: Partial<Record<CsvRole, string>> = {
  day: `buchungstag|buchungsdatum|buchung|booking date|posting date|date posted|completed date|transaction date|booked|
    booked at|datum buchung|boekdatum|boekingsdatum|data operacji|data ksiegowania|data transakcji|
    date de comptabilisation|date operation|date d operation|data di contabilizzazione|data di registrazione|
    data registrazione|fecha operacion|fecha contable|fecha|data contabile|data|datum zauctovani|datum provedeni|
    konyveles datuma|konyvelesi datum|islem tarihi|tarih|erfassungsdatum|abschlussdatum|transaktionsdatum|datum|
    txn date|execution date|date|day|dato|bogfort|bokforingsdag|bokfort|pvm|kirjauspaiva|paiva|maksupaiva|日付|取引日|
    交易时间|交易日期|记账日期|дата операции|дата|data lancamento|data movimento`,
  value: `valuta|value day|valutadatum|valuta datum|wertstellung|wertstellungsdatum|wert|value date|value dt|rentedatum|
    data waluty|date de valeur|date valeur|fecha valor|data valuta|data di valuta|data della valuta|valutadag|
    erteknap|valor tarihi|arvopaiva|rentedato|data valor|起算日`,
  amount: `betrag|umsatz|buchungsbetrag|amount|bedrag|kwota|montant|importe|importo|castka|zauctovana castka|belop|belob|
    total amount|gross|brutto|brut|net|value|transaction amount|credit debit amount|transaktionsbetrag|
    importo della transazione|osszeg|tutar|islem tutari|maara|summa|valor|金額|金额|交易金额|сумма в валюте счета|
    сумма операции|сумма`,
  debit: `soll|belastung|belastungsbetrag|lastschrift|debit|debit amount|withdrawal amt|paid out|money out|withdrawal|
    withdrawals|af|obciazenia|debet|dare|addebito|addebiti|importo di addebito|cargo|cargos|adeudo|uscite|ausgang|
    amount debit|debits|ut|ud|terheles|borc|otto|お支払金額|支払金額|出金|支出|расход|debito`,
  credit: `haben|gutschrift|gutschriftsbetrag|credit|credit amount|deposit amt|paid in|money in|deposit|deposits|bij|
    uznania|avere|accredito|accrediti|importo di accredito|abono|abonos|entrate|eingang|amount credit|credits|in|
    ind|jovairas|alacak|pano|お預り金額|預り金額|入金|收入|приход|credito`,
  mark: `soll haben|s h|sh|debit credit|debit kredit|debet kredit|d c|dc|cr dr|dr cr|af bij|credit debit indicator|
    direction|soll haben kennzeichen|debet credit|belastung gutschrift|addebito accredito|dare avere|收 支|借贷`,
  currency: `wahrung|waehrung|buchungswahrung|whg|currency|ccy|munt|waluta|devise|monn|monnaie|divisa|div|moneta|valuta code|
    valuta|muntsoort|mena|mena uctu|payment currency|penznem|doviz|valuutta|moeda|通貨|币种|валюта`,
  balance: `saldo|saldo nach buchung|balance|closing balance|running balance|saldo na trn|saldo na mutatie|
    saldo po transakcji|solde|kontostand|guthaben|resulting balance|balance afterwards|bokfort saldo|zustatek|
    egyenleg|bakiye|差引残高|残高|余额|остаток`,
  part: `einzelbetrag|betrag detail|importo singolo|montant individuel|montant detail|detail amount|individual amount`,
  charges: `fee|fees|frais|gebuhr|entgelt|total fees|commission|poplatek|oplata|commissione|comision`,
  status: `status|state|info|buchungsstatus|stan|stav|stato|statut|estado|durum|tila|交易状态|当前状态`,
  name: `name zahlungsbeteiligter|auftraggeber empfanger|empfanger|begunstigter auftraggeber|
    beguenstigter zahlungspflichtiger|auftraggeber begunstigter|name|namn|partnername|partner name|payee|
    counterparty name|counter party|counterparty|naam tegenpartij|naam omschrijving|kontrahent|nadawca odbiorca|
    beneficiaire|contrepartie|nazev protiuctu|merchant name|handler|交易对方|对方户名`,
  account: `iban zahlungsbeteiligter|kontonummer iban|iban kontonummer|partner iban|counterparty iban|tegenrekening|
    tegenrekening iban bban|iban|account number|konto nr|kontonummer|conto no|rachunek kontrahenta|cislo protiuctu|
    对方账号`,
  text: `verwendungszweck|vorgang verwendungszweck|buchungstext|zahlungszweck|payment reference|reference|description|
    transaction description|transaktionsbeschreibung|memo|details|detail|dettaglio|text|testo|texte|mededelingen|
    omschrijving|opis transakcji|opis operacji|tytul|tytulem|libelle|concepto|observaciones|descrizione|causale|
    narrative|narration|particulars|zpravy|zprava|poznamka|popis|bezeichnung|avisierungstext|notification text|
    testo d avviso|texte de notification|rubrik|beskrivning|meddelande|beskrivelse|tekst|kozlemeny|megjegyzes|
    aciklama|viesti|selite|descricao|historico|摘要|お取引内容|商品说明|备注|附言|описание операции|описание|назначение платежа`,
  code: `umsatzart|buchungstext|auftragsart|vorgang|type|transaction type|type of transaction|typ|transaktionstyp|
    mutatiesoort|typ transakcji|typ transakce|tipo di ordine|type d ordre|交易分类`,
  endToEnd: `kundenreferenz end to end|end to end reference|end to end id|kundenreferenz|transactiereferentie`,
  creditor: `betalingskenmerk|creditor reference|strukturierte referenz|variabilni symbol|vs|referenznummer|referens|viite|
    viitenumero`,
  mandate: `mandatsreferenz|mandate reference|machtigingskenmerk`,
  bank: `transaction id|transaktions id|transaktionscode|transaktions nr|buchungsreferenz|zkb referenz|volgnr|
    transferwise id|bank reference|fitid|n de transaction|n di transazione|id transakce|chq ref no|ref no cheque no|
    交易订单号|референс проводки`,
  own: `iban auftragskonto|auftragskonto|iban kontoinhaber|eigene iban|own account|account iban|iban bban|rekening|
    rekeningnummer|numero de compte|compte|cislo uctu|номер счета`,
};
/** Parts of words that say what a name that is not known is about, weaker than a whole name: `Betrag Buchung`, `Montant débité`. */
const STEMS: readonly (readonly [CsvRole, RegExp])[] = [
  ['value', /valuta|wertst|\bvalue d|\bvaleur|fecha valor|rente|valor tarihi|waluty/],
  ['day', /datum|\bdate|\bfecha|\bdata\b|\bdato\b|dag\b|tarih|paiva|日期|日付|时间|取引日|дата/],
  ['balance', /saldo|balance|solde|kontostand|zustat|egyenleg|bakiye|残高|余额|остаток/],
  ['part', /einzel|singol|individu/],
  [
    'debit',
    /belast|\bsoll\b|lastschr|debit|debet|addebit|\bcargo|withdr|paid out|uscit|obciaz|支払|出金|支出|расход|terhel|\bborc/,
  ],
  [
    'credit',
    /gutschr|\bhaben\b|credit|kredit|accredit|\babono|deposit|paid in|entrat|uznan|預|入金|收入|存入|приход|jovair|alacak/,
  ],
  [
    'amount',
    /betrag|umsatz|amount|\bmont|import|bedrag|kwot|castk|osszeg|belob|belop|tutar|金額|金额|сумма|\bvalor\b/,
  ],
  ['currency', /wahrung|waehrung|currency|devise|divisa|moneta|\bmonn|\bmena\b|waluta|penznem|币种|валюта/],
  [
    'name',
    /empfang|auftragg|begunst|beguenst|beneficiar|payee|payer|avsandare|mottagare|kontrahent|tegenpart|counterpart|户名/,
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
    kosten|commission|rabatt|tax|mwst|tva|iva|limit|reserv|spes`),
);
const MONEY: readonly CsvRole[] = ['amount', 'debit', 'credit', 'balance', 'part'];

/** A name in lower case without accents, signs, and its currency: `Umsatz in EUR` and `Saldo (CHF)` give `umsatz` and `saldo`. */
function plainName(name: string): string {
  return withoutCurrency(name)
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

/** A currency in a name: in brackets, behind "in", or as a code at one end. */
const CURRENCY =
  /\s*[([](?:in |en )?([A-Z]{3}|[€£$])[)\]]|\s+(?:in|en|im) ([A-Z]{3}|[€£$])\s*$|\s([A-Z]{3}|[€£$])\s*$|^([A-Z]{3})\s/;

/** The currency that a name gives, as in `Betrag (EUR)`, `Umsatz in EUR`, `Betrag (€)` and `Saldo CHF`. */
export function currencyInName(name: string): string | undefined {
  const unit = CURRENCY.exec(name)
    ?.slice(1)
    .find((one) => one !== undefined);
  return unit === '€' ? 'EUR' : unit === '£' ? 'GBP' : currencyCode(unit);
}

const withoutCurrency = (name: string) =>
  currencyInName(name) !== undefined || /[([][€£$][)\]]/.test(name) ? name.replace(CURRENCY, ' ') : name;

const KNOWN = new Map<string, [CsvRole, number][]>();
for (const [role, names] of Object.entries(NAMES) as [CsvRole, string][])
  for (const [rank, name] of names.split('|').entries()) {
    const plain = plainName(name.trim());
    KNOWN.set(plain, [...(KNOWN.get(plain) ?? []), [role, rank]]);
  }
/** Ranks of what is known by parts alone. */
const [PART_RANK, STEM_RANK] = [500, 1000];

/** What a column may hold by its name, each with its rank: the lower, the likelier. */
function rolesOf(name: string): [CsvRole, number][] {
  const plain = plainName(name.replace(/^#(?=\p{L})/u, ''));
  const known = KNOWN.get(plain);
  if (known) return known;
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
  return OTHER_AMOUNT.test(plain) ? all.filter(([role]) => !MONEY.includes(role)) : all;
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
    rolesOf(name).flatMap(([role, rank]) => (fits(role, place) ? [{ name, role, rank }] : [])),
  );
  const columns: CsvColumns = {};
  const taken = new Set<string>();
  const take = (role: CsvRole, isStrong: boolean) => {
    if (columns[role] && role !== 'text') return;
    const fitting = found
      .filter((one) => one.role === role && !taken.has(one.name) && one.rank < STEM_RANK === isStrong)
      .sort((a, b) => a.rank - b.rank);
    const chosen = role === 'text' ? fitting : fitting.slice(0, 1);
    if (chosen.length === 0) return;
    columns[role] = [...(columns[role] ?? []), ...chosen.map(({ name }) => name)];
    for (const { name } of chosen) taken.add(name);
  };
  const roles = Object.keys(NAMES) as CsvRole[];
  for (const isStrong of [true, false]) for (const role of roles) take(role, isStrong);
  // A table with one day alone has that one as the booking day, whatever it calls it.
  if (!columns.day && columns.value) {
    columns.day = columns.value;
    delete columns.value;
  }
  return columns;
}

/** Whether a name is known as a whole, and not by parts of it. */
export const isKnownName = (name: string): boolean => rolesOf(name).some(([, rank]) => rank < PART_RANK);

/** Whether columns say enough: a day, and an amount or money out and in. */
export const areEnough = ({ day, amount, debit, credit }: CsvColumns): boolean =>
  Boolean(day?.length && (amount?.length || (debit?.length && credit?.length)));
