// What an approval, a rejection and a note may say, sent as JSON or by a form.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  approvalSchema,
  MESSAGE_MAXIMUM,
  NOTE_MAXIMUM,
  needsSecond,
  parse,
  parseNote,
  rejectionSchema,
} from '../../src/review/review.ts';

const CARD = '4242 4242 4242 4242';

function faultsOf(parsed: object): string[] {
  return 'faults' in parsed ? Object.keys(parsed.faults as object) : [];
}

test('JSON and forms read alike: empty is left out, lines end in a line feed, versions are numbers', () => {
  const value = { note: 'One\ntwo', bank_reference: null, version: 3 };
  assert.deepEqual(parse(approvalSchema, { note: ' One\r\ntwo ', bank_reference: '', version: '3' }), {
    value,
  });
  assert.deepEqual(parse(approvalSchema, { note: 'One\ntwo', bank_reference: null, version: 3 }), { value });
  assert.deepEqual(parse(approvalSchema, {}), { value: { note: null, bank_reference: null, version: null } });
  assert.deepEqual(parse(rejectionSchema, { reason: 'other' }), {
    value: { reason: 'other', note: null, message: null, version: null },
  });
  assert.deepEqual(
    faultsOf(parse(approvalSchema, { verison: 3 })),
    ['verison'],
    'a guard that is misspelt guards nothing',
  );
});

test('a rejection needs one of the reasons', () => {
  for (const reason of [undefined, null, '', 'because', 1, 'toString'])
    assert.deepEqual(faultsOf(parse(rejectionSchema, { reason })), ['reason']);
});

test('texts that are too long, hold control characters or card data are refused, each by its name', () => {
  const wrong = ['x\u0000', 'x\u202e', '\ud800', `Card ${CARD}`, 7, {}];
  for (const text of wrong) {
    assert.deepEqual(faultsOf(parse(approvalSchema, { note: text })), ['note'], String(text));
    assert.deepEqual(faultsOf(parse(approvalSchema, { bank_reference: text })), ['bank_reference']);
    assert.deepEqual(
      faultsOf(parse(rejectionSchema, { reason: 'other', message: text, note: text })).sort(),
      ['message', 'note'],
    );
    assert.deepEqual(faultsOf(parseNote({ note: text })), ['note']);
  }
  assert.deepEqual(faultsOf(parse(approvalSchema, { note: 'x'.repeat(NOTE_MAXIMUM) })), []);
  assert.deepEqual(faultsOf(parse(approvalSchema, { note: 'x'.repeat(NOTE_MAXIMUM + 1) })), ['note']);
  assert.deepEqual(
    faultsOf(parse(rejectionSchema, { reason: 'other', message: '𝒵'.repeat(MESSAGE_MAXIMUM) })),
    [],
  );
  assert.deepEqual(faultsOf(parse(approvalSchema, { bank_reference: 'two\nlines' })), ['bank_reference']);
  assert.deepEqual(faultsOf(parse(approvalSchema, { cvv: '123' })), ['cvv']);
  assert.deepEqual(faultsOf(parseNote({ note: ' ' })), ['note']);
  assert.deepEqual(faultsOf(parse(approvalSchema, { version: 0 })), ['version']);
  assert.deepEqual(faultsOf(parse(approvalSchema, { version: 'three' })), ['version']);
});

test('two must approve above the limit, not at it, and only in its currency', () => {
  const limits = { EUR: 1000 };
  assert.equal(needsSecond({ amount_minor: 1000, currency: 'EUR' }, limits), false);
  assert.equal(needsSecond({ amount_minor: 1001, currency: 'EUR' }, limits), true);
  assert.equal(needsSecond({ amount_minor: 9999, currency: 'USD' }, limits), false);
});
