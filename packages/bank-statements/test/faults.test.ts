// What is wrong with a statement is said with its line, and a file that is refused costs one sentence and nothing else.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32, deflateRawSync } from 'node:zlib';
import { entryLines } from '../src/camt-entry.ts';
import { readStatements } from '../src/read.ts';
import type { XmlElement } from '../src/xml.ts';

const sample = (file: string) => readFileSync(join(import.meta.dirname, 'corpus', file));
const camt = sample('camt053-02-german.xml').toString();
const mt940 = sample('mt940-german.sta').toString();

/** The faults of a file, those inside its statements first, each as `line: text`. */
function faultsOf(content: string | Uint8Array): string[] {
  const { statements, faults } = readStatements(Buffer.from(content), 'file');
  return [...statements.flatMap((one) => one.faults), ...faults].map(({ line, text }) => `${line}: ${text}`);
}

interface Packed {
  name: string;
  content: Uint8Array;
  checksum?: number;
}

/** A ZIP archive, deflated. */
function archive(files: readonly Packed[]): Buffer {
  const parts: Buffer[] = [];
  const entries: Buffer[] = [];
  let place = 0;
  for (const { name, content, checksum = crc32(content) } of files) {
    const packed = deflateRawSync(content);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(checksum, 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(content.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const entry = Buffer.alloc(46);
    entry.write('PK\x01\x02', 'latin1');
    fields.copy(entry, 6);
    entry.writeUInt32LE(place, 42);
    entries.push(entry, Buffer.from(name));
    const local = [Buffer.from('PK\x03\x04', 'latin1'), fields, Buffer.from(name), packed];
    parts.push(...local);
    place += local.reduce((sum, part) => sum + part.length, 0);
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(place, 16);
  return Buffer.concat([...parts, ...entries, end]);
}

test('balances that do not add up are a warning at the closing balance, and every line is read', () => {
  const warningsOf = (content: string) => {
    const { statements, faults } = readStatements(Buffer.from(content), 'file');
    assert.deepEqual([faults, statements[0]!.faults], [[], []]);
    assert.ok(statements[0]!.lines.length > 0);
    return (statements[0]!.notes ?? [])
      .filter((one) => one.warning)
      .map(({ line, text }) => `${line}: ${text}`);
  };
  const text =
    'The balances do not add up: 100.00 and entries of 49.90 give 149.90, but the closing balance is 149.91 EUR.';
  assert.deepEqual(warningsOf(camt.replace('>149.90<', '>149.91<')), [`7: ${text}`]);
  assert.match(warningsOf(mt940.replace('1039,90', '1039,91'))[0]!, /^10: The balances do not add up/);
});

test('an amount that cannot be read is a fault and never zero', () => {
  for (const amount of ['49.901', '4 9.90', '49,90', '', '-49.90', '1e3', '9999999999999999']) {
    const { statements } = readStatements(Buffer.from(camt.replace('>49.90<', `>${amount}<`)), 'file');
    assert.deepEqual(statements[0]!.lines, [], amount);
    assert.match(statements[0]!.faults.map(({ text }) => text).join(), /cannot be read/);
    assert.equal(statements[0]!.faults[0]!.line, 8);
  }
  assert.match(
    faultsOf(mt940.replace('CR49,90N', 'CR4.9,0N'))[0]!,
    /^5: This line \(:61:\) is left out: its amount "4.9,0" cannot be read/,
  );
  assert.match(
    faultsOf(mt940.replace(':61:261120', ':61:261320'))[0]!,
    /^5: This line \(:61:\) is left out: its day "261320" cannot be read/,
  );
});

test('a line in another currency than the account is a fault', () => {
  assert.deepEqual(faultsOf(camt.replace('Ccy="EUR">49.90', 'Ccy="USD">49.90')), [
    '8: The line is in USD, the account in EUR.',
  ]);
});

test('transactions that do not add up to their entry are a fault', () => {
  const batch = sample('camt053-08-batch-charges.xml').toString();
  assert.deepEqual(faultsOf(batch.replace('>400.00<', '>401.00<')), [
    '8: The transactions of this entry do not add up to its amount.',
  ]);
});

test('a file that is refused says why in one line', () => {
  const doctype = camt.replace('<Document', '<!DOCTYPE d [<!ENTITY a "aaaa">]>\n<Document');
  for (const [content, told] of [
    [doctype, /DOCTYPE/],
    [camt.replace('</Ntry>', ''), /^\d+: The XML is not well-formed: [^.]*\.$/],
    [camt.slice(0, -200), /not well-formed: .*\. The file ends too early: fetch it again\.$/],
    [camt.replace('UTF-8', 'X-NONE'), /encoding "X-NONE" is not known/],
    [Buffer.from(camt, 'latin1'), /bytes that are not UTF-8/],
    ['<a>'.repeat(100), /nested more than 48 deep/],
    ['<html></html>', /holds no statement of camt/],
    ['', /empty/],
    ['hello', /format is not known/],
    [Buffer.alloc(64 * 1024 * 1024 + 1), /larger than 64 MB/],
  ] as const) {
    const faults = faultsOf(content);
    assert.equal(faults.length, 1);
    assert.match(faults[0]!, told);
    assert.ok(!faults[0]!.includes('\n'));
  }
});

test('an archive gives each of its files, and tricks are refused', () => {
  const good = { name: 'a/one.xml', content: Buffer.from(camt) };
  const { statements, faults } = readStatements(
    archive([good, { name: 'two.sta', content: Buffer.from(mt940) }]),
    'x.zip',
  );
  assert.deepEqual(faults, []);
  assert.deepEqual(
    statements.map(({ file }) => file),
    ['x.zip/a/one.xml', 'x.zip/two.sta'],
  );
  for (const name of ['../one.xml', 'a/../../one.xml', '/etc/one.xml', 'C:one.xml', 'a\\one.xml'])
    assert.match(faultsOf(archive([{ ...good, name }]))[0]!, /path leads out/, name);
  assert.match(
    faultsOf(archive([{ name: 'bomb.xml', content: Buffer.alloc(65 * 1024 * 1024) }]))[0]!,
    /more than 64 MB/,
  );
  assert.match(faultsOf(archive([{ ...good, checksum: 1 }]))[0]!, /damaged/);
  assert.match(faultsOf(archive([{ ...good, content: archive([good]) }]))[0]!, /another archive/);
  assert.match(faultsOf(archive([good]).subarray(0, -30))[0]!, /damaged/);
});

test('the transactions of one entry are gone through a few times, however many they are', () => {
  const element = (name: string, text = '', children: XmlElement[] = []): XmlElement => ({
    ...{ name, text, children, line: 1 },
    attributes: name === 'Amt' ? { Ccy: 'EUR' } : {},
  });
  const looks = (count: number) => {
    let looked = 0;
    const transactions = Array.from({ length: count }, () =>
      element('TxDtls', '', [element('Amt', '1.00'), element('CdtDbtInd', 'CRDT')]),
    );
    const details = element('NtryDtls');
    const get = () => {
      looked += 1;
      return transactions;
    };
    Object.defineProperty(details, 'children', { get });
    const entry = element('Ntry', '', [details]);
    const said = { faults: [], notes: [] };
    const amount = { minor: count * 100, currency: 'EUR' };
    const lines = entryLines(entry, amount, { direction: 'credit', status: 'booked' }, said);
    assert.equal(lines.length, count);
    return looked;
  };
  assert.equal(looks(500), looks(50));
});
