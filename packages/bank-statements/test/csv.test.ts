// CSV: what a file tells of itself is used, what it does not tell is asked, and a row that cannot be read is a fault with its line.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertLinear } from '../../../test/support/growth.ts';
import type { ReadOptions } from '../src/csv.ts';
import { type CsvLayout, parseChoices } from '../src/csv-layout.ts';
import { CSV_PROFILES } from '../src/csv-profiles.ts';
import { csvAmount, csvDay } from '../src/csv-values.ts';
import { balanceWord } from '../src/csv-words.ts';
import { readStatements } from '../src/read.ts';

const read = (rows: readonly string[], options?: ReadOptions) =>
  readStatements(Buffer.from(rows.join('\n')), 'x.csv', options);
const choices = (...texts: string[]): ReadOptions => {
  const parsed = parseChoices(texts);
  assert.ok(typeof parsed !== 'string', String(parsed));
  return { choices: parsed };
};
const asked = (rows: readonly string[], options?: ReadOptions) => {
  const { statements, csv } = read(rows, options);
  const questions = csv![0]!.questions.map(({ key }) => key);
  assert.equal(statements.length, questions.length > 0 ? 0 : 1, 'nothing is read while something is asked');
  return questions;
};
const amounts = (rows: readonly string[], options?: ReadOptions) =>
  read(rows, options).statements[0]!.lines.map(({ amountMinor, direction }) =>
    direction === 'debit' ? -amountMinor : amountMinor,
  );
const faults = (rows: readonly string[], options?: ReadOptions) =>
  [...read(rows, options).statements.flatMap((one) => one.faults), ...read(rows, options).faults].map(
    ({ line, text }) => `${line}: ${text}`,
  );

const warnings = (rows: readonly string[], options?: ReadOptions) =>
  read(rows, options)
    .statements.flatMap(({ notes = [] }) => notes.filter(({ warning }) => warning))
    .map(({ line, text }) => `${line}: ${text}`);

test('the order of day and month is asked when the days do not tell it', () => {
  const rows = (...days: string[]) => ['Date,Text,Amount (EUR)', ...days.map((day) => `${day},a,-1.00`)];
  assert.deepEqual(asked(rows('03/04/2026', '05/06/2026')), ['dates']);
  assert.match(read(rows('03/04/2026')).faults[0]!.text, /03\/04\/2026 can be read in two ways/);
  const days = (order: string, ...written: string[]) =>
    read(rows(...written), choices(`dates=${order}`)).statements[0]!.lines.map(
      ({ bookingDay }) => bookingDay,
    );
  assert.deepEqual(days('dmy', '03/04/2026'), ['2026-04-03']);
  assert.deepEqual(days('mdy', '03/04/2026'), ['2026-03-04']);
  assert.deepEqual(asked(rows('03/04/2026', '13/04/2026')), []);
  assert.deepEqual(asked(rows('03/04/2026', '04/13/2026')), []);
  assert.deepEqual(asked(rows('13/04/2026', '04/13/2026')), ['dates'], 'days that contradict one another');
  assert.deepEqual(asked(rows('03-04-05')), ['dates']);
  assert.deepEqual(asked(rows('03.04.05')), []);
});

test('the decimal mark is asked when the amounts do not tell it, and decides every amount', () => {
  const rows = (...written: string[]) => [
    'Date;Text;Amount (EUR)',
    ...written.map((one) => `20.11.2026;a;${one}`),
  ];
  assert.deepEqual(asked(rows('-1.200', '1.500')), ['decimal']);
  assert.deepEqual(asked(rows('-1.200', '1.500,00')), []);
  assert.deepEqual(asked(rows('-1.20', '1,20')), ['decimal']);
  assert.deepEqual(amounts(rows('-1.200', '1.500'), choices('decimal=comma')), [-120000, 150000]);
  assert.deepEqual(amounts(rows('-1.200', '1.500'), choices('decimal=point')), [-120, 150]);
  assert.deepEqual(amounts(rows('-1 200,5', "1'500", '+7', '3-')), [-120050, 150000, 700, -300]);
  assert.deepEqual(amounts(rows('-12', '1200')), [-1200, 120000]);
});

test('amounts of three decimals are read in the currencies that have them, and asked for where they may be thousands', () => {
  const rows = (currency: string, ...written: string[]) => [
    'Date;Text;Amount;Currency',
    ...written.map((one) => `20.11.2026;a;${one};${currency}`),
  ];
  assert.deepEqual(asked(rows('KWD', '1.234', '-2.500')), ['decimal']);
  assert.deepEqual(asked(rows('EUR', '1.234', '-2.505')), [], 'euros have two decimals');
  assert.deepEqual(amounts(rows('KWD', '1.234', '-0.750')), [123, -75], 'no group is a zero');
  assert.deepEqual(amounts(rows('KWD', '1,234.567', '-2.500')), [123456, -250]);
  assert.deepEqual(amounts(rows('KWD', '1.234', '-2.500'), choices('decimal=comma')), [123400, -250000]);
  const beyond = (all: readonly string[], options?: ReadOptions) =>
    read(all, options).statements[0]!.lines.map((line) => line.beyond);
  assert.deepEqual(beyond(rows('TND', '1,234.567', '-2.500')), ['1234.567 TND', undefined]);
  const inCells = ['Date;Text;Amount', '20.11.2026;a;1.234 BHD', '20.11.2026;a;-2.000 BHD'];
  assert.deepEqual(asked(inCells), ['decimal']);
  assert.deepEqual(beyond(inCells, choices('decimal=point')), ['1.234 BHD', undefined]);
  const above = [
    'Date;Text;Debit;Credit;Balance',
    '20.11.2026;a;;12.345;12.345',
    '21.11.2026;b;2.346;;9.999',
  ];
  assert.deepEqual(asked(above, choices('currency=KWD')), ['decimal']);
  const read3 = choices('currency=KWD', 'decimal=point');
  assert.deepEqual([amounts(above, read3), faults(above, read3)], [[1234, -234], []]);
  const wrong = above.map((row) => row.replace('9.999', '8.999'));
  assert.match(warnings(wrong, read3)[0]!, /The balance of this row is 8\.99/);
  assert.match(
    faults(rows('EUR', '1,234.567', '-2.50'), choices('decimal=point'))[0]!,
    /"1,234\.567" cannot be read/,
  );
});

test('a mark of cents that no amount has told is not remembered', () => {
  const head = 'Date;Text;Amount (EUR);Own account';
  const account = 'DE75512108001245126199';
  const rows = (...written: string[]) => [head, ...written.map((one) => `20.11.2026;a;${one};${account}`)];
  const { shape, layout } = read(rows('-12', '1200')).csv![0]!;
  const remembered = [{ shape, account, layout: layout as CsvLayout }];
  assert.deepEqual(asked(rows('-1.200'), { remembered }), ['decimal']);
  assert.deepEqual(amounts(rows('-1.200,00'), { remembered }), [-120000]);
});

test('a form names the columns of a text in the order of the file, and the line stays the same one', () => {
  const { layout } = CSV_PROFILES.find(({ name }) => name.includes('George'))!;
  const names = Object.values(layout.columns).flat();
  const cells = { Buchungsdatum: '20.11.2026', Betrag: '-1,20', Währung: 'EUR' } as Record<string, string>;
  const profiled = [names.join(';'), names.map((name) => cells[name] ?? name).join(';')];
  const unknown = ['Date;Amount (EUR);Memo Two;Purpose', '20.11.2026;-1,20;INV-7;thanks'];
  for (const rows of [profiled, unknown]) {
    const [{ layout } = assert.fail()] = read(rows).csv!;
    const text = layout.columns.text!.toReversed();
    assert.equal(text.length, 2);
    const fingerprint = (options?: ReadOptions) => read(rows, options).statements[0]!.lines[0]!.fingerprint;
    assert.equal(fingerprint({ choices: { columns: { ...layout.columns, text } } }), fingerprint());
  }
});

test('how money out is marked is asked when no amount is marked', () => {
  const plain = ['Date;Text;Amount (EUR)', '20.11.2026;a;1,20', '21.11.2026;b;2,00'];
  assert.deepEqual(asked(plain), ['sign']);
  assert.deepEqual(amounts(plain, choices('sign=signed')), [120, 200]);
  assert.deepEqual(amounts(plain, choices('sign=inverted')), [-120, -200]);
  assert.deepEqual(amounts([plain[0]!, '20.11.2026;a;(1,20)', '21.11.2026;b;2,00']), [-120, 200]);
  assert.deepEqual(asked([plain[0]!, '20.11.2026;a;(1,20)', '21.11.2026;b;-2,00']), ['sign']);
  assert.deepEqual(amounts([plain[0]!, '20.11.2026;a;1,20 S', '21.11.2026;b;2,00 H']), [-120, 200]);
  const marked = ['Date;Text;Amount (EUR);S/H', '20.11.2026;a;1,20;S', '21.11.2026;b;2,00;H'];
  assert.deepEqual(amounts(marked), [-120, 200]);
  assert.match(
    faults([...marked, '21.11.2026;d;3,00;X'], choices('sign=mark'))[0]!,
    /^4: This row is left out/,
  );
  const turned = [...marked, '21.11.2026;c;-3,00;H', '21.11.2026;d;-4,00;S'];
  assert.deepEqual(asked(turned), ['sign'], 'a minus beside a mark that says otherwise');
  assert.deepEqual(amounts(turned, choices('sign=mark')), [-120, 200, -300, 400]);
  const same = [marked[0]!, '20.11.2026;a;-1,20;S', '21.11.2026;b;2,00;H'];
  assert.deepEqual(amounts(same), [-120, 200]);
  const split = [
    'Date;Text;Soll;Haben;Currency',
    '20.11.2026;a;-1,20;;EUR',
    '21.11.2026;b;0,00;2,00;EUR',
    '21.11.2026;b;-3,00;;EUR',
  ];
  assert.deepEqual(amounts(split), [-120, 200, -300]);
});

test('columns without names that are known, and a currency that nothing names, are asked', () => {
  const plain = ['14.3.2026;hei;-12,50', '15.3.2026;moi;7,00'];
  assert.deepEqual(asked(plain), ['columns', 'currency']);
  assert.deepEqual(amounts(plain, choices('day=#1', 'text=#2', 'amount=#3', 'currency=EUR')), [-1250, 700]);
  const named = ['Xa;Xb;Xc', ...plain];
  assert.deepEqual(asked(named), ['columns', 'currency']);
  assert.deepEqual(amounts(named, choices('day=Xa', 'amount=Xc', 'currency=EUR')), [-1250, 700]);
  assert.match(faults(named, choices('day=Xd', 'amount=Xc'))[0]!, /no column "Xd"/);
});

test('a row that cannot be read is a fault with its line, and the others are read', () => {
  const rows = (...more: string[]) => ['Date;Text;Amount;Currency', '20.11.2026;a;-1,00;EUR', ...more];
  const fault = (row: string) => {
    assert.deepEqual(amounts(rows(row, '21.11.2026;z;2,00;EUR')), [-100, 200], row);
    return faults(rows(row, '21.11.2026;z;2,00;EUR'))[0]!;
  };
  assert.match(fault('20.11.2026;a;1,0,0;EUR'), /^3: .*the amount "1,0,0" cannot be read/);
  assert.match(fault('20.11.2026;a;;EUR'), /^3: .*the amount "" cannot be read/);
  assert.match(fault('31.02.2026;a;1,00;EUR'), /^3: .*the day "31.02.2026" cannot be read/);
  assert.match(fault('20.11.2026;a;1,00;EURX'), /^3: .*the currency "EURX" is not known/);
  assert.match(fault('20.11.2026;a;b;1,00;EUR'), /^3: .*more cells than there are columns/);
  assert.match(fault('Something else'), /^3: .*cannot be read/);
  assert.match(
    faults(rows('20.11.2026;a;(1,00);EUR'), choices('sign=signed'))[0]!,
    /^3: .*the sign of the amount/,
  );
  assert.match(
    faults(rows('20.11.2026;"a;1,00;EUR')).join(),
    /^3: A quotation mark of this row is not closed/,
  );
});

test('a balance beside each row is held against the amounts, whichever way the rows run', () => {
  const rows = (...more: string[]) => ['Date;Text;Amount (EUR);Saldo', ...more];
  const [down, up] = [
    rows('21.11.2026;b;-2,00;8,00', '20.11.2026;a;10,00;10,00'),
    rows('20.11.2026;a;10,00;10,00', '20.11.2026;b;-2,00;8,00'),
  ];
  for (const good of [down, up]) {
    const [statement] = read(good).statements;
    assert.deepEqual([statement!.opening?.minor, statement!.closing?.minor], [0, 800]);
    assert.deepEqual(statement!.faults, []);
  }
  assert.deepEqual(warnings(rows('20.11.2026;a;10,00;10,00', '20.11.2026;b;-2,00;8,01')), [
    '3: The balance of this row is 8.01, but 10.00 before it and -2.00 give 8.00.',
  ]);
  const turned = rows('20.11.2026;a;-10,00;90,00', '21.11.2026;b;2,00;88,00', '22.11.2026;c;-1,00;89,00');
  assert.match(faults(turned).join(), /The balance of this row is 88\.00/);
  const withoutOne = rows('20.11.2026;a;10,00;10,00', '20.11.2026;b;-2,00;', '21.11.2026;c;-3,00;5,00');
  assert.deepEqual(faults(withoutOne), []);
});

test('two rows alike are two lines, and a file again has the same ones', () => {
  const rows = ['Date;Text;Amount (EUR)', '20.11.2026;a;-1,00', '20.11.2026;a;-1,00'];
  const prints = (of: readonly string[]) =>
    read(of).statements[0]!.lines.map(({ fingerprint }) => fingerprint);
  assert.equal(new Set(prints(rows)).size, 2);
  assert.deepEqual(prints(rows), prints([...rows, '19.11.2026;b;-3,00']).slice(0, 2));
});

test('the account is the one that the file names, else the one that was chosen', () => {
  const chosen = { account: 'DE75 5121 0800 1245 1261 99' };
  const own = (rows: readonly string[]) => read(rows, chosen).statements[0]!.account.iban;
  const rows = ['Date;Text;Amount (EUR)', '20.11.2026;a;-1,00'];
  assert.equal(own(rows), 'DE75512108001245126199');
  assert.equal(own(['Konto;DE96500700100012345678 / Giro', ...rows]), 'DE96500700100012345678');
  assert.equal(
    own(['Konto;DE97500700100012345678', ...rows]),
    'DE75512108001245126199',
    'wrong check digits',
  );
});

test('a layout that was remembered answers what would be asked of the same account', () => {
  const rows = ['Date,Text,Amount,Own account', '03/04/2026,a,1.00,DE75512108001245126199'];
  const { shape, layout } = read(rows, choices('dates=mdy', 'sign=signed', 'currency=EUR')).csv![0]!;
  const whole = layout as CsvLayout;
  assert.deepEqual(asked(rows), ['dates', 'sign', 'currency']);
  const kept = { shape, account: 'DE75512108001245126199', layout: whole };
  const other = {
    ...kept,
    account: 'DE96500700100012345678',
    layout: { ...kept.layout, dates: 'dmy' } as never,
  };
  const day = (...remembered: (typeof kept)[]) =>
    read(rows, { remembered }).statements[0]?.lines[0]?.bookingDay;
  assert.equal(day(other, kept), '2026-03-04');
  assert.equal(day(other), undefined, 'another account is asked: its signs may be others');
  assert.equal(day({ ...kept, shape: 'x' }), undefined);
});

test('days and amounts that are none are refused, whatever they look like', () => {
  for (const text of [
    '',
    '-',
    '1.2.3',
    '12,34,56',
    '1.23.456',
    '1,2345',
    '1e3',
    '--1',
    '(1',
    '1)',
    '12 XQX',
    'EUR',
    '9999999999999,00',
  ])
    for (const mark of ['comma', 'point'] as const)
      assert.equal(csvAmount(text, mark), undefined, `${text} ${mark}`);
  for (const text of ['', '31.04.2026', '2026', '1.1', '20.11.', '00.11.2026', '20/11.2026', '20.11.20265'])
    assert.equal(csvDay(text, 'dmy'), undefined, text);
  assert.equal(csvDay('1 Sept 2026', 'dmy'), '2026-09-01');
});

test('exports of at least ten banks, Wise, Revolut and PayPal are known by their columns', () => {
  const names = CSV_PROFILES.map(({ name }) => name);
  assert.ok(new Set(names).size === names.length && names.length >= 25);
  for (const service of [
    'Wise',
    'Revolut',
    'PayPal',
    'Sparkasse (CSV-CAMT)',
    'DKB',
    'N26',
    'Monzo',
    'Rabobank',
  ])
    assert.ok(names.includes(service), service);
  for (const { name, layout, needed } of CSV_PROFILES)
    assert.ok(layout.columns.day && needed.length >= 4, name);
});

test('a text of many spaces is no amount, and costs no more than it is long', async () => {
  for (const part of [' ', ' .'])
    await assertLinear(
      (count) => assert.equal(csvAmount(`1${part.repeat(count)}x`, 'comma'), undefined),
      5000,
    );
});

test('a customer’s words that begin like a balance are no balance', () => {
  for (const text of [
    'Total Fitness Ltd',
    'Total Gas',
    'Saldo Rechnung 4711',
    'Summe aller Teile',
    'Kontostand Verlag',
  ])
    assert.equal(balanceWord(text), undefined, text);
  for (const text of [
    'Endsaldo',
    'Saldo am 30.11.2026',
    'Kontostand: EUR',
    'Total',
    'Closing balance 2026-11-30',
  ])
    assert.equal(balanceWord(text), 'closing', text);
});
