// Nothing that a file holds is lost or turned without a word: what is not read is a fault or a note, and what banks write oddly is read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseChoices, type ReadOptions, readStatements } from '../src/index.ts';

const rows = (...lines: string[]) => Buffer.from(lines.join('\n'));
const read = (file: Uint8Array, options?: ReadOptions) => {
  const { statements, faults, notes = [], csv } = readStatements(file, 'x', options);
  const texts = (found: readonly { text: string }[]) => found.map(({ text }) => text);
  return {
    lines: statements.flatMap(({ lines }) => lines),
    amounts: statements.flatMap(({ lines }) =>
      lines.map(({ amountMinor, direction }) => (direction === 'debit' ? -amountMinor : amountMinor)),
    ),
    faults: texts([...faults, ...statements.flatMap((one) => one.faults)]),
    notes: texts([...notes, ...statements.flatMap((one) => one.notes ?? [])]),
    questions: (csv ?? []).flatMap(({ questions }) => questions),
    statement: statements[0],
    layout: csv?.[0]?.layout,
  };
};
const chosen = (...texts: string[]): ReadOptions => {
  const choices = parseChoices(texts);
  assert.ok(typeof choices !== 'string', String(choices));
  return { choices };
};

const ofx = (body: string) =>
  rows(`OFXHEADER:100\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR<BANKACCTFROM><ACCTID>1</BANKACCTFROM>${body}
</STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>`);
const transaction = (amount: string, end = '</STMTTRN>') =>
  `<STMTTRN><TRNTYPE>OTHER<DTPOSTED>20261120<TRNAMT>${amount}<FITID>F${amount}${end}`;

test('OFX: a list that is not closed, a transaction beside it and one that is not closed are read', () => {
  const list = (text: string) => `<BANKTRANLIST><DTSTART>20261101${text}`;
  const ledger = '<LEDGERBAL><BALAMT>3.00<DTASOF>20261125</LEDGERBAL>';
  for (const body of [
    list(transaction('1.00') + transaction('2.00')) + ledger,
    `${list(transaction('1.00'))}</BANKTRANLIST>${transaction('2.00')}${ledger}`,
    `${list(transaction('1.00', '') + transaction('2.00'))}</BANKTRANLIST>${ledger}`,
    `${list(transaction('1.00', '') + transaction('2.00', ''))}</BANKTRANLIST>${ledger}`,
  ]) {
    const { amounts, faults, statement } = read(ofx(body));
    assert.deepEqual([amounts, faults, statement!.closing?.minor], [[100, 200], [], 300], body);
  }
});

test('OFX: a transaction that belongs to no statement is counted, and said', () => {
  const file = ofx(`<BANKTRANLIST>${transaction('1.00')}</BANKTRANLIST>`).toString();
  const { amounts, faults } = read(Buffer.from(file.replace('</OFX>', `${transaction('9.00')}</OFX>`)));
  assert.deepEqual(amounts, [100]);
  assert.match(faults.join(), /holds 2 transactions \(STMTTRN\), but 1 were read/);
});

test('OFX: an empty closing balance is a note, and a day or an amount that cannot be read is shown', () => {
  const body = `<BANKTRANLIST>${transaction('1.00')}${transaction('zwei')}</BANKTRANLIST><LEDGERBAL><BALAMT><DTASOF></LEDGERBAL>`;
  const { faults, notes } = read(ofx(body.replace('20261120<TRNAMT>1.00', '2026112<TRNAMT>1.00')));
  assert.match(faults.join(), /its day "2026112" cannot be read.*the amount "zwei" cannot be read/);
  assert.match(notes.join(), /closing balance \(LEDGERBAL\) is empty/);
});

const camt = (entries: string, { message = '053', body = '' } = {}) => {
  const [outer, inner] = { '052': ['R', 'Rpt'], '053': ['B', 'Stmt'], '054': ['N', 'Ntfctn'] }[message]!;
  return rows(
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.${message}.001.08"><${outer}><${inner}><Id>1</Id>`,
    `<Acct><Id><IBAN>DE75512108001245126199</IBAN></Id><Ccy>EUR</Ccy></Acct>${body}`,
    `${entries}</${inner}></${outer}></Document>`,
  );
};
const entry = (amount: string, status: string, details = '') =>
  `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd>${status}<BookgDt><Dt>2026-11-26</Dt></BookgDt><NtryDtls>${details}</NtryDtls></Ntry>`;
const BOOKED = '<Sts><Cd>BOOK</Cd></Sts>';
const part = (amount: string) => `<TxDtls><Amt Ccy="EUR">${amount}</Amt></TxDtls>`;

test('CAMT: amounts without a leading zero are read, and a batch that stays one line says why', () => {
  assert.deepEqual(read(camt(entry('2.44', BOOKED, part('.44') + part('2')))).amounts, [44, 200]);
  const spoiled = read(camt(entry('2.44', BOOKED, part('0,44') + part('2'))));
  assert.deepEqual(spoiled.amounts, [244]);
  assert.match(spoiled.faults.join(), /2 transactions of this entry stay one line: the amount "0,44"/);
  const nameless = read(camt(entry('2.44', BOOKED, '<TxDtls></TxDtls><TxDtls></TxDtls>')));
  assert.deepEqual([nameless.amounts, nameless.faults], [[244], []]);
  assert.match(nameless.notes.join(), /stay one line: 2 of them have no amount/);
  const unseen = read(camt(entry('2.44', BOOKED, '<Btch><NbOfTxs>7</NbOfTxs></Btch>')));
  assert.match(unseen.notes.join(), /stands for 7 transactions, which the file does not show/);
});

test('CAMT: an entry without a status is booked in camt.053 with a note, and a fault elsewhere', () => {
  const booked = read(camt(entry('1.00', '')));
  assert.deepEqual([booked.lines[0]!.status, booked.faults], ['booked', []]);
  assert.match(booked.notes.join(), /has no status/);
  for (const message of ['052', '054']) {
    const { lines, faults } = read(camt(entry('1.00', ''), { message }));
    assert.equal(lines[0]!.status, 'pending');
    assert.match(faults.join(), /has no status/, message);
  }
  assert.match(read(camt(entry('1.00', '<Sts><Cd>DONE</Cd></Sts>'))).faults.join(), /status "DONE"/);
});

test('CAMT: a balance without a sign gets the one that the entries lead to, else it is left out with a note', () => {
  const balance = (kind: string, amount: string, sign: string) =>
    `<Bal><Tp><CdOrPrtry><Cd>${kind}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${amount}</Amt>${sign}<Dt><Dt>2026-11-26</Dt></Dt></Bal>`;
  const debit = '<CdtDbtInd>DBIT</CdtDbtInd>';
  const both = balance('OPBD', '12.00', debit) + balance('CLBD', '2.00', '');
  const told = read(camt(entry('10.00', BOOKED), { body: both }));
  assert.deepEqual([told.statement!.closing?.minor, told.faults], [-200, []]);
  const alone = read(camt(entry('10.00', BOOKED), { body: balance('CLBD', '2.00', '') }));
  assert.deepEqual([alone.statement!.closing, alone.faults], [undefined, []]);
  assert.match(alone.notes.join(), /no sign \(CdtDbtInd\), so it is left out/);
});

test('CAMT: an entry outside of a statement is counted, and said', () => {
  const file = camt(entry('1.00', BOOKED))
    .toString()
    .replace('</B>', `${entry('5.00', BOOKED)}</B>`);
  assert.match(read(Buffer.from(file)).faults.join(), /holds 2 entries \(Ntry\), but 1 were read/);
});

const mt940 = (...entries: string[]) =>
  rows(':20:A', ':25:NL91ABNA0417164300', ':28C:1', ':60F:C261101EUR0,00', ...entries, '-');

test('MT940: blanks, missing parts, points and days of a 360-day year in :61: are read', () => {
  for (const [entry, minor, code, bank] of [
    ['261120C10,00NET NONREF', 1000, 'NET', undefined],
    ['2611201120C20,00 NTRFNONREF//B2', 2000, 'NTRF', 'B2'],
    ['261120    C30,00NTRFNONREF//B3', 3000, 'NTRF', 'B3'],
    ['261120    DD5,00NMSCNONREF//B4', -500, 'NMSC', 'B4'],
    ['261120C40.50NTRFNONREF', 4050, 'NTRF', undefined],
    ['261120C,50NTRFNONREF', 50, 'NTRF', undefined],
    ['261120C7,00', 700, undefined, undefined],
    ['261120C7,00NONREF//B5', 700, undefined, 'B5'],
    ['261120S8,00S103REF1', -800, 'S103', undefined],
    ['20261120C9,00NTRFNONREF', 900, 'NTRF', undefined],
    ['261120RC1,00NTRFNONREF', -100, 'NTRF', undefined],
  ] as const) {
    const { lines, amounts, faults } = read(mt940(`:61:${entry}`, ':86:words'));
    assert.deepEqual(faults, [], entry);
    assert.deepEqual([amounts, lines[0]!.code, lines[0]!.references.bank], [[minor], code, bank], entry);
    assert.deepEqual([lines[0]!.bookingDay, lines[0]!.text], ['2026-11-20', 'words'], entry);
  }
  const february = read(mt940(':61:1602300301DR6,00N024NONREF'));
  assert.deepEqual([february.lines[0]!.bookingDay, february.lines[0]!.valueDay], ['2016-03-01', undefined]);
  assert.match(february.notes.join(), /no value day "160230"/);
});

test('MT940: which of day, mark and amount cannot be read is said, with the piece', () => {
  for (const [entry, said] of [
    ['261320C1,00NTRF', /its day "261320" cannot be read/],
    ['2611201332C1,00NTRF', /no booking day "1332"/],
    ['261120X1,00NTRF', /its mark "X1,0"/],
    ['261120C1,2,3NTRF', /its amount "1,2,3" cannot be read/],
    ['261120CNTRF', /its mark "CNTR"/],
  ] as const)
    assert.match(read(mt940(`:61:${entry}`)).faults.join(), said, entry);
});

test('MT940: a line in the middle of a row is counted, and said', () => {
  const file = mt940(':61:261120C1,00NTRFNONREF', ':86:words:61:261121C2,00NTRFNONREF');
  assert.match(read(file).faults.join(), /holds 2 lines \(:61:\), but 1 were read/);
});

test('MT940: subfields behind a space, and several fields :86:', () => {
  const file = mt940(
    ':61:261120C1,00NTRFNONREF',
    ':86:166 ?00GUTSCHRIFT?20SVWZ+Order 7?32ANNA',
    ':61:261121C2,00NTRFNONREF',
    ':86:one',
    ':86:two',
  );
  const [first, second] = read(file).lines;
  assert.deepEqual([first!.text, first!.counterparty.name], ['Order 7\nGUTSCHRIFT', 'ANNA']);
  assert.equal(second!.text, 'one two');
});

test('CSV: a mark that differs from a minus is asked, and with it a minus turns the row', () => {
  const file = rows(
    'Date;Amount;D/C;Description;Currency',
    '2026-11-02;100,00;C;a;EUR',
    '2026-11-03;49,90;D;b;EUR',
    '2026-11-04;-20,00;C;c;EUR',
  );
  assert.deepEqual(
    read(file).questions.map(({ key }) => key),
    ['sign'],
  );
  assert.deepEqual(read(file, chosen('sign=mark')).amounts, [10000, -4990, -2000]);
});

test('CSV: a column that is the running total of others is a balance and never an amount', () => {
  const split = rows(
    'Datum;Text;Belastung;Gutschrift;Betrag CHF',
    '02.11.2026;A;;120,00;1120,00',
    '03.11.2026;B;500,00;;620,00',
    '04.11.2026;C;;5,00;625,00',
  );
  assert.deepEqual(read(split).amounts, [12000, -50000, 500]);
  const signed = rows(
    'Datum;Umsatz;Betrag in EUR;Text',
    '04.11.2026;5,00;625,00;C',
    '03.11.2026;-500,00;620,00;B',
    '02.11.2026;120,00;1120,00;A',
  );
  assert.deepEqual(read(signed).amounts, [500, -50000, 12000]);
  const wrong = read(split, chosen('day=Datum', 'amount=Betrag CHF', 'sign=signed'));
  assert.equal(wrong.lines.length, 0);
  assert.match(wrong.faults.join(), /"Betrag CHF" is the running total of "Belastung" and "Gutschrift"/);
});

test('CSV: a status that is not known is asked, and what moved no money is noted', () => {
  const file = rows(
    'Date;Amount;Status;Text;Currency',
    '2026-11-02;100,00;Processed;a;EUR',
    '2026-11-03;-49,90;Pending;b;EUR',
    '2026-11-03;-1,00;Declined;c;EUR',
  );
  assert.deepEqual(
    read(file).questions.map(({ key, words }) => [key, words]),
    [['status', ['Processed']]],
  );
  const { lines, notes } = read(file, chosen('booked=Processed'));
  assert.deepEqual(
    lines.map(({ status }) => status),
    ['booked', 'pending'],
  );
  assert.match(notes.join(), /1 with the status "Declined"/);
});

test('CSV: rows that go on with the row above are its parts or its text, and a footer is a note', () => {
  const file = rows(
    'Datum;Buchungstext;Einzelbetrag;Belastung;Gutschrift;Währung',
    '02.11.2026;Sammelauftrag;;;300,00;CHF',
    ';Muster RF18539007547034;100,00;;;CHF',
    ';Beispiel RF35ORDER1002;200,00;;;CHF',
    '03.11.2026;Miete;;500,00;;CHF',
    ';November;;;;',
    '',
    'Disclaimer:',
    'Nothing is guaranteed.',
  );
  const { lines, amounts, faults, notes } = read(file);
  assert.deepEqual([amounts, faults], [[10000, 20000, -50000], []]);
  assert.deepEqual(
    lines.map(({ text }) => text),
    ['Muster RF18539007547034', 'Beispiel RF35ORDER1002', 'Miete\nNovember'],
  );
  assert.deepEqual(lines[0]!.partOf, { minor: 30000, lines: 2 });
  assert.match(notes.join(), /The last 2 rows are no lines of the account: "Disclaimer:"/);
});

test('CSV: words between rows, and a row inside of quotation marks, are faults', () => {
  const between = rows(
    'Date;Text;Amount;Currency',
    '20.11.2026;a;-1,00;EUR',
    'Something',
    '21.11.2026;b;2,00;EUR',
  );
  assert.match(between && read(between).faults.join(), /"Something" cannot be read/);
  const swallowed = rows(
    'Date;Text;Amount;Currency',
    '20.11.2026;"a;-1,00;EUR',
    '21.11.2026;b;2,00;EUR',
    '22.11.2026;c";-3,00;EUR',
    '23.11.2026;d;4,00;EUR',
  );
  assert.match(read(swallowed).faults.join(), /stands inside quotation marks/);
});

test('CSV: names that are missing at the end of the row of names do not lose cells', () => {
  const file = rows('Datum;Betrag;Währung', '20.11.2026;-1,00;EUR;Miete', '21.11.2026;2,00;EUR;Bestellung 7');
  assert.deepEqual(
    read(file).lines.map(({ text }) => text),
    ['Miete', 'Bestellung 7'],
  );
});

test('CSV: pending rows count in some balances, a fee may stand under its transfer, and one stray balance is a note', () => {
  const names = 'Date;Status;Amount;Balance;Text;Currency';
  const pending = rows(
    names,
    '2026-11-01;Completed;100,00;100,00;a;EUR',
    '2026-11-02;Pending;-90,00;10,00;b;EUR',
    '2026-11-03;Completed;50,00;60,00;c;EUR',
  );
  const counted = read(pending);
  assert.deepEqual([counted.faults, counted.notes, counted.statement!.closing?.minor], [[], [], 15000]);
  const fee = rows(
    names,
    '2026-11-01;Completed;100,00;100,00;a;EUR',
    '2026-11-02;Completed;-50,00;48,00;transfer;EUR',
    '2026-11-02;Completed;-2,00;98,00;fee;EUR',
    '2026-11-03;Completed;1,00;49,00;c;EUR',
  );
  assert.deepEqual(read(fee).faults, []);
  const many = Array.from(
    { length: 12 },
    (_, i) => `2026-11-${String(i + 1).padStart(2, '0')};Completed;1,00;${i === 5 ? 77 : i + 1},00;t${i};EUR`,
  );
  const stray = read(rows(names, ...many), chosen('sign=signed'));
  assert.deepEqual(stray.faults, []);
  assert.match(stray.notes.join(), /balance of this row is 77.00/);
  const wrong = read(
    rows(names, ...many.map((row) => row.replace(';1,00;', ';2,00;'))),
    chosen('sign=signed'),
  );
  assert.match(wrong.faults.join(), /balance of this row/);
});

test('CSV: the one currency of the account, of its column or of a cell above is not asked for', () => {
  const account = 'DE75512108001245126199';
  const plain = ['Date;Text;Amount', '20.11.2026;a;-1,00'];
  assert.deepEqual(
    read(rows(...plain)).questions.map(({ key }) => key),
    ['currency'],
  );
  const known = { account, accounts: [{ account: 'DE75 5121 0800 1245 1261 99', currency: 'SEK' }] };
  assert.equal(read(rows(...plain), known).lines[0]!.currency, 'SEK');
  const two = { account, accounts: [...known.accounts, { account, currency: 'EUR' }] };
  assert.deepEqual(
    read(rows(...plain), two).questions.map(({ key }) => key),
    ['currency'],
  );
  assert.equal(read(rows('Currency:;="CHF"', '', ...plain)).lines[0]!.currency, 'CHF');
  assert.equal(
    read(rows('Datum;Text;Belastung CHF;Gutschrift CHF', '20.11.2026;a;1,00;')).lines[0]!.currency,
    'CHF',
  );
});
