// Bank days of each calendar, and the last day to pay by that is counted in them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBankDays, CALENDARS, isBankDay, placeOfDay } from '../../src/lib/bank-days.ts';
import { DAY_MS, dateIn, HOUR_MS } from '../../src/lib/time.ts';
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
  // It was open on the day before midnight, and not on the day that begins then.
  assert.equal(payBy('2026-11-26T23:00:00Z', DAY_MS), '2026-11-27');
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

test('what is ordered on the last day that a customer reads is in time, in every zone, on every day, by every calendar.', () => {
  const FROM = ['2026-11-16', '2026-12-21', '2027-03-22', '2027-04-30'];
  const ZONES = ['Europe/Berlin', 'Pacific/Kiritimati', 'America/New_York', 'Asia/Kathmandu'];
  const LIVES_H = [1 / 12, 24, 48, 72, 7 * 24, 30 * 24];
  for (const timeZone of ZONES)
    for (const calendar of ['none', 'TARGET', 'CH', 'GB', 'US'] as const)
      for (const first of FROM)
        for (let hour = 0; hour < 10 * 24; hour += 17)
          for (const life of LIVES_H)
            for (const graceDays of [0, 3]) {
              const from = Date.parse(first) + hour * HOUR_MS;
              const to = from + life * HOUR_MS;
              const terms = { ...DEFAULT_TERMS, timeZone, calendar, graceDays };
              const last = payByDay(from, to, terms);
              const name = `${timeZone} ${calendar} ${graceDays} ${new Date(from).toISOString()} ${life}: ${last}`;
              const end = dateIn(timeZone, to - 1);
              assert.ok(last >= dateIn(timeZone, from) && last <= end, name);
              assert.ok(isBankDay(last, calendar) || last === end, name);
              const place = (day: string) => placeOfDay(day, { from, to }, timeZone, calendar);
              assert.equal(place(addBankDays(last, 0, calendar)), 'in_time', name);
              assert.equal(place(end), 'in_time', name);
              assert.equal(place(addBankDays(dateIn(timeZone, to), 2, calendar)), 'after', name);
            }
});
