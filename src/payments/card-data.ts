// Refuses card data wherever a merchant might put it: by the name of a field anywhere, by the number in free text.
import { holdsCardNumber, isCardFieldName } from '../lib/card-number.ts';
import type { ErrorDetails } from '../lib/errors.ts';
import { DEPTH_MAXIMUM, TOO_DEEP } from '../lib/json.ts';

const NAMED = 'Looks like card data. Card data is never accepted here: customers enter it at checkout.';
export const NUMBERED = 'Contains what looks like a card number. Card data is never accepted here.';
const PATH_MAXIMUM = 200;

/** A path one name longer, as it may be shown: cut when overlong, and a name that is itself suspect not repeated. */
function below(path: string, name: string): string {
  if (path.length > PATH_MAXIMUM) return path;
  const shown = /^[\w -]{1,64}$/.test(name) && !holdsCardNumber(name) ? name : '*';
  const longer = path === '' ? shown : `${path}.${shown}`;
  return longer.length > PATH_MAXIMUM ? `${longer.slice(0, PATH_MAXIMUM)}…` : longer;
}

/** A field's path as it may be shown. */
export function shownPath(parts: readonly string[]): string {
  return parts.reduce(below, '');
}

/** Adds a fault for every field at any depth whose name says card data, and for what is too deep to look through. */
export function refuseCardFields(body: object, faults: ErrorDetails, path = '', depth = 1): void {
  if (depth > DEPTH_MAXIMUM) {
    faults.body = TOO_DEEP;
    return;
  }
  const named = !Array.isArray(body);
  for (const [name, value] of Object.entries(body)) {
    if (named && isCardFieldName(name)) faults[below(path, name)] = NAMED;
    if (typeof value === 'object' && value !== null)
      refuseCardFields(value, faults, below(path, name), depth + 1);
  }
}
