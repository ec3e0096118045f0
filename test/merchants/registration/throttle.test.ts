// Registrations of one network address, counted within an hour.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR_MS } from '../../../src/lib/time.ts';
import { RegistrationCounts } from '../../../src/merchants/registration/form.ts';

test('the wait ends an hour after the first registration.', async () => {
  let now = 10 * HOUR_MS;
  const counts = new RegistrationCounts({ perAddress: 2, perHour: 2 }, { now: () => now });
  const register = () => counts.counted('192.0.2.1', async () => {});
  await register();
  now += 1000;
  await register();
  assert.equal(counts.waitMs('192.0.2.1'), HOUR_MS - 1000);
  now += HOUR_MS - 1001;
  assert.equal(counts.waitMs('192.0.2.1'), 1);
  now += 1;
  assert.equal(counts.waitMs('192.0.2.1'), 0);
});
