// JSON numbers are kept or told apart as inexact, never rounded, and never at length; no object has a member twice.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INEXACT, parseJson } from '../../src/lib/json.ts';
import { assertLinear } from '../support/growth.ts';

const parse = (text: string) => parseJson(Buffer.from(text));

test('a number that a double holds is itself in every spelling', () => {
  for (const text of '0 -0 0e9 0.000 1.50 100e-2 1e2 1E+2 9007199254740992 1e-7 5e-324'.split(' '))
    assert.equal(parse(text), Number(text), text);
  assert.equal(parse(`1.5${'0'.repeat(400)}`), 1.5);
  assert.equal(parse(`1${'0'.repeat(400)}e-400`), 1);
  assert.equal(parse(`0.${'0'.repeat(400)}1e401`), 1);
  assert.equal(parse(`1e${'0'.repeat(400)}2`), 100);
  assert.equal(parse(`0e${'9'.repeat(400)}`), 0);
});

test('a number that a double does not hold is inexact', () => {
  for (const text of [
    '9007199254740993',
    '0.10000000000000001',
    '1e400',
    '1e-400',
    '-1e-99999999999999999999',
    `1e${'9'.repeat(400)}`,
  ])
    assert.equal(parse(text), INEXACT, text);
});

test('a number costs no more than it is long', async () => {
  for (const number of ['0.1z1', '1z1', '1.z1', '0.z1', '1en', '1e-n', 'n']) {
    const textOf = (length: number) =>
      number.replace('z', '0'.repeat(length)).replace('n', '9'.repeat(length));
    await assertLinear((length) => assert.equal(parse(textOf(length)), INEXACT), 60_000, number);
  }
});

const isInvalidJson = { code: 'invalid_json' };

test('an object that has a member twice is invalid, at any depth and however its names are escaped', () => {
  for (const text of [
    '{"amount":1,"amount":2}',
    '{"amount":1,"amount":1}',
    '{"amount":1,"\\u0061mount":1}',
    '{"" : 1, "" : 2}',
    '{"1":1,"1":2}',
    '{"\\"":1,"\\u0022":2}',
    '{"\\\\":1,"\\u005c":2}',
    '{"a":{"b":[0,{"c":1,"d":2,"c":{}}]}}',
    '[[{"a":{},"a":{"b":1}}]]',
    '{"a":{"b":1,"c":2,"d":3},"a":{}}',
    '{"amount":1e2,"amount":1e3}',
    `{"amount":1,"x":${'[{"y":'.repeat(1000)}{"z":1,"z":2}${'}]'.repeat(1000)}}`,
  ])
    assert.throws(() => parse(text), isInvalidJson, text.slice(0, 80));
});

test('names that only look alike, that stand in other objects, or inside strings are not the same member', () => {
  for (const text of [
    '{"a":1,"A":2,"a ":3,"\u00e4":4,"a\u0308":5}',
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1},null,"a"]}',
    '{"a":"\\"a\\":1,","b":"{\\"a\\":1,\\"a\\":2}","c":":::","d":"\\\\","e":"\\\\\\"" }',
    '{"amount" \n:\t1 , "b"\r:2}',
    '{"toString":1,"valueOf":2,"hasOwnProperty":3}',
    '":"',
    '[":",{},[]]',
  ])
    assert.deepEqual(parse(text), JSON.parse(text), text);
});

test('a list, members and quotes cost no more than they are many', async () => {
  const members = (count: number) => `{${Array.from({ length: count }, (_, i) => `"m${i}":1`).join()}}`;
  await assertLinear((count) => parse(members(count)), 6000);
  await assertLinear((count) => parse(`[${'{},'.repeat(count)}1]`), 20_000);
  await assertLinear((count) => parse(`["${'\\"'.repeat(count)}"]`), 30_000);
});

test('a name of one escaped character is itself, whatever was parsed before', () => {
  // JSON.parse of V8 14.6 keeps this document's shape, and takes the escaped names below for its second one.
  assert.deepEqual(JSON.parse('{"x":"1","\\\\":"2"}'), { x: '1', '\\': '2' });
  for (const [name, meant] of [
    ['\\u0062', 'b'],
    ['\\u00fc', 'ü'],
    ['\\u2028', '\u2028'],
    ['\\/', '/'],
    ['b', 'b'],
    ['\\u0062\\u0063', 'bc'],
  ] as const) {
    assert.deepEqual(parse(`{"x":"1","${name}":"2"}`), { x: '1', [meant]: '2' });
    assert.deepEqual(parse(`{"x":"1",\n "${name}" :{"${name}":"2"}}`), { x: '1', [meant]: { [meant]: '2' } });
    assert.throws(() => parse(`{"x":"1","${name}":"2","${name}":"3"}`), { code: 'invalid_json' });
  }
  for (const name of ['\\"', '\\\\', '\\n', '\\u0000', '\\u0022', '\\u005C'])
    assert.throws(() => parse(`{"x":"1","${name}":"2"}`), { code: 'invalid_json' }, name);
  // What only looks like such a name is text.
  for (const text of ['["{","\\u0062"]', '{"a":"{\\"b\\":1,"}', '["\\u0062",",\\"\\\\n\\":"]'])
    assert.deepEqual(parse(text), JSON.parse(text), text);
});
