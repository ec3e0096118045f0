// Faults of a request's fields: what a schema finds, card data wherever it stands, and which names the caller wrote.

import { z } from 'zod';
import { holdsCardNumber, isCardFieldName } from './card-number.ts';
import { type ErrorDetails, validationFailed } from './errors.ts';
import { DEPTH_MAXIMUM, TOO_DEEP } from './json.ts';
import { showsNothing } from './text.ts';

const UNKNOWN_FIELD = 'Is not a known field.';
const CARD_FIELD = 'Looks like card data. Card data is never accepted here: customers enter it at checkout.';
export const NUMBERED = 'Contains what looks like a card number. Card data is never accepted here.';
const PATH_MAXIMUM = 200;

/** Whether a field with this fault has a name that the caller wrote. The answer may show such a name; the log may not. */
export function isNamedByCaller(fault: unknown): boolean {
  return fault === UNKNOWN_FIELD || fault === CARD_FIELD;
}

/** Adds what a schema found to `faults`, which must have no prototype: names come from outside. The first fault of a field stays. */
export function addSchemaFaults(faults: ErrorDetails, error: z.ZodError | undefined): void {
  for (const issue of error?.issues ?? [])
    if (issue.code === 'unrecognized_keys')
      for (const name of issue.keys) faults[fieldPath([...issue.path.map(String), name])] ??= UNKNOWN_FIELD;
    else faults[issue.path.join('.')] ??= issue.message;
}

/** The schema of a text of at most `maximum` characters in which `faultOf`, which counts them, finds no fault. `trims` drops blanks. */
export const soundText = (
  maximum: number,
  faultOf: (value: string) => string | undefined,
  { trims = false } = {},
) =>
  (trims ? z.string('Must be a string.').trim() : z.string('Must be a string.'))
    .check(({ value, issues }) => {
      const fault = faultOf(value);
      if (fault) issues.push({ code: 'custom', message: fault, input: value });
    })
    .meta({ maxLength: maximum });

/** Whether a caller sent a text for nothing: nothing of it can be seen. */
export const saysNothing = (value: unknown): boolean => typeof value === 'string' && showsNothing(value);

/**
 * A field that may be left out. `null`, blank text and, for an object, `[]`, which is how PHP writes an empty one, give null, as a field
 * that is left out gives undefined.
 */
export function optional<S extends z.ZodType>(schema: S) {
  const isObject = schema instanceof z.ZodObject || schema.meta()?.type === 'object';
  const isNothing = (value: unknown) =>
    saysNothing(value) || (isObject && Array.isArray(value) && value.length === 0);
  return z.preprocess((value) => (isNothing(value) ? null : value), schema.nullish()).optional();
}

/** The fields of a schema, each null where it is left out. */
export type Whole<S extends z.ZodObject> = {
  [Name in keyof z.output<S>]-?: undefined extends z.output<S>[Name]
    ? Exclude<z.output<S>[Name], undefined> | null
    : z.output<S>[Name];
};

/** Completes what a schema has parsed with null for each field that is left out. */
export function whole<S extends z.ZodObject>(schema: S, parsed: object): Whole<S> {
  const values = parsed as Record<string, unknown>;
  return Object.fromEntries(
    Object.keys(schema.shape).map((name) => [name, values[name] ?? null]),
  ) as Whole<S>;
}

/** What an object holds by its schema. Throws `validation_failed` with every fault. */
export function parsedBy<S extends z.ZodType>(schema: S, values: Record<string, unknown>): z.output<S> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  const faults: ErrorDetails = Object.create(null); // names come from outside: none may be inherited
  addSchemaFaults(faults, parsed.error);
  throw validationFailed(faults);
}

/** A field's path as the answer may show it. */
export function fieldPath(parts: readonly string[]): string {
  return parts.reduce(pathBelow, '');
}

/** A path one name longer: cut when overlong. A name that may hold card data or markup becomes `*`. */
function pathBelow(path: string, name: string): string {
  if (path.length > PATH_MAXIMUM) return path;
  const shown = /^[\w -]{1,64}$/.test(name) && !holdsCardNumber(name) ? name : '*';
  const longer = path === '' ? shown : `${path}.${shown}`;
  return longer.length > PATH_MAXIMUM ? `${longer.slice(0, PATH_MAXIMUM)}…` : longer;
}

/** Adds a fault for every field at any depth whose name says card data, and for what is too deep to look through. */
export function refuseCardFields(body: object, faults: ErrorDetails, path = '', depth = 1): void {
  if (depth > DEPTH_MAXIMUM) {
    faults.body = TOO_DEEP;
    return;
  }
  const named = !Array.isArray(body);
  for (const [name, value] of Object.entries(body)) {
    if (named && isCardFieldName(name)) faults[pathBelow(path, name)] = CARD_FIELD;
    if (typeof value === 'object' && value !== null)
      refuseCardFields(value, faults, pathBelow(path, name), depth + 1);
  }
}
