// Nothing that a file holds is lost or turned without a word: what is not read is a fault or a note, and what banks write oddly is read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readStatements } from '../src/index.ts';
import { read, rows } from './support/read-rows.ts';

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

test('CAMT: what its summary counts is held against what is read, and batches against their number', () => {
  const body = '<TxsSummry><TtlNtries><NbOfNtries>2</NbOfNtries></TtlNtries></TxsSummry>';
  assert.match(read(camt(entry('1.00', BOOKED), { body })).faults.join(), /holds 2 entries.*shows 1/);
  const batch = `<Btch><NbOfTxs>3</NbOfTxs></Btch>${part('1.00')}${part('2.00')}`;
  assert.match(
    read(camt(entry('3.00', BOOKED, batch))).notes.join(),
    /3 transactions, of which the file shows 2/,
  );
});

test('CAMT: words in other letters, a minus as a sign, a bare day and control characters are read', () => {
  const bal = (kind: string, amount: string) =>
    `<Bal><Tp><CdOrPrtry><Prtry>${kind}</Prtry></CdOrPrtry></Tp><Amt Ccy="EUR">${amount}</Amt></Bal>`;
  const file = camt(entry('+5.00', '<Sts>Booked</Sts>'), { body: bal('OPBD', '-5.00') + bal('CLBD', '0.00') })
    .toString()
    .replace('CRDT', 'crdt')
    .replace(
      '<BookgDt><Dt>2026-11-26</Dt></BookgDt>',
      '<BookgDt>2026-11-26</BookgDt><AddtlNtryInf>a\u0001b</AddtlNtryInf>',
    );
  const { amounts, faults, statement, lines } = read(Buffer.from(`\n<?xml version="1.0"?>${file}\u001a`));
  assert.deepEqual([amounts, faults, statement!.opening?.minor], [[500], [], -500]);
  assert.deepEqual([lines[0]!.status, lines[0]!.bookingDay, lines[0]!.text], ['booked', '2026-11-26', 'a b']);
  const wrong = entry('1.00', BOOKED).replace('</BookgDt>', '</BookgDt><ValDt><Dt>2026-02-30</Dt></ValDt>');
  assert.match(read(camt(wrong)).notes.join(), /value day "2026-02-30"/);
});

test('OFX: amounts with groups, brackets or a minus behind are read, and money out without a minus is said', () => {
  const list = (...amounts: string[]) =>
    ofx(`<BANKTRANLIST>${amounts.map((amount) => transaction(amount)).join('')}</BANKTRANLIST>`);
  assert.deepEqual(read(list('1 234.56', '(5.00)', '5.00-', 'R$ 1,00')).amounts, [123456, -500, -500, 100]);
  assert.match(read(list('1,234')).faults.join(), /amount "1,234" cannot be read/);
  const turned = (...amounts: string[]) =>
    read(
      Buffer.from(
        list(...amounts)
          .toString()
          .replace('OTHER', 'DEBIT'),
      ),
    );
  assert.match(turned('5.00').faults.join(), /is a DEBIT, but its amount has no minus/);
  assert.match(turned('5.00', '-1.00').notes.join(), /is a DEBIT/);
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
    ['261120D1.234,56NTRFNONREF', -123456, 'NTRF', undefined],
    ['261120C1 234,56NTRFNONREF', 123456, 'NTRF', undefined],
    ['261120c1,00NTRFNONREF', 100, 'NTRF', undefined],
    ['202611201120C1,00NTRFNONREF', 100, 'NTRF', undefined],
    ['2611200000C1,00NTRFNONREF', 100, 'NTRF', undefined],
    ['261120C1,00TRFNONREF', 100, 'TRF', undefined],
    ['261120C1,00.NONREF//B6', 100, undefined, 'B6'],
    ['261120C1,00FNONREF', 100, 'F', undefined],
    ['261120C1,00 N TRF NONREF', 100, 'NTRF', undefined],
    ['261120C1,00 TRF NONREF', 100, 'TRF', undefined],
  ] as const) {
    const { lines, amounts, faults } = read(mt940(`:61:${entry}`, ':86:words'));
    assert.deepEqual(faults, [], entry);
    assert.deepEqual([amounts, lines[0]!.code, lines[0]!.references.bank], [[minor], code, bank], entry);
    assert.match(lines[0]!.references.owner ?? 'REF1', /^REF1$/, entry);
    assert.deepEqual([lines[0]!.bookingDay, lines[0]!.text], ['2026-11-20', 'words'], entry);
  }
  const february = read(mt940(':61:1602300301DR6,00N024NONREF'));
  assert.deepEqual([february.lines[0]!.bookingDay, february.lines[0]!.valueDay], ['2016-03-01', undefined]);
  assert.match(february.notes.join(), /no value day "160230"/);
});

test('MT940: a day of a 360-day year that is alone or the booking day is the last of its month, with a note', () => {
  for (const [entry, bookingDay, valueDay] of [
    ['260230C6,00NTRF', '2026-02-28', undefined],
    ['1602290230C6,00NTRF', '2016-02-29', '2016-02-29'],
  ] as const) {
    const { lines, faults, notes } = read(mt940(`:61:${entry}`));
    assert.deepEqual([lines[0]?.bookingDay, lines[0]?.valueDay, faults], [bookingDay, valueDay, []], entry);
    assert.match(notes.join(), /The calendar has no/);
  }
});

test('a file that ends too early says so: MT940 without a closing balance, OFX without its end', () => {
  assert.match(read(mt940(':61:261120C10,00NTRF')).notes.join(), /no closing balance \(:62F:\)/);
  const cut = ofx(`<BANKTRANLIST>${transaction('1.00')}${transaction('2.00')}`).subarray(0, -60);
  assert.match(read(cut).faults.join(), /<\/OFX> is missing: fetch it again/);
});

test('CAMT: sums of the summary that the entries do not come to are a warning', () => {
  const summary = (name: string, sum: string) =>
    read(camt(entry('9.00', BOOKED), { body: `<TxsSummry><${name}><Sum>${sum}</Sum></${name}></TxsSummry>` }))
      .notes;
  for (const name of ['TtlNtries', 'TtlCdtNtries', 'TtlDbtNtries']) {
    assert.deepEqual(summary(name, name === 'TtlDbtNtries' ? '0' : '9'), []);
    assert.match(summary(name, '19').join(), /summary says 19\.00/);
  }
});

test('MT940: a second opening balance in one message is another page of it', () => {
  const [first, second] = readStatements(
    mt940(
      ':61:261120C10,00NTRF',
      ':62M:C261120EUR10,00',
      ':60M:C261120EUR10,00',
      ':61:261121C1,00NTRF',
      ':62F:C261121EUR11,00',
    ),
    'x',
  ).statements;
  assert.deepEqual([first!.faults, second!.faults], [[], []]);
  assert.deepEqual(
    [first!.closing?.minor, second!.opening?.minor, second!.closing?.minor],
    [1000, 1000, 1100],
  );
});

test('MT940, OFX and CAMT: the account and its one currency come from those that are known, if the file names none', () => {
  const account = 'NL91ABNA0417164300';
  const known = { account, accounts: [{ account, currency: 'SEK' }] };
  for (const file of [
    rows(':20:A', ':28C:1', ':61:261120C1,00NTRF'),
    rows(':20:A', `:25:${account}`, ':28C:1', ':61:261120C1,00NTRF'),
    Buffer.from(
      ofx(`<BANKTRANLIST>${transaction('1.00')}</BANKTRANLIST>`)
        .toString()
        .replace(/<CURDEF>EUR<BANKACCTFROM>.*<\/BANKACCTFROM>/, ''),
    ),
  ]) {
    const { lines, faults, statement } = read(file, known);
    assert.deepEqual([faults, lines[0]?.currency, statement?.account.iban], [[], 'SEK', account]);
  }
  const camtFile = camt(entry('1.00', BOOKED))
    .toString()
    .replace(/<Acct>.*<\/Acct>/, '');
  assert.equal(read(Buffer.from(camtFile), known).statement!.account.iban, account);
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
