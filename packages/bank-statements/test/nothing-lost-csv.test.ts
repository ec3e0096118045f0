// Nothing that a CSV file holds is lost or turned without a word: what is not read is a fault or a note, and what is not told is asked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chosen, read, rows } from './support/read-rows.ts';

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

test('CSV: parts may stand in the column of amounts, or repeat the day; what is no part is a fault', () => {
  const names = 'Datum;Text;Einzelbetrag;Betrag;Währung';
  const first = '02.11.2026;Sammler;;300,00;CHF';
  const last = '03.11.2026;Miete;;-5,00;CHF';
  for (const [part, other] of [
    [';A;;100,00;', ';B;;200,00;'],
    ['02.11.2026;A;100,00;;CHF', '02.11.2026;B;200,00;;CHF'],
  ] as const) {
    const { amounts, faults } = read(rows(names, first, part, other, last));
    assert.deepEqual([amounts, faults], [[10000, 20000, -500], []]);
  }
  const none = read(rows(names, first, ';A;;100,00;', ';B;;150,00;', last));
  assert.deepEqual(none.amounts, [30000, -500]);
  assert.equal(none.faults.length, 2);
  assert.match(none.faults.join(), /the day "" cannot be read/);
});

test('CSV: a minus in the column for money out, where other amounts have none, is a fault', () => {
  const file = rows(
    'Datum;Text;Belastung;Gutschrift;Währung',
    '02.11.2026;a;49,90;;EUR',
    '03.11.2026;b;-20,00;;EUR',
  );
  const { amounts, faults } = read(file);
  assert.deepEqual(amounts, [-4990]);
  assert.match(faults.join(), /"-20,00" is in the column for money out, where some have a minus/);
});

test('CSV: a sum below the rows is a note, and balances are read with the other decimal mark', () => {
  const file = rows(
    'Datum;Text;Belastung;Gutschrift;Saldo CHF',
    '20.11.2026;a;1,00;;1,234.00',
    '21.11.2026;b;;2,00;1,236.00',
    'Total;;1,00;2,00;',
  );
  const { amounts, faults, notes, statement } = read(file);
  assert.deepEqual([amounts, faults, statement!.closing?.minor], [[-100, 200], [], 123600]);
  assert.match(notes.join(), /The last row is no line.*"Total 1,00 2,00"/);
  const one = read(
    rows('Datum;Text;Betrag;Währung', '20.11.2026;a;-1,00;EUR', '21.11.2026;b;3,00;EUR', 'Summe;;2,00;EUR'),
  );
  assert.deepEqual([one.faults, one.statement!.closing], [[], undefined]);
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
  const byNames = rows(
    '"Date";"Text";"Amount";"Currency";"',
    '"20.11.2026";"a";"-1,00";"EUR"',
    '"21.11.2026";"b";"-2,00";"EUR"',
  );
  assert.match(read(byNames).faults.join(), /stands inside quotation marks/);
  const joined = rows('Date;Text;Amount;Currency;20.11.2026;a;-1,00;EUR', '21.11.2026;b;-2,00;EUR');
  assert.match(read(joined).faults.join(), /row of names holds a line as well/);
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
