// Names that banks give to columns, in several languages, and the row of a file in which they stand.
import type { CsvColumns, CsvRole } from './csv-layout.ts';

/** Names of columns, the likeliest first, as `plainName` gives them. */
const NAMES: Partial<Record<CsvRole, string>> = {
  day: `buchungstag|buchungsdatum|buchung|booking date|posting date|date posted|completed date|transaction date|booked|datum buchung|
    boekdatum|boekingsdatum|data operacji|data ksiegowania|data transakcji|date de comptabilisation|date operation|date d operation|
    fecha operacion|fecha|data contabile|data|datum zauctovani|datum|
    date|day|dato|bokforingsdag|pvm`,
  value: `valuta|value day|valutadatum|valuta datum|wertstellung|wertstellungsdatum|wert|
    value date|rentedatum|data waluty|date de valeur|date valeur|
    fecha valor|data valuta|valutadag`,
  amount: `betrag|umsatz|amount|bedrag|kwota|montant|importe|importo|castka|belop|total amount|gross|brutto|value|transaction amount`,
  debit: `soll|belastung|lastschrift|debit|debit amount|paid out|money out|withdrawal|withdrawals|af|obciazenia|debet|dare|cargo|
    uscite|ausgang|amount debit`,
  credit: `haben|gutschrift|credit|credit amount|paid in|money in|deposit|deposits|bij|uznania|avere|abono|entrate|eingang|amount credit`,
  mark: `soll haben|s h|sh|debit credit|d c|dc|cr dr|dr cr|af bij|credit debit indicator|direction|soll haben kennzeichen|debet credit`,
  currency: `wahrung|waehrung|currency|ccy|munt|waluta|devise|divisa|valuta code|muntsoort|mena|payment currency`,
  balance: `saldo|saldo nach buchung|balance|running balance|saldo na trn|saldo na mutatie|saldo po transakcji|solde|kontostand|guthaben|
    resulting balance|balance afterwards`,
  status: `status|state|info|buchungsstatus`,
  name: `name zahlungsbeteiligter|auftraggeber empfanger|empfanger|begunstigter auftraggeber|beguenstigter zahlungspflichtiger|
    auftraggeber begunstigter|name|partnername|partner name|payee|counterparty name|counter party|counterparty|naam tegenpartij|
    naam omschrijving|kontrahent|nadawca odbiorca|beneficiaire|contrepartie|merchant name`,
  account: `iban zahlungsbeteiligter|kontonummer iban|iban kontonummer|partner iban|counterparty iban|tegenrekening|
    tegenrekening iban bban|iban|account number|konto nr|rachunek kontrahenta`,
  text: `verwendungszweck|vorgang verwendungszweck|buchungstext|payment reference|reference|description|transaction description|memo|
    details|text|mededelingen|omschrijving|opis transakcji|opis operacji|tytul|libelle|concepto|descrizione|narrative|particulars|zpravy`,
  code: `umsatzart|buchungstext|vorgang|type|transaction type|typ|mutatiesoort|typ transakcji`,
  endToEnd: `kundenreferenz end to end|end to end reference|end to end id|kundenreferenz|transactiereferentie`,
  creditor: `betalingskenmerk|creditor reference|strukturierte referenz|variabilni symbol`,
  mandate: `mandatsreferenz|mandate reference|machtigingskenmerk`,
  bank: `transaction id|transaktions id|transaktionscode|buchungsreferenz|volgnr|transferwise id|bank reference|fitid`,
  own: `iban auftragskonto|auftragskonto|iban kontoinhaber|eigene iban|own account|account iban|iban bban|rekening|rekeningnummer`,
};

/** A name in lower case without accents, signs, and the currency behind it: `Betrag (EUR)` and `Umsatz in EUR` give `betrag`, `umsatz`. */
function plainName(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/ß/g, 'ss')
    .replaceAll('ł', 'l')
    .toLowerCase()
    .replace(/\((?:[a-z]{3}|[€£$])\)|\bin (?:[a-z]{3}|[€£$])$/g, '')
    .replace(/[^\p{L}\p{N}#]+/gu, ' ')
    .trim();
}

const KNOWN = new Map<string, [CsvRole, number][]>();
for (const [role, names] of Object.entries(NAMES) as [CsvRole, string][])
  for (const [rank, name] of names.split('|').entries()) {
    const plain = name.trim();
    KNOWN.set(plain, [...(KNOWN.get(plain) ?? []), [role, rank]]);
  }

/** The currency that a name gives, as in `Betrag (EUR)`, `Umsatz in EUR` and `Betrag (€)`. */
export function currencyInName(name: string): string | undefined {
  const found = /(?:\(([A-Z]{3}|[€£])\)|\bin ([A-Z]{3}))\s*$/.exec(name);
  const unit = found?.[1] ?? found?.[2];
  return unit === '€' ? 'EUR' : unit === '£' ? 'GBP' : unit;
}

/** The names of a row, each once: a name that stands there again becomes `Währung (2)`, an empty one `#7` by its place. */
export function columnNames(cells: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return cells.map((cell, place) => {
    const name = cell.replace(/\s+/g, ' ').trim() || `#${place + 1}`;
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return times === 1 ? name : `${name} (${times})`;
  });
}

/** What columns hold by their names: each role takes its likeliest name, each column one role, `text` all that are left of its names. */
export function columnsByName(names: readonly string[]): CsvColumns {
  const found = names.flatMap((name) =>
    (KNOWN.get(plainName(name)) ?? []).map(([role, rank]) => ({ name, role, rank })),
  );
  const columns: CsvColumns = {};
  const taken = new Set<string>();
  for (const role of Object.keys(NAMES) as CsvRole[]) {
    const fitting = found
      .filter((one) => one.role === role && !taken.has(one.name))
      .sort((a, b) => a.rank - b.rank);
    const chosen = role === 'text' ? fitting : fitting.slice(0, 1);
    if (chosen.length === 0) continue;
    columns[role] = chosen.map(({ name }) => name);
    for (const { name } of chosen) taken.add(name);
  }
  return columns;
}

/** Whether columns say enough: a day, and an amount or money out and in. */
export const areEnough = ({ day, amount, debit, credit }: CsvColumns): boolean =>
  Boolean(day?.length && (amount?.length || (debit?.length && credit?.length)));
