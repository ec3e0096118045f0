// Writes lines as banks do, in each format that is read, with the liberties that banks take: for holding readers against them.
import { formatAmount } from '../../../../src/lib/money.ts';
import type { SeededRandom } from '../../../../test/support/seeded-random.ts';

/** What is written of a line. Texts have single spaces, and letters, digits and spaces alone where a format cannot hold more. */
export interface WrittenLine {
  /** YYYY-MM-DD. */
  day: string;
  minor: number;
  direction: 'credit' | 'debit';
  isPending: boolean;
  name: string;
  text: string;
  bank: string;
}

export const WRITTEN_ACCOUNT = 'DE13430609671234567890';
export const WRITTEN_FORMATS = ['camt.052', 'camt.053', 'camt.054', 'mt940', 'ofx1', 'ofx2', 'csv'] as const;
export type WrittenFormat = (typeof WRITTEN_FORMATS)[number];

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const oneOf = <T>(random: SeededRandom, ...choices: readonly T[]): T =>
  choices[random.between(0, choices.length - 1)]!;
const short = (day: string) => day.slice(2).replaceAll('-', '');

/** Versions before 08 have the status as text and parties without `Pty`. */
function camtText(lines: readonly WrittenLine[], message: string, random: SeededRandom): string {
  const version = random.between(2, 13);
  const [outer, inner] = { '052': ['A', 'Rpt'], '053': ['A', 'Stmt'], '054': ['A', 'Ntfctn'] }[message]!;
  const status = (code: string) => (version < 8 ? code : `<Cd>${code}</Cd>`);
  const party = (name: string) => (version < 8 ? `<Nm>${name}</Nm>` : `<Pty><Nm>${name}</Nm></Pty>`);
  const entries = lines.map(({ day, minor, direction, isPending, name, text, bank }) => {
    const kind = direction === 'credit' ? 'Dbtr' : 'Cdtr';
    const written = oneOf(random, `<Dt>${day}</Dt>`, `<DtTm>${day}T23:30:00-05:00</DtTm>`);
    const whole = minor % 100 === 0 && random.chance(0.5) ? String(minor / 100) : formatAmount(minor);
    const amount = random.chance(0.3) ? whole.replace(/^0\./, '.') : whole;
    return `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${direction === 'credit' ? 'CRDT' : 'DBIT'}</CdtDbtInd><Sts>${status(isPending ? 'PDNG' : 'BOOK')}</Sts>
<BookgDt>${written}</BookgDt><AcctSvcrRef>${bank}</AcctSvcrRef><NtryDtls><TxDtls><RltdPties><${kind}>${party(escaped(name))}</${kind}></RltdPties>
<RmtInf><Ustrd>${escaped(text)}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.${message}.001.${String(version).padStart(2, '0')}"><${outer}>
<${inner}><Id>1</Id><Acct><Id><IBAN>${WRITTEN_ACCOUNT}</IBAN></Id><Ccy>EUR</Ccy></Acct>${entries.join('\n')}</${inner}></${outer}></Document>`;
}

const pieces = (text: string, size: number) =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size));

function mt940Text(lines: readonly WrittenLine[], random: SeededRandom): string {
  const separator = oneOf(random, '?', '~', '<');
  const end = oneOf(random, '\r\n', '\n');
  const fields = lines.flatMap(({ day, minor, direction, name, text, bank }) => {
    const amount = oneOf(
      random,
      formatAmount(minor),
      minor % 100 === 0 ? `${minor / 100}.` : formatAmount(minor),
    );
    const mark = direction === 'credit' ? 'C' : 'D';
    const purpose = pieces(text, 27).map((piece, i) => `${separator}${20 + i}${piece}`);
    const parties = pieces(name, 27).map((piece, i) => `${separator}${32 + i}${piece}`);
    const information = `166${[...purpose, ...parties].join('')}`;
    return [
      `:61:${short(day)}${oneOf(random, day.slice(5).replace('-', ''), '', '    ')}${mark}${random.chance(0.3) ? 'R' : ''}${amount.replace('.', oneOf(random, ',', ',', '.'))}${oneOf(random, 'NTRF', ' NTRF', 'NET ')}NONREF//${bank}`,
      ...pieces(`:86:${information}`, 65),
    ];
  });
  return [':20:START', `:25:${WRITTEN_ACCOUNT}`, ':28C:1', ':60F:C200101EUR0,', ...fields, '-'].join(end);
}

function ofxText(lines: readonly WrittenLine[], version: 1 | 2, random: SeededRandom): string {
  const tag = (name: string, value: string) =>
    `<${name}>${value}${version === 2 ? `</${name}>` : oneOf(random, '', '\n')}`;
  const sign = (minor: number, direction: string) =>
    `${direction === 'debit' && minor !== 0 ? '-' : oneOf(random, '', '+')}${formatAmount(minor).replace('.', oneOf(random, '.', ','))}`;
  // Some banks close neither the transactions nor their list.
  const [end, listEnd] =
    version === 1
      ? oneOf(
          random,
          ['</STMTTRN>', '</BANKTRANLIST>'],
          ['</STMTTRN>', ''],
          ['', '</BANKTRANLIST>'],
          ['', ''],
        )
      : ['</STMTTRN>', '</BANKTRANLIST>'];
  const rows = lines.map(
    ({ day, minor, direction, name, text, bank }) =>
      `<STMTTRN>${tag('TRNTYPE', 'OTHER')}${tag('DTPOSTED', day.replaceAll('-', '') + oneOf(random, '', '235959.000[-5:EST]'))}${tag('TRNAMT', sign(minor, direction))}${tag('FITID', bank)}${tag('NAME', escaped(name))}${tag('MEMO', escaped(text))}${end}\n`,
  );
  const head =
    version === 1
      ? 'OFXHEADER:100\nVERSION:102\n\n'
      : '<?xml version="1.0"?>\n<?OFX OFXHEADER="200" VERSION="220"?>\n';
  return `${head}<OFX><STMTRS>${tag('CURDEF', 'EUR')}<BANKACCTFROM>${tag('ACCTID', WRITTEN_ACCOUNT)}</BANKACCTFROM><BANKTRANLIST>${rows.join('')}${listEnd}</STMTRS></OFX>`;
}

/** How a CSV file was written, which a reader may not know. */
export interface CsvWritten {
  dates: 'dmy' | 'mdy' | 'ymd';
  decimal: 'comma' | 'point';
  sign: 'signed' | 'brackets' | 'columns' | 'mark';
}

/** Names of columns: day, who, what for, amount, money out, money in, currency. */
const NAMES = [
  'Booking date|Name|Description|Amount|Debit|Credit|Currency',
  'Buchungstag|Empfänger|Verwendungszweck|Betrag|Soll|Haben|Währung',
  'Date de comptabilisation|Contrepartie|Libellé|Montant|Débit|Crédit|Devise',
  'Data contabile|Beneficiario|Descrizione|Importo|Dare|Avere|Divisa',
  'Fecha contable|Beneficiario|Concepto|Importe|Cargo|Abono|Divisa',
  'Boekdatum|Naam tegenpartij|Omschrijving|Bedrag|Af|Bij|Munt',
  'Data lançamento|Beneficiário|Descrição|Valor|Débito|Crédito|Moeda',
  'Data operacji|Kontrahent|Opis transakcji|Kwota|Obciążenia|Uznania|Waluta',
  'Datum zaúčtování|Název protiúčtu|Zpráva|Částka|Debet|Kredit|Měna',
  'Bokföringsdag|Mottagare|Beskrivning|Belopp|Ut|In|Valuta',
];

function csvText(lines: readonly WrittenLine[], how: CsvWritten, random: SeededRandom): string {
  const delimiter = oneOf(random, ';', ',', '\t', '|');
  const [point, group] =
    how.decimal === 'comma' ? [',', oneOf(random, '', '.', ' ')] : ['.', oneOf(random, '', ',', "'")];
  const separator = how.dates === 'ymd' ? '-' : oneOf(random, '/', '-');
  const cell = (text: string) =>
    random.chance(0.3) || /["'\r\n]/.test(text) || text.includes(delimiter)
      ? `"${text.replaceAll('"', '""')}"`
      : text;
  const day = (iso: string) => {
    const [year, month, date] = iso.split('-') as [string, string, string];
    const parts = { dmy: [date, month, year], mdy: [month, date, year], ymd: [year, month, date] }[how.dates];
    return parts.join(separator);
  };
  const number = (minor: number) => {
    const [whole, cents] = formatAmount(minor).split('.') as [string, string];
    const isWhole = cents === '00' && random.chance(0.5);
    return whole.replace(/\B(?=(\d{3})+$)/g, group!) + (isWhole ? '' : point + cents);
  };
  const amounts = ({ minor, direction }: WrittenLine): string[] => {
    const text = number(minor);
    const isOut = direction === 'debit' && minor !== 0;
    if (how.sign === 'columns') return isOut ? [text, ''] : ['', text];
    if (how.sign === 'mark') return [text, isOut ? 'S' : 'H'];
    return [isOut ? (how.sign === 'signed' ? `-${text}` : `(${text})`) : text, ''];
  };
  const [dayName, who, what, amount, debit, credit, currency] = oneOf(random, ...NAMES).split(
    '|',
  ) as string[];
  const names = how.sign === 'columns' ? [debit!, credit!] : [amount!, 'S/H'];
  const head = [dayName!, who!, what!, ...names, currency!, 'Transaction ID', 'IBAN Auftragskonto'];
  const rows = lines.map((line) => [
    day(line.day),
    line.name,
    line.text,
    ...amounts(line),
    'EUR',
    line.bank,
    WRITTEN_ACCOUNT,
  ]);
  const above = random.chance(0.5) ? [['Export', '2026'], ['']] : [];
  return [...above, head, ...rows]
    .map((cells) => cells.map(cell).join(delimiter))
    .join(oneOf(random, '\r\n', '\n'));
}

/** A file that holds `lines` of `WRITTEN_ACCOUNT` in EUR. */
export function writtenFile(
  lines: readonly WrittenLine[],
  format: WrittenFormat,
  csv: CsvWritten,
  random: SeededRandom,
): Buffer {
  if (format === 'csv')
    return Buffer.from((random.chance(0.3) ? '\ufeff' : '') + csvText(lines, csv, random));
  if (format === 'mt940') return Buffer.from(mt940Text(lines, random));
  if (format === 'ofx1' || format === 'ofx2')
    return Buffer.from(ofxText(lines, format === 'ofx1' ? 1 : 2, random));
  return Buffer.from(camtText(lines, format.slice(5), random));
}
