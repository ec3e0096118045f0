// Faults of a request's fields: what a schema finds, and which faults stand under a name that the caller wrote.
import type { z } from 'zod';
import { holdsCardNumber } from './card-number.ts';
import type { ErrorDetails } from './errors.ts';

const UNKNOWN_FIELD = 'Is not a known field.';
export const CARD_FIELD =
  'Looks like card data. Card data is never accepted here: customers enter it at checkout.';
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

/** A field's path as the answer may show it. */
export function fieldPath(parts: readonly string[]): string {
  return parts.reduce(pathBelow, '');
}

/** A path one name longer: cut when overlong. A name that may hold card data or markup becomes `*`. */
export function pathBelow(path: string, name: string): string {
  if (path.length > PATH_MAXIMUM) return path;
  const shown = /^[\w -]{1,64}$/.test(name) && !holdsCardNumber(name) ? name : '*';
  const longer = path === '' ? shown : `${path}.${shown}`;
  return longer.length > PATH_MAXIMUM ? `${longer.slice(0, PATH_MAXIMUM)}…` : longer;
}
