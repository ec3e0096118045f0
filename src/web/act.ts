// Routine acts as values: one change by a person or a program. Its endpoint, its command and its page are made of it.
import type { z } from 'zod';
import type { Act as Entry } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import type { Transaction, Work } from '../journal/transaction.ts';
import type { ErrorCode } from '../lib/errors.ts';
import { soundText } from '../lib/faults.ts';
import type { Permission } from './endpoint.ts';

/** Who acts, for entries and for rows. */
interface Doer extends Entry {
  kind: 'administrator' | 'operator';
  /** `adm_…`, or `operator`. */
  by: string;
}

/** A value, or what is wrong with what was typed. */
type Typed<T> = { value: T } | { fault: string };

/** One value that an act takes: as JSON, as an option of the command, and as a field of the page. */
export interface Taken<T> {
  schema: z.ZodType<T>;
  /** `past`: a moment at most so many days ago, as `24h`, `7d` or ISO 8601. Without a default the option is required. */
  option: { flags: string; description: string; choices?: readonly string[]; default?: T; past?: number };
  asks: {
    /** Its name in the form, where that is not the value's own. */
    name?: string;
    /** A field's label, or a choice's legend. */
    label: string;
    hint?: string;
    lines?: number;
    attributes?: Record<string, string>;
    /** What there is to choose from. */
    choices?: readonly (readonly [value: string, label: string])[];
    /** What stands in the field before something is typed. */
    initial?: string;
  };
  /** Reads what was typed. `now` in milliseconds since 1970. */
  read(text: string, now: number): Typed<T>;
}

// biome-ignore lint/suspicious/noExplicitAny: the type of each value is that of its own definition.
type Takes = Record<string, Taken<any>>;
type ValuesOf<F extends Takes> = { [name in keyof F]: F[name] extends Taken<infer T> ? T : never };

interface Said<T, R, F extends Takes> {
  /** The last word of its command and of its addresses. */
  name: string;
  may: Permission;
  /** The values that it takes, in order. `now` gives milliseconds since 1970. */
  takes?(now: () => number): F;
  work(transaction: Transaction, one: T, values: ValuesOf<F>, by: Doer): Promise<R>;
  /** Commits the work under the id of the thing. Default: `journal.commit`. */
  commit?(journal: Journal, id: string, work: Work<R>): Promise<R>;
  /** Whether the thing is so already: the page asks nothing then, and counts an act that another was faster with as done. */
  isDone?(one: T): boolean;
  /** The page that asks. */
  asks: { title: string; lead: string; button: string; look?: 'primary' | 'danger' };
  /** Its endpoint under /admin. `body` names the schema of the request, `gives` is the answer if it is not the thing itself. */
  endpoint?: {
    id: string;
    summary: string;
    description: string;
    body?: string;
    gives?: {
      answer: readonly [name: string, schema: z.ZodType];
      present(values: ValuesOf<F>, result: R): object;
    };
    errors?: readonly ErrorCode[];
  };
  /** Its command: the help, the rest of the example, and what it prints. */
  command: {
    description: string;
    example?: string;
    says(result: R, one: T, values: ValuesOf<F>): { json: object; text: string };
  };
}

/** An act that is done to a `T`. */
// biome-ignore lint/suspicious/noExplicitAny: what it takes and comes to is known where it is defined.
export type RoutineAct<T> = Said<T, any, any>;

export const act = <T, R, F extends Takes = Record<never, never>>(said: Said<T, R, F>): RoutineAct<T> => said;

/** The values that an act takes, by their names. `now` gives milliseconds since 1970. */
export const takenBy = <T>({ takes }: RoutineAct<T>, now: () => number): [string, Taken<unknown>][] =>
  Object.entries(takes?.(now) ?? {});

/** Does an act to `one`. Throws what its work and the journal throw. */
export function perform<T extends { id: string }>(
  { work, commit = (journal, id, one) => journal.commit(one, id) }: RoutineAct<T>,
  journal: Journal,
  one: T,
  values: Record<string, unknown>,
  by: Doer,
): Promise<unknown> {
  return commit(journal, one.id, (transaction) => work(transaction, one, values, by));
}

/** A text that says something. `faultOf` counts its characters. */
export const textTaken = (
  maximum: number,
  faultOf: (text: string) => string | undefined,
  said: Pick<Taken<string>, 'option'> & { described: string; asks: Taken<string>['asks'] },
): Taken<string> => ({
  schema: soundText(maximum, faultOf, { trims: true }).describe(said.described),
  option: said.option,
  asks: said.asks,
  read(typed) {
    const value = typed.replace(/\r\n?/g, '\n').trim();
    const fault = faultOf(value);
    return fault === undefined ? { value } : { fault };
  },
});

/** One of a few words, each with its label. `missing` says what to do if none is chosen. */
export const choiceTaken = <W extends string>(
  schema: z.ZodType<W>,
  labels: Readonly<Record<W, string>>,
  said: {
    option: Pick<Taken<W>['option'], 'flags' | 'description'>;
    initial: W;
    label: string;
    missing: string;
  },
): Taken<W> => {
  const words = Object.keys(labels) as W[];
  return {
    schema,
    option: { ...said.option, choices: words, default: said.initial },
    asks: {
      label: said.label,
      choices: words.map((word) => [word, labels[word]] as const),
      initial: said.initial,
    },
    read(typed) {
      const value = words.find((word) => word === typed);
      return value === undefined ? { fault: said.missing } : { value };
    },
  };
};
