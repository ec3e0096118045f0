// An account over some days: its opening balance, what was booked on each day, and the closing balance held against the bank's.

import { hasThousandths } from '#bank-statements';
import type { Say } from '../lib/phrases.ts';
import { dayBefore } from '../lib/time.ts';
import { sumMinor } from '../payments/payment.ts';
import type { WriteMoney } from '../review/facts.ts';
import { dayInWords } from '../review/told.ts';
import type { Reader } from '../store/database.ts';
import {
  bookedBetween,
  closingBeside,
  closingsOf,
  type DaySum,
  daySums,
  firstOpening,
  type Money,
  signedSum,
} from './balance-queries.ts';

/** What was booked on one day. Amounts are hundredths, with a tenth where lines have thousandths. */
export interface BookedDay {
  day: string;
  sums: readonly DaySum[];
  /** At the end of the day, as the lines make it; undefined if no balance is known. */
  balance: number | undefined;
  /** At the end of the day, as the bank says; undefined if it does not. */
  bank: number | undefined;
}

/** Balances are hundredths, negative if the account is overdrawn. */
export interface Period extends Money {
  /** The first and the last day, YYYY-MM-DD. */
  from: string;
  to: string;
  /** Undefined if no statement names a balance. */
  opening: number | undefined;
  /** The opening balance with everything that was booked. */
  closing: number | undefined;
  /** What the bank says that the closing balance is; undefined if it names none within or behind these days. */
  bank: number | undefined;
  days: readonly BookedDay[];
}

/**
 * What was booked on an account from the day `from` to the day `to`. The opening balance comes from the bank's last closing balance
 * before, else from the opening balance of the first statement, else from the closing balance. Throws `DatabaseError`.
 */
export async function periodOf(database: Reader, money: Money, from: string, to: string): Promise<Period> {
  const sums = await daySums(database, money, from, to);
  const named = await closingsOf(database, money, from, to);
  const later = named.length === 0 ? await closingBeside(database, money, 'after', to) : undefined;
  const last = named.at(-1);
  const bank = last
    ? sumMinor([last.closing_minor, await bookedBetween(database, money, last.last_day, to)])
    : later && sumMinor([later.closing_minor, -(await bookedBetween(database, money, to, later.last_day))]);
  const known = await openingOf(database, money, from);
  const opening = known ?? (bank === undefined ? undefined : sumMinor([bank, -signedSum(sums)]));
  const days = [...new Set([...sums.map(({ day }) => day), ...named.map(({ last_day }) => last_day)])].sort();
  let balance = opening;
  const booked = days.map((day): BookedDay => {
    const ofDay = sums.filter((one) => one.day === day);
    if (balance !== undefined) balance = sumMinor([balance, signedSum(ofDay)]);
    const bankOfDay = named.findLast(({ last_day }) => last_day === day)?.closing_minor;
    return { day, sums: ofDay, balance, bank: bankOfDay };
  });
  return { ...money, from, to, opening, closing: balance, bank, days: booked };
}

async function openingOf(database: Reader, money: Money, from: string): Promise<number | undefined> {
  const before = await closingBeside(database, money, 'before', from);
  if (before)
    return sumMinor([
      before.closing_minor,
      await bookedBetween(database, money, before.last_day, dayBefore(from)),
    ]);
  const first = await firstOpening(database, money);
  if (!first) return undefined;
  const [day, eve] = [dayBefore(first.day), dayBefore(from)];
  return day < eve
    ? sumMinor([first.opening_minor, await bookedBetween(database, money, day, eve)])
    : sumMinor([first.opening_minor, -(await bookedBetween(database, money, eve, day))]);
}

/** Whether the lines make the bank's closing balance, in one sentence, and where they first do not. */
export function balanceSentence(
  say: Say,
  money: WriteMoney,
  { closing, bank, days, currency }: Period,
): string {
  if (closing === undefined)
    return say`The bank named no balance, so there is nothing to compare the lines with.`;
  if (bank === undefined)
    return say`The bank named no closing balance of these days, so the lines are compared with nothing.`;
  if (closing === bank)
    return say`The opening balance and the booked lines make the closing balance of the bank.`;
  const lines = days.flatMap(({ sums }) => sums).reduce((all, { count }) => all + count, 0);
  const signed = (minor: number) => (minor < 0 ? `−${money(-minor, currency)}` : money(minor, currency));
  const difference = sumMinor([bank, -closing]);
  const gap = signed(difference);
  if (hasThousandths(currency) && Math.abs(difference) <= lines + 1)
    return say`The opening balance and the booked lines make the closing balance of the bank, but for thousandths that are not kept: ${gap}.`;
  const first = days.find((one) => one.bank !== undefined && one.bank !== one.balance);
  return [
    say`The booked lines make ${signed(closing)}, the bank says ${signed(bank)}: ${gap} is not among the lines.`,
    first && say`They differ from ${dayInWords(first.day, say)} on.`,
    say`A statement may be missing, or the bank took charges inside an entry.`,
  ]
    .filter(Boolean)
    .join(' ');
}
