// Arguments that several commands take, checked before anything is opened: what is wrong with one is a fault of usage.
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { isEmailAddress } from '../../lib/text.ts';
import { DAY_MS, HOUR_MS, systemClock } from '../../lib/time.ts';

/** An e-mail address. Throws `InvalidArgumentError`. */
export function parseEmail(text: string): string {
  if (!isEmailAddress(text.trim())) throw new InvalidArgumentError('It must be an e-mail address.');
  return text;
}

/**
 * An id that begins with `prefix`. `where` is the command that lists such ids. The parser throws `InvalidArgumentError`.
 * Not for ids of keys, tokens and invitations: commander repeats a wrong value, and that may be the secret itself.
 */
export function parseId(prefix: string, where: string): (text: string) => string {
  return (text) => {
    if (!text.startsWith(prefix) || text === prefix)
      throw new InvalidArgumentError(`It must be an id that begins with ${prefix}: ${where} shows it.`);
    return text;
  };
}

/** The id of a request, as `X-Request-Id` has it. */
export const REQUEST_ID = /^req_[0-9a-z]{16}$/;

/** A request's id. Throws `InvalidArgumentError`. */
export function parseRequestId(text: string): string {
  if (!REQUEST_ID.test(text))
    throw new InvalidArgumentError('It must be the X-Request-Id of an answer: req_ and 16 characters.');
  return text;
}

/** A whole number from 1 to `maximum`. What it gives throws `InvalidArgumentError`. */
export function parseCount(maximum: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (!/^\d+$/.test(text) || count < 1 || count > maximum)
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${maximum}.`);
    return count;
  };
}

/**
 * Milliseconds since 1970 of a span such as `90d` or `12h`, before or behind `now` (`sign`), or of an ISO 8601 moment. Throws
 * `InvalidArgumentError`, which says `otherwise`.
 */
function parseMoment(text: string, now: number, sign: 1 | -1, otherwise: string): number {
  const span = /^(\d{1,5})([hd])$/.exec(text);
  if (span) return now + sign * Number(span[1]) * (span[2] === 'h' ? HOUR_MS : DAY_MS);
  const moment = Date.parse(text);
  if (Number.isNaN(moment) || !/(?:Z|[+-]\d\d:\d\d)$/.test(text)) throw new InvalidArgumentError(otherwise);
  return moment;
}

/** `90d`, `12h` or an ISO 8601 moment → milliseconds since 1970. Throws `InvalidArgumentError`. */
export function parseExpiry(text: string): number {
  const now = systemClock.now();
  const otherwise =
    'It is neither a time from now such as 90d nor a moment such as 2027-01-31T00:00:00+00:00.';
  const moment = parseMoment(text, now, 1, otherwise);
  if (moment <= now) throw new InvalidArgumentError('It lies in the past.');
  return moment;
}

/**
 * Milliseconds since 1970 of a text: `24h` and `7d` ago, or an ISO 8601 moment, at most `days` ago. What it gives throws
 * `InvalidArgumentError`.
 */
export function parsePast(days: number): (text: string) => number {
  return (text) => {
    const now = systemClock.now();
    const otherwise =
      'It is neither a span such as 24h or 7d nor a moment such as 2026-11-20T00:00:00+00:00.';
    const moment = parseMoment(text, now, -1, otherwise);
    if (moment > now || moment < now - days * DAY_MS)
      throw new InvalidArgumentError(`It must lie within the last ${days} days.`);
    return moment;
  };
}

/** Text that is not blank. Throws `InvalidArgumentError`. */
export function parseText(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}

/** Adds a text to those of an option that may be given again. Throws `InvalidArgumentError` for an empty one. */
export const addText = (text: string, before: readonly string[] = []): string[] => [
  ...before,
  parseText(text),
];

/** The path of a folder. Throws `InvalidArgumentError` for none, which a variable that is not set gives: it would be this folder. */
export function parseFolder(text: string): string {
  return resolve(parseText(text));
}

/** The path of a file. Throws `InvalidArgumentError` for an empty text. */
export function parseFile(text: string): string {
  return resolve(parseText(text));
}

/** The number of an entry of the history. Throws `InvalidArgumentError`. */
export function parseEntry(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || !Number.isSafeInteger(number))
    throw new InvalidArgumentError('It is not the number of an entry: 1, 2, 3 …');
  return number;
}
