// Routine acts as values: one change by a person or a program. Its endpoint, its command and its page are made of it.
import type { z } from 'zod';
import type { Act as Entry } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import type { ErrorCode } from '../lib/errors.ts';
import { soundText } from '../lib/faults.ts';
import { phrase } from '../lib/phrases.ts';
import { trimmedText } from '../lib/text.ts';
import type { Permission } from './endpoint.ts';

/** Who acts, for entries and for rows. */
interface Doer extends Entry {
  kind: 'administrator' | 'operator';
  /** `adm_…`, or `operator`. */
  by: string;
}

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
    /** Maximum number of characters, which the hint names. */
    most?: number;
    lines?: number;
    attributes?: Record<string, string>;
    /** What there is to choose from, and what to do if nothing is chosen. */
    choices?: readonly (readonly [value: string, label: string])[];
    missing?: string;
    /** What stands in the field before something is typed. */
    initial?: string;
  };
  /** Reads what was typed, if it is no choice. `now` in milliseconds since 1970. */
  read?(text: string, now: number): Typed<T>;
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
  /** Does it, under the id of the thing. */
  does(journal: Journal, one: T, values: ValuesOf<F>, by: Doer): Promise<R>;
  /** Whether the thing is so already: the page asks nothing then, and counts an act that another was faster with as done. */
  isDone?(one: T): boolean;
  /** Whether the page of the thing has a link to it. Default: unless it is done. */
  offers?(one: T): boolean;
  /** The link on the page of the thing, and the page that asks. */
  asks: { link: string; title: string; lead: string; button: string; look?: 'primary' | 'danger' };
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

/** The acts that are done to one kind of thing, and where each is found by its name. */
export interface Acts<T> {
  /** In words: `a webhook endpoint`. */
  thing: string;
  /** `counterfoil webhooks`. */
  command: string;
  /** The page of one thing, below the console's address: `/webhooks/:endpoint_id`. */
  page: string;
  /** One thing under /admin, if programs do these acts: `/admin/webhook_endpoints/{endpoint_id}`. */
  admin?: string;
  acts: readonly RoutineAct<T>[];
}

export const act = <T, R, F extends Takes = Record<never, never>>(said: Said<T, R, F>): RoutineAct<T> => said;

/** The values that an act takes, by their names. `now` gives milliseconds since 1970. */
export const takenBy = <T>({ takes }: RoutineAct<T>, now: () => number): [string, Taken<unknown>][] =>
  Object.entries(takes?.(now) ?? {});

/** Reads what was typed on a page or after an option. `now` in milliseconds since 1970. */
export function readTyped<T>({ asks, read }: Taken<T>, text: string, now: number): Typed<T> {
  if (read) return read(text, now);
  const isChoice = asks.choices?.some(([value]) => value === text);
  return isChoice ? { value: text as T } : { fault: asks.missing ?? 'Choose one' };
}

/** The reason of an act, which the history or a row keeps. `readBy`: who reads it, as a sentence. */
export const reasonTaken = (
  maximum: number,
  faultOf: (text: string) => string | undefined,
  said: { described: string; option: string; readBy: string },
): Taken<string> => ({
  schema: soundText(maximum, faultOf, { trims: true }).describe(said.described),
  option: { flags: '--reason <text>', description: said.option },
  asks: { label: phrase('Reason'), hint: said.readBy, most: maximum, lines: 3 },
  read(typed) {
    const value = trimmedText(typed);
    const fault = faultOf(value);
    return fault === undefined ? { value } : { fault };
  },
});
