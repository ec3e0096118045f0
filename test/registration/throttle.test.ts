// Registrations of one network address, counted within an hour.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR_MS } from '../../src/lib/time.ts';
import { RegistrationCounts } from '../../src/registration/throttle.ts';

test('a clock that is set back makes nobody wait for longer than an hour.', () => {
  let now = 10 * HOUR_MS;
  const counts = new RegistrationCounts({ perAddress: 2, perHour: 2 }, { now: () => now });
  counts.count('192.0.2.1');
  counts.count('192.0.2.1');
  assert.equal(counts.waitMs('192.0.2.1'), HOUR_MS);
  now -= 5 * HOUR_MS;
  assert.ok(counts.waitMs('192.0.2.1') <= HOUR_MS);
});
