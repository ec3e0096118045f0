// JSON numbers are kept or told apart as inexact, never rounded, and never at length.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INEXACT, parseJson } from '../../src/lib/json.ts';
import { threadMs } from '../support/awake.ts';

const parse = (text: string) => parseJson(Buffer.from(text));
const MOMENT_MS = 200;

test('a number that a double holds is itself in every spelling', () => {
  for (const text of [
    '0',
    '-0',
    '0e9',
    '0.000',
    '1.50',
    '100e-2',
    '1e2',
    '1E+2',
    '9007199254740992',
    '1e-7',
    '5e-324',
  ])
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

test('the longest number takes no longer than a moment', () => {
  const zeros = '0'.repeat(60_000);
  const nines = '9'.repeat(60_000);
  for (const text of [
    `0.1${zeros}1`,
    `1${zeros}1`,
    `1.${zeros}1`,
    `0.${zeros}1`,
    `1e${nines}`,
    `1e-${nines}`,
    nines,
  ]) {
    const begun = threadMs();
    assert.equal(parse(text), INEXACT, text.slice(0, 10));
    const tookMs = threadMs() - begun;
    assert.ok(tookMs < MOMENT_MS, `${text.slice(0, 10)}: ${tookMs} ms`);
  }
});
