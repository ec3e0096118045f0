// Bank days of each calendar, and the last day to pay by that is counted in them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBankDays, CALENDARS, isBankDay } from '../../src/lib/bank-days.ts';
import { DAY_MS, HOUR_MS } from '../../src/lib/time.ts';
import { DEFAULT_TERMS, payByDay } from '../../src/payments/pay-by.ts';

const closedOf = (calendar: (typeof CALENDARS)[number], year: number) => {
  const closed: string[] = [];
  for (
    let date = Temporal.PlainDate.from(`${year}-01-01`);
    date.year === year;
    date = date.add({ days: 1 })
  ) {
    if (date.dayOfWeek < 6 && !isBankDay(date.toString(), calendar)) closed.push(date.toString().slice(5));
  }
  return closed.join(' ');
};

test('the closing days of calendars fall on their days.', () => {
  assert.equal(closedOf('TARGET', 2026), '01-01 04-03 04-06 05-01 12-25');
  assert.equal(closedOf('TARGET', 2024), '01-01 03-29 04-01 05-01 12-25 12-26');
  assert.equal(closedOf('DE', 2027), '01-01 03-26 03-29 05-06 05-17');
  assert.equal(closedOf('CH', 2026), '01-01 01-02 04-03 04-06 05-01 05-14 05-25 12-25');
  assert.equal(closedOf('GB', 2027), '01-01 03-26 03-29 05-03 05-31 08-30 12-27 12-28');
  assert.equal(closedOf('US', 2027), '01-01 01-18 02-15 05-31 07-05 09-06 10-11 11-11 11-25');
  assert.equal(closedOf('SE', 2026), '01-01 01-06 04-03 04-06 05-01 05-14 06-19 12-24 12-25 12-31');
  assert.equal(closedOf('none', 2026), '');
});

test('Easter is where the almanac has it.', () => {
  for (const [year, friday] of [
    [2019, '04-19'],
    [2025, '04-18'],
    [2038, '04-23'],
    [2285, '03-20'],
  ] as const)
    assert.equal(isBankDay(`${year}-${friday}`, 'TARGET'), false, String(year));
});

test('bank days are counted over weekends and closing days, forwards and back.', () => {
  assert.equal(addBankDays('2026-12-24', 1, 'TARGET'), '2026-12-28');
  assert.equal(addBankDays('2026-12-28', -1, 'TARGET'), '2026-12-24');
  assert.equal(addBankDays('2026-11-28', 0, 'TARGET'), '2026-11-30');
  assert.equal(addBankDays('2026-11-28', 0, 'none'), '2026-11-28');
  assert.equal(addBankDays('2026-11-27', 3, 'TARGET'), '2026-12-02');
});

const ZONED = { ...DEFAULT_TERMS, timeZone: 'Europe/Berlin' };
const payBy = (created: string, lifetimeMs: number, terms = ZONED) => {
  const at = Date.parse(created);
  return payByDay(at, at + lifetimeMs, terms);
};

test('a week leaves three bank days behind the last day to pay by.', () => {
  assert.equal(payBy('2026-11-26T15:00:00Z', 7 * DAY_MS), '2026-11-30');
  assert.equal(payBy('2026-11-23T15:00:00Z', 7 * DAY_MS), '2026-11-25');
  assert.equal(payBy('2026-12-22T15:00:00Z', 7 * DAY_MS), '2026-12-23');
  assert.equal(payBy('2026-11-26T15:00:00Z', 7 * DAY_MS, { ...ZONED, graceDays: 0 }), '2026-12-03');
});

test('a customer has a day at least, and never one after the end.', () => {
  assert.equal(payBy('2026-11-26T15:00:00Z', DAY_MS), '2026-11-27');
  assert.equal(payBy('2026-11-26T15:00:00Z', HOUR_MS), '2026-11-26');
  assert.equal(payBy('2026-11-26T08:00:00Z', 3 * DAY_MS), '2026-11-27');
  // In Berlin the day has begun, though not in UTC.
  assert.equal(payBy('2026-11-26T23:04:00Z', HOUR_MS / 2), '2026-11-27');
});

test('a longer life never has an earlier last day.', () => {
  for (const calendar of CALENDARS)
    for (let day = 0; day < 14; day++) {
      const created = new Date(Date.parse('2026-12-18T15:00:00Z') + day * DAY_MS).toISOString();
      let before = '';
      for (let hours = 1; hours < 14 * 24; hours += 5) {
        const last = payBy(created, hours * HOUR_MS, { ...ZONED, calendar });
        assert.ok(last >= before, `${calendar} ${created} ${hours}: ${last} < ${before}`);
        before = last;
      }
    }
});
