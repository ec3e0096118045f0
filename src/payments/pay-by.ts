// How long a payment may be paid: its settings, and the last day that customers read, earlier than the end of the link by a grace.

import { z } from 'zod';
import { addBankDays, CALENDARS, type Calendar } from '../lib/bank-days.ts';
import { setting, wholeNumber } from '../lib/setting.ts';
import { DAY_MS, dateIn, isTimeZone, SECOND_MS } from '../lib/time.ts';

/** What a new payment takes from the configuration. */
export interface PaymentTerms {
  /** Seconds until a payment expires whose request does not say. */
  lifetimeS: number;
  timeZone: string;
  calendar: Calendar;
  /** Bank days between the last day to pay by and the end of the link, in which money and announcements are in time. */
  graceDays: number;
}

/** Default terms, for a configuration that sets none. */
export const DEFAULT_TERMS: PaymentTerms = {
  lifetimeS: (7 * DAY_MS) / SECOND_MS,
  timeZone: 'UTC',
  calendar: 'TARGET',
  graceDays: 3,
};

/**
 * The day to pay by (`2026-11-20`) of a payment that is made at `created` and expires at `expires`, milliseconds since 1970. It lies
 * `graceDays` bank days before the end, but a customer has a day at least. A link that ends before the next bank day after that is to be
 * paid by the day of its end, which may be a day of rest: a bank books what is ordered then on the next bank day, which is in time.
 */
export function payByDay(
  created: number,
  expires: number,
  { timeZone, calendar, graceDays }: PaymentTerms,
): string {
  // A link that ends at midnight was open on the day before.
  const end = dateIn(timeZone, expires - 1);
  const withGrace = graceDays === 0 ? end : addBankDays(end, -graceDays, calendar);
  const earliest = addBankDays(dateIn(timeZone, created + DAY_MS), 0, calendar);
  const day = withGrace > earliest ? withGrace : earliest;
  return day < end ? day : end;
}

export const termsSettings = {
  payment_lifetime_s: setting(
    wholeNumber(300, 15_552_000).default(DEFAULT_TERMS.lifetimeS),
    'Seconds a payment stays open when the request does not say.',
  ),
  time_zone: setting(
    z
      .string()
      .refine(isTimeZone, 'must be a time zone of the IANA database, such as Europe/Berlin')
      .default('UTC'),
    'The time zone that customers and administrators read moments in, and whose days are counted and exported.',
    'a name of the IANA time zone database',
  ),
  calendar: setting(
    z.enum(CALENDARS).default(DEFAULT_TERMS.calendar),
    'The bank days in which the last day to pay by is counted and bank lines are judged to be in time: the closing days of TARGET, with those of a country besides; with `none` every day counts.',
  ),
  pay_by_grace_days: setting(
    wholeNumber(0, 20).default(DEFAULT_TERMS.graceDays),
    'Bank days between the last day to pay by, which customers read, and `expires_at`. Money and announcements that come within them are in time.',
  ),
};
