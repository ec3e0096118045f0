// Every file of the corpus gives the statements that stand beside it, and files that hold the same money give the same fingerprints.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { bytesInMemory } from '../src/decoding.ts';
import { readInStream, readStatements } from '../src/read.ts';
import type { StatementLine } from '../src/statement.ts';
import { statementText } from './support/statement-text.ts';

const folder = join(import.meta.dirname, 'corpus');
const files = globSync('*.{xml,sta,ofx,csv,zip}', { cwd: folder }).toSorted();
const read = (file: string) => readStatements(readFileSync(join(folder, file)), basename(file));
const linesOf = (file: string) => read(file).statements.flatMap(({ lines }) => lines);

test('each file gives what stands beside it', () => {
  assert.ok(files.length >= 60);
  for (const file of files) {
    const beside = join(folder, `${file}.txt`);
    if (existsSync(beside)) assert.equal(statementText(read(file)), readFileSync(beside, 'utf8'), file);
    else assert.deepEqual(read(file), JSON.parse(readFileSync(join(folder, `${file}.json`), 'utf8')), file);
  }
});

/** What a file gives when it comes in pieces of a few bytes. */
function inPieces(bytes: Uint8Array, name: string, size: number) {
  const source = {
    size: bytes.length,
    *pieces() {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    },
  };
  const lines = new Map<number, StatementLine[]>();
  const { places, ...read } = readInStream(source, name, {}, (line, statement) => {
    lines.set(statement, [...(lines.get(statement) ?? []), line]);
  });
  for (const [i, statement] of read.statements.entries()) statement.lines = lines.get(places[i]!) ?? [];
  return read;
}

test('a file that comes in small pieces gives the same', () => {
  for (const file of files)
    for (const size of [7, 300])
      assert.deepEqual(
        inPieces(readFileSync(join(folder, file)), file, size),
        read(file),
        `${file} by ${size}`,
      );
});

test('what the last row of a table tells counts for all of them', () => {
  const rows = Array.from({ length: 700 }, (_, i) => `0${1 + (i % 9)}/04/2026;Order ${i};-${1 + i},00`);
  const csv = (last: string) => Buffer.from(['Date;Text;Amount (EUR)', ...rows, last].join('\n'));
  const of = (last: string) => readStatements(csv(last), 'x.csv');
  assert.deepEqual(
    of('03/04/2026;a;1,00').csv![0]!.questions.map(({ key }) => key),
    ['dates'],
  );
  for (const [last, second] of [
    ['30/04/2026;a;1,00', '2026-04-02'],
    ['04/30/2026;a;1,00', '2026-02-04'],
  ] as const) {
    const [statement] = of(last).statements;
    assert.deepEqual([statement!.lines.length, statement!.lines[1]!.bookingDay], [701, second]);
  }
  const asked = of('30/04/2026;a;1.00').csv![0]!.questions.map(({ key }) => key);
  assert.deepEqual(asked, ['decimal']);
  const told: number[] = [];
  const { places } = readInStream(bytesInMemory(csv('30/04/2026;a;(1,00)')), 'x.csv', {}, (_, statement) =>
    told.push(statement),
  );
  assert.deepEqual([places, told.length], [[], 0], 'nothing is handed on while something is asked');
});

test('the same money in 052, 053 and 054, and in another encoding, is one line', () => {
  const same = files.filter((file) => /^camt05\d-02-/.test(file));
  assert.equal(same.length, 5);
  assert.equal(new Set(same.flatMap(linesOf).map(({ fingerprint }) => fingerprint)).size, 1);
});

test('two lines alike in every field are two', () => {
  const [one, two] = linesOf('mt940-plain-two-alike.sta');
  assert.notEqual(one!.fingerprint, two!.fingerprint);
  assert.deepEqual(
    { ...one, position: 0, at: 0, fingerprint: '' },
    { ...two, position: 0, at: 0, fingerprint: '' },
  );
});

test('transactions of one entry keep their own amounts, and charges explain the difference', () => {
  const { statements } = read('camt053-08-batch-charges.xml');
  assert.deepEqual(statements[0]!.faults, []);
  assert.deepEqual(
    statements[0]!.lines.map(({ amountMinor, chargesMinor }) => [amountMinor, chargesMinor]),
    [
      [40000, 400],
      [60000, 600],
    ],
  );
});

test('pending lines and reversals are told as such', () => {
  const [pending, reversal] = linesOf('camt053-13-pending-reversal.xml');
  assert.deepEqual([pending!.status, reversal!.status], ['pending', 'booked']);
  assert.deepEqual([pending!.isReversal, reversal!.isReversal], [false, true]);
  assert.deepEqual(
    linesOf('mt940-german.sta').map(({ isReversal }) => isReversal),
    [false, true],
  );
});

test('an account without lines is a statement of its own', () => {
  const { statements } = read('camt053-06-two-accounts.xml');
  assert.deepEqual(
    statements.map(({ account, lines }) => [account.iban ?? account.other, lines.length]),
    [
      ['DE75512108001245126199', 1],
      ['0012345', 0],
    ],
  );
});

test('OFX: a number that is used twice is two lines, an empty value swallows nothing, and a correction is a fault', () => {
  const [bank] = read('ofx1-bank-sgml.ofx').statements;
  assert.deepEqual(
    bank!.lines.map(({ bookingDay, amountMinor, direction, counterparty }) => [
      bookingDay,
      amountMinor,
      direction,
      counterparty.name,
    ]),
    [
      ['2026-11-20', 4990, 'credit', 'BERG ANNA'],
      ['2026-11-19', 120000, 'debit', 'Landlord <LLC>'],
      ['2026-11-20', 750, 'credit', 'COLE BEN'],
    ],
  );
  assert.equal(new Set(bank!.lines.map(({ fingerprint }) => fingerprint)).size, 3);
  const [card] = read('ofx2-card-xml.ofx').statements;
  assert.deepEqual(
    card!.lines.map(({ currency, counterparty }) => [currency, counterparty.name]),
    [
      ['EUR', 'Café <Zoë> & Co'],
      ['GBP', 'Payment received'],
    ],
  );
  assert.match(card!.faults[0]!.text, /it corrects the transaction c0/);
  const { faults, lines } = read('ofx1-comma-iban.ofx').statements[0]!;
  assert.deepEqual(
    faults.map(({ line, text }) => [line, text]),
    [
      [10, 'This transaction is left out: the amount "viel" cannot be read.'],
      [11, 'This transaction is left out: its day "20261399" cannot be read.'],
    ],
  );
  assert.deepEqual([lines[0]!.amountMinor, lines[0]!.valueDay], [120050, '2026-11-21']);
});

test('OFX: a DOCTYPE, securities and a file that nests without end are refused in a sentence', () => {
  const refused = (text: string) => readStatements(Buffer.from(text), 'x.ofx').faults[0]!.text;
  assert.match(refused('<!DOCTYPE OFX [<!ENTITY a "b">]><OFX></OFX>'), /DOCTYPE/);
  assert.match(refused('OFXHEADER:100\n<OFX><INVSTMTRS><A>1</INVSTMTRS></OFX>'), /securities/);
  assert.match(refused(`<OFX>${'<A>'.repeat(100)}${'</A>'.repeat(100)}</OFX>`), /deep/);
  assert.match(refused('OFXHEADER:100\n<OFX></OFX>'), /no statement of an account or a card/);
});
