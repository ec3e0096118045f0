// Files of many banks and formats, each with what is read of it (`files.txt`): lines, faults, notes and questions.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { signedAmount } from '../src/balance.ts';
import { readStatements } from '../src/read.ts';

const FILE = join(import.meta.dirname, 'files.txt');
/** The elements around what a block of CAMT shows. */
const MESSAGES: Record<string, string> = { '052': 'Rpt', '053': 'Stmt', '054': 'Ntfctn' };

/** The bytes of a block. Its name begins with the format, and ends with the encoding if that is not UTF-8. */
function bytesOf(name: string, text: string): Buffer {
  const [, message = '', version] = /^camt\.(\d{3})\.(\d\d)/.exec(name) ?? [];
  const element = MESSAGES[message];
  if (!element) return Buffer.from(text, /\((latin1)\)$/.test(name) ? 'latin1' : 'utf-8');
  const account = '<Acct><Id><IBAN>DE75512108001245126199</IBAN></Id><Ccy>EUR</Ccy></Acct>';
  const body = `<${element}>${account}${text}</${element}>`;
  return Buffer.from(
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.${message}.001.${version}"><A>${body}</A></Document>`,
  );
}

/** What is read of a file, a row for each line, fault, note and question. */
function readRows(name: string, file: string): string[] {
  const account = name.startsWith('csv ') ? { account: 'DE75512108001245126199' } : {};
  const { statements, faults, csv = [] } = readStatements(bytesOf(name, file), 'x', account);
  const asked = csv.flatMap(({ questions }) => questions);
  return [
    ...statements.flatMap(({ lines, faults, notes = [] }) => [
      ...lines.map(
        ({ bookingDay, direction, amountMinor, currency, status, isReversal, counterparty, text }) => {
          const money = signedAmount(direction === 'debit' ? -amountMinor : amountMinor);
          const marks = `${status === 'pending' ? ' pending' : ''}${isReversal ? ' reversal' : ''}`;
          const words = `${counterparty.name ?? '-'} | ${text.replaceAll('\n', ' / ') || '-'}`;
          return `= ${bookingDay ?? '-'} ${money} ${currency}${marks} | ${words}`;
        },
      ),
      ...faults.map(({ text }) => `= fault: ${text}`),
      ...notes.map(({ text }) => `= note: ${text}`),
    ]),
    ...asked.map(({ key }) => `= asked: ${key}`),
    ...faults
      .filter(({ text }) => !asked.some((one) => one.text === text))
      .map(({ text }) => `= refused: ${text}`),
  ];
}

test('files of many banks are read as they stand beside what is told of them', () => {
  const blocks = readFileSync(FILE, 'utf8').split(/\n(?=# (?:csv|mt94|camt|ofx))/);
  for (const block of blocks) {
    const [head = '', ...rows] = block.trimEnd().split('\n');
    const file = rows.filter((row) => !row.startsWith('= ')).join('\n');
    const told = rows.filter((row) => row.startsWith('= '));
    assert.deepEqual(readRows(head.slice(2), file), told, head);
  }
  assert.ok(blocks.length >= 40);
});
