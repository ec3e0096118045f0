// Days and clock times that people read: one zone on every page, in every export and in every message.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { momentsIn } from '../../src/lib/moments.ts';
import { DAY_MS, dateIn, formatTimestamp, formatTimestampIn, MINUTE_MS } from '../../src/lib/time.ts';
import { exportPayments } from '../../src/review/export.ts';
import { addPerson, type Person, post, sentForReview } from '../support/admin.ts';
import { readCsvRows } from '../support/csv.ts';
import { open } from '../support/customer.ts';
import { KEY, sharedHarness } from '../support/harness.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const ZONE = 'Europe/Berlin';
const service = sharedHarness('sqlite', { configuration: `\ntime_zone: ${ZONE}\n` });
let ana: Person;
before(async () => {
  ana = await addPerson(service, 'administrator', 'Ana');
  service.clock.stop();
  // To four minutes past midnight in Berlin, which is the day before in UTC.
  const now = service.clock.now();
  const midnight = Date.parse(`${dateIn('UTC', now + 2 * DAY_MS)}T00:00:00Z`);
  const start = [midnight - 2 * 60 * MINUTE_MS, midnight - 60 * MINUTE_MS].find(
    (ms) => formatTimestampIn(ZONE, ms).slice(11, 16) === '00:00',
  )!;
  service.clock.advance(start + 4 * MINUTE_MS - now);
});

async function exported(): Promise<Record<string, string>[]> {
  let text = '';
  const options = { format: 'csv', filter: {}, timeZone: ZONE, now: service.clock.now() } as const;
  for await (const part of exportPayments(service.service.database, options)) text += part;
  return readCsvRows(text) as Record<string, string>[];
}

test('the receipt, the export and the message of who was first have one day and one time.', async () => {
  const id = await sentForReview(service, { amount: 5 }, { key: KEY });
  await post(service, ana, `/admin/payments/${id}/approve`);
  const now = service.clock.now();
  const [day, utc] = [dateIn(ZONE, now), dateIn('UTC', now)];
  assert.notEqual(day, utc);
  const moment = momentsIn(ZONE).moment(now);
  assert.match(moment, /, 00:04 GMT\+[12]$/);
  const receipt = (await open(service, id)).body;
  assert.ok(receipt.includes(momentsIn(ZONE, 'en').moment(now)), receipt);
  const row = (await exported()).find((one) => one.id === id)!;
  assert.equal(row.decided_at, formatTimestampIn(ZONE, now));
  assert.ok(row.decided_at!.startsWith(`${day}T00:04`));
  assert.deepEqual([row.created_on, row.submitted_on, row.decided_on], [day, day, day]);
  const second = await post(service, ana, `/admin/payments/${id}/reject`, { reason: 'other' });
  assert.equal(second.status, 409);
  assert.equal(second.json.error.message, `Ana approved it on ${moment}.`);
});

test('a moment with the offset of a zone is the same moment, at every change of the clocks.', () => {
  const random = new SeededRandom(7);
  for (const zone of ['Europe/Berlin', 'Australia/Lord_Howe', 'America/St_Johns', 'Asia/Kathmandu', 'UTC'])
    for (let i = 0; i < 500; i++) {
      const ms = Date.parse('2024-01-01T00:00:00Z') + random.between(0, 3 * 365 * 24 * 3600) * 1000;
      const text = formatTimestampIn(zone, ms);
      assert.equal(Date.parse(text), ms, `${zone} ${text}`);
      assert.equal(text.slice(0, 10), dateIn(zone, ms));
    }
  const now = service.clock.now();
  assert.equal(formatTimestampIn('UTC', now), formatTimestamp(now));
});

test('customers read a day to pay by, and in the grace behind it the moment of the end.', async () => {
  const { id, pay_by, expires_at } = await service.create({ amount: 5 });
  assert.ok((await open(service, id)).body.includes(momentsIn(ZONE, 'en').day(pay_by)));
  service.clock.advance(Date.parse(expires_at) - service.clock.now() - MINUTE_MS);
  const inGrace = (await open(service, id)).body;
  assert.ok(inGrace.includes(momentsIn(ZONE, 'en').moment(Date.parse(expires_at))), inGrace);
  assert.ok(!inGrace.includes(`Pay by${momentsIn(ZONE, 'en').day(pay_by)} P`));
});
