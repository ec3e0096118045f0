// The CSV exports of banks and payment services that are known by their columns.
import type { CsvColumns, CsvRole, DateOrder, DecimalWord, PartialLayout, SignWord } from './csv-layout.ts';

interface CsvProfile {
  name: string;
  layout: PartialLayout;
  /** Columns that an export has to have, as `exact` gives them. */
  needed: readonly string[];
  /** Columns that it may have beside them. */
  optional: readonly string[];
}

/** A name as it is compared: in lower case, its spaces single. */
function exact(name: string): string {
  return name.normalize('NFC').replace(/\s+/g, ' ').trim().toLowerCase();
}

/**
 * Each with the order of its days, its decimal mark, its signs, and the currency of an export that names none; `?` is left to be
 * detected. Below stand roles and columns: a column with `?` behind it may be missing, `*` stands for all columns without a name. `skip`
 * names columns that are not read.
 */
const TABLE = `
Sparkasse (CSV-CAMT): dmy comma signed
  own=Auftragskonto | day=Buchungstag | value=Valutadatum | code=Buchungstext | text=Verwendungszweck | mandate=Mandatsreferenz |
  endToEnd=Kundenreferenz (End-to-End) | name=Beguenstigter/Zahlungspflichtiger | account=Kontonummer/IBAN | amount=Betrag |
  currency=Waehrung | status=Info? |
  skip=Glaeubiger ID?+Sammlerreferenz?+Lastschrift Ursprungsbetrag?+Auslagenersatz Ruecklastschrift?+BIC (SWIFT-Code)?
Sparkasse (CSV-MT940): dmy comma signed
  own=Auftragskonto | day=Buchungstag | value=Valutadatum | code=Buchungstext | text=Verwendungszweck |
  name=Beguenstigter/Zahlungspflichtiger | account=Kontonummer | amount=Betrag | currency=Waehrung | status=Info? |
  skip=BLZ?
Volksbank, Sparda, GLS, PSD: dmy comma signed
  own=IBAN Auftragskonto | day=Buchungstag | value=Valutadatum | name=Name Zahlungsbeteiligter | account=IBAN Zahlungsbeteiligter |
  code=Buchungstext | text=Verwendungszweck | amount=Betrag | currency=Waehrung | balance=Saldo nach Buchung | mandate=Mandatsreferenz? |
  skip=Bezeichnung Auftragskonto?+BIC Auftragskonto?+Bankname Auftragskonto?+BIC (SWIFT-Code) Zahlungsbeteiligter?+
  Bemerkung?+Gekennzeichneter Umsatz?+Glaeubiger ID?
Volksbank (before 2021): dmy comma mark
  day=Buchungstag | value=Valuta | payer=Auftraggeber/Zahlungsempfänger | payee=Empfänger/Zahlungspflichtiger | account=IBAN |
  text=Vorgang/Verwendungszweck | endToEnd=Kundenreferenz | currency=Währung | amount=Umsatz | mark=#13 |
  skip=Konto-Nr.?+BLZ?+BIC?
DKB: dmy comma signed EUR
  day=Buchungsdatum | value=Wertstellung | status=Status | payer=Zahlungspflichtige*r | payee=Zahlungsempfänger*in |
  text=Verwendungszweck | code=Umsatztyp | account=IBAN? | amount=Betrag (€) | mandate=Mandatsreferenz? | endToEnd=Kundenreferenz? |
  skip=Gläubiger-ID?
DKB (before 2023): dmy comma signed EUR
  day=Buchungstag | value=Wertstellung | code=Buchungstext | name=Auftraggeber / Begünstigter | text=Verwendungszweck |
  account=Kontonummer | amount=Betrag (EUR) | mandate=Mandatsreferenz | endToEnd=Kundenreferenz |
  skip=BLZ?+Gläubiger-ID?
ING-DiBa: dmy comma signed EUR
  day=Buchung | value=Valuta?+Wertstellungsdatum? | name=Auftraggeber/Empfänger | code=Buchungstext | text=Verwendungszweck |
  amount=Betrag | currency=Währung? | balance=Saldo? | mandate=Mandatsreferenz? | endToEnd=Kundenreferenz? |
  skip=Währung (2)?+Notiz?
Deutsche Bank, Postbank, norisbank: dmy comma columns EUR
  day=Buchungstag | value=Wert | code=Umsatzart | name=Begünstigter / Auftraggeber | text=Verwendungszweck |
  account=IBAN / Kontonummer | endToEnd=Kundenreferenz | mandate=Mandatsreferenz | debit=Soll | credit=Haben | currency=Währung |
  skip=BIC?+Gläubiger ID?+Fremde Gebühren?+Betrag?+Abweichender Empfänger?+Anzahl der Aufträge?+Anzahl der Schecks?
Commerzbank: dmy comma signed
  day=Buchungstag | value=Wertstellung | code=Umsatzart | text=Buchungstext | amount=Betrag | currency=Währung |
  own=IBAN Kontoinhaber?+IBAN Auftraggeberkonto? |
  skip=Kategorie?
comdirect: dmy comma signed EUR
  day=Buchungstag | value=Wertstellung (Valuta) | code=Vorgang | text=Buchungstext | amount=Umsatz in EUR
HypoVereinsbank: dmy comma signed
  own=Kontonummer | day=Buchungsdatum | value=Valuta | name=Empfaenger 1+Empfaenger 2 | text=Verwendungszweck | amount=Betrag |
  currency=Waehrung
N26: ymd point signed EUR
  day=Booking Date | value=Value Date | name=Partner Name | account=Partner Iban | code=Type | text=Payment Reference |
  amount=Amount (EUR) |
  skip=Account Name?+Original Amount?+Original Currency?+Exchange Rate?
N26 (before 2024): ymd point signed EUR
  day=Date | name=Payee | account=Account number | code=Transaction type | text=Payment reference | amount=Amount (EUR) |
  skip=Category?+Amount (Foreign Currency)?+Type Foreign Currency?+Exchange Rate?
N26 (German): ymd point signed EUR
  day=Datum | name=Empfänger | account=Kontonummer | code=Transaktionstyp | text=Verwendungszweck | amount=Betrag (EUR)
Erste Bank, Sparkasse (George): dmy comma signed
  own=Eigene IBAN? | day=Buchungsdatum | name=Partnername | account=Partner IBAN | amount=Betrag | currency=Währung |
  text=Buchungs-Details?+Zahlungsreferenz? | bank=Buchungsreferenz? | value=Valutadatum? |
  skip=Eigener Kontoname?+BIC/SWIFT?+Partner Kontonummer?+Bankleitzahl?+Notiz?+Highlight?
PostFinance: dmy point columns CHF
  day=Datum | text=Avisierungstext | credit=Gutschrift in CHF | debit=Lastschrift in CHF | value=Valuta | balance=Saldo in CHF
ING (Netherlands): ymd comma mark EUR
  day=Datum | name=Naam / Omschrijving | own=Rekening | account=Tegenrekening | code=Mutatiesoort | mark=Af Bij |
  amount=Bedrag (EUR) | text=Mededelingen | balance=Saldo na mutatie? |
  skip=Code?+Tag?
ING (Netherlands, English): ymd comma mark EUR
  day=Date | name=Name / Description | own=Account | account=Counterparty | code=Transaction type | mark=Debit/credit |
  amount=Amount (EUR) | text=Notifications | balance=Resulting balance? |
  skip=Code?+Tag?
Rabobank: ymd comma signed
  own=IBAN/BBAN | currency=Munt | bank=Volgnr | day=Datum | value=Rentedatum | amount=Bedrag | balance=Saldo na trn |
  account=Tegenrekening IBAN/BBAN | name=Naam tegenpartij | code=Code | endToEnd=Transactiereferentie |
  mandate=Machtigingskenmerk | creditor=Betalingskenmerk | text=Omschrijving-1+Omschrijving-2?+Omschrijving-3? |
  skip=BIC?+Naam uiteindelijke partij?+Naam initiërende partij?+BIC tegenpartij?+Batch ID?+Incassant ID?+Reden retour?+
  Oorspr bedrag?+Oorspr munt?+Koers?
bunq: ymd ? signed EUR
  day=Date | value=Interest Date? | amount=Amount | own=Account | account=Counterparty | name=Name | text=Description
PKO BP (iPKO): ymd point signed
  day=Data operacji | value=Data waluty | code=Typ transakcji | amount=Kwota | currency=Waluta | balance=Saldo po transakcji? |
  text=Opis transakcji+*
mBank: ymd comma signed PLN
  day=#Data operacji | text=#Opis operacji | code=#Kategoria | amount=#Kwota |
  skip=#Rachunek?
Monzo: dmy point signed
  bank=Transaction ID | day=Date | code=Type | name=Name | amount=Amount | currency=Currency |
  text=Notes and #tags?+Description?+Address? |
  skip=Time?+Emoji?+Category?+Local amount?+Local currency?+Receipt?+Category split?+Money Out?+Money In?
Barclays: dmy point signed GBP
  own=Account | day=Date | amount=Amount | code=Subcategory | text=Memo | bank=Number
HSBC UK: dmy point columns GBP
  day=Date | code=Type | text=Description | debit=Paid out | credit=Paid in | balance=Balance
Lloyds, Halifax, Bank of Scotland: dmy point columns GBP
  day=Transaction Date | code=Transaction Type | own=Sort Code+Account Number | text=Transaction Description |
  debit=Debit Amount | credit=Credit Amount | balance=Balance
NatWest, Royal Bank of Scotland: dmy point signed GBP
  day=Date | code=Type | text=Description | amount=Value | balance=Balance | own=Account Number |
  skip=Account Name?
Starling: dmy point signed GBP
  day=Date | name=Counter Party | text=Reference | code=Type | amount=Amount (GBP) | balance=Balance (GBP) |
  skip=Spending Category?+Notes?
HDFC: dmy point columns INR
  day=Date | text=Narration | bank=Chq./Ref.No. | value=Value Dt | debit=Withdrawal Amt. | credit=Deposit Amt. | balance=Closing Balance
Wise: dmy point signed
  bank=TransferWise ID | day=Date | amount=Amount | currency=Currency | text=Payment Reference+Description |
  balance=Running Balance? | payer=Payer Name? | payee=Payee Name? | account=Payee Account Number? | charges=Total fees? |
  skip=Exchange From?+Exchange To?+Exchange Rate?+Merchant?+Card Last Four Digits?+Card Holder Full Name?+Attachment?+Note?
Revolut: ymd point signed
  code=Type | value=Started Date | day=Completed Date | text=Description | amount=Amount | charges=Fee | currency=Currency |
  status=State | balance=Balance? |
  skip=Product?
PayPal: ? ? signed
  day=Date | name=Name | code=Type | status=Status | currency=Currency | amount=Gross | charges=Fee | bank=Transaction ID |
  balance=Balance? | text=Invoice Number?+Subject?+Note?+Item Title? |
  skip=Time?+TimeZone?+Net?+From Email Address?+To Email Address?+Balance Impact?
PayPal (German): dmy comma signed
  day=Datum | name=Name | code=Typ | status=Status | currency=Währung | amount=Brutto | charges=Gebühr | bank=Transaktionscode |
  balance=Guthaben? | text=Rechnungsnummer?+Betreff?+Hinweis?+Artikelbezeichnung? |
  skip=Uhrzeit?+Zeitzone?+Netto?+Absender E-Mail-Adresse?+Empfänger E-Mail-Adresse?+Lieferadresse?+Adress-Status?+
  Artikelnummer?+Auswirkung auf Guthaben?
PayPal (German, private): dmy comma signed
  day=Datum | name=Name | code=Beschreibung | currency=Währung | amount=Brutto | charges=Entgelt | bank=Transaktionscode |
  balance=Guthaben | text=Rechnungsnummer
`;

/** A profile of its name and marks, and of its columns. */
function profile(heading: string, columns: string): CsvProfile {
  const [name = '', marks = ''] = heading.split(': ');
  const [dates, decimal, sign, currency] = marks.split(' ');
  const read = columns
    .trim()
    .split(/\s*\|\s*/)
    .map((part) => /^(\w+)=(.*)$/s.exec(part)!)
    .map(([, role, names]) => [role as CsvRole | 'skip', names!.split(/\+\s*/)] as const);
  const held = read.filter(([role]) => role !== 'skip');
  const said = (word: string | undefined) => (word === '?' ? undefined : word);
  return {
    name,
    layout: {
      ...(said(dates) && { dates: dates as DateOrder }),
      ...(said(decimal) && { decimal: decimal as DecimalWord }),
      ...(said(sign) && { sign: sign as SignWord }),
      ...(currency && { currency }),
      columns: Object.fromEntries(
        held.map(([role, names]) => [role, names.map((one) => one.replace(/\?$/, ''))]),
      ),
    },
    needed: held.flatMap(([, names]) => names.filter((one) => !one.endsWith('?') && one !== '*').map(exact)),
    optional: read.flatMap(([, names]) => names.map((one) => exact(one.replace(/\?$/, '')))),
  };
}

/** A profile begins with a name and a colon. How far its rows are moved in says nothing: the package is published without that. */
export const CSV_PROFILES: readonly CsvProfile[] = TABLE.trim()
  .split(/\n(?=[^=|\n]*: )/)
  .map((text) => profile(text.slice(0, text.indexOf('\n')), text.slice(text.indexOf('\n'))));

/**
 * The profile whose columns all stand in a header; of several the one that needs most. Its columns are named as in the header. `isExact`:
 * the header has no other name.
 */
export function csvProfileOf(names: readonly string[]): (CsvProfile & { isExact: boolean }) | undefined {
  const there = new Map(names.map((name) => [exact(name), name]));
  const [best] = CSV_PROFILES.filter(({ needed }) => needed.every((name) => there.has(name))).sort(
    (a, b) => b.needed.length - a.needed.length,
  );
  if (!best) return undefined;
  const unnamed = names.filter((name) => /^#\d+$/.test(name));
  const columns: CsvColumns = {};
  for (const [role, wanted] of Object.entries(best.layout.columns) as [CsvRole, string[]][]) {
    const found = wanted.flatMap((name) => (name === '*' ? unnamed : (there.get(exact(name)) ?? [])));
    if (found.length > 0) columns[role] = found;
  }
  const isExact = names.every((name) => best.optional.includes(exact(name)) || /^#\d+$/.test(name));
  return { ...best, isExact, layout: { ...best.layout, columns } };
}
