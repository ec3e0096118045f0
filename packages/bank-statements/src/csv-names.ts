// Names that banks give to columns, in the languages of their customers.
import type { CsvRole } from './csv-layout.ts';

/** Names of columns, the likeliest first, as `plainName` gives them. */
export const COLUMN_NAMES: Partial<Record<CsvRole, string>> = {
  day: `buchungstag|buchungsdatum|buchung|booking date|posting date|post date|posted date|date posted|completed date|
    transaction date|booked|booked at|datum buchung|boekdatum|boekingsdatum|data operacji|data ksiegowania|
    data transakcji|date de comptabilisation|date operation|date d operation|data di contabilizzazione|
    data di registrazione|data registrazione|fecha operacion|fecha contable|fecha|data contabile|data|
    datum zauctovani|datum provedeni|konyveles datuma|konyvelesi datum|islem tarihi|tarih|erfassungsdatum|
    abschlussdatum|transaktionsdatum|datum|txn date|execution date|date|day|dato|bogfort|bokforingsdag|
    bokfort|pvm|kirjauspaiva|paiva|maksupaiva|日付|取引日|交易时间|交易日期|记账日期|дата операции|дата|
    data lancamento|data movimento|date op|date d execution|f operacion|f contable|fecha de operacion|created|
    created utc|creation date|created on|bogforingsdato|bogforingsdag|reskontradatum|bokforingsdatum|
    transactiedatum|uitvoeringsdatum|verrichtingsdatum|data mov|dateop|年月日|ご利用日|記帳日|交易日|记账日|
    入账日期|дата платежа|дата проводки|datum splatnosti|tarih saat|datum i vreme|datum izvrsenja|
    bokford|datum uctovani|konyveles napja|data inregistrarii|data tranzactiei|knjizni datum|datum knjizenja|
    dia|tran date|お取り引き日`,
  value: `valuta|value day|valutadatum|valuta datum|wertstellung|wertstellungsdatum|wert|value date|value dt|
    rentedatum|data waluty|date de valeur|date valeur|fecha valor|data valuta|data di valuta|
    data della valuta|valutadag|erteknap|valor tarihi|arvopaiva|rentedato|data valor|起算日|f valor|
    fecha de valor|date val|dateval|valor|valuutapaiva|data de valor|起息日|available on utc|
    valor tarihi|ertek nap|erteknap datum`,
  amount: `betrag|umsatz|buchungsbetrag|amount|bedrag|kwota|montant|importe|importo|castka|zauctovana castka|
    belop|belob|total amount|gross|brutto|brut|net|value|transaction amount|credit debit amount|
    transaktionsbetrag|importo della transazione|osszeg|tutar|islem tutari|maara|summa|valor|金額|金额|
    交易金额|сумма в валюте счета|сумма операции|сумма|monto|montante|objem|importe eur|movimiento|入出金|
    入出金額|ご利用金額|取引金額|交易额|发生额|сумма платежа|сумма в валюте карты|iznos|suma|
    castka v mene uctu|kwota w walucie rachunku|bedrag in euro|
    valoare|vrednost|total|netto|netto betrag`,
  debit: `soll|belastung|belastungsbetrag|lastschrift|debit|debit amount|withdrawal amt|paid out|money out|
    withdrawal|withdrawals|af|obciazenia|debet|dare|addebito|addebiti|importo di addebito|cargo|cargos|adeudo|
    uscite|ausgang|amount debit|debits|ut|ud|terheles|borc|otto|お支払金額|支払金額|出金|支出|расход|debito|
    ut fra konto|belastat|debet amount|net debit nc|obciazenie|お引出し|お引き出し|支払い金額|出金金額|
    払出金額|お引出金額|引出額|出金額|借方金额|付款金额|支出金额|sortie|sorties|saida|saidas|salidas|retiros|
    debe|uttag|bedrag af|uit|tarh|gonderilen|cikan|odliv|teret|isplata|borc tutari|out|ausgabe|ausgaben|depense|depenses|
    dr|お引き出し額`,
  credit: `haben|gutschrift|gutschriftsbetrag|credit|credit amount|deposit amt|paid in|money in|deposit|
    deposits|bij|uznania|avere|accredito|accrediti|importo di accredito|abono|abonos|entrate|eingang|
    amount credit|credits|in|ind|jovairas|alacak|pano|お預り金額|預り金額|入金|收入|приход|credito|inn|
    inn pa konto|insatt|net credit nc|uznanie|お預入れ|お預け入れ|預かり金額|入金金額|受入金額|お預入金額|
    預入額|入金額|贷方金额|收款金额|收入金额|entree|entrees|entrada|entradas|ingresos|depositos|
    haber|insattning|bedrag bij|in uit bij|gelen|giren|alacak tutari|korist|uplata|einnahme|einnahmen|recette|recettes|
    cr|お預け入れ額`,
  mark: `soll haben|s h|sh|debit credit|debit kredit|debet kredit|d c|dc|cr dr|dr cr|af bij|
    credit debit indicator|direction|soll haben kennzeichen|debet credit|belastung gutschrift|
    addebito accredito|dare avere|收 支|借贷|creditdebet|credit debet|debetcredit|tipo movimiento|smer uhrady|
    gutschrift belastung|kredit debit|accredito addebito|借贷标志|收支|d k`,
  currency: `wahrung|waehrung|buchungswahrung|whg|currency|ccy|munt|waluta|devise|monn|monnaie|divisa|div|
    moneta|valuta code|valuta|muntsoort|mena|mena uctu|payment currency|penznem|doviz|valuutta|moeda|通貨|
    币种|валюта|valutacode|devies|devise du compte|valuta rekening|waluta rachunku|osszeg devizaneme|
    devizanem|deviza|doviz cinsi|para birimi|币别|交易币种|记账币种|валюта счета|валюта платежа|net currency|
    moeda da conta|
    moneda|valuta transakcije|tx currency|account currency|kontowahrung|
    munteenheid`,
  balance: `saldo|saldo nach buchung|balance|closing balance|running balance|saldo na trn|saldo na mutatie|
    saldo po transakcji|solde|kontostand|guthaben|resulting balance|balance afterwards|bokfort saldo|zustatek|
    egyenleg|bakiye|差引残高|残高|余额|остаток|saldo contabilistico|saldo disponivel|disponible|
    accountbalance|running bal|tilgodehavende|saldo efter|konto saldo|取引後残高|現在高|現在 貸付 高|账户余额|
    本次余额|saldo disponible|
    behallning|sold|stanje|saldo po operacji|kontosaldo|available balance|balance amount|restsaldo|bilanz|
    bal|差し引き残高|saldos`,
  part: `einzelbetrag|betrag detail|importo singolo|montant individuel|montant detail|detail amount|
    individual amount`,
  charges: `fee|fees|frais|gebuhr|entgelt|total fees|commission|poplatek|oplata|commissione|comision`,
  status: `status|state|info|buchungsstatus|stan|stav|stato|statut|estado|durum|tila|交易状态|当前状态|
    status transakcji|bokningsstatus|stav transakce|
    etat`,
  name: `name zahlungsbeteiligter|auftraggeber empfanger|empfanger|begunstigter auftraggeber|
    beguenstigter zahlungspflichtiger|auftraggeber begunstigter|name|namn|partnername|partner name|payee|
    counterparty name|counter party|counterparty|naam tegenpartij|naam omschrijving|kontrahent|
    nadawca odbiorca|beneficiaire|contrepartie|nazev protiuctu|merchant name|handler|交易对方|对方户名|nom|
    nome|nombre|naam|navn|nimi|nazwa|nimi nimitys|sender empfanger|naam tegenpartij bevat|
    naam van de tegenpartij|tegenrekeninghouder|tegenpartij naam|partner elnevezese|partner nev|
    nazev protistrany|nazwa kontrahenta|dane kontrahenta|odbiorca zleceniodawca|saaja maksaja|maksaja saaja|
    text mottagare|beneficiario ordinante|ordinante beneficiario|emetteur beneficiaire|controparte|
    contraparte|alici gonderen|お相手|对方名称|对方账号与户名|
    saaja tai maksaja|maksaja tai saaja|karsi taraf|platitel prijemce|kunde|zahler empfanger|nume|naziv`,
  payer: `auftraggebername|auftraggeber|zahlungspflichtige r|zahlungspflichtiger|absender|sender|payer name|
    payer|nazwa nadawcy|nadawca|maksaja|avsandare|afsender|avsender|ordenante|ordinante|emetteur|
    donneur d ordre|remetente|付款人|付款方户名`,
  payee: `empfangername|empfanger|zahlungsempfanger in|zahlungsempfanger|payee name|payee|nazwa odbiorcy|
    odbiorca|maksunsaaja|saaja|saajan nimi|mottagare|modtager|mottaker|beneficiario|beneficiaire|begunstigde|
    destinatario|prijemce|kedvezmenyezett|alici|收款人|收款方户名`,
  account: `iban zahlungsbeteiligter|kontonummer iban|iban kontonummer|partner iban|counterparty iban|
    tegenrekening|tegenrekening iban bban|iban|account number|konto nr|kontonummer|conto no|
    rachunek kontrahenta|cislo protiuctu|对方账号|rekening tegenpartij|tegenrekeningnummer|
    rekeningnummer tegenpartij|rekening van de tegenpartij|na konto z konta|partner szamla|protiucet|
    protiucet a kod banky|cislo uctu protistrany|iban konto nr|konto nr des partners|kontonummer mottaker|
    saajan tilinumero|cuenta contraparte|compte contrepartie|compte beneficiaire|conto controparte|账号|
    对方账户`,
  text: `verwendungszweck|vorgang verwendungszweck|buchungstext|zahlungszweck|payment reference|reference|
    description|transaction description|transaktionsbeschreibung|memo|details|detail|dettaglio|text|testo|
    texte|mededelingen|omschrijving|opis transakcji|opis operacji|tytul|tytulem|libelle|concepto|
    observaciones|descrizione|causale|narrative|narration|particulars|zpravy|zprava|poznamka|popis|
    bezeichnung|avisierungstext|notification text|testo d avviso|texte de notification|rubrik|beskrivning|
    meddelande|beskrivelse|tekst|kozlemeny|megjegyzes|aciklama|viesti|selite|descricao|historico|摘要|
    お取引内容|商品说明|备注|附言|описание операции|описание|назначение платежа|vrije mededeling|motif|
    communication|communications|libelle operation|detail de l ecriture|comment|description operation|
    descrizione operazioni|descrizione completa|zpravy pro prijemce|zprava pro prijemce|forklaring|
    お取り扱い内容|取扱内容|摘要内容|入出金内容|内容|メモ|ご利用店名|商品|交易备注|用途|zahlungsgrund|title|
    tytul operacji|selitys|otsikko`,
  code: `umsatzart|buchungstext|auftragsart|vorgang|type|transaction type|type of transaction|typ|
    transaktionstyp|mutatiesoort|typ transakcji|typ transakce|tipo di ordine|type d ordre|交易分类`,
  endToEnd: `kundenreferenz end to end|end to end reference|end to end id|kundenreferenz|transactiereferentie|
    end to end|endtoend|e2e referenz`,
  creditor: `betalingskenmerk|creditor reference|strukturierte referenz|variabilni symbol|vs|referenznummer|
    referens|viite|viitenumero|gestructureerde mededeling|communication structuree|structured communication|
    qr referenz`,
  mandate: `mandatsreferenz|mandate reference|machtigingskenmerk`,
  bank: `transaction id|transaktions id|transaktionscode|transaktions nr|buchungsreferenz|zkb referenz|volgnr|
    transferwise id|bank reference|fitid|n de transaction|n di transazione|id transakce|chq ref no|
    ref no cheque no|交易订单号|референс проводки|numer referencyjny|nr transakcji|id pohybu|id operace|
    id transakcie|identifikace transakce|tranzakcio azonosito|verifikationsnummer|arkistointitunnus|
    arkivreferanse|transactienummer|volgnummer|dekont no|交易单号|流水号|referencia`,
  own: `iban auftragskonto|auftragskonto|iban kontoinhaber|eigene iban|own account|account iban|iban bban|
    rekening|rekeningnummer|numero de compte|compte|cislo uctu|номер счета|konto inhaber iban|accountnum|
    numer rachunku karty|konyvelesi szamla|vlastni ucet|eget konto|自身账号|
    account no`,
};
