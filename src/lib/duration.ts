// Lengths of time, in words.
import { DAY_MS, HOUR_MS, MINUTE_MS } from './time.ts';

/** A length of time in the two units that matter: `12 min`, `3 h 20 min`, `2 d 4 h`. */
export function duration(ms: number): string {
  if (ms < MINUTE_MS) return 'under 1 min';
  const days = Math.floor(ms / DAY_MS);
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS);
  const units = days > 0 ? ([days, 'd', hours, 'h'] as const) : ([hours, 'h', minutes, 'min'] as const);
  const [many, large, few, small] = units;
  return [many > 0 && `${many} ${large}`, few > 0 && `${few} ${small}`].filter(Boolean).join(' ');
}

/** How long before `now` something was, both in milliseconds since 1970: `3 min ago`. */
export function ago(ms: number, now: number): string {
  return `${duration(Math.max(0, now - ms))} ago`;
}
