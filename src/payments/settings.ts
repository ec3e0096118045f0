// The settings of how long a payment may be paid, and in whose days that is counted.
import { z } from 'zod';
import { CALENDARS } from '../lib/bank-days.ts';
import { isTimeZone } from '../lib/time.ts';
import { DEFAULT_TERMS } from './pay-by.ts';

export const termsSettings = {
  payment_lifetime_s: z
    .int()
    .min(300)
    .max(15_552_000)
    .default(DEFAULT_TERMS.lifetimeS)
    .describe('Seconds a payment stays open when the request does not say.'),
  time_zone: z
    .string()
    .refine(isTimeZone, 'must be a time zone of the IANA database, such as Europe/Berlin')
    .default('UTC')
    .describe(
      'The time zone that customers and administrators read moments in, and whose days are counted and exported.',
    )
    .meta({ check: 'a name of the IANA time zone database' }),
  calendar: z
    .enum(CALENDARS)
    .default(DEFAULT_TERMS.calendar)
    .describe(
      'The bank days in which the last day to pay by is counted and bank lines are judged to be in time: the closing days of TARGET, with those of a country besides; with `none` every day counts.',
    ),
  pay_by_grace_days: z
    .int()
    .min(0)
    .max(20)
    .default(DEFAULT_TERMS.graceDays)
    .describe(
      'Bank days between the last day to pay by, which customers read, and `expires_at`. Money and announcements that come within them are in time.',
    ),
};
