// What commands have in common: their help and exit codes, the options of nearly all, and arguments, checked before anything is opened.

import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { isEmailAddress } from '../../lib/text.ts';
import { DAY_MS, HOUR_MS, systemClock } from '../../lib/time.ts';
import { Failure } from './terminal.ts';

/** A command line that asks for what does not go together. Exit code 2, like the usage errors of commander. */
export class UsageError extends Failure {
  override readonly name = 'UsageError';
}

export const CONFIG_OPTION = [
  '--config <file>',
  'configuration file (default: COUNTERFOIL_CONFIG, else counterfoil.yaml)',
] as const;
const JSON_OPTION = ['--json', 'print one JSON document'] as const;

/** Says why a command that writes lines takes no `--json` alone. */
export const JSON_NEEDS_OUTPUT = '--json says what was written: name the file with --output';

/** A command whose help ends with examples, each without `counterfoil` in front, and with `rest`. */
export function newCommand(
  name: string,
  description: string,
  examples: readonly string[],
  rest?: string,
): Command {
  const lines = examples.map((one) => `\n  counterfoil ${one}`).join('');
  const more = rest === undefined ? '' : `\n\n${rest.trimStart()}`;
  return new Command(name)
    .description(description)
    .addHelpText('after', `\nExample${examples.length > 1 ? 's' : ''}:${lines}${more}`);
}

/** Adds commands to a group of them. */
export function addCommands(group: Command, commands: readonly Command[]): Command {
  for (const one of commands) group.addCommand(one);
  return group;
}

/** Commands that read no configuration, and the one of them that prints no JSON. */
const UNCONFIGURED = ['secrets new', 'statements check'];
const PLAIN = 'secrets new';

/** Adds to a command and all below it what nearly every one takes, where it has not said itself what it takes. */
export function withCommonOptions(command: Command, path = command.name()): Command {
  for (const one of command.commands) withCommonOptions(one, `${path} ${one.name()}`);
  if (command.commands.length > 0) return command;
  const has = (name: string) => command.options.some(({ long }) => long === name);
  if (!has('--config') && !UNCONFIGURED.includes(path)) command.option(...CONFIG_OPTION);
  if (!has('--json') && path !== PLAIN) command.option(...JSON_OPTION);
  return command;
}

/** What 0 and 1 mean, for commands where "done" and "failed" do not say it. */
const OUTCOMES: Readonly<Record<string, readonly [zero: string, one: string]>> = {
  'counterfoil serve': ['stopped as asked', 'failed; starting it again may help'],
  'counterfoil init': [
    'written, and the service can start',
    'not written, or there is something to do before the start',
  ],
  'counterfoil doctor': ['nothing failed', 'something failed'],
  'counterfoil audit verify': ['the history is intact', 'it was changed, or it could not be read'],
  'counterfoil requests': ['something is known of the request', 'nothing is known of it'],
  'counterfoil statements import': [
    'every file was imported, or was known',
    'a file was not imported, or something in it is wrong',
  ],
  'counterfoil statements match': ['done', 'a file, or a part of it, cannot be read'],
  'counterfoil statements check': ['every statement was read and is right', 'there are faults'],
};

function exitCodes([zero, one]: readonly [string, string] = ['done', 'failed']): string {
  return `
Exit codes:
  0   ${zero}
  1   ${one}
  2   wrong usage
  78  a person must change the configuration or the store first`;
}

/** Completes a command and all below it, once they have their options. */
export function completeHelp(command: Command, above = ''): void {
  const path = `${above}${command.name()}`;
  const required = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags);
  if (required.length > 0) command.usage([...required, command.usage()].join(' '));
  // A shell's variable that is not set gives an empty text: it must not stand for a default.
  for (const one of [...command.options, ...command.registeredArguments])
    if (one.required && !one.variadic && one.parseArg === undefined) one.argParser(parseText);
  const isGroup = command.commands.length > 0;
  if (!isGroup || above === '') command.addHelpText('after', exitCodes(OUTCOMES[path]));
  command.exitOverride();
  command.showHelpAfterError(`Usage: ${path} ${command.usage()}\nFor more: ${path} --help`);
  for (const one of command.commands) completeHelp(one, `${path} `);
}

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
function parseText(text: string): string {
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
