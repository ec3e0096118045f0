// The commands of routine acts.
import { Argument, Command, Option } from 'commander';
import { validationFailed } from '../../lib/errors.ts';
import { systemClock } from '../../lib/time.ts';
import { type Acts, type RoutineAct, readTyped, type Taken, takenBy } from '../../web/act.ts';
import { parsePast } from './arguments.ts';
import { OPERATOR, onStore, type Store } from './store.ts';

/** What the commands of acts need to know of the things that are changed. */
export interface ThingsOfCommand<T> {
  argument: readonly [name: string, description: string, parse?: (text: string) => string];
  /** What stands for the argument in examples. */
  example: string;
  /** The thing that the argument names. Throws `Failure`. */
  find(store: Store, text: string): Promise<T>;
}

export const actCommands = <T extends { id: string }>(
  { command, acts }: Acts<T>,
  things: ThingsOfCommand<T>,
): Command[] => acts.map((act) => actCommand(command, things, act));

function actCommand<T extends { id: string }>(
  command: string,
  things: ThingsOfCommand<T>,
  act: RoutineAct<T>,
): Command {
  const { example, find } = things;
  const [name, description, parse] = things.argument;
  const argument = new Argument(name, description);
  if (parse) argument.argParser(parse);
  const taken = takenBy(act, () => systemClock.now());
  const made = new Command(act.name).description(act.command.description).addArgument(argument);
  for (const [, { option }] of taken) made.addOption(optionOf(option));
  const rest = act.command.example ?? '';
  made.addHelpText('after', `\nExample:\n  ${command} ${act.name} ${example}${rest}`);
  return made.action(
    onStore(async (store, text: string, options: Record<string, unknown>) => {
      const one = await find(store, text);
      const values: Record<string, unknown> = {};
      for (const [name, one] of taken) {
        const given = options[name];
        const isRead = one.option.choices !== undefined || one.option.past !== undefined;
        const got = isRead ? { value: given } : readTyped(one, given as string, systemClock.now());
        if ('fault' in got) throw validationFailed({ [name]: got.fault });
        values[name] = got.value;
      }
      const by = { ...OPERATOR, kind: 'operator', by: 'operator' } as const;
      return act.command.says(await act.does(store.journal, one, values, by), one, values);
    }),
  );
}

function optionOf({ flags, description, choices, default: usual, past }: Taken<unknown>['option']): Option {
  const option = new Option(flags, description);
  if (choices) option.choices(choices);
  if (past !== undefined) option.argParser(parsePast(past));
  return usual === undefined ? option.makeOptionMandatory() : option.default(usual);
}
