// What the help and the usage errors of every command have in common: required options in the usage line, exit codes, the next command.
import { Command } from 'commander';
import { parseText } from './arguments.ts';
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
