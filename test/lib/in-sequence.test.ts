// Work that is run again and again: what is logged of runs that fail.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inSequence } from '../../src/lib/rounds.ts';

test('runs that fail one after the other are logged once, and again after one that went well', async () => {
  const logged: string[] = [];
  const outcomes = [false, false, false, true, false, false];
  const work = async () => {
    if (!outcomes.shift()) throw new Error('the store is away');
  };
  const run = inSequence(
    work,
    { warn: (_: unknown, message?: string) => logged.push(message!) } as never,
    'later',
  );
  await Promise.all(outcomes.map(() => run()));
  assert.deepEqual(outcomes, [], 'each run was made');
  assert.deepEqual(logged, ['later', 'later']);
});
