// Encodings are told by what stands in the words of a file, and one that is chosen is taken.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENCODINGS, type Encoding, readStatements } from '../src/index.ts';

/** What each byte, and of two-byte encodings each pair of bytes, stands for: the other way round than a decoder has it. */
function encoderOf(encoding: string): (text: string) => Uint8Array {
  const decoder = new TextDecoder(encoding);
  const bytesOf = new Map<string, number[]>();
  const learn = (bytes: number[]) => {
    const sign = decoder.decode(Uint8Array.from(bytes));
    if (sign.length === 1 && sign !== '\ufffd' && !bytesOf.has(sign)) bytesOf.set(sign, bytes);
  };
  for (let byte = 0; byte < 256; byte++) learn([byte]);
  if (encoding === 'shift_jis' || encoding === 'gb18030')
    for (let lead = 0x81; lead < 0xff; lead++)
      for (let trail = 0x40; trail < 0xff; trail++) learn([lead, trail]);
  return (text) =>
    Uint8Array.from(
      [...text].flatMap((sign) => bytesOf.get(sign) ?? assert.fail(`${encoding} has no ${sign}`)),
    );
}

/** A row of names and a text, as banks of a country write them. */
const FILES: readonly (readonly [Encoding, string, string, string])[] = [
  ['windows-1250', 'PLN', 'Data operacji;Opis;Kwota', 'PRZELEW PRZYCHODZĄCY OD ŻANETA ŁĄCKA'],
  ['iso-8859-2', 'PLN', 'Data operacji;Tytuł;Kwota', 'Przelew od Żaneta Łącka, źródło świąteczne'],
  ['windows-1250', 'CZK', 'Datum;Zpráva pro příjemce;Částka', 'Šťastný Dvořák, objednávka'],
  ['windows-1250', 'HUF', 'Könyvelés dátuma;Közlemény;Összeg', 'Őry Győző fűtés'],
  ['windows-1251', 'RUB', 'Дата операции;Описание;Сумма', 'Перевод средств за ЗАКАЗ 17'],
  ['koi8-r', 'RUB', 'Дата операции;Описание;Сумма', 'Перевод средств за ЗАКАЗ 17'],
  ['windows-1253', 'EUR', 'Date;Description;Amount', 'Πληρωμή παραγγελίας'],
  ['iso-8859-7', 'EUR', 'Date;Description;Amount', 'Ενοίκιο Άννα Παπαδοπούλου'],
  ['koi8-u', 'UAH', 'Дата;Описание;Сумма', 'Переказ від Їжакевич Євген'],
  ['cp866', 'RUB', 'Дата операции;Описание;Сумма', 'Перевод средств за ЗАКАЗ 17'],
  ['windows-1254', 'TRY', 'Tarih;Açıklama;Tutar', 'GELEN HAVALE AYŞE YILDIZ ığdır'],
  ['iso-8859-9', 'TRY', 'Tarih;Açıklama;Tutar', 'İşlem ücreti, Çağrı Öğün'],
  ['windows-1255', 'ILS', 'Date;Description;Amount', 'תשלום עבור הזמנה'],
  ['windows-1256', 'AED', 'Date;Description;Amount', 'تحويل من نور الهدى'],
  ['windows-1257', 'EUR', 'Date;Description;Amount', 'Sąskaita už šventę, ėjo žmogus'],
  ['windows-1252', 'EUR', 'Buchungstag;Verwendungszweck;Betrag', 'Überweisung für Müller, Straße „Süd“'],
  ['windows-1252', 'EUR', 'Date;Libellé;Montant', 'Opération à l’étranger, café François'],
  ['windows-1252', 'SEK', 'Bokföringsdag;Beskrivning;Belopp', 'Överföring från Åsa'],
  ['iso-8859-15', 'EUR', 'Buchungstag;Verwendungszweck;Betrag', 'Überweisung für Müller, 5 €'],
  ['shift_jis', 'JPY', '日付;摘要;金額', '振込 ﾔﾏﾀﾞ ﾀﾛｳ 家賃'],
  ['shift_jis', 'JPY', '日付;摘要;金額', '十一月分 家賃 ソフト表示能力'],
  ['gb18030', 'CNY', '交易日期;摘要;金额', '张三 订单付款'],
];

test('a file is read in the encoding in which it was written, without a word about it', () => {
  for (const [encoding, currency, names, text] of FILES) {
    const rows = [
      `${names};${currency}`,
      `2026-11-20;${text};-1,00;${currency}`,
      `2026-11-21;${text};2,00;${currency}`,
    ];
    const file = encoderOf(encoding)(rows.join('\n').replace(`${names};${currency}`, `${names};Currency`));
    const { statements, notes, faults } = readStatements(file, 'x.csv');
    assert.deepEqual([faults, notes], [[], undefined], encoding);
    assert.deepEqual(
      statements[0]!.lines.map((line) => line.text),
      [text, text],
      encoding,
    );
  }
});

test('UTF-16 without a mark is told by its zeros, whatever its letters', () => {
  const text = 'Дата;Описание;Сумма;Валюта\n2026-11-20;Перевод за заказ;-1,00;RUB';
  const little = Buffer.from(text, 'utf16le');
  for (const bytes of [little, Buffer.from(little).swap16()]) {
    const { statements } = readStatements(bytes, 'x.csv');
    assert.equal(statements[0]?.lines[0]?.text, 'Перевод за заказ');
  }
});

test('the encoding that is chosen is taken, and bytes that do not tell theirs are noted', () => {
  const file = encoderOf('windows-1250')('Date;Text;Amount;Currency\n2026-11-20;Łódź;-1,00;EUR');
  const textOf = (encoding?: Encoding) =>
    readStatements(file, 'x.csv', encoding && { encoding }).statements[0]!.lines[0]!.text;
  assert.equal(textOf(), 'Łódź');
  assert.equal(textOf('windows-1252'), '£ódŸ');
  assert.ok(ENCODINGS.includes('cp437') && ENCODINGS.includes('koi8-r'));
});

test('a few bytes that are not UTF-8 in a file that is cost these characters alone, with a note', () => {
  const good = Buffer.from(
    'Date;Text;Amount;Currency\n2026-11-20;Żaneta Łącka śniło się;-1,00;EUR\n2026-11-21;b',
  );
  const file = Buffer.concat([good, Buffer.from([0xff]), Buffer.from(';2,00;EUR')]);
  const { statements, notes } = readStatements(file, 'x.csv');
  assert.deepEqual(
    statements[0]!.lines.map(({ text }) => text),
    ['Żaneta Łącka śniło się', 'b\ufffd'],
  );
  assert.match(notes![0]!.text, /UTF-8 but for one byte, shown as \ufffd/);
});
